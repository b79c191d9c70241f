// Smooth joint positions over a clip, within the limits of positions and velocities; see retarget.cpp.
#pragma once

#include <string.h>

#include "core/model.hpp"
#include "core/retarget.hpp"
#include "kernels/batch.hpp"

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

    template <class T>
    void run(T* x) const {
        if (s_ <= 0 || n_ < 3) return;
        x[1] -= l1_[1] * x[0];
        for (long t = 2; t < n_; ++t) x[t] -= l1_[t] * x[t - 1] + l2_[t] * x[t - 2];
        for (long t = 0; t < n_; ++t) x[t] *= 1 / d_[t];
        x[n_ - 2] -= l1_[n_ - 1] * x[n_ - 1];
        for (long t = n_ - 3; t >= 0; --t) x[t] -= l1_[t + 1] * x[t + 1] + l2_[t + 2] * x[t + 2];
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
template <class T>
inline void limit_steps(T* x, long n, const T& step, T* upper) {
    using L = Lanes<T>;
    for (long t = 0; t < n; ++t) upper[t] = x[t];
    for (long t = 1; t < n; ++t) {
        upper[t] = L::larger(upper[t], upper[t - 1] - step);
        x[t] = L::smaller(x[t], x[t - 1] + step);
    }
    for (long t = n - 2; t >= 0; --t) {
        upper[t] = L::larger(upper[t], upper[t + 1] - step);
        x[t] = L::smaller(x[t], x[t + 1] + step);
    }
    for (long t = 0; t < n; ++t) x[t] = 0.5 * (x[t] + upper[t]);
}

// Feasible joint positions near x + u, and the multipliers; and the smoothed base. Joints do not depend on each other:
// they are in lanes.
class ClipStep {
  public:
    ClipStep(const RetargetProblem& problem, Pack* memory)
        : p_(problem),
          x_(memory),
          upper_(x_ + problem.frames),
          factors_(reinterpret_cast<double*>(upper_ + problem.frames)),
          joints_(problem.settings.smoothing, problem.frames, factors_),
          base_(problem.settings.base_smoothing, problem.frames, factors_ + Smoother::words(problem.frames)) {}
    static std::size_t bytes(long frames) {
        return static_cast<std::size_t>(2 * frames) * sizeof(Pack) +
               static_cast<std::size_t>(2 * Smoother::words(frames)) * sizeof(double);
    }

    void run() const {
        int coordinates[lanes], count = 0, last = -1;
        for (const Body& body : p_.model->bodies) {
            // joints that follow another one share its coordinate
            if (p_.dof_index[static_cast<std::size_t>(body.iv)] < 0 || body.iv <= last) continue;
            last = body.iv;
            if (body.kind == Kind::Free) smooth_base(body.iq);
            if (dofs(body.kind) != 1) continue;
            coordinates[count++] = body.iq;
            if (count == lanes) project(coordinates, count), count = 0;
        }
        if (count > 0) project(coordinates, count);
    }

  private:
    void project(const int* coordinates, int count) const {
        Pack low = 0.0, high = 0.0, step = 0.0;
        for (int i = 0; i < lanes; ++i) {
            const int iq = coordinates[i < count ? i : 0];
            low.v[i] = p_.lower[iq], high.v[i] = p_.upper[iq], step.v[i] = p_.max_step[iq];
            const double *x = p_.q + iq * p_.padded, *u = p_.u + iq * p_.padded;
            for (long t = 0; t < p_.frames; ++t) x_[t].v[i] = x[t] + u[t];
        }
        joints_.run(x_);
        for (long t = 0; t < p_.frames; ++t) x_[t] = L::larger(low, L::smaller(high, x_[t]));
        limit_steps(x_, p_.frames, step, upper_);
        for (int i = 0; i < count; ++i) {
            const long row = coordinates[i] * p_.padded;
            const double* x = p_.q + row;
            double *z = p_.z + row, *u = p_.u + row;
            for (long t = 0; t < p_.frames; ++t) z[t] = x_[t].v[i], u[t] += x[t] - z[t];
            pad(z), pad(u);
        }
    }
    void smooth_base(int iq) const {
        for (int first = 0; first < 7; first += lanes) {
            const int count = 7 - first < lanes ? 7 - first : lanes;
            for (int i = 0; i < lanes; ++i) {
                const double* x = p_.q + (iq + first + (i < count ? i : 0)) * p_.padded;
                for (long t = 0; t < p_.frames; ++t) x_[t].v[i] = x[t];
            }
            base_.run(x_);
            for (int i = 0; i < count; ++i) {
                double* z = p_.z + (iq + first + i) * p_.padded;
                for (long t = 0; t < p_.frames; ++t) z[t] = x_[t].v[i];
                pad(z);
            }
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

    using L = Lanes<Pack>;
    const RetargetProblem& p_;
    Pack *x_, *upper_;
    double* factors_;
    const Smoother joints_, base_;
};

}  // namespace kinodyn::KINODYN_TARGET
