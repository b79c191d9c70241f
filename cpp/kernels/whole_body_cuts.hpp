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
    // the active set that this took.
    int keep_limits(const WholeBodyStep::Request& request) {
        constexpr int attempts = 4, halvings = 8;
        int iterations = 0;
        for (int k = 0; k < attempts; ++k) {
            if (!leads_too_far()) return iterations;
            if (k + 1 == attempts) break;
            step_.warm_start = step_.w.out[whole_body_io::ActiveBounds];
            step_.solve(request);
            iterations += step_.hierarchy.iterations();
        }
        for (int k = 0; k < halvings; ++k) {
            const double share = k + 1 < halvings ? 0.5 : 0;
            for (long i = 0; i < step_.n; ++i) step_.hierarchy.x()[i] *= share;
            place_bodies(step_.q);
            if (!leads_too_far()) break;
        }
        return iterations;
    }

  private:
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

    WholeBodyStep& step_;
    const Model& model_;
    double* next_ = nullptr;
};

}  // namespace kinodyn::KINODYN_TARGET
