// Poses, joint columns and inertias in world axes about one common point, so that subtree sums need no transforms.
//
// The common point is the origin of the first body, not of the world, so that a robot far from the world's origin
// loses no digits.
#pragma once

#include "kernels/placement.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class T>
struct World {
    Placement<T>* at;    // p is measured from `origin`
    RigidInertia<T>* I;  // of each body; after gather(), of its whole subtree
    Spatial<T>* S;       // columns: unit twist of each degree of freedom
    SinCos<T>* angles;
    Vec3<T> origin;

    static long words(const Model& m) {
        return 24 * static_cast<long>(m.bodies.size()) + 6 * static_cast<long>(m.ncolumns);
    }
    static World take(Work<T>& w) {
        const long n = static_cast<long>(w.model.bodies.size());
        return {w.template take_as<Placement<T>>(n),
                w.template take_as<RigidInertia<T>>(n),
                w.template take_as<Spatial<T>>(w.model.ncolumns),
                w.template take_as<SinCos<T>>(n),
                {T(0.0), T(0.0), T(0.0)}};
    }

    void place_all(const Model& model, const T* q) {
        place_columns(model, q, angles, at, S, origin, [&](int i) { I[i] = inertia_at(model.bodies[i], at[i]); });
    }

    static RigidInertia<T> inertia_at(const Body& body, const Placement<T>& at) {
        const Vec3<T> h = at.R * vec(body.h);
        RigidInertia<T> result = {T(body.mass), h + body.mass * at.p, rotate(at.R, sym(body.I))};
        parallel_axis(result.I, at.p, h, T(body.mass));
        return result;
    }

    // Sums inertias over subtrees.
    void gather(const Model& model) {
        for (int i = static_cast<int>(model.bodies.size()) - 1; i > 0; --i)
            if (model.bodies[i].parent >= 0) I[model.bodies[i].parent] += I[i];
    }

    // Full symmetric mass matrix with armature; leaves subtree inertias in I. Entries outside the sparsity pattern
    // are not written unless joints share coordinates: they are zero already.
    void mass_matrix(const Model& model, T* M) {
        gather(model);
        const long nv = model.nv;
        if (model.mimic)
            for (long k = 0; k < nv * nv; ++k) M[k] = 0.0;
        for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
            const Body& body = model.bodies[i];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c) {
                const Spatial<T> F = I[i] * S[c];
                const long row = model.column_iv[c];
                for_ancestors(model, i, c, [&](int d) {
                    const long column = model.column_iv[d];
                    const T value = dot(S[d], F);
                    if (!model.mimic) {
                        M[row * nv + column] = value;
                        M[column * nv + row] = value;
                    } else {
                        M[row * nv + column] += value;
                        if (d != c) M[column * nv + row] += value;
                    }
                });
            }
        }
        for (long k = 0; k < nv; ++k) M[k * nv + k] += model.armature[k];
    }

    // Calls f(d) for column c of body i, the earlier columns of that body, and all columns of its ancestors.
    template <class F>
    static void for_ancestors(const Model& model, int i, int c, F&& f) {
        for (int d = c; d >= model.bodies[i].column; --d) f(d);
        for (int b = model.bodies[i].parent; b >= 0; b = model.bodies[b].parent) {
            const Body& body = model.bodies[b];
            for (int d = body.column + dofs(body.kind) - 1; d >= body.column; --d) f(d);
        }
    }
};

// H = L^T D L with the sparsity of a tree, in place: L below the diagonal, D on it (Featherstone 2008, table 6.3).
// parent[k] < k is the index towards the root, or -1. check(k, d) is called with each pivot.
template <class T, class Check>
inline void factor_tree(T* H, long n, const int* parent, Check&& check) {
    for (long k = n - 1; k >= 0; --k) {
        check(k, H[k * n + k]);
        const T inverse = 1.0 / H[k * n + k];
        for (long i = parent[k]; i >= 0; i = parent[i]) {
            const T a = H[k * n + i] * inverse;
            for (long j = i; j >= 0; j = parent[j]) H[i * n + j] -= a * H[k * n + j];
            H[k * n + i] = a;
        }
    }
}
template <class T>
inline void factor(Work<T>& w, T* H) {
    factor_tree(H, w.model.nv, w.model.dof_parent.data(),
                [&](long k, const T& d) { w.check_pivot(d, static_cast<int>(k)); });
}
// x = H^-1 x, given factor_tree(H).
template <class T>
inline void solve_tree(const T* H, long n, const int* parent, T* x) {
    for (long i = n - 1; i >= 0; --i)
        for (long j = parent[i]; j >= 0; j = parent[j]) x[j] -= H[i * n + j] * x[i];
    for (long i = 0; i < n; ++i) {
        T sum = x[i] / H[i * n + i];
        for (long j = parent[i]; j >= 0; j = parent[j]) sum -= H[i * n + j] * x[j];
        x[i] = sum;
    }
}

// Solves for n adjacent columns of x, whose rows are `stride` apart, and multiplies by `sign`. The current row
// stays in registers. Rows from `rows` on are zero on entry.
template <int n, class T>
inline void solve_columns(const Model& model, const T* H, T* x, long stride, double sign, long rows) {
    const long nv = model.nv;
    T row[n];
    for (long j = rows - 1; j >= 0; --j) {  // L^T y = b: the subtree of a degree of freedom is contiguous
        for (int c = 0; c < n; ++c) row[c] = x[j * stride + c];
        const long end = model.dof_end[j] < rows ? model.dof_end[j] : rows;
        for (long i = j + 1; i < end; ++i) {
            const T l = H[i * nv + j];
            for (int c = 0; c < n; ++c) row[c] -= l * x[i * stride + c];
        }
        for (int c = 0; c < n; ++c) x[j * stride + c] = row[c];
    }
    for (long i = 0; i < nv; ++i) {  // D L x = y
        const T inverse = sign / H[i * nv + i];
        for (int c = 0; c < n; ++c) row[c] = x[i * stride + c] * inverse;
        for (long j = model.dof_parent[i]; j >= 0; j = model.dof_parent[j]) {
            const T l = H[i * nv + j];
            for (int c = 0; c < n; ++c) row[c] -= l * x[j * stride + c];
        }
        for (int c = 0; c < n; ++c) x[i * stride + c] = row[c];
    }
}

// Solves M x = sign * b in place for `columns` right-hand sides, x of shape (nv, columns), given factor(M). With
// `identity`, b is the identity matrix, whose columns are zero below the diagonal.
template <class T>
inline void solve_factored(const Model& model, const T* H, T* x, long columns, double sign = 1, bool identity = false) {
    const auto rows = [&](long last) { return identity ? last : static_cast<long>(model.nv); };
    long c = 0;
    for (; c + 8 <= columns; c += 8) solve_columns<8>(model, H, x + c, columns, sign, rows(c + 8));
    for (; c + 4 <= columns; c += 4) solve_columns<4>(model, H, x + c, columns, sign, rows(c + 4));
    for (; c < columns; ++c) solve_columns<1>(model, H, x + c, columns, sign, rows(c + 1));
}

}  // namespace kinodyn::KINODYN_TARGET
