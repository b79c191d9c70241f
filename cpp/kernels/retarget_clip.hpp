// Smooth joint positions over a clip, within the limits of positions and velocities; see retarget.cpp.
#pragma once

#include <string.h>

#include "core/model.hpp"
#include "core/retarget.hpp"

namespace kinodyn::KINODYN_TARGET {

// Solves (1 + s D^T D) x = a over time, D second differences: a banded Cholesky factorisation, made once for all rows.
class Smoother {
  public:
    Smoother(double strength, long n, double* memory) : n_(n), s_(strength), d_(memory), l1_(d_ + n), l2_(l1_ + n) {
        for (long t = 0; t < n; ++t) {
            const double below1 = t >= 1 ? off1(t - 1) : 0, below2 = t >= 2 ? s_ : 0;
            l2_[t] = t >= 2 ? below2 / d_[t - 2] : 0;
            l1_[t] = t >= 1 ? (below1 - (t >= 2 ? l2_[t] * l1_[t - 1] * d_[t - 2] : 0)) / d_[t - 1] : 0;
            d_[t] =
                diagonal(t) - (t >= 1 ? l1_[t] * l1_[t] * d_[t - 1] : 0) - (t >= 2 ? l2_[t] * l2_[t] * d_[t - 2] : 0);
        }
    }
    static long words(long n) { return 3 * n; }

    void run(double* x) const {
        if (s_ <= 0 || n_ < 3) return;
        for (long t = 1; t < n_; ++t) x[t] -= l1_[t] * x[t - 1] + (t >= 2 ? l2_[t] * x[t - 2] : 0);
        for (long t = 0; t < n_; ++t) x[t] /= d_[t];
        for (long t = n_ - 2; t >= 0; --t) x[t] -= l1_[t + 1] * x[t + 1] + (t + 2 < n_ ? l2_[t + 2] * x[t + 2] : 0);
    }

  private:
    // Entries of D^T D: rows of D are (1, -2, 1) at t = 0 ... n - 3.
    double diagonal(long t) const {
        double sum = 0;
        if (t <= n_ - 3) sum += 1;
        if (t >= 1 && t <= n_ - 2) sum += 4;
        if (t >= 2) sum += 1;
        return 1 + s_ * sum;
    }
    double off1(long t) const {  // between t and t + 1
        double sum = 0;
        if (t <= n_ - 3) sum -= 2;
        if (t >= 1 && t <= n_ - 2) sum -= 2;
        return s_ * sum;
    }
    const long n_;
    const double s_;
    double *d_, *l1_, *l2_;
};

// The sequence with steps of at most `step` that differs least from x, in the maximum norm: midway between the largest
// such sequence below x and the smallest above.
inline void limit_steps(double* x, long n, double step, double* upper) {
    memcpy(upper, x, sizeof(double) * static_cast<std::size_t>(n));
    for (long t = 1; t < n; ++t) {
        if (upper[t] < upper[t - 1] - step) upper[t] = upper[t - 1] - step;
        if (x[t] > x[t - 1] + step) x[t] = x[t - 1] + step;
    }
    for (long t = n - 2; t >= 0; --t) {
        if (upper[t] < upper[t + 1] - step) upper[t] = upper[t + 1] - step;
        if (x[t] > x[t + 1] + step) x[t] = x[t + 1] + step;
    }
    for (long t = 0; t < n; ++t) x[t] = 0.5 * (x[t] + upper[t]);
}

// Feasible joint positions near x + u, and the multipliers; and the smoothed base.
class ClipStep {
  public:
    ClipStep(const RetargetProblem& problem, double* memory)
        : p_(problem),
          joints_(problem.settings.smoothing, problem.frames, memory),
          base_(problem.settings.base_smoothing, problem.frames, memory + Smoother::words(problem.frames)),
          upper_(memory + 2 * Smoother::words(problem.frames)) {}
    static long words(long frames) { return 2 * Smoother::words(frames) + frames; }

    void run() const {
        const Model& model = *p_.model;
        for (const Body& body : model.bodies) {
            if (p_.dof_index[static_cast<std::size_t>(body.iv)] < 0) continue;
            if (body.kind == Kind::Free)
                smooth_base(body.iq);
            else if (dofs(body.kind) == 1)
                project(body.iq);
        }
    }

  private:
    void project(int iq) const {
        const double *x = p_.q + iq * p_.padded, low = p_.lower[iq], high = p_.upper[iq];
        double *z = p_.z + iq * p_.padded, *u = p_.u + iq * p_.padded;
        for (long t = 0; t < p_.frames; ++t) z[t] = x[t] + u[t];
        joints_.run(z);
        for (long t = 0; t < p_.frames; ++t) z[t] = z[t] < low ? low : z[t] > high ? high : z[t];
        limit_steps(z, p_.frames, p_.max_step[iq], upper_);
        for (long t = 0; t < p_.frames; ++t) u[t] += x[t] - z[t];
        pad(z), pad(u);
    }
    void smooth_base(int iq) const {
        for (int k = 0; k < 7; ++k) {
            double* z = p_.z + (iq + k) * p_.padded;
            memcpy(z, p_.q + (iq + k) * p_.padded, sizeof(double) * static_cast<std::size_t>(p_.frames));
            base_.run(z);
            pad(z);
        }
        double* r = p_.z + (iq + 3) * p_.padded;
        for (long t = 0; t < p_.padded; ++t) {
            double square = 0;
            for (int k = 0; k < 4; ++k) square += r[k * p_.padded + t] * r[k * p_.padded + t];
            const double scale = 1 / __builtin_sqrt(square);
            for (int k = 0; k < 4; ++k) r[k * p_.padded + t] *= scale;
        }
    }
    void pad(double* x) const {
        for (long t = p_.frames; t < p_.padded; ++t) x[t] = x[p_.frames - 1];
    }

    const RetargetProblem& p_;
    const Smoother joints_, base_;
    double* upper_;
};

}  // namespace kinodyn::KINODYN_TARGET
