// Rigid-body dynamics, centroidal quantities, everything at once for a State, and time stepping.
#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "kernels/integrate_dynamics.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

void define_torques(nb::module_& m) {
    define_both(m, "rnea", [](Args& args, Any q, Any v, Any a, Any wrenches) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.tangent("a", a);
        args.wrenches(wrenches);
        args.output({args.model().nv});
    });
    define(m, "bias", [](Args& args, Any q, Any v, Any wrenches) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.wrenches(wrenches);
        args.output({args.model().nv});
    });
    define_both(m, "aba", [](Args& args, Any q, Any v, Any tau, Any wrenches) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.tangent("tau", tau);
        args.wrenches(wrenches);
        args.output({args.model().nv});
    });
    define(m, "gravity", [](Args& args, Any q) {
        args.configuration("q", q);
        args.output({args.model().nv});
    });
    define(m, "regressor", [](Args& args, Any q, Any v, Any a) {
        const auto& bodies = args.robot().parameter_bodies;
        args.bodies(bodies);
        args.configuration("q", q);
        args.tangent("v", v);
        args.tangent("a", a);
        args.output({args.model().nv, 10 * static_cast<long>(bodies.size())});
    });
}

void define_matrices(nb::module_& m) {
    define_both(m, "crba", [](Args& args, Any q) {
        args.configuration("q", q);
        args.output({args.model().nv, args.model().nv});
    });
    define(m, "factorize", [](Args& args, Any q) {
        args.configuration("q", q);
        args.output({args.model().nv, args.model().nv});
    });
    define(m, "solve", [](Args& args, Any factor, Any b) {
        const int nv = args.model().nv;
        args.input("factor", factor, nv * nv);
        args.tangent("b", b);
        args.output({nv});
    });
    define(m, "coriolis_matrix", [](Args& args, Any q, Any v) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.output({args.model().nv, args.model().nv});
    });
    define(m, "rnea_derivatives", [](Args& args, Any q, Any v, Any a) {
        const int nv = args.model().nv;
        args.configuration("q", q);
        args.tangent("v", v);
        args.tangent("a", a);
        for (int k = 0; k < 3; ++k) args.output({nv, nv});  // by q, v, a
    });
    define(m, "aba_derivatives", [](Args& args, Any q, Any v, Any tau) {
        const int nv = args.model().nv;
        args.configuration("q", q);
        args.tangent("v", v);
        args.tangent("tau", tau);
        for (int k = 0; k < 3; ++k) args.output({nv, nv});  // by q, v, tau
    });
    define(m, "energy", [](Args& args, Any q, Any v) {
        args.configuration("q", q);
        args.tangent("v", v);
        args.output("kinetic", {});
        args.output("potential", {});
    });
}

void define_centroidal(nb::module_& m) {
    define(m, "momentum_matrix", [](Args& args, Any q) {
        require_mass(args.robot());
        args.configuration("q", q);
        args.output({6, args.model().nv});
    });
    define(m, "momentum", [](Args& args, Any q, Any v) {
        require_mass(args.robot());
        args.configuration("q", q);
        args.tangent("v", v);
        args.output({6});
    });
    define(m, "momentum_rate", [](Args& args, Any q, Any v, Any a) {
        require_mass(args.robot());
        args.configuration("q", q);
        args.tangent("v", v);
        args.tangent("a", a);
        args.output({6});
    });
}

void define_state(nb::module_& m) {
    define(m, "state", [](Args& args, Any q, Any v) {
        const Model& model = args.model();
        args.configuration("q", q);
        args.tangent("v", v);
        args.output("poses", {static_cast<long>(model.frames.size()), 4, 4});
        args.output("columns", {6L * model.ncolumns + 3});
        args.output("mass_matrix", {model.nv, model.nv});
        args.output("bias", {model.nv});
        args.output("com", {3});
        args.output("com_jacobian", {3, model.nv});
        args.output("com_velocity", {3});
        args.output("momentum_matrix", {6, model.nv});
        args.output("momentum", {6});
        args.output("momentum_bias", {6});
    });
    define(m, "state_jacobian", [](Args& args, Any columns, Any pose, Any frame, Any reference) {
        args.path_to(frame);
        args.settings(reference_from(reference));
        args.input("columns", columns, 6 * args.model().ncolumns + 3);
        args.input("pose", pose, 16);
        args.output({6, args.model().nv});
    });
}

void define_time_stepping(nb::module_& m) {
    export_layouts<TimeStep<double>, JointFriction<double>, JointFrictionRecord, JointStop<double>, JointStopRecord>();
    define(
        m, "integrate_dynamics",
        [](Args& args, Any q, Any v, Any tau, Any time_step, Any friction_joints, Any friction, Any stop_joints,
           Any stops, int steps, bool runge_kutta, Any wrenches) {
            constexpr int max_steps = 1 << 29;
            if (steps < 1 || steps > max_steps)
                raise_input_error("steps must be from 1 to 2^29, got " + std::to_string(steps));
            const Table<JointFrictionRecord> rough("friction_joints", friction_joints);
            const Table<JointStopRecord> stopped("stop_joints", stop_joints);
            const int n_friction = static_cast<int>(rough.size()), n_stops = static_cast<int>(stopped.size());
            args.settings(IntegrationSettings{steps, runge_kutta, stopped.begin(), n_stops, rough.begin(), n_friction});
            args.configuration("q", q);
            args.tangent("v", v);
            args.tangent("tau", tau);
            args.records<TimeStep<double>>("time_step", time_step);
            args.records<JointFriction<double>>("friction", friction, n_friction);
            args.records<JointStop<double>>("stops", stops, n_stops);
            args.wrenches(wrenches);
            args.output("q", {args.model().nq});
            args.output("v", {args.model().nv});
            args.output("steps", {});
            args.output("diverged_dof", {});
        });
}

}  // namespace

void bind_dynamics(nb::module_& m) {
    define_torques(m);
    define_matrices(m);
    define_centroidal(m);
    define_state(m);
    define_time_stepping(m);
}

}  // namespace kinodyn
