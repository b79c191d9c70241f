// Singular value decomposition of small matrices over lanes, by one-sided Jacobi rotations.
#pragma once

#include "kernels/pack.hpp"

namespace kinodyn::KINODYN_TARGET {

// Jacobi rotation of rows u and v of n numbers, after which they are orthogonal and the first is no shorter; x and y
// are rotated with them. Writes the squared norms and returns the squared cosine of the angle that the rows had before.
template <class T>
inline T rotate_rows(T* u, T* v, T& x, T& y, T& size_u, T& size_v, long n) {
    using L = Lanes<T>;
    T p = 0.0, uu = 0.0, vv = 0.0;
    for (long i = 0; i < n; ++i) p += u[i] * v[i], uu += u[i] * u[i], vv += v[i] * v[i];
    const T d = uu - vv, h = L::root(4.0 * p * p + d * d);
    const T rotated = L::one_if_less(T(1e-300), h), ordered = 1.0 - L::one_if_less(d, T(0.0));
    // cosine and sine of the rotation, the larger one first, where no digits cancel
    const T whole = h + (1.0 - rotated);
    const T large = L::root(0.5 * (whole + L::larger(d, -d)) / whole);
    const T small = L::larger(p, -p) / (whole * large);
    const T sign = 1.0 - 2.0 * L::one_if_less(p, T(0.0));
    const T c = rotated * (ordered * large + (1.0 - ordered) * small) + (1.0 - rotated);
    const T s = rotated * sign * (ordered * small + (1.0 - ordered) * large);
    for (long i = 0; i < n; ++i) {
        const T a = u[i], b = v[i];
        u[i] = c * a + s * b, v[i] = c * b - s * a;
    }
    const T a = x, b = y;
    x = c * a + s * b, y = c * b - s * a;
    size_u = 0.5 * (uu + vv + h), size_v = L::larger(T(0.0), 0.5 * (uu + vv - h));
    return p * p / L::larger(uu * vv, T(1e-300));
}

// Rotates pairs of rows of [A b] until all rows of A (rows x n) are orthogonal, the longest first: their norms are then
// the singular values, `size` their squares, their directions the right singular vectors, and b is given along the left
// ones (one-sided Jacobi, J. C. Nash, "A one-sided transformation method for the singular value decomposition
// and algebraic eigenproblem", 1975).
template <class T>
inline void orthogonalise(T* A, T* b, T* size, long rows, long n) {
    for (long r = 0; r < rows; ++r) {
        size[r] = 0.0;
        for (long i = 0; i < n; ++i) size[r] += A[r * n + i] * A[r * n + i];
    }
    for (int sweep = 0; sweep < 12; ++sweep) {
        T cosine = 0.0;
        for (long i = 0; i < rows; ++i)
            for (long j = i + 1; j < rows; ++j)
                cosine = Lanes<T>::larger(cosine, rotate_rows(A + i * n, A + j * n, b[i], b[j], size[i], size[j], n));
        if (Lanes<T>::all_zero(Lanes<T>::one_if_less(T(1e-20), cosine))) return;
    }
}

}  // namespace kinodyn::KINODYN_TARGET
