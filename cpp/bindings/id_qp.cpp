#include "bindings/define.hpp"
#include "bindings/functions.hpp"

// the kernel's structures are compiled here only for the names of their fields
#define KINODYN_TARGET layouts_only
#define KINODYN_LANES 2
#include "kernels/id_qp.hpp"
#include "limits/joint_bounds.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

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

}  // namespace

void bind_id_qp(nb::module_& m) {
    export_layouts<IdQpSettings, IdQpInfo, ContactEntry>();
    export_block_layouts<layouts_only::ContactFields, IdQpConstraints, WorkingSets>();
    export_codes<layouts_only::JointLimit>();
    add_constant("no_limit", layouts_only::no_limit);
    define(m, "id_qp",
           [](Args& args, Any q, Any v, Any settings, Any bounds, Any task_entries, Any task_numbers,
              Any contact_entries, Any contact_numbers, Any warm_start, int levels) {
               const int nq = args.model().nq, nv = args.model().nv;
               const Table<TaskEntry> tasks("task_entries", task_entries);
               const Table<ContactEntry> contacts("contact_entries", contact_entries);
               const Counts counts(tasks, contacts);
               const int constraints =
                   static_cast<int>(block_size<IdQpConstraints>({nv, counts.limit_rows, counts.cone_rows}));
               const int active = static_cast<int>(block_size<WorkingSets>({levels, constraints}));
               args.all_frames();
               args.settings(IdQpPlan{tasks.begin(), contacts.begin(), static_cast<int>(tasks.size()),
                                      static_cast<int>(contacts.size()), levels});
               args.configuration("q", q);
               args.tangent("v", v);
               args.records<IdQpSettings>("settings", settings);
               args.input("bounds", bounds, static_cast<int>(block_size<layouts_only::JointBounds>({nq, nv})));
               args.input("tasks", task_numbers, -1);
               args.input("contacts", contact_numbers, -1);
               args.input("warm_start", warm_start, active);
               args.output("acceleration", {nv});
               args.output("forces", {counts.forces});
               args.output("torque", {nv});
               args.output("active", {active});
               args.output("task_residuals", {counts.task_rows});
               args.output("excess", {constraints});
               args.output("contact_residuals", {counts.forces});
               args.output("joint_limits", {nv});
               args.output("info", {sizeof(IdQpInfo) / sizeof(double)});
           });
}

}  // namespace kinodyn
