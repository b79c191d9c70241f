// Constrained bodies without inertia: M is singular, the KKT matrix [M J^T; J 0] is not.
//
// A small inertia E replaces each pivot of M that vanishes. The proximal-point method removes its effect
// (R. T. Rockafellar 1976): (M + E) a - J^T f = tau + E a_before, repeated until a = a_before.
#pragma once

#include "kernels/reduction.hpp"

namespace kinodyn::KINODYN_TARGET {

// As factor(), but of M + E. E: 1e-7 of the largest inertia where a pivot vanishes, else 0.
template <class T>
inline void factor_filled(const Model& model, T* H, T* E) {
    using L = Lanes<T>;
    const long nv = model.nv;
    T greatest = 0.0;
    for (long k = 0; k < nv; ++k) greatest = L::larger(greatest, H[k * nv + k]);
    for (long k = nv - 1; k >= 0; --k) {
        const T least = 1e-13 * model.dof_scale[static_cast<std::size_t>(k)];
        E[k] = (1.0 - L::one_if_less(least, H[k * nv + k])) * 1e-7 * greatest;
        H[k * nv + k] += E[k];
        const T inverse = 1.0 / H[k * nv + k];
        for (long i = model.dof_parent[k]; i >= 0; i = model.dof_parent[i]) {
            const T a = H[k * nv + i] * inverse;
            for (long j = i; j >= 0; j = model.dof_parent[j]) H[i * nv + j] -= a * H[k * nv + j];
            H[k * nv + i] = a;
        }
    }
}

// x E x
template <class T>
inline T filled_energy(const T* E, const T* x, long nv) {
    T total = 0.0;
    for (long k = 0; k < nv; ++k) total += E[k] * x[k] * x[k];
    return total;
}

// Whether all motions with inertia E alone are constrained. solve(x) maps tau in x to accelerations with J x = 0; its
// repetition leaves unconstrained motions as they are and lets the others decay. Records an unconstrained joint as the
// fault. x: nv numbers.
template <class T, class Solve>
inline void check_held(Work<T>& w, const T* E, T* x, Solve&& solve) {
    using L = Lanes<T>;
    constexpr int passes = 8;
    const long nv = w.model.nv;
    for (long k = 0; k < nv; ++k)
        x[k] = 1.0 + 0.618 * double(k % 7);  // an arbitrary vector, not orthogonal to the motions except by chance
    const T whole = filled_energy(E, x, nv);
    T before = whole, now = whole;
    for (int pass = 0; pass < passes; ++pass) {
        for (long k = 0; k < nv; ++k) x[k] *= E[k];
        solve(x);
        before = now, now = filled_energy(E, x, nv);
    }
    // unconstrained: the component is not zero, and the last pass did not reduce it
    const T margin = L::larger(0.9 * before - now, 1e-12 * whole - now) + 1e-300;
    if (L::all_positive(margin)) return;
    while (L::lane(margin, w.singular_lane) > 0) ++w.singular_lane;
    const auto energy = [&](long k) { return L::lane(E[k] * x[k] * x[k], w.singular_lane); };
    w.singular_dof = 0;
    for (long k = 1; k < nv; ++k)
        if (energy(k) > energy(w.singular_dof)) w.singular_dof = static_cast<int>(k);
}

// Iterates the accelerations a, starting at a, until E has no effect. more: 2 nv numbers.
template <class T, class Solve>
inline void remove_fill(const T* E, const T* tau, long nv, T* a, T* more, Solve&& solve) {
    using L = Lanes<T>;
    constexpr int max_passes = 60;
    T *x = more, *before = more + nv;
    for (long k = 0; k < nv; ++k) before[k] = 0.0;
    for (int pass = 0; pass < max_passes; ++pass) {
        for (long k = 0; k < nv; ++k) x[k] = tau[k] + E[k] * before[k];
        solve(x);
        T change = 0.0, size = 1e-300;
        for (long k = 0; k < nv; ++k) {
            const T step = x[k] - before[k];
            change = L::larger(change, L::larger(step, -step));
            size = L::larger(size, L::larger(x[k], -x[k]));
            before[k] = x[k];
        }
        if (L::all_positive(1e-13 * size - change)) break;
    }
    for (long k = 0; k < nv; ++k) a[k] = before[k];
}

}  // namespace kinodyn::KINODYN_TARGET
