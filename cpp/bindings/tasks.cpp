#include "bindings/tasks.hpp"

#include "bindings/args.hpp"
#include "bindings/layouts.hpp"
#include "core/dispatch.hpp"

// the registry is compiled here only to learn the names of its fields
#define KINODYN_TARGET layouts_only
#define KINODYN_LANES 2
#include "tasks/registry.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// output: 0 error, 1 Jacobian, 2 drift.
nb::object task_rows(Any robot, Any q, Any v, Any entries, Any numbers, int rows, int output) {
    Door door(robot);
    const Model& m = door.robot().model;
    const Table<TaskEntry> table("entry", entries);
    door.everywhere();
    door.configuration("q", q);
    door.tangent("v", v);
    door.input("numbers", numbers, -1);
    if (static_cast<TaskOutput>(output) == TaskOutput::Jacobian)
        door.output({rows, m.nv});
    else
        door.output({rows});
    door.call().more = reinterpret_cast<const int*>(table.begin());
    door.call().mode = output;
    return door.run(kernels().task_rows, nb::none());
}

}  // namespace

void bind_tasks(nb::module_& m) {
    const auto any = nb::arg().none();
    export_layouts<TaskEntry>();
    nb::list kinds;
    layouts_only::Registry::for_layouts([&](const LayoutInfo& info) {
        add_layout(info);
        kinds.append(info.name.c_str());
    });
    m.attr("task_kinds") = nb::tuple(kinds);
    m.def("task_rows", &task_rows, any, any, any, any, any, nb::arg(), nb::arg());
}

}  // namespace kinodyn
