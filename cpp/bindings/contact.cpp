#include "bindings/contact.hpp"

#include "bindings/args.hpp"
#include "core/dispatch.hpp"
#include "core/impulses.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// constraints: [(..., 24), ...]; integers: frame, other frame, mask of each, as bytes; rows: in all.
int add_constraints(Door& door, Any constraints) {
    int count = 0;
    for (const Any& value : constraints) door.input("contacts", value, 24), ++count;
    return count;
}

void add_outputs(Door& door, int rows) {
    door.output({door.robot().model.nv});
    door.output({rows});
    door.output({});
    door.output({});
    door.output({rows});
}

nb::object constrained(Any robot, Any q, Any v, Any tau, Any gains, Any constraints, Any integers, int rows,
                       Any wrenches) {
    Door door(robot);
    door.everywhere();
    door.configuration("q", q);
    door.tangent("v", v);
    door.tangent("tau", tau);
    door.input("stabilise", gains, 2);
    const int count = add_constraints(door, constraints);
    door.wrenches_and_plan(wrenches, integers);
    door.call().mode = count;
    add_outputs(door, rows);
    return door.run(kernels().constrained, nb::none());
}

nb::object impact(Any robot, Any q, Any v, Any restitution, Any constraints, Any integers, int rows) {
    Door door(robot);
    door.everywhere();
    door.configuration("q", q);
    door.tangent("v", v);
    door.scalar("restitution", restitution);
    const int count = add_constraints(door, constraints);
    door.plan(integers);
    door.call().mode = count;
    add_outputs(door, rows);
    return door.run(kernels().impact, nb::none());
}

nb::object constraint_rows(Any robot, Any q, Any v, Any constraints, Any integers, int rows) {
    Door door(robot);
    door.everywhere();
    door.configuration("q", q);
    door.tangent("v", v);
    const int count = add_constraints(door, constraints);
    door.plan(integers);
    door.call().mode = count;
    door.output({rows, door.robot().model.nv});
    door.output({rows});
    return door.run(kernels().constraint_rows, nb::none());
}

nb::object constraint_error(Any robot, Any q, Any constraints, Any integers, int rows) {
    Door door(robot);
    door.everywhere();
    door.configuration("q", q);
    const int count = add_constraints(door, constraints);
    door.plan(integers);
    door.call().mode = count;
    door.output({rows});
    return door.run(kernels().constraint_error, nb::none());
}

// settings: tolerance, most steps, then 1 for each degree of freedom that stays and 0 for the others.
nb::object project(Any robot, Any q, Any settings, Any constraints, Any integers) {
    Door door(robot);
    door.everywhere();
    door.configuration("q", q);
    door.input("settings", settings, 2 + door.robot().model.nv);
    const int count = add_constraints(door, constraints);
    door.plan(integers);
    door.call().mode = count;
    door.output({door.robot().model.nq});
    door.output({});
    door.output({});
    return door.run(kernels().project, nb::none());
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

// A: (..., 9 m^2); c, guess: (..., 3 m); b, mu: (..., m); tolerance: (...).
nb::object find_impulses(Any robot, Any A, Any c, Any b, Any mu, Any guess, Any tolerance, int points, int sweeps) {
    Door door(robot);
    door.input("A", A, 9 * points * points);
    door.input("c", c, 3 * points);
    door.input("b", b, points);
    door.input("mu", mu, points);
    door.input("guess", guess, 3 * points);
    door.scalar("tolerance", tolerance);
    door.call().mode = sweeps;
    door.output({3 * points});
    door.output({});
    door.output({});
    return door.run(&contact_impulses, nb::none());
}

}  // namespace

void bind_contact(nb::module_& m) {
    const auto any = nb::arg().none();
    m.def("constrained", &constrained, any, any, any, any, any, any, any, nb::arg(), any);
    m.def("impact", &impact, any, any, any, any, any, any, nb::arg());
    m.def("contact_impulses", &find_impulses, any, any, any, any, any, any, any, nb::arg(), nb::arg());
    m.def("constraint_rows", &constraint_rows, any, any, any, any, any, nb::arg());
    m.def("constraint_error", &constraint_error, any, any, any, any, nb::arg());
    m.def("project", &project, any, any, any, any, any);
    m.def("point_motion", &point_motion, any, any, any, any, any);
    m.def("soft_forces", &soft_forces, any, any, any, any, any, any, any, nb::arg(), nb::arg());
}

}  // namespace kinodyn
