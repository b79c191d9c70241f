#include "contact.hpp"

#include "../core/dispatch.hpp"
#include "door.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// constraints: [(..., 26), ...]; integers: frame, other frame, mask of each, as bytes; rows: in all.
nb::object run(Any robot, Any q, Any v, const char* name, Any third, int third_size, Any constraints, Any integers,
               int rows, Any wrenches, Kernel kernel) {
    Door door(robot);
    const Model& m = door.robot().model;
    door.everywhere();
    door.configuration("q", q);
    door.tangent("v", v);
    door.input(name, third, third_size);
    int count = 0;
    for (const Any& value : constraints) door.input("contacts", value, 26), ++count;
    door.wrenches_and_plan(wrenches, integers);
    door.call().mode = count;
    door.output({m.nv});
    door.output({rows});
    door.output({});
    return door.run(kernel, nb::none());
}

nb::object constrained(Any robot, Any q, Any v, Any tau, Any constraints, Any integers, int rows, Any wrenches) {
    return run(robot, q, v, "tau", tau, robot_from(robot).model.nv, constraints, integers, rows, wrenches,
               kernels().constrained);
}

nb::object impact(Any robot, Any q, Any v, Any restitution, Any constraints, Any integers, int rows) {
    return run(robot, q, v, "restitution", restitution, 1, constraints, integers, rows, nb::none(), kernels().impact);
}

nb::object constraint_rows(Any robot, Any q, Any v, Any constraints, Any integers, int rows) {
    Door door(robot);
    door.everywhere();
    door.configuration("q", q);
    door.tangent("v", v);
    int count = 0;
    for (const Any& value : constraints) door.input("contacts", value, 26), ++count;
    door.plan(integers);
    door.call().mode = count;
    door.output({rows, door.robot().model.nv});
    door.output({rows});
    return door.run(kernels().constraint_rows, nb::none());
}

// points (..., 3 n) in the frames, one name for each point. Returns places, velocities and arms, each (..., 3 n).
nb::object point_motion(Any robot, Any q, Any v, Any points, Any frames) {
    Door door(robot);
    door.towards(frames);
    const int count = door.call().n_more;
    door.configuration("q", q);
    door.tangent("v", v);
    door.input("points", points, 3 * count);
    for (int k = 0; k < 3; ++k) door.output({3 * count});
    return door.run(kernels().point_motion, nb::none());
}

// owners: which of `frames` frames carries each point, as bytes; shared_normal: one (3,) for all points. Returns forces
// and anchors (..., n, 3), and wrenches (..., frames, 6).
nb::object soft_forces(Any robot, Any motion, Any height, Any normal, Any anchors, Any constants, Any owners,
                       int frames, bool shared_normal) {
    Door door(robot);
    door.plan(owners);
    const int count = door.call().n_more;
    const char* const motions[] = {"places", "velocities", "arms"};
    for (int k = 0; k < 3; ++k) door.input(motions[k], motion[k], 3 * count);
    door.input("heights of the ground", height, count);
    door.input("normals of the ground", normal, shared_normal ? 3 : 3 * count);
    door.input("anchors", anchors, 3 * count);
    const char* const laws[] = {"stiffness", "damping", "friction"};
    for (int k = 0; k < 3; ++k) door.input(laws[k], constants[k], count);
    for (int k = 0; k < 2; ++k) door.output({count, 3});
    door.output({frames, 6});
    return door.run(kernels().soft_forces, nb::none());
}

}  // namespace

void bind_contact(nb::module_& m) {
    const auto any = nb::arg().none();
    m.def("constrained", &constrained, any, any, any, any, any, any, nb::arg(), any);
    m.def("impact", &impact, any, any, any, any, any, any, nb::arg());
    m.def("constraint_rows", &constraint_rows, any, any, any, any, any, nb::arg());
    m.def("point_motion", &point_motion, any, any, any, any, any);
    m.def("soft_forces", &soft_forces, any, any, any, any, any, any, any, nb::arg(), nb::arg());
}

}  // namespace kinodyn
