#include "bindings/define.hpp"
#include "bindings/functions.hpp"

// the kernel's structures are compiled here only for the names of their fields
#define KINODYN_TARGET layouts_only
#include "kernels/whole_body.hpp"

namespace nb = nanobind;

namespace kinodyn {

void bind_whole_body(nb::module_& m) {
    export_layouts<WholeBodySettings, WholeBodyInfo>();
    export_block_layouts<layouts_only::JointBounds, layouts_only::SolveProgress>();
    m.def("warm_start_size", [](nb::handle robot, Any entries, int levels) {
        const Table<TaskEntry> tasks("entries", entries);
        const WholeBodyPlan plan = {tasks.begin(), static_cast<int>(tasks.size()), levels};
        return plan.warm_start_size(robot_from(robot).model.nv);
    });
    // progress: None, or that of a paused solve
    define(m, "whole_body",
           [](Args& args, Any q, Any v, Any settings, Any bounds, Any entries, Any numbers, Any warm_start,
              Any progress, int levels) {
               const int nq = args.model().nq, nv = args.model().nv;
               const Table<TaskEntry> tasks("entries", entries);
               const int n_tasks = static_cast<int>(tasks.size());
               const WholeBodyPlan plan = {tasks.begin(), n_tasks, levels};
               const int active = plan.warm_start_size(nv);
               const int progress_size = static_cast<int>(block_size<layouts_only::SolveProgress>({levels, nq}));
               args.all_frames();
               args.settings(plan);
               args.configuration("q", q);
               args.tangent("v", v);
               args.records<WholeBodySettings>("settings", settings);
               args.input("bounds", bounds, static_cast<int>(block_size<layouts_only::JointBounds>({nq, nv})));
               args.input("numbers", numbers, -1);
               args.input("warm_start", warm_start, active);
               if (!progress.is_none()) args.input("progress", progress, progress_size);
               args.output("q", {nq});
               args.output("v", {nv});
               args.output("errors", {n_tasks, 2});
               args.output("active", {active});
               args.output("info", {sizeof(WholeBodyInfo) / sizeof(double)});
               if (!progress.is_none()) args.output("progress", {progress_size});
           });
}

}  // namespace kinodyn
