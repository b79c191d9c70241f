// Whole-body motion of a clip by the alternating direction method of multipliers (S. Boyd et al., 2011, section 3).
//
// Variables: configurations x_t of all frames, and feasible joint positions z_t.
// Objective: weighted distances of points of the robot to their targets, frame by frame; posture; smoothness of z.
// Constraints: x = z; z within joint limits and velocity limits.
//
// The x-step is one Gauss-Newton step of each frame, whose frames do not depend on each other: they are solved in the
// lanes of packs. The z-step couples frames, but not joints. Inequality rows (distances of links) and points below the
// ground are penalties in the x-step.
#include "core/interrupts.hpp"
#include "kernels/retarget_clip.hpp"
#include "kernels/retarget_frames.hpp"
#include "kernels/retarget_rows.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace {

void retarget(const Call& call, long, long, Fault&) {
    const RetargetProblem& problem = *call.as<const RetargetProblem*>();
    const std::size_t packs = static_cast<std::size_t>(FrameStep::words(problem)) * sizeof(Pack);
    char* memory = thread_scratch(packs + ClipStep::bytes(problem.frames));
    FrameStep frame(problem, reinterpret_cast<Pack*>(memory));
    const ClipStep clip(problem, reinterpret_cast<Pack*>(memory + packs));
    const auto each_moving = [&](auto&& act) {
        for (long t = 0; t < problem.padded; t += lanes) {
            bool moving = false;
            for (int i = 0; i < lanes; ++i) moving |= problem.moving[t + i];
            if (moving) act(t);
            poll_interrupt();
        }
    };
    for (int k = 0; k < problem.settings.iterations; ++k) {
        each_moving([&](long t) { frame.run(t); });
        if (!problem.settings.base_only) clip.run();
    }
    each_moving([&](long t) { frame.measure(t); });
}

void retarget_rows(const Call& call, long, long, Fault&) {
    const ClearanceProblem& problem = *call.as<const ClearanceProblem*>();
    const std::size_t bytes = static_cast<std::size_t>(ClearanceRows::words(problem)) * sizeof(Pack);
    ClearanceRows rows(problem, reinterpret_cast<Pack*>(thread_scratch(bytes)));
    for (long k = 0; k < problem.count; k += lanes)
        rows.run(problem.frames + k, static_cast<int>(problem.count - k < lanes ? problem.count - k : lanes));
}

}  // namespace

constexpr KernelEntry entries[] = {{"retarget", retarget}, {"retarget_rows", retarget_rows}};
extern const KernelList retarget_kernels;
const KernelList retarget_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
