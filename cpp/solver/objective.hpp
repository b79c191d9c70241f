// The objective of one level of a hierarchy: |A x - b|^2 + sum_i (scale_i x_i - offset_i)^2.
#pragma once

#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Objective {
    Matrix A;
    double* b;
    long rows = 0;
    double *scale = nullptr, *offset = nullptr;
    bool diagonal = false;           // whether any scale differs from zero
    double* squared_norm = nullptr;  // of the rows of A, once max_squared_row_norm has computed them
};

// The square of the longest row, which relates weighted errors to metres or radians.
inline double max_squared_row_norm(const Objective& of, long n) {
    double most = 0;
    for (long i = 0; i < of.rows; ++i) {
        const double square = dot(of.A[i], of.A[i], 0, padded(n));
        if (of.squared_norm) of.squared_norm[i] = square;
        if (square > most) most = square;
    }
    for (long i = 0; of.diagonal && i < n; ++i)
        if (of.scale[i] * of.scale[i] > most) most = of.scale[i] * of.scale[i];
    return most;
}

// |A x - b|^2 with the diagonal part, at x or, without x, at zero; of inequalities A x <= b only violated rows count.
inline double squared_residual(const Objective& of, const double* x, long n, bool inequalities) {
    double total = 0;
    for (long i = 0; i < of.rows; ++i) {
        const double residual = of.b[i] - (x ? dot(of.A[i], x, 0, padded(n)) : 0);
        if (!inequalities || residual < 0) total += residual * residual;
    }
    for (long i = 0; of.diagonal && i < n; ++i) {
        const double residual = of.offset[i] - (x ? of.scale[i] * x[i] : 0);
        total += residual * residual;
    }
    return total;
}

}  // namespace kinodyn::KINODYN_TARGET
