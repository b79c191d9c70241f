// All tasks and limits with rows. To add one, write its header and add it to Registry.
//
// A task has an error e(q) of some rows, and its Jacobian J is the rate at which velocities reduce it: J v = -de/dt for
// a target at rest. For a limit, e is the remaining margin. Each is a class, constructed for one state, with
//   Fields                 its inputs from Python (tasks/fields.hpp), with a BlockLayout
//   rows                   how many there are; 0: as many as the entry says; -1: one for each degree of freedom
//   distances              how many of the rows, the first, are lengths in metres, the others being angles; -1: all
//   error(e)               e, of `rows` numbers
//   columns(put)           calls put(i, column) to add `column` to column i of J
//   motion(rate, bias)     de/dt, and d2e/dt2 at joint accelerations of zero, the motion of the target included: with
//                          a target at rest, rate = -J v and bias = -(dJ/dt) v
#pragma once

#include "limits/collision.hpp"
#include "limits/com.hpp"
#include "tasks/com.hpp"
#include "tasks/gaze.hpp"
#include "tasks/momentum.hpp"
#include "tasks/point.hpp"
#include "tasks/pose.hpp"
#include "tasks/posture.hpp"
#include "tasks/rows.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class Task>
struct Type {
    using Class = Task;
};

template <class... Task>
struct TaskList {
    // Calls f(task, fields) with the task of an entry, at a state. `numbers`: those of all tasks.
    template <class F>
    static void visit(const RobotState& state, const TaskEntry& entry, const double* numbers, F&& f) {
        visit_fields(state.model, entry, numbers, [&](auto type, const auto& fields) {
            f(typename decltype(type)::Class(state, entry, fields), fields);
        });
    }

    // Calls f(Type<Task>, fields).
    template <class F>
    static void visit_fields(const Model& model, const TaskEntry& entry, const double* numbers, F&& f) {
        const TaskSizes sizes = {entry.rows, model.nq, model.nv};
        const double* own = numbers + entry.offset;
        std::int32_t kind = 0;
        static_cast<void>(
            (... || (entry.kind == kind++ && (f(Type<Task>{}, view_block<typename Task::Fields>(own, sizes)), true))));
    }

    template <class F>
    static void for_layouts(F&& f) {
        (f(describe_block<typename Task::Fields>()), ...);
    }
};

using Registry = TaskList<  //
    PoseTask,               //
    PointTask,              //
    ComTask,                //
    PostureTask,            //
    MomentumTask,           //
    GazeTask,               //
    RowsTask,               //
    ComLimit,               //
    CollisionLimit>;

// Whether e is a velocity error, as for a momentum, not a displacement.
template <class Task, class = void>
constexpr bool is_of_motion = false;
template <class Task>
constexpr bool is_of_motion<Task, std::enable_if_t<Task::of_motion>> = true;

// Whether a limit checks the end of a step.
template <class Task, class = void>
constexpr bool checks_steps = false;
template <>
inline constexpr bool checks_steps<CollisionLimit> = true;

// The number of rows of a task at run time.
template <class Task>
int rows_of(const TaskEntry& entry, const Model& model) {
    return Task::rows > 0 ? Task::rows : Task::rows < 0 ? model.nv : entry.rows;
}

}  // namespace kinodyn::KINODYN_TARGET
