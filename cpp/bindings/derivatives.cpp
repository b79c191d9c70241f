// Vector-Jacobian products, and the kinematic Hessian. `gradient` is that of a scalar with respect to the result of the
// function; the results are those with respect to its arguments.
#include "bindings/define.hpp"
#include "bindings/functions.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

void define_kinematic_products(nb::module_& m) {
    define(m, "hessian", [](Args& args, Any q, Any frame, Any reference) {
        const int nv = args.model().nv;
        args.path_to(frame);
        args.settings(reference_from(reference));
        args.configuration("q", q);
        args.output({6, nv, nv});
    });
    // gradient: (..., 16 n) of n frames
    define(m, "poses_vjp", [](Args& args, Any q, Any gradient, Any frames) {
        if (frames.is_none())
            args.all_frames();
        else
            args.frames(frames);
        args.configuration("q", q);
        args.input("gradient", gradient, 16 * args.call().frames.size);
        args.output({args.model().nq});
    });
    define(m, "com_vjp", [](Args& args, Any q, Any gradient) {
        require_mass(args.robot());
        args.all_frames();
        args.configuration("q", q);
        args.input("gradient", gradient, 3);
        args.output({args.model().nq});
    });
    define(m, "velocity_vjp", [](Args& args, Any q, Any v, Any gradient, Any frame, Any reference) {
        args.path_to(frame);
        args.settings(reference_from(reference));
        args.configuration("q", q);
        args.tangent("v", v);
        args.input("gradient", gradient, 6);
        args.output("q", {args.model().nq});
        args.output("v", {args.model().nv});
    });
    define(m, "integrate_vjp", [](Args& args, Any q, Any v, Any gradient) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.input("gradient", gradient, args.model().nq);
        args.output("q", {args.model().nq});
        args.output("v", {args.model().nv});
    });
    define(m, "difference_vjp", [](Args& args, Any q0, Any q1, Any gradient) {
        args.configuration("q0", q0);
        args.configuration("q1", q1);
        args.tangent("gradient", gradient);
        args.output("q0", {args.model().nq});
        args.output("q1", {args.model().nq});
    });
}

// `last`: a for inverse dynamics; for forward dynamics, whose last argument is tau, its result.
void define_dynamic_products(nb::module_& m, const char* name, const char* last) {
    define(m, name, [last](Args& args, Any q, Any v, Any a, Any gradient, Any wrenches) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.tangent("a", a);
        args.tangent("gradient", gradient);
        args.wrenches(wrenches);
        args.output("q", {args.model().nq});
        args.output("v", {args.model().nv});
        args.output(last, {args.model().nv});
        args.output("wrenches", {args.call().wrench_frames.size, 6});
    });
}

}  // namespace

void bind_derivatives(nb::module_& m) {
    define_kinematic_products(m);
    define_dynamic_products(m, "rnea_vjp", "a");
    define_dynamic_products(m, "aba_vjp", "tau");
}

}  // namespace kinodyn
