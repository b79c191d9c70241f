// A f = b for a symmetric positive semidefinite A: the shortest solution, and the rank.
#pragma once

#include "batch.hpp"

namespace kinodyn::KINODYN_TARGET {

// One state at a time, with pivots: A = P L L^T P^T with as many columns as the rank, then f = L (L^T L)^-2 L^T b.
// Memory: 2 m^2 + 2 m. Returns the rank.
inline long shortest_solution(const double* A, const double* b, long m, double* f, double* memory) {
    constexpr double vanishing = 1e-11;  // of the greatest pivot
    double *L = memory, *G = L + m * m, *left = G + m * m, *x = left + m;
    double first = 0;
    for (long i = 0; i < m; ++i) left[i] = A[i * m + i], first = left[i] > first ? left[i] : first;
    long rank = 0;
    for (; rank < m; ++rank) {  // rows of L stay in place; only the column's pivot row is chosen
        long p = 0;
        for (long i = 1; i < m; ++i)
            if (left[i] > left[p]) p = i;
        if (!(left[p] > vanishing * first)) break;
        const double inverse = 1 / __builtin_sqrt(left[p]);
        for (long i = 0; i < m; ++i) {
            double total = A[i * m + p];
            for (long k = 0; k < rank; ++k) total -= L[i * m + k] * L[p * m + k];
            L[i * m + rank] = total * inverse;
        }
        for (long i = 0; i < m; ++i) left[i] -= L[i * m + rank] * L[i * m + rank];
        left[p] = 0;
    }
    for (long i = 0; i < rank; ++i) {  // G = L^T L and x = L^T b
        x[i] = 0;
        for (long k = 0; k < m; ++k) x[i] += L[k * m + i] * b[k];
        for (long j = 0; j <= i; ++j) {
            double total = 0;
            for (long k = 0; k < m; ++k) total += L[k * m + i] * L[k * m + j];
            G[i * m + j] = total;
        }
    }
    for (long i = 0; i < rank; ++i)
        for (long j = 0; j <= i; ++j) {
            double total = G[i * m + j];
            for (long k = 0; k < j; ++k) total -= G[i * m + k] * G[j * m + k];
            G[i * m + j] = i == j ? __builtin_sqrt(total) : total / G[j * m + j];
        }
    for (int twice = 0; twice < 2; ++twice) {
        for (long i = 0; i < rank; ++i) {
            for (long k = 0; k < i; ++k) x[i] -= G[i * m + k] * x[k];
            x[i] /= G[i * m + i];
        }
        for (long i = rank - 1; i >= 0; --i) {
            for (long k = i + 1; k < rank; ++k) x[i] -= G[k * m + i] * x[k];
            x[i] /= G[i * m + i];
        }
    }
    for (long i = 0; i < m; ++i) {
        f[i] = 0;
        for (long k = 0; k < rank; ++k) f[i] += L[i * m + k] * x[k];
    }
    return rank;
}

// All lanes at once as long as A is regular in all of them; A is overwritten. Memory: 4 m^2 + 5 m (of T or double).
template <class T>
inline T solve_semidefinite(T* A, const T* b, long m, T* f, T* memory) {
    using L = Lanes<T>;
    constexpr double doubtful = 1e-8;
    T* C = memory;  // the factor, so that A stays for those who need it again
    T first = 0.0, least = 1.0;
    for (long i = 0; i < m; ++i) first = L::larger(first, A[i * m + i]);
    for (long i = 0; i < m; ++i)
        for (long j = 0; j <= i; ++j) {
            T total = A[i * m + j];
            for (long k = 0; k < j; ++k) total -= C[i * m + k] * C[j * m + k];
            if (i == j) {
                least = L::smaller(least, total / first);
                C[i * m + i] = 1.0 / L::root(L::larger(total, T(1e-300)));
            } else {
                C[i * m + j] = total * C[j * m + j];
            }
        }
    if (L::all_positive(least - doubtful)) {
        for (long i = 0; i < m; ++i) {
            f[i] = b[i];
            for (long k = 0; k < i; ++k) f[i] -= C[i * m + k] * f[k];
            f[i] = f[i] * C[i * m + i];
        }
        for (long i = m - 1; i >= 0; --i) {
            for (long k = i + 1; k < m; ++k) f[i] -= C[k * m + i] * f[k];
            f[i] = f[i] * C[i * m + i];
        }
        return static_cast<double>(m);
    }
    double* own = reinterpret_cast<double*>(C + m * m);
    double *a = own, *rhs = a + m * m, *answer = rhs + m, *work = answer + m;
    T rank = 0.0;
    for (int lane = 0; lane < L::count; ++lane) {
        for (long i = 0; i < m * m; ++i) a[i] = L::lane(A[i], lane);
        for (long i = 0; i < m; ++i) rhs[i] = L::lane(b[i], lane);
        L::set(rank, lane, static_cast<double>(shortest_solution(a, rhs, m, answer, work)));
        for (long i = 0; i < m; ++i) L::set(f[i], lane, answer[i]);
    }
    return rank;
}

}  // namespace kinodyn::KINODYN_TARGET
