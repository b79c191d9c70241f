// Rows of states to columns of packs and back.
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/algebra.hpp"
#include "kernels/float_pack.hpp"
#include "kernels/transpose.hpp"

namespace kinodyn::KINODYN_TARGET {

// Calls f(j) for blocks of n neighbours that cover 0 .. size; the last one may overlap the one before. For sizes below
// n there is no block: returns false.
template <int n, class F>
inline bool for_blocks(long size, F&& f) {
    if (size < n) return false;
    long j = 0;
    for (; j + n <= size; j += n) f(j);
    if (j < size) f(size - n);
    return true;
}

// 0 in each lane, NaN if a number of it in the block is not finite. Two sums that no other block waits for: the latency
// of addition would otherwise take longer than the transposition.
template <class T>
inline T zero_sum(const T* block) {
    T sum[2] = {0.0 * block[0], 0.0 * block[1]};
    for (int i = 2; i < Lanes<T>::count; ++i) sum[i & 1] += 0.0 * block[i];
    return sum[0] + sum[1];
}

// Transposes rows into columns; false if a number is not finite.
template <class T>
[[gnu::noinline]] inline bool load_rows(const Input& input, long state, long last, T* columns) {
    constexpr int n = Lanes<T>::count;
    const RealOf<T>* row[n];
    for (int i = 0; i < n; ++i) row[i] = input.row<RealOf<T>>(state + i < last ? state + i : last);
    T sum = 0.0;
    const bool done = for_blocks<n>(input.size, [&](long j) {
        T block[n];
        for (int i = 0; i < n; ++i) memcpy(&block[i], row[i] + j, sizeof(T));
        sum += zero_sum(block);
        transpose(block);
        for (int i = 0; i < n; ++i) columns[j + i] = block[i];
    });
    for (int j = 0; !done && j < input.size; ++j) {
        for (int i = 0; i < n; ++i) columns[j].v[i] = row[i][j];
        sum += 0.0 * columns[j];
    }
    return Lanes<T>::all_zero(sum);
}

// How a block of a row is written: through the cache; or past it, in parts of 16 bytes, or in the largest parts that
// are aligned where rows and blocks are.
enum class Writing { Cached, Streamed16, StreamedAligned };

// Eight rows written past the cache at the same time, in parts of 16 bytes, leave too many partial cache lines in the
// write-combining buffers: mass matrices of Talos take 4.6 us each, and 0.95 us if the rows are assembled in the cache
// and then streamed from begin to end. Four rows at a time fit in the buffers. Rows aligned to 32 bytes need no detour.
template <class T>
constexpr bool rows_are_staged = Lanes<T>::count >= 8;

// Are the rows of an output aligned to n bytes?
template <class Real>
inline bool rows_aligned(const Output& output, unsigned n) {
    return reinterpret_cast<uintptr_t>(output.data) % n == 0 && output.size * sizeof(Real) % n == 0;
}

// Can blocks be written past the cache as they are? At most four rows leave a partial line behind.
template <class T>
inline bool streams_aligned(const Output& output) {
    constexpr int n = Lanes<T>::count;
    if constexpr (n > 4 && sizeof(T) < 64) return false;
    return rows_aligned<RealOf<T>>(output, n <= 4 ? sizeof(T) : n == 8 ? 32 : 64);
}

template <Writing writing, class T>
inline void put(RealOf<T>* to, const T& block) {
#if defined(__AVX2__)
    if constexpr (writing == Writing::StreamedAligned && sizeof(T) >= 32) {
        const __m256i* parts = reinterpret_cast<const __m256i*>(&block);
        auto* destination = reinterpret_cast<__m256i*>(to);
#if defined(__AVX512F__)
        if (sizeof(T) == 64 && reinterpret_cast<uintptr_t>(to) % 64 == 0)
            return _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)block.v);
#endif
        for (unsigned i = 0; i < sizeof(T) / 32; ++i) _mm256_stream_si256(destination + i, parts[i]);
        return;
    }
#endif
#if defined(__SSE2__)
    if constexpr (writing != Writing::Cached) {
        __m128i part;
        for (unsigned i = 0; i < sizeof(T); i += sizeof part) {
            memcpy(&part, reinterpret_cast<const char*>(&block) + i, sizeof part);
            _mm_stream_si128(reinterpret_cast<__m128i*>(reinterpret_cast<char*>(to) + i), part);
        }
        return;
    }
#endif
    memcpy(to, &block, sizeof block);
}

// Copies n bytes, a multiple of 16, past the cache, one cache line after the other. Both are aligned to 16 bytes.
inline void stream(void* destination, const void* source, long n) {
    char* to = static_cast<char*>(destination);
    const char* from = static_cast<const char*>(source);
#if defined(__SSE2__)
    const auto copy_16 = [&](long j) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + j),
                         _mm_load_si128(reinterpret_cast<const __m128i*>(from + j)));
    };
    long j = 0;
    for (; j < n && reinterpret_cast<uintptr_t>(to + j) % 64 != 0; j += 16) copy_16(j);
#if defined(__AVX512F__)
    for (; j + 64 <= n; j += 64) _mm512_stream_si512(reinterpret_cast<__m512i*>(to + j), _mm512_loadu_si512(from + j));
#endif
    for (; j < n; j += 16) copy_16(j);
#else
    memcpy(to, from, static_cast<unsigned long>(n));
#endif
}

// Writes the first `rows` lanes of the columns as rows; false if a number is not finite. Blocks marked in `zero` are
// known to be zero throughout. `whole`: all lanes are rows.
template <Writing writing, bool whole, class T>
[[gnu::noinline]] inline bool store_lanes(RealOf<T>* first, long size, int rows, const T* columns, const char* zero) {
    constexpr int n = Lanes<T>::count;
    const auto put_rows = [&](long j, auto&& block) {
        RealOf<T>* to = first + j;
        for (int i = 0; i < n; ++i, to += size)
            if (whole || i < rows) put<writing, T>(to, block(i));
    };
    T sum = 0.0;
    const bool done = for_blocks<n>(size, [&](long j) {
        if (zero && zero[j]) return put_rows(j, [](int) { return T(0.0); });
        T block[n];
        for (int i = 0; i < n; ++i) block[i] = columns[j + i];
        sum += zero_sum(block);
        transpose(block);
        put_rows(j, [&](int i) { return block[i]; });
    });
    for (long j = 0; !done && j < size; ++j) {
        sum += 0.0 * columns[j];
        for (int i = 0; i < rows; ++i) first[i * size + j] = columns[j][i];
    }
    return Lanes<T>::all_zero(sum);
}
template <Writing writing, class T>
inline bool store_rows(RealOf<T>* first, int size, int rows, const T* columns, const char* zero) {
    return rows == Lanes<T>::count ? store_lanes<writing, true>(first, size, rows, columns, zero)
                                   : store_lanes<writing, false>(first, size, rows, columns, zero);
}

// Compiled once, in rows.cpp, as are those of row_streams.hpp: every kernel uses them.
extern template bool load_rows(const Input&, long, long, Pack*);
extern template bool store_lanes<Writing::Cached, true>(double*, long, int, const Pack*, const char*);
extern template bool store_lanes<Writing::Cached, false>(double*, long, int, const Pack*, const char*);
extern template bool store_lanes<Writing::Streamed16, true>(double*, long, int, const Pack*, const char*);
extern template bool store_lanes<Writing::Streamed16, false>(double*, long, int, const Pack*, const char*);
extern template bool store_lanes<Writing::StreamedAligned, true>(double*, long, int, const Pack*, const char*);
extern template bool store_lanes<Writing::StreamedAligned, false>(double*, long, int, const Pack*, const char*);
extern template bool load_rows(const Input&, long, long, FloatPack*);
extern template bool store_lanes<Writing::Cached, true>(float*, long, int, const FloatPack*, const char*);
extern template bool store_lanes<Writing::Cached, false>(float*, long, int, const FloatPack*, const char*);
extern template bool store_lanes<Writing::Streamed16, true>(float*, long, int, const FloatPack*, const char*);
extern template bool store_lanes<Writing::Streamed16, false>(float*, long, int, const FloatPack*, const char*);
extern template bool store_lanes<Writing::StreamedAligned, true>(float*, long, int, const FloatPack*, const char*);
extern template bool store_lanes<Writing::StreamedAligned, false>(float*, long, int, const FloatPack*, const char*);

}  // namespace kinodyn::KINODYN_TARGET
