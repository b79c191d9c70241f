// Eigenvalues and eigenvectors of small symmetric matrices by cyclic Jacobi rotations (G. H. Golub, C. F. Van Loan,
// "Matrix Computations", 2013, section 8.5).
#pragma once

#include <math.h>

#include "kernels/pack.hpp"

namespace kinodyn::KINODYN_TARGET {

// A (k, k), k <= 6, becomes diagonal; the columns of U are the eigenvectors.
inline void symmetric_eigen(double (&A)[6][6], double (&U)[6][6], long k) {
    constexpr int max_sweeps = 20;
    for (long i = 0; i < k; ++i)
        for (long j = 0; j < k; ++j) U[i][j] = i == j;
    for (int sweep = 0; sweep < max_sweeps; ++sweep) {
        double off = 0, diagonal = 0;
        for (long i = 0; i < k; ++i) {
            diagonal += A[i][i] * A[i][i];
            for (long j = 0; j < i; ++j) off += A[i][j] * A[i][j];
        }
        if (!(off > 1e-30 * diagonal)) return;
        for (long p = 0; p < k; ++p)
            for (long q = p + 1; q < k; ++q) {
                if (A[p][q] * A[p][q] <= 1e-36 * diagonal) continue;
                const double ratio = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                const double t = (ratio < 0 ? -1 : 1) / (fabs(ratio) + __builtin_sqrt(ratio * ratio + 1));
                const double c = 1 / __builtin_sqrt(t * t + 1), s = t * c;
                for (long i = 0; i < k; ++i) {
                    const double x = A[i][p], y = A[i][q];
                    A[i][p] = c * x - s * y, A[i][q] = s * x + c * y;
                }
                for (long i = 0; i < k; ++i) {
                    const double x = A[p][i], y = A[q][i];
                    A[p][i] = c * x - s * y, A[q][i] = s * x + c * y;
                }
                for (long i = 0; i < k; ++i) {
                    const double x = U[i][p], y = U[i][q];
                    U[i][p] = c * x - s * y, U[i][q] = s * x + c * y;
                }
            }
    }
}

}  // namespace kinodyn::KINODYN_TARGET
