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

// Calls act(t) for the packs of T in blocks that contain frames that move. Packs of float32 and of double belong to the
// same frames: the base of all that the iterations change is placed, and measured, in double.
template <class T, class F>
void each_moving(const RetargetProblem& problem, F&& act) {
    for (long block = 0; block < problem.padded; block += retarget_block) {
        bool moving = false;
        for (int i = 0; i < retarget_block; ++i) moving |= problem.moving[block + i];
        if (moving)
            for (long t = block; t < block + retarget_block; t += Lanes<T>::count) act(t);
        poll_interrupt();
    }
}

// Iterations towards the result are in float32, whose steps need not be exact; what is measured, and the base of the
// result, in double.
void retarget(const Call& call, long, long, Fault&) {
    const RetargetProblem& problem = *call.as<const RetargetProblem*>();
    const std::size_t steps = static_cast<std::size_t>(FrameStep<FloatPack>::words(problem)) * sizeof(FloatPack);
    const std::size_t exact = static_cast<std::size_t>(FrameStep<Pack>::words(problem)) * sizeof(Pack);
    char* memory = thread_scratch(steps + exact + ClipStep::bytes(problem.frames));
    FrameStep<FloatPack> step(problem, reinterpret_cast<FloatPack*>(memory));
    FrameStep<Pack> frame(problem, reinterpret_cast<Pack*>(memory + steps));
    const ClipStep clip(problem, reinterpret_cast<Pack*>(memory + steps + exact));
    for (int k = 0; k < problem.settings.iterations; ++k) {
        if (problem.settings.base_only) {
            each_moving<Pack>(problem, [&](long t) { frame.run(t); });
        } else {
            each_moving<FloatPack>(problem, [&](long t) { step.run(t); });
            clip.run();
        }
    }
    each_moving<Pack>(problem, [&](long t) { frame.measure(t); });
}

void retarget_rows(const Call& call, long, long, Fault&) {
    const ClearanceProblem& problem = *call.as<const ClearanceProblem*>();
    const std::size_t bytes = static_cast<std::size_t>(ClearanceRows::words(problem)) * sizeof(FloatPack);
    ClearanceRows rows(problem, reinterpret_cast<FloatPack*>(thread_scratch(bytes)));
    for (long k = 0; k < problem.count; k += float_lanes)
        rows.run(problem.frames + k,
                 static_cast<int>(problem.count - k < float_lanes ? problem.count - k : float_lanes));
}

}  // namespace

constexpr KernelEntry entries[] = {{"retarget", retarget}, {"retarget_rows", retarget_rows}};
extern const KernelList retarget_kernels;
const KernelList retarget_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
