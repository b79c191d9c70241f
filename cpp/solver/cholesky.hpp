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

// Subtracts from `count` rows of H, at most four from row k on, what the rows of the factor before them contribute.
inline void subtract_rows_before(const Matrix& H, long k, long count, long end) {
    double* row[4];
    long own[4];
    for (long r = 0; r < 4; ++r) own[r] = k + (r < count ? r : 0), row[r] = H[own[r]];
    const auto block = [&](long j, auto wide) {
        constexpr int w = decltype(wide)::value;
        Pack::Vector rest[4][w];
        for (int r = 0; r < 4; ++r)
            for (int c = 0; c < w; ++c) rest[r][c] = load(row[r] + j + c * lanes);
        for (long p = 0; p < k; ++p)
            for (int c = 0; c < w; ++c) {
                const Pack::Vector b = load(H[p] + j + c * lanes);
                for (int r = 0; r < 4; ++r) rest[r][c] -= H[p][own[r]] * b;
            }
        for (int r = 0; r < 4 && r < count; ++r)
            for (int c = 0; c < w; ++c) store(row[r] + j + c * lanes, rest[r][c]);
    };
    long j = block_of(k);
    for (; j + 2 * lanes <= end; j += 2 * lanes) block(j, std::integral_constant<int, 2>{});
    if (j < end) block(j, std::integral_constant<int, 1>{});
}

// The factor's rows k to k + count, from which those before them have been subtracted. The square that they begin with
// is factored in registers, as each of its rows waits for the one before.
template <int count>
inline void factor_rows(const Matrix& H, long k, long end, double* inverse) {
    double u[count][count], scale[count], *row[count];
    unrolled<count>([&](auto i) {
        row[i] = H[k + i];
        unrolled<count>([&](auto j) { u[i][j] = row[i][k + j]; });
    });
    unrolled<count>([&](auto i) {
        const double root = __builtin_sqrt(u[i][i] > 1e-300 ? u[i][i] : 1e-300);
        scale[i] = 1 / root;
        unrolled<count>([&](auto j) { u[i][j] = i == j ? root : scale[i] * u[i][j]; });
        unrolled<count>([&](auto r) {
            if (r > i) unrolled<count>([&](auto j) { u[r][j] -= u[i][r] * u[i][j]; });
        });
    });
    for (long j = block_of(k); j < end; j += lanes) {
        Pack::Vector x[count];
        unrolled<count>([&](auto i) {
            x[i] = load(row[i] + j);
            unrolled<i>([&](auto r) { x[i] -= u[r][i] * x[r]; });
            x[i] *= scale[i];
            store(row[i] + j, x[i]);
        });
    }
    unrolled<count>([&](auto i) {
        inverse[k + i] = scale[i];
        for (long j = block_of(k + i); j < k + i; ++j) row[i][j] = 0;
        unrolled<count>([&](auto j) {
            if (j >= i) row[i][k + j] = u[i][j];
        });
    });
}

// Cholesky factor U, H = U^T U, of a positive definite matrix given by its upper half; zero below the diagonal
// within its block. Also the inverses of the diagonal. Four rows at a time: those before are subtracted from all of
// them, while sums stay in registers.
[[gnu::noinline]] inline void factor_symmetric(const Matrix& H, long n, double* inverse) {
    const long end = padded(n);
    for (long k = 0; k < n; k += 4) {
        const long count = n - k < 4 ? n - k : 4;
        subtract_rows_before(H, k, count, end);
        if (count == 4) {
            factor_rows<4>(H, k, end, inverse);
            continue;
        }
        for (long i = k; i < k + count; ++i) {
            factor_rows<1>(H, i, end, inverse);
            for (long r = i + 1; r < k + count; ++r) add(-H[i][r], H[i], H[r], block_of(r), end);
        }
    }
}
// Stores four numbers at once, so that loading them as a pack does not have to wait for four stores.
inline void store_four(double* x, const double (&v)[4]) {
    typedef double Four __attribute__((vector_size(32)));
    const Four all = {v[0], v[1], v[2], v[3]};
    memcpy(x, &all, sizeof all);
}

// U^T U x = x in place. Four unknowns at a time, in registers.
[[gnu::noinline]] inline void solve_symmetric(const Matrix& U, long n, const double* inverse, double* x) {
    const long end = padded(n), fours = n / 4 * 4;
    double found[4];
    for (long i = 0; i < fours; i += 4) {
        const double* row[4] = {U[i], U[i + 1], U[i + 2], U[i + 3]};
        unrolled<4>([&](auto r) { found[r] = x[i + r]; });
        unrolled<4>([&](auto r) {
            found[r] *= inverse[i + r];
            unrolled<4>([&](auto s) {
                if (s > r) found[s] -= found[r] * row[r][i + s];
            });
        });
        for (long j = block_of(i + 4); j < end; j += lanes) {
            Pack::Vector rest = load(x + j);
            unrolled<4>([&](auto r) { rest -= found[r] * load(row[r] + j); });
            store(x + j, rest);
        }
        store_four(x + i, found);
    }
    for (long i = fours; i < n; ++i) {
        for (long j = fours; j < i; ++j) x[i] -= U[j][i] * x[j];
        x[i] *= inverse[i];
    }
    for (long i = n - 1; i >= fours; --i) {
        for (long j = i + 1; j < n; ++j) x[i] -= U[i][j] * x[j];
        x[i] *= inverse[i];
    }
    for (long i = fours - 4; i >= 0; i -= 4) {
        const double* row[4] = {U[i], U[i + 1], U[i + 2], U[i + 3]};
        Pack::Vector total[4] = {};
        unrolled<4>([&](auto r) { found[r] = x[i + r]; });
        if constexpr (lanes > 4) unrolled<4>([&](auto r) { x[i + r] = 0; });  // in the same block as the next ones
        for (long j = block_of(i + 4); j < end; j += lanes) {
            const Pack::Vector known = load(x + j);
            unrolled<4>([&](auto r) { total[r] += load(row[r] + j) * known; });
        }
        unrolled<4>([&](auto r) { found[r] -= sum(total[r]); });
        unrolled<4>([&](auto below) {
            constexpr int r = 3 - below;
            unrolled<4>([&](auto s) {
                if (s > r) found[r] -= row[r][i + s] * found[s];
            });
            found[r] *= inverse[i + r];
        });
        store_four(x + i, found);
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
            for (int r = 0; r < 4 && r < count; ++r) {
                Pack::Vector own = load(X[i + r] + j) - total[r];
                for (long k = 0; k < r; ++k) own -= U[i + k][i + r] * load(X[i + k] + j);
                store(X[i + r] + j, inverse[i + r] * own);
            }
        }
    }
}

}  // namespace kinodyn::KINODYN_TARGET
