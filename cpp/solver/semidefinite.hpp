// A f = b for a symmetric positive semidefinite A: the minimum-norm solution, and the rank.
//
// Rows may have very different scales, such as rotation of a light link and translation of a heavy one: a row counts as
// linearly dependent relative to its own diagonal element before elimination, and as zero relative to the largest one.
#pragma once

#include "kernels/batch.hpp"

namespace kinodyn::KINODYN_TARGET {

constexpr double zero_row = 1e-14;  // of the largest diagonal element: a row of J is 1e-7 of another

// One state at a time. A = L L^T with as many columns as the rank, pivoting on the row with the largest remainder; then
// L = Q R and f = Q R^-T R^-1 Q^T b (the pseudo-inverse: N. J. Higham, "Accuracy and Stability of Numerical
// Algorithms", 2002, sections 10.3 and 20.5). Memory: 2 m^2 + 3 m. Returns the rank.
inline long minimum_norm_solution(const double* A, const double* b, long m, double* f, double* memory) {
    constexpr double rank_tolerance = 1e-11;
    double *L = memory, *R = L + m * m, *remainder = R + m * m, *x = remainder + m, *diagonal = x + m;
    double largest = 0;
    for (long i = 0; i < m; ++i) largest = A[i * m + i] > largest ? A[i * m + i] : largest;
    for (long i = 0; i < m; ++i) diagonal[i] = remainder[i] = A[i * m + i] > zero_row * largest ? A[i * m + i] : 0;
    long rank = 0;
    for (; rank < m; ++rank) {  // columns of L are kept as rows, one after the other
        long p = -1;
        for (long i = 0; i < m; ++i)
            if (remainder[i] > rank_tolerance * diagonal[i] &&
                (p < 0 || remainder[i] * diagonal[p] > remainder[p] * diagonal[i]))
                p = i;
        if (p < 0) break;
        double* column = L + rank * m;
        const double inverse = 1 / __builtin_sqrt(remainder[p]);
        for (long i = 0; i < m; ++i) {
            double total = A[i * m + p];
            for (long k = 0; k < rank; ++k) total -= L[k * m + i] * L[k * m + p];
            column[i] = total * inverse;
        }
        for (long i = 0; i < m; ++i) remainder[i] -= column[i] * column[i];
        remainder[p] = 0;
    }
    for (long k = 0; k < rank; ++k) {  // Gram-Schmidt, twice, so that Q is orthogonal to rounding
        double* column = L + k * m;
        for (long j = 0; j <= k; ++j) R[j * m + k] = 0;
        for (int twice = 0; twice < 2; ++twice)
            for (long j = 0; j < k; ++j) {
                double along = 0;
                for (long i = 0; i < m; ++i) along += L[j * m + i] * column[i];
                for (long i = 0; i < m; ++i) column[i] -= along * L[j * m + i];
                R[j * m + k] += along;
            }
        double length = 0;
        for (long i = 0; i < m; ++i) length += column[i] * column[i];
        R[k * m + k] = __builtin_sqrt(length);
        for (long i = 0; i < m; ++i) column[i] /= R[k * m + k];
    }
    for (long k = 0; k < rank; ++k) {
        x[k] = 0;
        for (long i = 0; i < m; ++i) x[k] += L[k * m + i] * b[i];
    }
    for (long k = rank - 1; k >= 0; --k) {
        for (long j = k + 1; j < rank; ++j) x[k] -= R[k * m + j] * x[j];
        x[k] /= R[k * m + k];
    }
    for (long k = 0; k < rank; ++k) {
        for (long j = 0; j < k; ++j) x[k] -= R[j * m + k] * x[j];
        x[k] /= R[k * m + k];
    }
    for (long i = 0; i < m; ++i) {
        f[i] = 0;
        for (long k = 0; k < rank; ++k) f[i] += L[k * m + i] * x[k];
    }
    return rank;
}

// All lanes at once as long as A is regular in all of them. Memory: 4 m^2 + 5 m (of T or double).
template <class T>
inline T solve_semidefinite(const T* A, const T* b, long m, T* f, T* memory) {
    using L = Lanes<T>;
    constexpr double regular = 1e-8;
    T* C = memory;
    T largest = 0.0, least = 1.0;
    for (long i = 0; i < m; ++i) largest = L::larger(largest, A[i * m + i]);
    for (long i = 0; i < m; ++i) {
        least = L::smaller(least, A[i * m + i] - zero_row * largest);
        for (long j = 0; j <= i; ++j) {
            T total = A[i * m + j];
            for (long k = 0; k < j; ++k) total -= C[i * m + k] * C[j * m + k];
            if (i == j) {
                least = L::smaller(least, total - regular * A[i * m + i]);
                C[i * m + i] = 1.0 / L::root(L::larger(total, T(1e-300)));
            } else {
                C[i * m + j] = total * C[j * m + j];
            }
        }
    }
    if (L::all_positive(least)) {
        for (long i = 0; i < m; ++i) {
            T total = b[i];
            for (long k = 0; k < i; ++k) total -= C[i * m + k] * f[k];
            f[i] = total * C[i * m + i];
        }
        for (long i = m - 1; i >= 0; --i) {
            T total = f[i];
            for (long k = i + 1; k < m; ++k) total -= C[k * m + i] * f[k];
            f[i] = total * C[i * m + i];
        }
        return static_cast<double>(m);
    }
    double* scratch = reinterpret_cast<double*>(C + m * m);
    double *a = scratch, *rhs = a + m * m, *answer = rhs + m, *work = answer + m;
    T rank = 0.0;
    for (int lane = 0; lane < L::count; ++lane) {
        for (long i = 0; i < m * m; ++i) a[i] = L::lane(A[i], lane);
        for (long i = 0; i < m; ++i) rhs[i] = L::lane(b[i], lane);
        L::set(rank, lane, static_cast<double>(minimum_norm_solution(a, rhs, m, answer, work)));
        for (long i = 0; i < m; ++i) L::set(f[i], lane, answer[i]);
    }
    return rank;
}

}  // namespace kinodyn::KINODYN_TARGET
