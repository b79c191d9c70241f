// Cholesky factorisation A = L L^T of positive definite matrices, and solutions with its factor.
//
// Two layouts: matrices whose elements are scalars of one state or of a pack of states, and padded matrices of one
// state whose rows are processed in lanes (dense.hpp).
#pragma once

#include "kernels/batch.hpp"
#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

// Writes L (n, n), row-major: the factor below the diagonal, the inverses of its diagonal on it. entry(i, j), i >= j,
// returns an element of A, and may read it from L. pivot(i, d) returns the pivot to use in place of d, and can record
// that d is too small. Four rows at a time, to hide the latency of the sums.
template <class T, class Entry, class Pivot>
inline void cholesky(T* L, long n, long stride, Entry&& entry, Pivot&& pivot) {
    for (long j = 0; j < n; ++j) {
        T* const own = L + j * stride;
        T d = entry(j, j);
        for (long k = 0; k < j; ++k) d -= own[k] * own[k];
        const T inverse = 1.0 / Lanes<T>::root(pivot(j, d));
        own[j] = inverse;
        long i = j + 1;
        for (; i + 4 <= n; i += 4) {
            T* const row[4] = {L + i * stride, L + (i + 1) * stride, L + (i + 2) * stride, L + (i + 3) * stride};
            T sum[4] = {entry(i, j), entry(i + 1, j), entry(i + 2, j), entry(i + 3, j)};
            for (long k = 0; k < j; ++k)
                for (int r = 0; r < 4; ++r) sum[r] -= row[r][k] * own[k];
            for (int r = 0; r < 4; ++r) row[r][j] = sum[r] * inverse;
        }
        for (; i < n; ++i) {
            T sum = entry(i, j);
            for (long k = 0; k < j; ++k) sum -= L[i * stride + k] * own[k];
            L[i * stride + j] = sum * inverse;
        }
    }
}

// x = L^-1 x
template <class T>
inline void solve_lower(const T* L, long n, long stride, T* x) {
    for (long i = 0; i < n; ++i) {
        T sum = x[i];
        for (long k = 0; k < i; ++k) sum -= L[i * stride + k] * x[k];
        x[i] = sum * L[i * stride + i];
    }
}
// x = L^-T x
template <class T>
inline void solve_lower_transposed(const T* L, long n, long stride, T* x) {
    for (long i = n - 1; i >= 0; --i) {
        T sum = x[i];
        for (long k = i + 1; k < n; ++k) sum -= L[k * stride + i] * x[k];
        x[i] = sum * L[i * stride + i];
    }
}
// x = A^-1 x
template <class T>
inline void cholesky_solve(const T* L, long n, long stride, T* x) {
    solve_lower(L, n, stride, x);
    solve_lower_transposed(L, n, stride, x);
}

// Cholesky factor U, H = U^T U, of a positive definite matrix given by its upper half; zero below the diagonal
// within its block. Also the inverses of the diagonal.
inline void factor_symmetric(const Matrix& H, long n, double* inverse) {
    const long end = padded(n);
    for (long k = 0; k < n; ++k) {
        double* row = H[k];
        const double left = row[k];
        const double root = __builtin_sqrt(left > 1e-300 ? left : 1e-300);
        inverse[k] = 1 / root;
        const long begin = block_of(k);
        for (long j = begin; j < end; j += lanes) store(row + j, inverse[k] * load(row + j));
        for (long j = begin; j < k; ++j) row[j] = 0;
        row[k] = root;
        for (long i = k + 1; i < n; ++i) add(-row[i], row, H[i], block_of(i), end);
    }
}
// U^T U x = x in place.
inline void solve_symmetric(const Matrix& U, long n, const double* inverse, double* x) {
    const long end = padded(n);
    for (long i = 0; i < n; ++i) {
        const double found = x[i] * inverse[i];
        add(-found, U[i], x, block_of(i), end);
        x[i] = found;
    }
    for (long i = n - 1; i >= 0; --i) {
        const double own = x[i];
        x[i] = 0;
        x[i] = (own - dot(U[i], x, block_of(i), end)) * inverse[i];
    }
}

// X = U^-T X, for n rows of `end` columns (padded): four rows at a time.
inline void solve_lower(const Matrix& U, long n, const double* inverse, const Matrix& X, long end) {
    for (long i = 0; i < n; i += 4) {
        const long count = n - i < 4 ? n - i : 4;
        for (long j = 0; j < end; j += lanes) {
            Pack::Vector total[4] = {};
            for (long k = 0; k < i; ++k) {
                const Pack::Vector b = load(X[k] + j);
                for (long r = 0; r < 4; ++r) total[r] += U[k][i + (r < count ? r : 0)] * b;
            }
            for (long r = 0; r < count; ++r) {
                Pack::Vector own = load(X[i + r] + j) - total[r];
                for (long k = 0; k < r; ++k) own -= U[i + k][i + r] * load(X[i + k] + j);
                store(X[i + r] + j, inverse[i + r] * own);
            }
        }
    }
}

}  // namespace kinodyn::KINODYN_TARGET
