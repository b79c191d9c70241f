// Constraints of a controller: bounds of joint accelerations, of torques, of other limits and of contact forces, all of
// them functions of x = (a, scaled forces).
#pragma once

#include "limits/joint_bounds.hpp"
#include "solver/objective.hpp"

namespace kinodyn::KINODYN_TARGET {

// Rows: accelerations (nv), torques (nv) as fractions of their limits, limits with rows J a <= h, then of each contact
// its cone and its normal force.
class ControlLimits {
  public:
    long count = 0;
    double *lower, *upper, *tolerance;
    Matrix torque;     // (nv, n): torques of x, before h
    const double* h;   // torques at x = 0
    Objective limits;  // J a <= b

    static long words(long nv, long n, long limit_rows, long count) {
        return Memory::words(nv, n) + Memory::words(limit_rows, nv) + padded(limit_rows) + 4 * padded(count) +
               3 * padded(nv);
    }
    void take(Memory& memory, long nv, long n, long limit_rows, long rows) {
        nv_ = nv, limit_rows_ = limit_rows, count = rows;
        torque = memory.matrix(nv, n);
        limits.A = memory.matrix(limit_rows, nv);
        limits.b = memory.take(limit_rows);
        for (double** x : {&lower, &upper, &tolerance, &value_}) *x = memory.take(rows);
        for (double** x : {&share_, &low_, &high_}) *x = memory.take(nv);
    }

    // Where the cone of a contact is: its first variable and its first row.
    struct Cone {
        long variable, row;
        long rows, kept;  // kept: number of its variables, of which the third is the normal force
        const double* numbers;
        static constexpr long words = 5;
    };

    // After `torque` and h are filled. `effort`: largest torques.
    void begin(long n, const Cone* cones, long n_cones, const double* effort) {
        n_ = n, cones_ = cones, n_cones_ = n_cones;
        elastic_ = false;
        for (long i = 0; i < count; ++i) lower[i] = -HUGE_VAL, upper[i] = HUGE_VAL;
        for (long i = 0; i < nv_; ++i) {
            const bool limited = effort[i] < unlimited;
            share_[i] = limited && effort[i] > 0 ? 1 / effort[i] : 1;
            if (limited) lower[nv_ + i] = -effort[i] * share_[i], upper[nv_ + i] = effort[i] * share_[i];
        }
    }
    void no_torque_limit(long i) { lower[nv_ + i] = -HUGE_VAL, upper[nv_ + i] = HUGE_VAL; }
    void bound_acceleration(long i, const Bounds& b) { low_[i] = b.lower, high_[i] = b.upper; }
    void bound_force(const Cone& c, double minimum, double maximum) {
        for (long k = 0; k < c.rows; ++k) upper[c.row + k] = 0;
        lower[c.row + c.rows] = minimum, upper[c.row + c.rows] = maximum;
    }
    // After all bounds are known.
    void apply() {
        for (long i = 0; i < nv_; ++i) lower[i] = low_[i], upper[i] = high_[i];
        for (long i = 0; i < limits.rows; ++i) upper[2 * nv_ + i] = limits.b[i];
        for (long i = 0; i < count; ++i) {
            const double a = fabs(lower[i]) < HUGE_VAL ? fabs(lower[i]) : 0;
            const double b = fabs(upper[i]) < HUGE_VAL ? fabs(upper[i]) : 0;
            tolerance[i] = 1e-10 * (1 + (a > b ? a : b));
        }
    }

    // Adds a slack variable to each elastic constraint; returns how many there are.
    long set_elastic(bool on) {
        elastic_ = on;
        return on ? slacks() : 0;
    }
    long slacks() const { return nv_ + limit_rows_; }
    // Widens the bounds of accelerations and of limits with rows to contain x, and all bounds by a small margin, so
    // that the feasible set has an interior.
    void widen_to(const double* x) {
        for (long i = 0; i < nv_; ++i) {
            if (x[i] < lower[i]) lower[i] = x[i];
            if (x[i] > upper[i]) upper[i] = x[i];
        }
        for (long i = 0; i < limits.rows; ++i) {
            const double now = dot(limits.A[i], x, 0, limits.A.stride);
            if (now > upper[2 * nv_ + i]) upper[2 * nv_ + i] = now;
        }
        widen();
    }
    void widen() {
        for (long i = 0; i < count; ++i) {
            lower[i] -= margin * (1 + fabs(lower[i]));
            upper[i] += margin * (1 + fabs(upper[i]));
        }
    }

    void evaluate(const double* x, double* value) const {
        for (long i = 0; i < nv_; ++i) value[i] = elastic_ ? x[i] - x[n_ + i] : x[i];
        multiply(torque, nv_, x, padded(n_), value + nv_);
        for (long i = 0; i < nv_; ++i) value[nv_ + i] = share_[i] * (value[nv_ + i] + h[i]);
        const long first = 2 * nv_;
        for (long i = 0; i < limits.rows; ++i)
            value[first + i] = dot(limits.A[i], x, 0, limits.A.stride) - (elastic_ ? x[n_ + nv_ + i] : 0);
        for (long i = first + limits.rows; i < count; ++i) value[i] = 0;  // contacts that are not active
        for (long c = 0; c < n_cones_; ++c) {
            const Cone& cone = cones_[c];
            const double* f = x + cone.variable;
            for (long k = 0; k < cone.rows; ++k) {
                double total = 0;
                for (long j = 0; j < cone.kept; ++j) total += cone.numbers[k * cone.kept + j] * f[j];
                value[cone.row + k] = total;
            }
            value[cone.row + cone.rows] = f[normal_force];
        }
    }
    long variable_of(long i) const { return i < nv_ && !elastic_ ? i : -1; }
    void normal(long i, double* g) const {
        clear_row(g, padded(elastic_ ? n_ + slacks() : n_));
        if (i < nv_) {
            g[i] = 1;
            if (elastic_) g[n_ + i] = -1;
            return;
        }
        if (i < 2 * nv_) {
            for (long j = 0; j < n_; ++j) g[j] = share_[i - nv_] * torque[i - nv_][j];
            return;
        }
        if (i < 2 * nv_ + limits.rows) {
            const long k = i - 2 * nv_;
            for (long j = 0; j < nv_; ++j) g[j] = limits.A[k][j];
            if (elastic_) g[n_ + nv_ + k] = -1;
            return;
        }
        for (long c = 0; c < n_cones_; ++c) {
            const Cone& cone = cones_[c];
            const long k = i - cone.row;
            if (k < 0 || k > cone.rows) continue;
            if (k == cone.rows) g[cone.variable + normal_force] = 1;
            for (long j = 0; k < cone.rows && j < cone.kept; ++j)
                g[cone.variable + j] = cone.numbers[k * cone.kept + j];
            return;
        }
    }

    // Violation of the original bounds by each row, in physical units: accelerations, torques, rates
    // of margins, forces (times `unit`).
    void excess(const double* x, double unit, double* out) const {
        evaluate(x, value_);
        for (long i = 0; i < count; ++i) {
            const bool limit = i >= 2 * nv_ && i < 2 * nv_ + limits.rows;
            const double low = i < nv_ ? low_[i] : lower[i];
            const double high = i < nv_ ? high_[i] : limit ? limits.b[i - 2 * nv_] : upper[i];
            const double bound = value_[i] < low ? low : high,
                         beyond = value_[i] < low ? low - value_[i] : value_[i] - high;
            const bool counts = beyond > 4 * margin * (1 + fabs(bound));
            out[i] = counts ? beyond * (i < nv_ || limit ? 1 : i < 2 * nv_ ? 1 / share_[i - nv_] : unit) : 0;
        }
    }

  private:
    static constexpr long normal_force = 2;
    static constexpr double margin = 1e-8;  // of a bound, far below what matters physically
    long nv_ = 0, n_ = 0, n_cones_ = 0, limit_rows_ = 0;
    bool elastic_ = false;
    const Cone* cones_ = nullptr;
    double* value_;
    double *share_, *low_, *high_;  // 1 / largest torque; bounds of accelerations
};

}  // namespace kinodyn::KINODYN_TARGET
