#include "bindings/whole_body.hpp"

#include "bindings/args.hpp"
#include "core/dispatch.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// integers: of all tasks, as bytes; numbers: target, settings, target, settings, ... in the same order.
nb::object whole_body(Any robot, Any q, Any v, Any settings, Any lower, Any upper, Any velocity, Any acceleration,
                      Any held, Any integers, Any numbers, int levels) {
    Door door(robot);
    const Model& m = door.robot().model;
    door.everywhere();
    door.plan(integers);
    door.configuration("q", q);
    door.tangent("v", v);
    door.input("settings", settings, 4);
    door.input("lower", lower, m.nq);
    door.input("upper", upper, m.nq);
    door.tangent("velocity", velocity);
    door.tangent("acceleration", acceleration);
    door.input("held", held, levels * m.nv);
    for (const Any& value : numbers) door.input("task", value, -1);
    door.output({m.nq});
    door.output({m.nv});
    door.output({door.call().n_more / 6, 2});
    door.output({levels * m.nv});
    door.output({3});
    return door.run(kernels().whole_body, nb::none());
}

}  // namespace

void bind_whole_body(nb::module_& m) {
    const auto any = nb::arg().none();
    m.def("whole_body", &whole_body, any, any, any, any, any, any, any, any, any, any, any, nb::arg());
}

}  // namespace kinodyn
