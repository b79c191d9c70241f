#include "bindings/control.hpp"

#include "bindings/args.hpp"
#include "core/dispatch.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// mode: as the kernel has it; a bit for each of the six rows that is controlled comes first. gains: stiffness, damping,
// scale of these rows, least eigenvalue; joints: stiffness, damping, torque limits of those with motors.
nb::object frame_control(Any robot, Any q, Any v, Any mass_matrix, Any bias, Any target, Any rate, Any acceleration,
                         Any wrench, Any gains, Any posture, Any joints, Any frame, int mode) {
    Door door(robot);
    const Model& m = door.robot().model;
    long rows = 0;
    for (int row = 0; row < 6; ++row) rows += mode >> row & 1;
    const int motors = m.nv - (mode >> 7 & 1 ? 6 : 0);
    door.along(frame_from(door.robot(), frame));
    door.call().mode = mode;
    door.configuration("q", q);
    door.tangent("v", v);
    door.matrix("mass_matrix", mass_matrix, m.nv, m.nv);
    door.tangent("bias", bias);
    door.matrix("target", target, 4, 4);
    door.input("rate of the target", rate, 6);
    door.input("acceleration", acceleration, 6);
    door.input("wrench", wrench, 6);
    door.input("gains", gains, 3 * static_cast<int>(rows) + 1);
    door.configuration("posture", posture);
    door.input("joints", joints, 3 * motors);
    door.output({m.nv});
    door.output({m.nv});
    door.output({rows});
    door.output({rows});
    door.output({3});
    return door.run(kernels().frame_control, nb::none());
}

}  // namespace

void bind_control(nb::module_& m) {
    const auto any = nb::arg().none();
    m.def("frame_control", &frame_control, any, any, any, any, any, any, any, any, any, any, any, any, any, nb::arg());
}

}  // namespace kinodyn
