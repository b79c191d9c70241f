// Whole-body inverse kinematics: the motion that achieves strictly prioritised tasks within limits, for one step
// or step by step until convergence. One state at a time.
//
// Inputs: q, velocity of the previous step, WholeBodySettings, JointBounds, blocks of all tasks, active bounds of the
// previous step, and, to resume a paused solve, its SolveProgress.
//
// Outputs: q, velocity, distance and angle error of each task at the start of the last step, bounds that the motion
// reaches and those that are active in each level (levels + 1, nv): 1 lower, -1 upper, 0 none; WholeBodyInfo, and the
// SolveProgress of a paused solve.
#include "kernels/whole_body_solve.hpp"

namespace kinodyn::KINODYN_TARGET {

struct WholeBody {
    static constexpr bool sparse = false;

    static long words(const Call& c) {
        return WholeBodyStep::words(c) + StepCheck::words(*c.model) + WholeBodySolve::words(c) + lanes;
    }

    static void run(Work<double>& w) {
        WholeBodyStep step(w);
        StepCheck check(step);
        WholeBodySolve solve(step, check);
        // aligned for lanes: memory is allocated in whole blocks from here on
        Memory memory = {w.free};
        step.take(memory);
        check.take(memory);
        solve.take(memory);
        solve.run();
    }
};

constexpr KernelEntry entries[] = {
    {"whole_body", run_each<WholeBody>},
};
extern const KernelList whole_body_kernels;
const KernelList whole_body_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
