// Lanes of float32: a FloatPack holds the same quantity of twice as many states as a Pack. Collision checks use it:
// their geometry is uncertain by more than the rounding of float32, which the tables of spheres account for. So do the
// kernels for batches in float32.
#pragma once

#include "kernels/pack.hpp"

namespace kinodyn::KINODYN_TARGET {

constexpr int float_lanes = 2 * KINODYN_LANES;

struct FloatPack {
    typedef float Vector __attribute__((vector_size(8 * KINODYN_LANES)));
    typedef int Mask __attribute__((vector_size(8 * KINODYN_LANES)));
    Vector v;

    FloatPack() = default;
    FloatPack(Vector x) : v(x) {}
    FloatPack(float x) : v(Vector{} + x) {}
    FloatPack(double x) : FloatPack(static_cast<float>(x)) {}
    float operator[](int lane) const { return v[lane]; }
};
using FloatMask = FloatPack::Mask;

inline FloatPack operator+(FloatPack a, FloatPack b) { return a.v + b.v; }
inline FloatPack operator-(FloatPack a, FloatPack b) { return a.v - b.v; }
inline FloatPack operator*(FloatPack a, FloatPack b) { return a.v * b.v; }
inline FloatPack operator/(FloatPack a, FloatPack b) { return a.v / b.v; }
inline FloatPack operator-(FloatPack a) { return -a.v; }
inline FloatPack& operator+=(FloatPack& a, FloatPack b) { return a = a + b; }
inline FloatPack& operator-=(FloatPack& a, FloatPack b) { return a = a - b; }
inline FloatPack& operator*=(FloatPack& a, FloatPack b) { return a = a * b; }
inline FloatMask operator<=(FloatPack a, FloatPack b) { return a.v <= b.v; }
inline FloatMask operator<(FloatPack a, FloatPack b) { return a.v < b.v; }

inline FloatPack larger(FloatPack a, FloatPack b) { return a.v > b.v ? a.v : b.v; }
inline FloatPack smaller(FloatPack a, FloatPack b) { return a.v < b.v ? a.v : b.v; }
inline FloatPack positive_part(FloatPack a) { return larger(a, 0.0f); }
inline FloatPack magnitude(FloatPack a) { return (FloatPack::Vector)((FloatMask)a.v & 0x7fffffff); }
inline FloatPack select(FloatMask mask, FloatPack a, FloatPack b) { return mask ? a.v : b.v; }
inline FloatPack clamp(FloatPack a, float low, float high) { return smaller(larger(a, low), high); }

inline FloatPack root(FloatPack a) {
#if KINODYN_LANES == 8 && defined(__AVX512F__)
    return (FloatPack::Vector)_mm512_maskz_sqrt_ps(0xffff, (__m512)a.v);
#elif KINODYN_LANES == 4 && defined(__AVX__)
    return (FloatPack::Vector)_mm256_sqrt_ps((__m256)a.v);
#elif KINODYN_LANES == 2 && defined(__SSE2__)
    return (FloatPack::Vector)_mm_sqrt_ps((__m128)a.v);
#else
    for (int i = 0; i < float_lanes; ++i) a.v[i] = __builtin_sqrtf(a.v[i]);
    return a;
#endif
}

// Rounds numbers below 2^22 to the nearest integer.
inline FloatPack rounded(FloatPack a) { return (a + 12582912.0f) - 12582912.0f; }
// Rounds numbers below 2^31 towards zero.
inline FloatMask truncated(FloatPack a) { return __builtin_convertvector(a.v, FloatMask); }

// table[index] in each lane.
inline FloatPack gather(const float* table, FloatMask index) {
#if KINODYN_LANES == 8 && defined(__AVX512F__)
    return (FloatPack::Vector)_mm512_i32gather_ps((__m512i)index, table, 4);
#elif KINODYN_LANES == 4 && defined(__AVX2__)
    return (FloatPack::Vector)_mm256_i32gather_ps(table, (__m256i)index, 4);
#else
    FloatPack result;
    for (int i = 0; i < float_lanes; ++i) result.v[i] = table[index[i]];
    return result;
#endif
}

// The lanes of a comparison as bits, lane 0 first.
inline unsigned bits(FloatMask mask) {
#if KINODYN_LANES == 8 && defined(__AVX512DQ__)
    return _mm512_movepi32_mask((__m512i)mask);
#elif KINODYN_LANES == 4 && defined(__AVX__)
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)mask));
#elif KINODYN_LANES == 2 && defined(__SSE2__)
    return static_cast<unsigned>(_mm_movemask_ps((__m128)mask));
#else
    unsigned all = 0;
    for (int i = 0; i < float_lanes; ++i) all |= (mask[i] ? 1u : 0u) << i;
    return all;
#endif
}
constexpr unsigned all_lanes = float_lanes == 32 ? ~0u : (1u << float_lanes) - 1;

template <>
struct Lanes<FloatPack> {
    using Real = float;
    static constexpr int count = float_lanes;
    static float lane(FloatPack x, int i) { return x[i]; }
    static bool all_zero(FloatPack x) { return bits(x.v == 0) == all_lanes; }
    static bool all_positive(FloatPack x) { return bits(x.v > 0) == all_lanes; }
    static bool within(FloatPack x, double bound) { return bits(magnitude(x) <= FloatPack(bound)) == all_lanes; }
    static FloatPack root(FloatPack x) { return kinodyn::KINODYN_TARGET::root(x); }
    static FloatPack larger(FloatPack a, FloatPack b) { return kinodyn::KINODYN_TARGET::larger(a, b); }
    static FloatPack smaller(FloatPack a, FloatPack b) { return kinodyn::KINODYN_TARGET::smaller(a, b); }
    static FloatPack one_if_less(FloatPack a, FloatPack b) {
        return a.v < b.v ? FloatPack::Vector{} + 1.0f : FloatPack::Vector{};
    }
};

// 0, 1, 2, ...
inline FloatPack lane_numbers() {
    FloatPack result;
    for (int i = 0; i < float_lanes; ++i) result.v[i] = static_cast<float>(i);
    return result;
}

// Sine and cosine within 2e-7 for |x| < 8192, by reduction to [-pi/4, pi/4] with pi/2 in three parts (the coefficients
// of Cephes, S. L. Moshier).
[[gnu::always_inline]] inline SinCos<FloatPack> sincos_reduced(FloatPack x) {
    const FloatPack shifted = x * 0.63661977f + 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    const FloatPack k = shifted - 12582912.0f;
    const FloatPack r = ((x - k * 1.5703125f) - k * 4.83751296997e-4f) - k * 7.54978995489e-8f;
    const FloatPack z = r * r;
    const FloatPack s = r + r * z * (-1.6666654611e-1f + z * (8.3321608736e-3f - z * 1.9515295891e-4f));
    const FloatPack c =
        1.0f - 0.5f * z + z * z * (4.166664568298827e-2f + z * (-1.388731625493765e-3f + z * 2.443315711809948e-5f));
    const FloatMask quadrant = (FloatMask)shifted.v;
    const FloatMask swap = -(quadrant & 1);
    const FloatPack sin = swap ? c.v : s.v, cos = swap ? s.v : c.v;
    const FloatMask sin_bits = (FloatMask)sin.v ^ ((quadrant & 2) << 30);
    const FloatMask cos_bits = (FloatMask)cos.v ^ (((quadrant + 1) & 2) << 30);
    return {(FloatPack::Vector)sin_bits, (FloatPack::Vector)cos_bits};
}
[[gnu::noinline, gnu::cold]] inline SinCos<FloatPack> sincos_large(FloatPack x) {
    SinCos<FloatPack> result;
    for (int i = 0; i < float_lanes; ++i) {
        result.sin.v[i] = static_cast<float>(sin(static_cast<double>(x[i])));
        result.cos.v[i] = static_cast<float>(cos(static_cast<double>(x[i])));
    }
    return result;
}

}  // namespace kinodyn::KINODYN_TARGET
