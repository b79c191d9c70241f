// Rows of results written past the cache, a pack of them at a time, in whole cache lines. With AVX-512 only.
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/algebra.hpp"
#include "kernels/float_pack.hpp"
#include "kernels/transpose.hpp"

namespace kinodyn::KINODYN_TARGET {

// Does a block of a row, as the transposition yields it, fill a cache line?
template <class T>
constexpr bool blocks_are_lines =
#if defined(__AVX512F__)
    sizeof(T) == 64;
#else
    false;
#endif

#if defined(__AVX512F__)
// Where the numbers of a line are, in two neighbouring blocks of a row, if the first line begins at number `head`.
template <class T>
inline __m512i line_indices(int head) {
    if constexpr (sizeof(RealOf<T>) == 8)
        return _mm512_add_epi64(_mm512_set1_epi64(head), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    else
        return _mm512_add_epi32(_mm512_set1_epi32(head),
                                _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
template <class T>
inline __m512i line_of(const T& block, const T& next, __m512i indices) {
    if constexpr (sizeof(RealOf<T>) == 8)
        return _mm512_permutex2var_epi64((__m512i)block.v, indices, (__m512i)next.v);
    else
        return _mm512_permutex2var_epi32((__m512i)block.v, indices, (__m512i)next.v);
}

// Writes columns as n rows of at least n numbers; false if a number is not finite.
//
// Rows and their blocks begin anywhere, and partial lines of eight rows at once would overflow the write-combining
// buffers: mass matrices of Talos take 4.6 us each if blocks are streamed as they are. So each line joins the end of
// one block and the begin of the next, and the last line of a row the begin of the next row.
template <class T>
[[gnu::noinline]] inline bool stream_rows(RealOf<T>* first, int size, const T* columns) {
    using Real = RealOf<T>;
    constexpr int n = Lanes<T>::count;
    T begins[n], before[n], block[n], sum[2] = {0.0, 0.0};
    Real* line[n];
    __m512i indices[n];
    const auto transposed = [&](int j, int count) {
        for (int i = 0; i < n; ++i) block[i] = i < count ? columns[j + i] : T(0.0);
        for (int i = 0; i < n; ++i) sum[i & 1] += 0.0 * block[i];
        transpose(block);
    };
    transposed(0, n);
    for (int i = 0; i < n; ++i) {
        Real* row = first + i * static_cast<long>(size);
        const int head = static_cast<int>(-reinterpret_cast<uintptr_t>(row) % sizeof(T) / sizeof(Real));
        line[i] = row + head, indices[i] = line_indices<T>(head), begins[i] = before[i] = block[i];
    }
    memcpy(first, begins, sizeof(Real) * static_cast<unsigned>(line[0] - first));
    int j = n;
    for (; j + n <= size; j += n) {
        transposed(j, n);
        for (int i = 0; i < n; ++i) {
            _mm512_stream_si512(reinterpret_cast<__m512i*>(line[i]), line_of(before[i], block[i], indices[i]));
            line[i] += n, before[i] = block[i];
        }
    }
    transposed(j, size - j);
    for (int i = 0; i < n; ++i) {
        Real* const end = first + (i + 1) * static_cast<long>(size);
        Real rest[4 * n];  // the last two blocks, without what is beyond the row, and the begin of the next row
        memcpy(rest, &before[i], sizeof(T));
        memcpy(rest + n, &block[i], sizeof(T));
        if (i + 1 < n) memcpy(rest + n + size - j, &begins[i + 1], sizeof(T));
        const Real* from = rest + n + (size - j) - (end - line[i]);
        for (; i + 1 < n ? line[i] < end : end - line[i] >= n; line[i] += n, from += n)
            _mm512_stream_si512(reinterpret_cast<__m512i*>(line[i]), _mm512_loadu_si512(from));
        if (i + 1 == n) memcpy(line[i], from, sizeof(Real) * static_cast<unsigned>(end - line[i]));
    }
    return Lanes<T>::all_zero(sum[0] + sum[1]);
}
#if KINODYN_LANES == 8
extern template bool stream_rows(double*, int, const Pack*);
extern template bool stream_rows(float*, int, const FloatPack*);
#endif
#endif

}  // namespace kinodyn::KINODYN_TARGET
