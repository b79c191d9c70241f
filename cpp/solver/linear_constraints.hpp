// Bounds lower <= x <= upper and rows C x <= d, as constraints of a hierarchy (see active_set.hpp).
#pragma once

#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

class LinearConstraints {
  public:
    long count = 0;
    double *lower, *upper, *tolerance;

    static long words(long n, long rows) { return 3 * padded(n + rows) + Memory::words(rows, n); }
    void take(Memory& memory, long n, long rows) {
        n_ = n;
        for (double** v : {&lower, &upper, &tolerance}) *v = memory.take(n + rows);
        C_ = memory.matrix(rows, n);
        for (long i = 0; i < n + rows; ++i) tolerance[i] = 1e-12;
    }

    // Starts with bounds only, which the caller writes to lower and upper.
    void start() { count = n_, slacks_ = 0; }

    // The point nearest to x within the bounds.
    void clamp(double* x) const {
        for (long i = 0; i < n_; ++i) x[i] = x[i] < lower[i] ? lower[i] : x[i] > upper[i] ? upper[i] : x[i];
    }

    // Adds rows; those added last are the elastic ones.
    void append(const Matrix& C, const double* d, long rows) {
        for (long i = 0; i < rows; ++i) {
            memcpy(C_[count - n_ + i], C[i], sizeof(double) * static_cast<std::size_t>(padded(n_)));
            lower[count + i] = -HUGE_VAL, upper[count + i] = d[i];
        }
        count += rows, appended_ = rows;
    }

    // Adds a slack variable to each elastic row, C x - s <= d, or removes it; returns how many there are.
    long set_elastic(bool on) { return slacks_ = on ? appended_ : 0; }

    // Widens the bounds of elastic rows until x satisfies them.
    void widen_to(const double* x) {
        for (long i = count - appended_; i < count; ++i) {
            const double value = dot(C_[i - n_], x, 0, padded(n_));
            if (value > upper[i]) upper[i] = value;
        }
    }

    void evaluate(const double* x, double* value) const {
        memcpy(value, x, sizeof(double) * static_cast<std::size_t>(n_));
        multiply(C_, count - n_, x, padded(n_), value + n_);
        for (long k = 0; k < slacks_; ++k) value[count - slacks_ + k] -= x[n_ + k];
    }
    long variable_of(long i) const { return i < n_ ? i : -1; }
    void normal(long i, double* row) const {
        clear_row(row, padded(n_ + slacks_));
        memcpy(row, C_[i - n_], sizeof(double) * static_cast<std::size_t>(n_));
        if (i >= count - slacks_) row[n_ + i - (count - slacks_)] = -1;
    }

  private:
    long n_ = 0, appended_ = 0, slacks_ = 0;
    Matrix C_;
};

}  // namespace kinodyn::KINODYN_TARGET
