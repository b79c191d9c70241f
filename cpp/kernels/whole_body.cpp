// Whole-body inverse kinematics: the motion that serves tasks in strict order of priority within limits, for one step
// or step by step until the robot is at rest. One state at a time.
//
// Inputs: q, velocity of the step before, WholeBodySettings, JointBounds, blocks of all tasks, active bounds of the
// step before, and, to continue a solve that pauses, its SolveProgress.
//
// Outputs: q, velocity, distance and angle missing of each task where the last step began, bounds that the motion
// reaches and those that are active in each level (levels + 1, nv): 1 lower, -1 upper, 0 none; WholeBodyInfo, and the
// SolveProgress of a solve that pauses.
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
        // aligned for lanes: memory is handed out in whole blocks from here on
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
