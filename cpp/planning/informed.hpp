// Samples through which a path shorter than a bound can lead: an ellipsoid whose foci are the start and a goal
// (J. Gammell, S. Srinivasa, T. Barfoot, "Informed RRT*", IROS 2014).
#pragma once

#include "planning/problem.hpp"

namespace kinodyn::KINODYN_TARGET {

class InformedSampler {
  public:
    explicit InformedSampler(const PlanningProblem& problem) : p_(problem), dim_(problem.dim) {}

    // `random` returns numbers in [0, 1). False if there is no bound, or no path can be shorter.
    template <class Random>
    bool sample(Random&& random, float* q) {
        if (!(p_.length_bound < __builtin_inf()) || !choose_goal(random)) return false;
        for (int attempt = 0; attempt < max_attempts; ++attempt) {
            unit_ball(random, q);
            to_ellipsoid(q);
            if (within_bounds(q)) return true;
        }
        for (int k = 0; k < dim_; ++k) {
            if (q[k] < p_.lower[k]) q[k] = p_.lower[k];
            if (q[k] > p_.upper[k]) q[k] = p_.upper[k];
        }
        return true;
    }

  private:
    static constexpr int max_attempts = 8;

    // Of the goals nearer than the bound, the first from a random one on.
    template <class Random>
    bool choose_goal(Random&& random) {
        const int first = static_cast<int>(random() * static_cast<float>(p_.n_goals));
        for (int i = 0; i < p_.n_goals; ++i) {
            const int goal = (first + i) % p_.n_goals;
            float sum = 0;
            for (int k = 0; k < dim_; ++k) {
                const float a = p_.start_tree.at(0, k), b = p_.goal_tree.at(goal, k);
                axis_[k] = b - a, centre_[k] = 0.5f * (a + b), sum += (b - a) * (b - a);
            }
            distance_ = __builtin_sqrtf(sum);
            if (distance_ < static_cast<float>(p_.length_bound)) return true;
        }
        return false;
    }

    // Uniform in the unit ball: a normal distribution has no preferred direction (G. Box, M. Muller, 1958).
    template <class Random>
    void unit_ball(Random&& random, float* u) {
        constexpr float turn = 6.28318530718f;
        float sum = 0;
        for (int k = 0; k < dim_; ++k) {
            u[k] = __builtin_sqrtf(-2 * __builtin_logf(1 - random())) * __builtin_cosf(turn * random());
            sum += u[k] * u[k];
        }
        const float radius = __builtin_powf(random(), 1.0f / static_cast<float>(dim_));
        const float scale = sum > 0 ? radius / __builtin_sqrtf(sum) : 0.0f;
        for (int k = 0; k < dim_; ++k) u[k] *= scale;
    }

    // Stretches the ball along its first axis, reflects that axis to the direction of the goal, and moves the centre.
    void to_ellipsoid(float* q) {
        const float bound = static_cast<float>(p_.length_bound);
        const float across = 0.5f * __builtin_sqrtf(bound * bound - distance_ * distance_);
        for (int k = 0; k < dim_; ++k) q[k] *= k == 0 ? 0.5f * bound : across;
        if (distance_ > 0) reflect(q);
        for (int k = 0; k < dim_; ++k) q[k] += centre_[k];
    }

    // Householder reflection that takes the first unit vector to the axis.
    void reflect(float* q) {
        float norm = 0, along = 0;
        for (int k = 0; k < dim_; ++k) {
            const float w = (k == 0 ? 1.0f : 0.0f) - axis_[k] / distance_;
            norm += w * w, along += w * q[k];
        }
        if (norm < 1e-12f) return;
        for (int k = 0; k < dim_; ++k) q[k] -= 2 * along / norm * ((k == 0 ? 1.0f : 0.0f) - axis_[k] / distance_);
    }

    bool within_bounds(const float* q) const {
        for (int k = 0; k < dim_; ++k)
            if (q[k] < p_.lower[k] || q[k] > p_.upper[k]) return false;
        return true;
    }

    const PlanningProblem& p_;
    int dim_;
    float axis_[max_planned_dofs], centre_[max_planned_dofs], distance_ = 0;
};

}  // namespace kinodyn::KINODYN_TARGET
