#include "bindings/id_qp.hpp"

#include "bindings/args.hpp"
#include "bindings/layouts.hpp"
#include "core/dispatch.hpp"

// the structures of the kernel are compiled here only to learn the names of their fields
#define KINODYN_TARGET layouts_only
#define KINODYN_LANES 2
#include "kernels/id_qp.hpp"
#include "limits/joint_bounds.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;

// Rows of all tasks and of all limits, forces and inequalities of all contacts.
struct Counts {
    int task_rows = 0, limit_rows = 0, forces = 0, cone_rows = 0;
    Counts(const Table<TaskEntry>& tasks, const Table<ContactEntry>& contacts) {
        for (const TaskEntry& task : tasks) (task.inequality ? limit_rows : task_rows) += task.rows;
        for (const ContactEntry& contact : contacts) {
            forces += contact.directions;
            if (contact.touches) cone_rows += contact.cone_rows + 1;
        }
    }
};

nb::object id_qp(Any robot, Any q, Any v, Any settings, Any bounds, Any task_entries, Any task_numbers,
                 Any contact_entries, Any contact_numbers, Any warm_start, int levels) {
    Door door(robot);
    const Model& m = door.robot().model;
    const Table<TaskEntry> tasks("task_entries", task_entries);
    const Table<ContactEntry> contacts("contact_entries", contact_entries);
    const Counts counts(tasks, contacts);
    const IdQpPlan plan = {tasks.begin(), contacts.begin(), static_cast<int>(tasks.size()),
                           static_cast<int>(contacts.size()), levels};
    const int constraints = 2 * m.nv + counts.limit_rows + counts.cone_rows, active = (levels + 2) * constraints;
    door.everywhere();
    door.call().plan = &plan;
    door.configuration("q", q);
    door.tangent("v", v);
    door.input("settings", settings, sizeof(IdQpSettings) / sizeof(double));
    door.input("bounds", bounds, static_cast<int>(block_size<layouts_only::JointBounds>({m.nq, m.nv})));
    door.input("tasks", task_numbers, -1);
    door.input("contacts", contact_numbers, -1);
    door.input("warm_start", warm_start, active);
    for (const long size : {m.nv, counts.forces, m.nv, active, counts.task_rows, constraints, counts.forces,
                            static_cast<int>(sizeof(IdQpInfo) / sizeof(double))})
        door.output({size});
    return door.run(kernels().id_qp, nb::none());
}

}  // namespace

void bind_id_qp(nb::module_& m) {
    const auto any = nb::arg().none();
    export_layouts<IdQpSettings, IdQpInfo, ContactEntry>();
    export_block_layouts<layouts_only::ContactFields>();
    nb::list names;
    for (const char* name : id_qp_io::output_names) names.append(name);
    m.attr("id_qp_outputs") = nb::tuple(names);
    m.def("id_qp", &id_qp, any, any, any, any, any, any, any, any, any, any, nb::arg());
}

}  // namespace kinodyn
