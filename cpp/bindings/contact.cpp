#include "contact.hpp"

#include "../core/dispatch.hpp"
#include "../core/impulses.hpp"
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
    m.def("constrained", &constrained, any, any, any, any, any, any, nb::arg(), any);
    m.def("impact", &impact, any, any, any, any, any, any, nb::arg());
    m.def("contact_impulses", &find_impulses, any, any, any, any, any, any, any, nb::arg(), nb::arg());
    m.def("constraint_rows", &constraint_rows, any, any, any, any, any, nb::arg());
}

}  // namespace kinodyn
