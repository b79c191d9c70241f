#include "bindings/id_qp.hpp"

#include "bindings/args.hpp"
#include "core/dispatch.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// limits: lower, upper (nq), velocity, acceleration, braking, effort (nv); integers as bytes: tasks, supports, levels,
// constraints, then those of each task and each support. rows: of all tasks, of all supports.
nb::object id_qp(Any robot, Any q, Any v, Any settings, Any limits, Any tasks, Any supports, Any held, Any integers,
                 int task_rows, int support_rows, Any out) {
    Door door(robot);
    const Model& m = door.robot().model;
    door.everywhere();
    door.plan(integers);
    const int constraints = door.call().more[3], kept = (door.call().more[2] + 2) * constraints;
    door.configuration("q", q);
    door.tangent("v", v);
    door.input("settings", settings, 3);
    const char* const names[] = {"lower", "upper", "velocity", "acceleration", "braking", "effort"};
    int k = 0;
    for (const Any& value : limits) door.input(names[k], value, k < 2 ? m.nq : m.nv), ++k;
    door.input("tasks", tasks, -1);
    door.input("contacts", supports, -1);
    door.input("held", held, kept);
    door.output({m.nv});
    door.output({support_rows});
    door.output({m.nv});
    door.output({kept});
    door.output({task_rows});
    door.output({constraints});
    door.output({support_rows});
    door.output({3});
    return door.run(kernels().id_qp, out);
}

}  // namespace

void bind_id_qp(nb::module_& m) {
    const auto any = nb::arg().none();
    m.def("id_qp", &id_qp, any, any, any, any, any, any, any, any, any, nb::arg(), nb::arg(), any);
}

}  // namespace kinodyn
