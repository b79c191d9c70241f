// Small dense row-major matrices, for one state at a time: lanes hold adjacent elements of a row.
//
// Rows are padded with zeros to a multiple of `lanes`, so that no loop has a remainder.
#pragma once

#include <stdint.h>
#include <string.h>

#include <type_traits>
#include <utility>

#include "kernels/pack.hpp"

namespace kinodyn::KINODYN_TARGET {

constexpr long padded(long n) { return (n + lanes - 1) / lanes * lanes; }

// The start of the block of lanes that holds element k.
constexpr long block_of(long k) { return k / lanes * lanes; }

inline Pack::Vector load(const double* x) {
    Pack::Vector v;
    memcpy(&v, x, sizeof v);
    return v;
}
inline void store(double* x, Pack::Vector v) { memcpy(x, &v, sizeof v); }

#ifdef __AVX__
inline double sum_of_four(__m256d v) {
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}
#endif
inline double sum(Pack::Vector v) {
#if KINODYN_LANES == 8 && defined(__AVX512F__)
    return sum_of_four(_mm256_add_pd(_mm512_castpd512_pd256((__m512d)v), _mm512_extractf64x4_pd((__m512d)v, 1)));
#elif KINODYN_LANES == 4 && defined(__AVX__)
    return sum_of_four((__m256d)v);
#else
    double total = v[0];
    for (int i = 1; i < lanes; ++i) total += v[i];
    return total;
#endif
}

// Calls f(0), ..., f(n - 1) with compile-time numbers, so that arrays that f indexes by them stay in registers.
template <class F, int... i>
inline void call_each(F&& f, std::integer_sequence<int, i...>) {
    (f(std::integral_constant<int, i>{}), ...);
}
template <int n, class F>
inline void unrolled(F&& f) {
    call_each(f, std::make_integer_sequence<int, n>{});
}

struct Matrix {
    double* data;
    long rows, columns, stride;
    double* operator[](long i) const { return data + i * stride; }
};

// A bump allocator of doubles.
struct Memory {
    double* free;
    double* take(long n) {
        double* start = free;
        free += padded(n);
        return start;
    }
    Matrix matrix(long rows, long columns) {
        const long stride = padded(columns);
        return {take(rows * stride), rows, columns, stride};
    }
    static long words(long rows, long columns) { return padded(rows * padded(columns)); }
};

inline void clear(const Matrix& A) { memset(A.data, 0, sizeof(double) * static_cast<std::size_t>(A.rows * A.stride)); }

inline void clear_row(double* x, long end) {
    for (long j = 0; j < end; j += lanes) store(x + j, Pack::Vector{});
}
// The same from any element on.
inline void clear_from(double* x, long from, long end) {
    for (; from % lanes != 0 && from < end; ++from) x[from] = 0;
    for (; from < end; from += lanes) store(x + from, Pack::Vector{});
}

// Products and sums over [begin, end), both multiples of `lanes`.
inline double dot(const double* a, const double* b, long begin, long end) {
    Pack::Vector even = {}, odd = {};
    long j = begin;
    for (; j + 2 * lanes <= end; j += 2 * lanes) {
        even += load(a + j) * load(b + j);
        odd += load(a + j + lanes) * load(b + j + lanes);
    }
    if (j < end) even += load(a + j) * load(b + j);
    return sum(even + odd);
}
inline void add(double s, const double* x, double* y, long begin, long end) {
    for (long j = begin; j < end; j += lanes) store(y + j, load(y + j) + s * load(x + j));
}

// y = A x over the first `n` columns (padded). Four rows at once, to hide the latency of the sums.
[[gnu::noinline]] inline void multiply(const Matrix& A, long rows, const double* x, long n, double* y) {
    long i = 0;
    for (; i + 4 <= rows; i += 4) {
        Pack::Vector total[4] = {};
        for (long j = 0; j < n; j += lanes) {
            const Pack::Vector b = load(x + j);
            for (int r = 0; r < 4; ++r) total[r] += load(A[i + r] + j) * b;
        }
        for (int r = 0; r < 4; ++r) y[i + r] = sum(total[r]);
    }
    for (; i < rows; ++i) y[i] = dot(A[i], x, 0, n);
}

// y = sum of x[k] times row k of A, over rows [first, last) and columns [0, n) (padded); sums stay in registers.
[[gnu::noinline]] inline void combine(const Matrix& A, long first, long last, const double* x, long n, double* y) {
    long j = 0;
    const auto block = [&](auto wide) {
        constexpr int w = decltype(wide)::value;
        Pack::Vector total[w] = {};
        const double* row = A[first] + j;
        for (long k = first; k < last; ++k, row += A.stride)
            for (int c = 0; c < w; ++c) total[c] += x[k] * load(row + c * lanes);
        for (int c = 0; c < w; ++c) store(y + j + c * lanes, total[c]);
        j += w * lanes;
    };
    while (j + 4 * lanes <= n) block(std::integral_constant<int, 4>{});
    while (j + 2 * lanes <= n) block(std::integral_constant<int, 2>{});
    if (j < n) block(std::integral_constant<int, 1>{});
}

// Adds s x[k] y to row k of A, over rows [first, last) and columns [0, n) (padded). Four rows at once.
[[gnu::noinline]] inline void add_outer(double s, const double* x, const double* y, const Matrix& A, long first,
                                        long last, long n) {
    long k = first;
    for (; k + 4 <= last; k += 4) {
        double* const row[4] = {A[k], A[k + 1], A[k + 2], A[k + 3]};
        const double t[4] = {s * x[k], s * x[k + 1], s * x[k + 2], s * x[k + 3]};
        for (long j = 0; j < n; j += lanes) {
            const Pack::Vector v = load(y + j);
            for (int r = 0; r < 4; ++r) store(row[r] + j, load(row[r] + j) + t[r] * v);
        }
    }
    for (; k < last; ++k) add(s * x[k], y, A[k], 0, n);
}

// C = A B, or C = C - A B, for the first `rows` rows of C; inner dimension `inner`, `n` columns of B (padded); A may be
// given by its transpose. Four rows at once: each row of B is read once for all of them.
template <bool subtract = false, bool transposed = false>
[[gnu::noinline]] inline void multiply(const Matrix& A, long rows, long inner, const Matrix& B, long n,
                                       const Matrix& C) {
    const long step = transposed ? A.stride : 1;
    for (long i = 0; i < rows; i += 4) {
        const long count = rows - i < 4 ? rows - i : 4;
        const double* a[4];
        for (long r = 0; r < 4; ++r) {
            const long row = i + (r < count ? r : 0);
            a[r] = transposed ? A.data + row : A[row];
        }
        long j = 0;
        const auto block = [&](auto wide) {
            constexpr int w = decltype(wide)::value;
            Pack::Vector total[4][w] = {};
            for (long k = 0; k < inner; ++k)
                for (int c = 0; c < w; ++c) {
                    const Pack::Vector b = load(B[k] + j + c * lanes);
                    for (int r = 0; r < 4; ++r) total[r][c] += a[r][k * step] * b;
                }
            for (int r = 0; r < 4 && r < count; ++r)
                for (int c = 0; c < w; ++c) {
                    double* to = C[i + r] + j + c * lanes;
                    store(to, subtract ? load(to) - total[r][c] : total[r][c]);
                }
            j += w * lanes;
        };
        while (j + 2 * lanes <= n) block(std::integral_constant<int, 2>{});
        if (j < n) block(std::integral_constant<int, 1>{});
    }
}

// C = A B^T over the first `n` columns (padded) of both; `rows` rows of A, `columns` rows of B. Four rows by two at
// once.
[[gnu::noinline]] inline void multiply_transposed(const Matrix& A, long rows, const Matrix& B, long columns, long n,
                                                  const Matrix& C) {
    for (long i = 0; i < rows; i += 4) {
        const long count = rows - i < 4 ? rows - i : 4;
        const double* a[4];
        for (long r = 0; r < 4; ++r) a[r] = A[i + (r < count ? r : 0)];
        for (long k = 0; k < columns; k += 2) {
            const bool pair = k + 1 < columns;
            const double *b0 = B[k], *b1 = B[pair ? k + 1 : k];
            Pack::Vector total[4][2] = {};
            for (long j = 0; j < n; j += lanes) {
                const Pack::Vector x = load(b0 + j), y = load(b1 + j);
                for (int r = 0; r < 4; ++r) {
                    const Pack::Vector row = load(a[r] + j);
                    total[r][0] += row * x;
                    total[r][1] += row * y;
                }
            }
            for (int r = 0; r < 4 && r < count; ++r) {
                C[i + r][k] = sum(total[r][0]);
                if (pair) C[i + r][k + 1] = sum(total[r][1]);
            }
        }
    }
}

// C[i][k] = row i times row k of A for k < i, over n columns (padded); row i is zero before column block_of(i). Two
// rows by four at once.
[[gnu::noinline]] inline void products_of_rows(const Matrix& A, long rows, long n, const Matrix& C) {
    for (long i = 0; i < rows; i += 2) {
        const bool pair = i + 1 < rows;
        const double *a0 = A[i], *a1 = A[pair ? i + 1 : i];
        for (long k = 0; k <= i; k += 4) {
            const double* b[4];
            const long count = i + 1 - k < 4 ? i + 1 - k : 4;
            for (long r = 0; r < 4; ++r) b[r] = A[k + (r < count ? r : 0)];
            Pack::Vector total[4][2] = {};
            for (long j = block_of(i); j < n; j += lanes) {
                const Pack::Vector x = load(a0 + j), y = load(a1 + j);
                for (int r = 0; r < 4; ++r) {
                    const Pack::Vector row = load(b[r] + j);
                    total[r][0] += row * x;
                    total[r][1] += row * y;
                }
            }
            for (int r = 0; r < 4 && r < count; ++r) {
                C[i][k + r] = sum(total[r][0]);
                if (pair) C[i + 1][k + r] = sum(total[r][1]);
            }
        }
    }
}

// (I - tau v v^T) applied from the right to `count` rows; v is nonzero only in [begin, end).
[[gnu::noinline]] inline void reflect(double* const* rows, long count, const double* v, double tau, long begin,
                                      long end) {
    long i = 0;
    for (; i + 4 <= count; i += 4) {
        double* const row[4] = {rows[i], rows[i + 1], rows[i + 2], rows[i + 3]};
        Pack::Vector total[4] = {};
        for (long j = begin; j < end; j += lanes) {
            const Pack::Vector x = load(v + j);
            for (int r = 0; r < 4; ++r) total[r] += load(row[r] + j) * x;
        }
        double s[4];
        for (int r = 0; r < 4; ++r) s[r] = -tau * sum(total[r]);
        for (long j = begin; j < end; j += lanes) {
            const Pack::Vector x = load(v + j);
            for (int r = 0; r < 4; ++r) store(row[r] + j, load(row[r] + j) + s[r] * x);
        }
    }
    for (; i < count; ++i) add(-tau * dot(rows[i], v, begin, end), v, rows[i], begin, end);
}

// Computes the reflector I - tau v v^T that maps x[k ..] to its length on element k. Writes v (zero before k) and
// returns tau; `length` takes the signed length. Elements are selected in registers: a pack that has just been stored
// in parts would have to wait for them.
inline double reflector(const double* x, long k, long end, double* v, double& length) {
    const long begin = block_of(k);
    Pack::Vector lane, first = load(x + begin), even, odd = {};
    for (int i = 0; i < lanes; ++i) lane[i] = i;
    const Pack::Vector own_lane = Pack::Vector{} + static_cast<double>(k - begin);
    first = lane < own_lane ? Pack::Vector{} : first;
    even = first * first;
    for (long j = begin + lanes; j < end; j += 2 * lanes) {
        const Pack::Vector a = load(x + j);
        store(v + j, a);
        odd += a * a;
        if (j + lanes == end) break;
        const Pack::Vector b = load(x + j + lanes);
        store(v + j + lanes, b);
        even += b * b;
    }
    const double own = x[k], norm = __builtin_sqrt(sum(even + odd));
    length = own > 0 ? -norm : norm;  // sign opposite to x, to avoid cancellation
    store(v + begin, lane == own_lane ? first - length : first);
    if (norm == 0) return 0;
    return 1 / (norm * (norm + fabs(own - length + length)));
}

// H = B^T B over n columns of B; n is any number, columns up to the block's end are zero. for_rows(i, j, f) calls f(k)
// for the rows that count in H[i ..][j ..]. Four columns at once, sums in registers.
template <class Rows>
inline void gram_of(const Matrix& B, long n, const Matrix& H, Rows&& for_rows) {
    const long end = padded(n);
    for (long i = 0; i < n; i += lanes) {
        long j = block_of(i);  // the upper half is enough
        const auto block = [&](auto wide) {
            constexpr int w = decltype(wide)::value;
            Pack::Vector total[lanes][w] = {};
            for_rows(i, j, w, [&](long k) {
                const double* b = B[k];
                for (int c = 0; c < w; ++c) {
                    const Pack::Vector x = load(b + j + c * lanes);
                    for (int r = 0; r < lanes; ++r) total[r][c] += b[i + r] * x;
                }
            });
            for (int r = 0; r < lanes; ++r)
                for (int c = 0; c < w; ++c) store(H[i + r] + j + c * lanes, total[r][c]);
            j += w * lanes;
        };
        while (j + 2 * lanes <= end) block(std::integral_constant<int, 2>{});
        if (j < end) block(std::integral_constant<int, 1>{});
    }
}
[[gnu::noinline]] inline void gram(const Matrix& B, long rows, long n, const Matrix& H) {
    gram_of(B, n, H, [&](long, long, int, auto&& row) {
        for (long k = 0; k < rows; ++k) row(k);
    });
}

constexpr long most_sparse_rows = 64;

// The same for up to 64 rows, most of whose blocks of columns are zero, as those of frames at the ends of a tree's
// branches. `used` is scratch memory of a number for each block.
[[gnu::noinline]] inline void gram_sparse(const Matrix& B, long rows, long n, const Matrix& H, std::uint64_t* used) {
    for (long j = 0; j < n; j += lanes) {
        used[j / lanes] = 0;
        for (long k = 0; k < rows; ++k) {
            used[j / lanes] |= static_cast<std::uint64_t>(any(load(B[k] + j) != 0)) << k;
        }
    }
    gram_of(B, n, H, [&](long i, long j, int wide, auto&& row) {
        std::uint64_t both = used[j / lanes];
        for (int c = 1; c < wide; ++c) both |= used[j / lanes + c];
        for (both &= used[i / lanes]; both != 0; both &= both - 1) row(__builtin_ctzll(both));
    });
}

}  // namespace kinodyn::KINODYN_TARGET
