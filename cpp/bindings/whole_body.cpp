#include "bindings/whole_body.hpp"

#include "bindings/args.hpp"
#include "bindings/layouts.hpp"
#include "core/dispatch.hpp"

// the structures of the kernel are compiled here only to learn the names of their fields
#define KINODYN_TARGET layouts_only
#include "kernels/whole_body.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// progress: None, or that of a solve which pauses.
nb::object whole_body(Any robot, Any q, Any v, Any settings, Any bounds, Any entries, Any numbers, Any warm_start,
                      Any progress, int levels) {
    Door door(robot);
    const Model& m = door.robot().model;
    const Table<TaskEntry> tasks("entries", entries);
    const int n_tasks = static_cast<int>(tasks.size()), active = (levels + 1) * m.nv;
    const int progress_size = static_cast<int>(block_size<layouts_only::SolveProgress>({levels, m.nq}));
    const WholeBodyPlan plan = {tasks.begin(), n_tasks, levels};
    door.everywhere();
    door.call().plan = &plan;
    door.configuration("q", q);
    door.tangent("v", v);
    door.input("settings", settings, sizeof(WholeBodySettings) / sizeof(double));
    door.input("bounds", bounds, static_cast<int>(block_size<layouts_only::JointBounds>({m.nq, m.nv})));
    door.input("numbers", numbers, -1);
    door.input("warm_start", warm_start, active);
    if (!progress.is_none()) door.input("progress", progress, progress_size);
    door.output({m.nq});
    door.output({m.nv});
    door.output({n_tasks, 2});
    door.output({active});
    door.output({sizeof(WholeBodyInfo) / sizeof(double)});
    if (!progress.is_none()) door.output({progress_size});
    return door.run(kernels().whole_body, nb::none());
}

}  // namespace

void bind_whole_body(nb::module_& m) {
    const auto any = nb::arg().none();
    export_layouts<WholeBodySettings, WholeBodyInfo>();
    export_block_layouts<layouts_only::JointBounds, layouts_only::SolveProgress>();
    m.def("whole_body", &whole_body, any, any, any, any, any, any, any, any, any, nb::arg());
}

}  // namespace kinodyn
