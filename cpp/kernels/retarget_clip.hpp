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
    Smoother(double strength, long n, double* memory)
        : n_(n), s_(strength), d_(memory), l1_(d_ + n), l2_(l1_ + n), inverse_(l2_ + n) {
        for (long t = 0; t < n; ++t) {
            const double below1 = t >= 1 ? off1(t - 1) : 0, below2 = t >= 2 ? s_ : 0;
            l2_[t] = t >= 2 ? below2 / d_[t - 2] : 0;
            l1_[t] = t >= 1 ? (below1 - (t >= 2 ? l2_[t] * l1_[t - 1] * d_[t - 2] : 0)) / d_[t - 1] : 0;
            d_[t] =
                diagonal(t) - (t >= 1 ? l1_[t] * l1_[t] * d_[t - 1] : 0) - (t >= 2 ? l2_[t] * l2_[t] * d_[t - 2] : 0);
            inverse_[t] = 1 / d_[t];
        }
    }
    static long words(long n) { return 4 * n; }

    // Solves for `width` rows at once, whose entries are next to each other: their recurrences do not wait for each
    // other.
    template <int width, class T>
    void run(T* x) const {
        if (s_ <= 0 || n_ < 3) return;
        for (int k = 0; k < width; ++k) x[width + k] -= l1_[1] * x[k];
        for (long t = 2; t < n_; ++t) {
            T* const own = x + t * width;
            for (int k = 0; k < width; ++k) own[k] -= l1_[t] * own[k - width] + l2_[t] * own[k - 2 * width];
        }
        for (long t = 0; t < n_; ++t)
            for (int k = 0; k < width; ++k) x[t * width + k] *= inverse_[t];
        for (int k = 0; k < width; ++k) x[(n_ - 2) * width + k] -= l1_[n_ - 1] * x[(n_ - 1) * width + k];
        for (long t = n_ - 3; t >= 0; --t) {
            T* const own = x + t * width;
            for (int k = 0; k < width; ++k) own[k] -= l1_[t + 1] * own[k + width] + l2_[t + 2] * own[k + 2 * width];
        }
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
    double *d_, *l1_, *l2_, *inverse_;
};

// The sequence with steps of at most `step` that differs least from x, in the maximum norm: midway between the largest
// such sequence below x and the smallest above.
// `width` sequences are next to each other, as in Smoother.
template <int width, class T>
inline void limit_steps(T* x, long n, const T* step, T* upper) {
    using L = Lanes<T>;
    for (long t = 0; t < n * width; ++t) upper[t] = x[t];
    for (long t = 1; t < n; ++t)
        for (int k = 0; k < width; ++k) {
            const long i = t * width + k, before = i - width;
            upper[i] = L::larger(upper[i], upper[before] - step[k]);
            x[i] = L::smaller(x[i], x[before] + step[k]);
        }
    for (long t = n - 2; t >= 0; --t)
        for (int k = 0; k < width; ++k) {
            const long i = t * width + k, after = i + width;
            upper[i] = L::larger(upper[i], upper[after] - step[k]);
            x[i] = L::smaller(x[i], x[after] + step[k]);
        }
    for (long t = 0; t < n * width; ++t) x[t] = 0.5 * (x[t] + upper[t]);
}

// Feasible joint positions near x + u, and the multipliers; and the smoothed base. Joints do not depend on each other:
// they are in lanes.
class ClipStep {
  public:
    ClipStep(const RetargetProblem& problem, Pack* memory)
        : p_(problem),
          x_(memory),
          upper_(x_ + width * problem.frames),
          factors_(reinterpret_cast<double*>(upper_ + width * problem.frames)),
          joints_(problem.settings.smoothing, problem.frames, factors_),
          base_(problem.settings.base_smoothing, problem.frames, factors_ + Smoother::words(problem.frames)) {
        for (long t = 0; t < problem.frames; ++t) all_moving_ = all_moving_ && problem.moving[t];
    }
    static std::size_t bytes(long frames) {
        return static_cast<std::size_t>(2 * width * frames) * sizeof(Pack) +
               static_cast<std::size_t>(2 * Smoother::words(frames)) * sizeof(double);
    }

    void run() const {
        int coordinates[together], count = 0;
        for (const auto& joint : p_.joints) {
            coordinates[count++] = joint.iq;
            if (count == together) project(coordinates, count), count = 0;
        }
        if (count > 0) project(coordinates, count);
        for (const Body& body : p_.model->bodies)
            if (body.kind == Kind::Free && p_.dof_index[static_cast<std::size_t>(body.iv)] >= 0) smooth_base(body.iq);
    }

  private:
    static constexpr int width = 4, together = width * lanes;  // packs, and joints, that are processed at once

    void project(const int* coordinates, int count) const {
        Pack low[width], high[width], step[width];
        double* const x = reinterpret_cast<double*>(x_);
        for (int i = 0; i < together; ++i) {
            const int iq = coordinates[i < count ? i : 0];
            const int k = i / lanes, lane = i % lanes;
            low[k].v[lane] = p_.lower[iq], high[k].v[lane] = p_.upper[iq], step[k].v[lane] = p_.max_step[iq];
            const double *q = p_.q + iq * p_.padded, *u = p_.u + iq * p_.padded;
            for (long t = 0; t < p_.frames; ++t) x[t * together + i] = q[t] + u[t];
        }
        joints_.run<width>(x_);
        for (long t = 0; t < p_.frames; ++t)
            for (int k = 0; k < width; ++k)
                x_[t * width + k] = L::larger(low[k], L::smaller(high[k], x_[t * width + k]));
        if (!all_moving_) keep_others(coordinates, count);
        limit_steps<width>(x_, p_.frames, step, upper_);
        for (int i = 0; i < count; ++i) {
            const long row = coordinates[i] * p_.padded;
            const double* q = p_.q + row;
            double *z = p_.z + row, *u = p_.u + row;
            for (long t = 0; t < p_.frames; ++t) {
                z[t] = x[t * together + i];
                if (p_.moving[t]) u[t] += q[t] - z[t];
            }
            pad(z), pad(u);
        }
    }
    // Frames that do not move keep their feasible positions, unless steps from those that do would be too long.
    void keep_others(const int* coordinates, int count) const {
        double* const x = reinterpret_cast<double*>(x_);
        for (int i = 0; i < count; ++i) {
            const double* z = p_.z + coordinates[i] * p_.padded;
            for (long t = 0; t < p_.frames; ++t)
                if (!p_.moving[t]) x[t * together + i] = z[t];
        }
    }
    void smooth_base(int iq) const {
        for (int first = 0; first < 7; first += lanes) {
            const int count = 7 - first < lanes ? 7 - first : lanes;
            for (int i = 0; i < lanes; ++i) {
                const double* x = p_.q + (iq + first + (i < count ? i : 0)) * p_.padded;
                for (long t = 0; t < p_.frames; ++t) x_[t].v[i] = x[t];
            }
            base_.run<1>(x_);
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
    bool all_moving_ = true;
};

}  // namespace kinodyn::KINODYN_TARGET
