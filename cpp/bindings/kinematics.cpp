// Frames, the CoM, and steps on the configuration manifold.
#include "bindings/define.hpp"
#include "bindings/functions.hpp"

namespace nb = nanobind;

namespace kinodyn {

void require_mass(const CompiledRobot& robot) {
    if (robot.model.total_mass > 0) return;
    const nb::object error = nb::module_::import_("kinodyn.errors").attr("SingularError");
    PyErr_SetString(error.ptr(), "this robot has no moving mass, so it has no centre of mass");
    throw nb::python_error();
}

void bind_kinematics(nb::module_& m) {
    define_both(m, "pose", "poses", [](Args& args, Any q, Any frame) {
        args.path_to(frame);
        args.configuration("q", q);
        args.output({4, 4});
    });
    define_both(m, "poses", [](Args& args, Any q, Any frames) {
        if (frames.is_none())
            args.all_frames();
        else
            args.frames(frames);
        args.configuration("q", q);
        args.output({args.call().frames.size, 4, 4});
    });
    define_both(m, "jacobian", [](Args& args, Any q, Any frame, Any reference) {
        args.path_to(frame);
        args.settings(reference_from(reference));
        args.configuration("q", q);
        args.output({6, args.model().nv});
    });
    define(m, "jacobian_dot", [](Args& args, Any q, Any v, Any frame, Any reference) {
        args.path_to(frame);
        args.settings(reference_from(reference));
        args.configuration("q", q);
        args.tangent("v", v);
        args.output({6, args.model().nv});
    });
    define(m, "velocity", [](Args& args, Any q, Any v, Any frame, Any reference) {
        args.path_to(frame);
        args.settings(reference_from(reference));
        args.configuration("q", q);
        args.tangent("v", v);
        args.output({6});
    });
    define(m, "acceleration", [](Args& args, Any q, Any v, Any a, Any frame, Any reference, bool classical) {
        args.path_to(frame);
        args.settings(AccelerationSettings{reference_from(reference), classical});
        args.configuration("q", q);
        args.tangent("v", v);
        args.tangent("a", a);
        args.output({6});
    });
    define_both(m, "com", [](Args& args, Any q) {
        require_mass(args.robot());
        args.configuration("q", q);
        args.output({3});
    });
    define(m, "com_jacobian", [](Args& args, Any q) {
        require_mass(args.robot());
        args.configuration("q", q);
        args.output({3, args.model().nv});
    });
    define(m, "integrate", [](Args& args, Any q, Any v) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.output({args.model().nq});
    });
    define(m, "difference", [](Args& args, Any q0, Any q1) {
        args.configuration("q0", q0);
        args.configuration("q1", q1);
        args.output({args.model().nv});
    });
    define(m, "interpolate", [](Args& args, Any q0, Any q1, Any s) {
        args.configuration("q0", q0);
        args.configuration("q1", q1);
        args.scalar("s", s);
        args.output({args.model().nq});
    });
}

}  // namespace kinodyn
