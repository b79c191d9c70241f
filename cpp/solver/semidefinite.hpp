// A f = b for a symmetric positive semidefinite A: the minimum-norm solution, and the rank.
//
// Rows may have very different scales, such as rotation of a light link and translation of a heavy one: a row counts as
// linearly dependent relative to its own diagonal element before elimination, and as zero relative to the largest one.
#pragma once

#include "solver/cholesky.hpp"

namespace kinodyn::KINODYN_TARGET {

constexpr double zero_row = 1e-14;  // of the largest diagonal element: a row of J is 1e-7 of another

// One state at a time. A = L L^T with as many columns as the rank, pivoting on the row with the largest remainder; then
// L = Q R and f = Q R^-T R^-1 Q^T b (the pseudo-inverse: N. J. Higham, "Accuracy and Stability of Numerical
// Algorithms", 2002, sections 10.3 and 20.5). Memory: 2 m^2 + 3 m. Returns the rank.
[[gnu::noinline]] inline long minimum_norm_solution(const double* A, const double* b, long m, double* f,
                                                    double* memory) {
    constexpr double rank_tolerance = 1e-11;
    double *L = memory, *Rt = L + m * m, *remainder = Rt + m * m, *x = remainder + m, *diagonal = x + m;
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
        for (long j = 0; j < k; ++j) Rt[k * m + j] = 0;
        for (int twice = 0; twice < 2; ++twice)
            for (long j = 0; j < k; ++j) {
                double along = 0;
                for (long i = 0; i < m; ++i) along += L[j * m + i] * column[i];
                for (long i = 0; i < m; ++i) column[i] -= along * L[j * m + i];
                Rt[k * m + j] += along;
            }
        double length = 0;
        for (long i = 0; i < m; ++i) length += column[i] * column[i];
        const double inverse = 1 / __builtin_sqrt(length);
        Rt[k * m + k] = inverse;
        for (long i = 0; i < m; ++i) column[i] *= inverse;
    }
    for (long k = 0; k < rank; ++k) {
        x[k] = 0;
        for (long i = 0; i < m; ++i) x[k] += L[k * m + i] * b[i];
    }
    solve_lower_transposed(Rt, rank, m, x);
    solve_lower(Rt, rank, m, x);
    for (long i = 0; i < m; ++i) {
        f[i] = 0;
        for (long k = 0; k < rank; ++k) f[i] += L[k * m + i] * x[k];
    }
    return rank;
}

// All lanes at once as long as A is regular in all of them. Memory: 4 m^2 + 5 m (of T or double).
template <class T>
[[gnu::noinline]] inline T solve_semidefinite(const T* A, const T* b, long m, T* f, T* memory) {
    using L = Lanes<T>;
    constexpr double regular = 1e-8;
    T* C = memory;
    T largest = 0.0, least = 1.0;
    for (long i = 0; i < m; ++i) largest = L::larger(largest, A[i * m + i]);
    for (long i = 0; i < m; ++i) least = L::smaller(least, A[i * m + i] - zero_row * largest);
    cholesky(
        C, m, m, [&](long i, long j) { return A[i * m + j]; },
        [&](long i, T d) {
            least = L::smaller(least, d - regular * A[i * m + i]);
            return L::larger(d, T(1e-300));
        });
    if (L::all_positive(least)) {
        for (long i = 0; i < m; ++i) f[i] = b[i];
        cholesky_solve(C, m, m, f);
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

// Compiled once, in constrained_dynamics.cpp.
extern template double solve_semidefinite(const double*, const double*, long, double*, double*);
extern template Pack solve_semidefinite(const Pack*, const Pack*, long, Pack*, Pack*);

}  // namespace kinodyn::KINODYN_TARGET
