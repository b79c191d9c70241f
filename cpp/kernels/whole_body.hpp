// Inputs and outputs of the kernel whole_body.
#pragma once

#include "limits/joint_bounds.hpp"
#include "tasks/fields.hpp"

namespace kinodyn {

struct WholeBodyPlan {
    const TaskEntry* tasks;  // tasks and limits with rows, in the order of their levels
    int n_tasks, levels;

    // Rows of all limits.
    int inequalities() const {
        int rows = 0;
        for (int k = 0; k < n_tasks; ++k) rows += tasks[k].inequality ? tasks[k].rows : 0;
        return rows;
    }

    // The warm start and the active constraints are tables of one row for each level after a first one, for the step
    // as a whole, with a column for each joint coordinate, followed by one for each row of a limit. Entries are 1 (at
    // the lower bound), -1 (at the upper bound) or 0. In the first row, the columns of limits have labels, from which
    // the next step recognises rows of limits that have changed places; 0 for unused rows. After the table follows what
    // limits remember.
    int table_width(int nv) const { return nv + inequalities(); }
    int table_size(int nv) const { return (levels + 1) * table_width(nv); }
    int warm_start_size(int nv) const { return table_size(nv) + memory_before(n_tasks); }
    // Numbers that the limits before a task remember.
    int memory_before(int task) const {
        int numbers = 0;
        for (int k = 0; k < task; ++k) numbers += tasks[k].memory;
        return numbers;
    }
};

namespace whole_body_io {
enum Input : int { Configuration, Velocity, Settings, Bounds, Tasks, WarmStart, ProgressBefore, n_inputs };
enum Output : int { NextConfiguration, StepVelocity, Errors, ActiveBounds, Info, Progress, n_outputs };
}  // namespace whole_body_io

struct WholeBodySettings {
    double dt;         // [s]
    double damping;    // per square of the error
    double max_steps;  // 1: a single step; more: steps until convergence
    double rest;       // largest motion [rad, m] in one step that counts as converged
    double pausing;    // 1: returns after each step of a solve, for rows computed in Python

    static constexpr auto layout() {
        using S = WholeBodySettings;
        return named("whole_body_settings", field("dt", &S::dt), field("damping", &S::damping),
                     field("max_steps", &S::max_steps), field("rest", &S::rest), field("pausing", &S::pausing));
    }
};

struct WholeBodyInfo {
    double steps, iterations;  // iterations: of the active set
    double at_rest, done;      // done: no more steps are needed or allowed

    static constexpr auto layout() {
        using I = WholeBodyInfo;
        return named("whole_body_info", field("steps", &I::steps), field("iterations", &I::iterations),
                     field("at_rest", &I::at_rest), field("done", &I::done));
    }
};

namespace KINODYN_TARGET {

// State of a solve between its steps.
struct SolveState {
    double steps, iterations, at_rest, done;  // as in WholeBodyInfo
    double moved;                             // whether q is one step away from the last accepted configuration
    double largest;                           // motion of that step
    double trust;                             // size of the trust region, as a fraction of the longest step
    double level_fraction;                    // weight of a level relative to the one above
    double tested_level;                      // next level, counted from 1, to be tested for convergence; 0: none
    double probing;                           // whether q is a trial step away from `tested`
    double last;                              // whether no step follows, or the last one was too short to matter

    static constexpr auto layout() {
        using S = SolveState;
        return named("solve_state", field("steps", &S::steps), field("iterations", &S::iterations),
                     field("at_rest", &S::at_rest), field("done", &S::done), field("moved", &S::moved),
                     field("largest", &S::largest), field("trust", &S::trust),
                     field("level_fraction", &S::level_fraction), field("tested_level", &S::tested_level),
                     field("probing", &S::probing), field("last", &S::last));
    }
};

// Squared residual of a level: now, after the motion of the levels above (if it is required), and after the step as
// predicted; the first and the last also for the previous step.
struct LevelProgress {
    double now, above, predicted, before, predicted_before;
    double tested;  // at the configuration tested for convergence
    double unit;    // of weighted errors, as they were at the start
    double limit;   // whether it is a limit, whose weight is at least that of the level that it precedes
};

struct SolveProgressSizes {
    std::int32_t levels, nq;

    static constexpr auto layout() {
        using S = SolveProgressSizes;
        return named("solve_progress_sizes", field("levels", &S::levels), field("nq", &S::nq));
    }
};

struct SolveProgress {
    const SolveState* state;
    const double* levels;    // LevelProgress of each
    const double* accepted;  // the last accepted configuration
    const double* tested;    // the configuration tested for convergence

    using Sizes = SolveProgressSizes;
    static constexpr auto layout() {
        using P = SolveProgress;
        constexpr int level = sizeof(LevelProgress) / sizeof(double);
        return named("solve_progress", record(&P::state), array("levels", &P::levels, &Sizes::levels, level),
                     array("accepted", &P::accepted, &Sizes::nq), array("tested", &P::tested, &Sizes::nq));
    }
};

}  // namespace KINODYN_TARGET

}  // namespace kinodyn
