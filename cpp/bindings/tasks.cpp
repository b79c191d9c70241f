#include "bindings/define.hpp"
#include "bindings/functions.hpp"

// the registry is compiled here only for the names of its fields
#define KINODYN_TARGET layouts_only
#define KINODYN_LANES 2
#include "tasks/registry.hpp"

namespace nb = nanobind;

namespace kinodyn {

void bind_tasks(nb::module_& m) {
    export_layouts<TaskEntry>();
    export_codes<TaskOutput>();
    CodesInfo kinds = {"task_kind", {}};
    layouts_only::Registry::for_layouts([&](const LayoutInfo& info) {
        add_layout(info);
        kinds.values.emplace_back(info.name, static_cast<int>(kinds.values.size()));
    });
    add_codes(kinds);
    add_constant("collision_limit_max_rows", layouts_only::CollisionLimit::max_rows);
    define(m, "task_rows", [](Args& args, Any q, Any v, Any entries, Any numbers, int rows, int output) {
        const Table<TaskEntry> table("entry", entries);
        args.all_frames();
        args.settings(TaskRowsPlan{table.begin(), static_cast<TaskOutput>(output)});
        args.configuration("q", q);
        args.tangent("v", v);
        args.input("numbers", numbers, -1);
        if (static_cast<TaskOutput>(output) == TaskOutput::Jacobian)
            args.output({rows, args.model().nv});
        else
            args.output({rows});
    });
}

}  // namespace kinodyn
