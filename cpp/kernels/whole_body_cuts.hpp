// Limits that are checked at the end of a step: a step that violates them is solved again with additional rows,
// and shortened if that does not help.
#pragma once

#include "kernels/whole_body_step.hpp"

namespace kinodyn::KINODYN_TARGET {

class StepCheck {
  public:
    static long words(const Model& model) { return padded(model.nq); }

    explicit StepCheck(WholeBodyStep& step) : step_(step), model_(step.model) {}

    void take(Memory& memory) { next_ = memory.take(model_.nq); }

    // Corrects the step until it satisfies the limits, as far as the joint bounds allow; returns the iterations of
    // the active set that this took. Where additional rows do not help, the step is shortened; where that does not
    // help, the joints that move a violated pair are held, so that the others can move. If no step is left, it is
    // `blocked`.
    int keep_limits(const WholeBodyStep::Request& request) {
        constexpr int with_rows = 3, with_held_joints = 3;
        int iterations = 0;
        blocked_ = false;
        for (int k = 0; k < with_rows; ++k) {
            if (!leads_too_far()) return iterations;
            iterations += solve_again(request);
        }
        if (shorten(3)) return iterations;
        for (int k = 0; k < with_held_joints; ++k) {
            hold_joints();
            iterations += solve_again(request);
            if (!leads_too_far()) return iterations;
        }
        blocked_ = !shorten(5);
        if (blocked_) step_.shorten(0);
        return iterations;
    }
    bool blocked() const { return blocked_; }

  private:
    int solve_again(const WholeBodyStep::Request& request) {
        step_.warm_start = step_.w.out[whole_body_io::ActiveBounds];
        step_.solve(request);
        return step_.hierarchy.iterations();
    }

    // Halves the step until it satisfies the limits; false if it does not after `times`.
    bool shorten(int times) {
        for (; leads_too_far(); --times) {
            if (times == 0) return false;
            step_.shorten(0.5);
        }
        return true;
    }

    // Poses alone.
    void place_bodies(const double* at) {
        World<double>& world = step_.world;
        joint_angles(model_, at, world.angles);
        for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i) {
            const Body& body = model_.bodies[i];
            place(body, parent_of(world.at, body), at, world.angles[i], world.at[i]);
            if (i == 0) world.origin = world.at[0].p;
            if (body.parent < 0) world.at[i].p -= world.origin;
        }
    }

    // Adds rows for the limits that the end of the step violates. The robot is at q.
    bool leads_too_far() {
        World<double>& world = step_.world;
        const double *q = step_.q, *x = step_.hierarchy.x();
        step_.constraints.clamp(step_.hierarchy.x());
        for (int k = 0; k < model_.nq; ++k) next_[k] = q[k];
        for (const Body& body : model_.bodies) integrate_joint(body, q, x, 1, next_);
        bool any = false;
        for (int k = 0; k < step_.cuts.count; ++k) step_.cuts.cuts[k].violated = false;
        const auto place_before = [&] { place_bodies(q); };
        for (int k = 0; k < step_.plan.n_tasks; ++k) {
            const TaskEntry& entry = step_.plan.tasks[k];
            Registry::visit_fields(model_, entry, step_.w.in[whole_body_io::Tasks], [&](auto type, const auto& fields) {
                using Task = typename decltype(type)::Class;
                if constexpr (checks_steps<Task>) {
                    place_bodies(next_);
                    any |= Task::add_cuts(model_, entry, fields, world, place_before, step_.cuts);
                }
            });
        }
        return any;
    }

    // Holds the joints between the parts that the last check found too close.
    void hold_joints() {
        place_bodies(step_.q);
        for (int k = 0; k < step_.cuts.count; ++k) {
            const CuttingPlanes::Cut& cut = step_.cuts.cuts[k];
            if (!cut.violated) continue;
            Registry::visit_fields(
                model_, *cut.limit, step_.w.in[whole_body_io::Tasks], [&](auto type, const auto& fields) {
                    using Task = typename decltype(type)::Class;
                    if constexpr (checks_steps<Task>)
                        Task::each_joint(model_, fields, step_.world, cut.spheres, [&](int iv) { step_.held[iv] = 1; });
                });
        }
    }

    WholeBodyStep& step_;
    const Model& model_;
    double* next_ = nullptr;
    bool blocked_ = false;
};

}  // namespace kinodyn::KINODYN_TARGET
