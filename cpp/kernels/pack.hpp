// Lanes: a Pack holds the same quantity of several states, one per SIMD lane, and computes on all of them at once.
//
// Everything in this folder is compiled once per instruction set, in a namespace of its own (KINODYN_TARGET): shared
// inline functions, the standard library's included, could otherwise be merged by the linker across instruction sets.
#pragma once

#include <math.h>
#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>  // a thirtieth of the time to compile
#endif

#include "core/kernels.hpp"

namespace kinodyn::KINODYN_TARGET {

constexpr int lanes = KINODYN_LANES;

struct Pack {
    typedef double Vector __attribute__((vector_size(8 * KINODYN_LANES)));
    typedef long long Mask __attribute__((vector_size(8 * KINODYN_LANES)));
    Vector v;

    Pack() = default;
    Pack(Vector x) : v(x) {}
    Pack(double x) : v(Vector{} + x) {}
    double operator[](int lane) const { return v[lane]; }
    Pack& operator+=(Pack b) {
        v += b.v;
        return *this;
    }
    Pack& operator-=(Pack b) {
        v -= b.v;
        return *this;
    }
    Pack& operator*=(Pack b) {
        v *= b.v;
        return *this;
    }
};

inline Pack operator+(Pack a, Pack b) { return a.v + b.v; }
inline Pack operator-(Pack a, Pack b) { return a.v - b.v; }
inline Pack operator*(Pack a, Pack b) { return a.v * b.v; }
inline Pack operator/(Pack a, Pack b) { return a.v / b.v; }
inline Pack operator-(Pack a) { return -a.v; }

// Is any lane of a comparison true?
inline bool any(Pack::Mask mask) {
#if KINODYN_LANES == 8 && defined(__AVX512DQ__)
    return _mm512_movepi64_mask((__m512i)mask) != 0;
#elif KINODYN_LANES == 4 && defined(__AVX__)
    return _mm256_movemask_pd((__m256d)mask) != 0;
#elif KINODYN_LANES == 2 && defined(__SSE2__)
    return _mm_movemask_pd((__m128d)mask) != 0;
#else
    long long all = 0;
    for (int i = 0; i < lanes; ++i) all |= mask[i];
    return all != 0;
#endif
}

// Operations that differ between one state (double) and several (Pack). Comparisons with NaN are false.
template <class T>
struct Lanes;

template <>
struct Lanes<double> {
    using Real = double;
    static constexpr int count = 1;
    static double lane(double x, int) { return x; }
    static void set(double& x, int, double value) { x = value; }
    static bool all_zero(double x) { return x == 0; }
    static bool all_positive(double x) { return x > 0; }
    static bool within(double x, double bound) { return fabs(x) <= bound; }
    static double root(double x) { return __builtin_sqrt(x); }
    static double larger(double a, double b) { return a > b ? a : b; }
    static double smaller(double a, double b) { return a < b ? a : b; }
    static double one_if_less(double a, double b) { return a < b ? 1.0 : 0.0; }
    static double select(double condition, double a, double b) { return condition != 0 ? a : b; }
};

template <>
struct Lanes<Pack> {
    using Real = double;
    static constexpr int count = lanes;
    static double lane(Pack x, int i) { return x[i]; }
    static void set(Pack& x, int i, double value) { x.v[i] = value; }
    static bool all_zero(Pack x) { return !any(~(x.v == 0)); }
    static bool all_positive(Pack x) { return !any(~(x.v > 0)); }
    static bool within(Pack x, double bound) { return !any(~((x.v <= bound) & (x.v >= -bound))); }
    static Pack root(Pack x) {
        for (int i = 0; i < lanes; ++i) x.v[i] = __builtin_sqrt(x.v[i]);
        return x;
    }
    static Pack larger(Pack a, Pack b) { return a.v > b.v ? a.v : b.v; }
    static Pack smaller(Pack a, Pack b) { return a.v < b.v ? a.v : b.v; }
    static Pack one_if_less(Pack a, Pack b) { return a.v < b.v ? Pack::Vector{} + 1.0 : Pack::Vector{}; }
    static Pack select(Pack condition, Pack a, Pack b) { return condition.v != 0 ? a.v : b.v; }
};

// The numbers of the lanes, and the robot in their precision: constants need no conversion where they are used.
template <class T>
using RealOf = typename Lanes<T>::Real;
template <class T>
using BodyFor = BodyOf<RealOf<T>>;
template <class T>
using FrameFor = FixedFrameOf<RealOf<T>>;
template <class T>
using ModelFor = ModelOf<RealOf<T>>;

template <class T>
struct SinCos {
    T sin, cos;
};

// Sine and cosine by reduction to [-pi/4, pi/4] with pi/2 in three parts (Cody and Waite) and minimax polynomials
// (the coefficients of Cephes, S. L. Moshier): within 1 ulp for |x| < 1e5. Larger angles go to the C library.
template <class T>
[[gnu::always_inline]] inline SinCos<T> sincos_reduced(T x) {
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    const T k_shifted = x * 0.63661977236758134308 + shift;
    const T k = k_shifted - shift;
    // each part of pi/2 has so few digits that k times it is exact
    const T r = ((x - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21;
    const T z = r * r;
    const T s = r + r * z *
                        (-1.66666666666666307295e-1 +
                         z * (8.33333333332211858878e-3 +
                              z * (-1.98412698295895385996e-4 +
                                   z * (2.75573136213857245213e-6 +
                                        z * (-2.50507477628578072866e-8 + z * 1.58962301576546568060e-10)))));
    const T c = 1.0 - 0.5 * z +
                z * z *
                    (4.16666666666665929218e-2 +
                     z * (-1.38888888888730564116e-3 +
                          z * (2.48015872888517045348e-5 +
                               z * (-2.75573141792967388112e-7 +
                                    z * (2.08757008419747316778e-9 + z * -1.13585365213876817300e-11)))));
    // the last two bits of k determine the quadrant
    if constexpr (Lanes<T>::count == 1) {
        const long quadrant = static_cast<long>(k);
        const double sin = quadrant & 1 ? c : s, cos = quadrant & 1 ? s : c;
        return {quadrant & 2 ? -sin : sin, (quadrant + 1) & 2 ? -cos : cos};
    } else {
        using Mask = typename T::Mask;
        const Mask bits = (Mask)k_shifted.v;
        const Mask swap = -(bits & 1);
        const T sin = swap ? c.v : s.v, cos = swap ? s.v : c.v;
        const Mask flip_sin = (bits & 2) << 62, flip_cos = ((bits + 1) & 2) << 62;
        const Mask sin_bits = (Mask)sin.v ^ flip_sin;
        const Mask cos_bits = (Mask)cos.v ^ flip_cos;
        return {(typename T::Vector)sin_bits, (typename T::Vector)cos_bits};
    }
}

[[gnu::noinline, gnu::cold]] inline SinCos<double> sincos_large(double x) { return {sin(x), cos(x)}; }
[[gnu::noinline, gnu::cold]] inline SinCos<Pack> sincos_large(Pack x) {
    SinCos<Pack> result;
    for (int i = 0; i < lanes; ++i) result.sin.v[i] = sin(x[i]), result.cos.v[i] = cos(x[i]);
    return result;
}

template <class T>
[[gnu::always_inline]] inline SinCos<T> sincos(T x) {
    constexpr double reducible = sizeof(RealOf<T>) == 8 ? 1e5 : 8192;
    if (__builtin_expect(Lanes<T>::within(x, reducible), 1)) return sincos_reduced(x);
    return sincos_large(x);
}

// Angle of the vector (x, y), which is not zero: by the arc tangent on [0, 1], of (t - 1) / (t + 1) above 0.66 (a
// rational function, the coefficients of Cephes, S. L. Moshier); within 3 ulp.
template <class T>
inline T arctan2(T y, T x) {
    using L = Lanes<T>;
    const T abs_x = L::larger(x, -x), abs_y = L::larger(y, -y);
    const T small = L::smaller(abs_x, abs_y), large = L::larger(abs_x, abs_y);
    const T upper = L::one_if_less(0.66 * large, small);
    const T t = (small - upper * large) / (large + upper * small), z = t * t;
    const T p =
        -6.485021904942025371773e1 +
        z * (-1.228866684490136173410e2 +
             z * (-7.500855792314704667340e1 + z * (-1.615753718733365076637e1 + z * -8.750608600031904122785e-1)));
    const T q =
        1.945506571482613964425e2 +
        z * (4.853903996359136964868e2 +
             z * (4.328810604912902668951e2 + z * (1.650270098316988542046e2 + z * (2.485846490142306297962e1 + z))));
    const T first = t + t * z * (p / q) + upper * 7.85398163397448309616e-1;  // of the octant
    const T quadrant = L::select(L::one_if_less(abs_x, abs_y), 1.57079632679489661923 - first, first);
    const T half = L::select(L::one_if_less(x, T(0.0)), 3.14159265358979323846 - quadrant, quadrant);
    return L::select(L::one_if_less(y, T(0.0)), -half, half);
}

}  // namespace kinodyn::KINODYN_TARGET
