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

}  // namespace

void bind_contact(nb::module_& m) {
    const auto any = nb::arg().none();
    m.def("constrained", &constrained, any, any, any, any, any, any, nb::arg(), any);
    m.def("impact", &impact, any, any, any, any, any, any, nb::arg());
    m.def("constraint_rows", &constraint_rows, any, any, any, any, any, nb::arg());
}

}  // namespace kinodyn
