// What the kernel whole_body takes and gives.
#pragma once

#include "limits/joint_bounds.hpp"
#include "tasks/fields.hpp"

namespace kinodyn {

struct WholeBodyPlan {
    const TaskEntry* tasks;  // tasks and limits with rows, in the order of their levels
    int n_tasks, levels;
};

namespace whole_body_io {
enum Input : int { Configuration, Velocity, Settings, Bounds, Tasks, WarmStart, ProgressBefore, n_inputs };
enum Output : int { NextConfiguration, StepVelocity, Errors, ActiveBounds, Info, Progress, n_outputs };
}  // namespace whole_body_io

struct WholeBodySettings {
    double dt;         // [s]
    double damping;    // per square of the error
    double max_steps;  // 1: one step; more: steps until the robot is at rest
    double rest;       // motion [rad, m] in one step that counts as rest
    double pausing;    // 1: returns after each step of a solve, for rows that Python computes
};
template <>
struct Layout<WholeBodySettings> {
    static constexpr const char* name = "whole_body_settings";
    static constexpr auto fields() {
        using S = WholeBodySettings;
        return std::make_tuple(field("dt", &S::dt), field("damping", &S::damping), field("max_steps", &S::max_steps),
                               field("rest", &S::rest), field("pausing", &S::pausing));
    }
};

struct WholeBodyInfo {
    double steps, iterations;  // iterations: of the active set
    double at_rest, done;      // done: no more steps are needed, or allowed
};
template <>
struct Layout<WholeBodyInfo> {
    static constexpr const char* name = "whole_body_info";
    static constexpr auto fields() {
        using I = WholeBodyInfo;
        return std::make_tuple(field("steps", &I::steps), field("iterations", &I::iterations),
                               field("at_rest", &I::at_rest), field("done", &I::done));
    }
};

namespace KINODYN_TARGET {

// How far a solve has come, between its steps.
struct SolveState {
    double steps, iterations, at_rest, done;  // as in WholeBodyInfo
    double moved;                             // whether q is a step away from the last configuration that was accepted
    double largest;                           // motion of that step
    double trust;                             // fraction of the longest step that may be trusted
    double level_share;                       // what a level counts beside the one above
    double judging;                           // level, counted from 1, of which rest is to be judged next; 0: none
    double probing;                           // whether q is a trial step away from `judged`
    double last;                              // after which there are no more steps
};

// What a level misses, squared: now, after the motion of the levels above (if it is required), and after the step as
// predicted; the first and the last also for the step before.
struct LevelProgress {
    double now, above, predicted, before, predicted_before;
    double judged;  // now, where rest is judged
    double unit;    // of weighted errors, as they were at the start
    double limit;   // whether it is a limit, which counts no less than the level that it precedes
};

struct SolveProgressSizes {
    std::int32_t levels, nq;
};
struct SolveProgress {
    const SolveState* state;
    const double* levels;    // LevelProgress of each
    const double* accepted;  // the last configuration that was accepted
    const double* judged;    // the configuration of which rest is judged
};

}  // namespace KINODYN_TARGET

template <>
struct Layout<KINODYN_TARGET::SolveState> {
    static constexpr const char* name = "solve_state";
    static constexpr auto fields() {
        using S = KINODYN_TARGET::SolveState;
        return std::make_tuple(field("steps", &S::steps), field("iterations", &S::iterations),
                               field("at_rest", &S::at_rest), field("done", &S::done), field("moved", &S::moved),
                               field("largest", &S::largest), field("trust", &S::trust),
                               field("level_share", &S::level_share), field("judging", &S::judging),
                               field("probing", &S::probing), field("last", &S::last));
    }
};
template <>
struct Layout<KINODYN_TARGET::SolveProgressSizes> {
    static constexpr const char* name = "solve_progress_sizes";
    static constexpr auto fields() {
        using S = KINODYN_TARGET::SolveProgressSizes;
        return std::make_tuple(field("levels", &S::levels), field("nq", &S::nq));
    }
};
template <>
struct BlockLayout<KINODYN_TARGET::SolveProgress> {
    static constexpr const char* name = "solve_progress";
    using Sizes = KINODYN_TARGET::SolveProgressSizes;
    static constexpr auto parts() {
        using P = KINODYN_TARGET::SolveProgress;
        constexpr int level = sizeof(KINODYN_TARGET::LevelProgress) / sizeof(double);
        return std::make_tuple(record(&P::state), array("levels", &P::levels, &Sizes::levels, level),
                               array("accepted", &P::accepted, &Sizes::nq), array("judged", &P::judged, &Sizes::nq));
    }
};

}  // namespace kinodyn
