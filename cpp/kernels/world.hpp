// Poses, joint columns and inertias in world axes about one common point, so that subtree sums need no transforms.
//
// The common point is the origin of the first body, not of the world, so that a robot far from the world's origin
// loses no digits.
#pragma once

#include "kernels/float_pack.hpp"
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

    void place_all(const ModelFor<T>& model, const T* q) { origin = place_bodies(*this, model, q); }

    static RigidInertia<T> inertia_at(const BodyFor<T>& body, const Placement<T>& at) {
        const Vec3<T> h = at.R * vec(body.h);
        RigidInertia<T> result = {T(body.mass), h + body.mass * at.p, rotate(at.R, sym(body.I))};
        parallel_axis(result.I, at.p, h, T(body.mass));
        return result;
    }

    // Sums inertias over subtrees.
    void gather(const ModelFor<T>& model) {
        for (int i = static_cast<int>(model.bodies.size()) - 1; i > 0; --i)
            if (model.bodies[i].parent >= 0) I[model.bodies[i].parent] += I[i];
    }

    // Full symmetric mass matrix with armature; leaves subtree inertias in I. Entries outside the sparsity pattern
    // are not written unless joints share coordinates: they are zero already.
    void mass_matrix(const ModelFor<T>& model, T* M) { write_mass_matrix(*this, model, M); }

    // Both take long to compile and are compiled once, in world.cpp. A copy of the pointers is passed, so that those of
    // the caller stay in registers.
    [[gnu::noinline]] static Vec3<T> place_bodies(World w, const ModelFor<T>& model, const T* q) {
        place_columns(model, q, w.angles, w.at, w.S, w.origin,
                      [&](int i) { w.I[i] = inertia_at(model.bodies[i], w.at[i]); });
        return w.origin;
    }
    [[gnu::noinline]] static void write_mass_matrix(World w, const ModelFor<T>& model, T* M) {
        w.gather(model);
        const long nv = model.nv;
        const int* iv = model.column_iv.data();
        if (model.mimic) {
            for (long k = 0; k < nv * nv; ++k) M[k] = 0.0;
            w.for_pairs(model, [&](int c, int d, const T& value) {
                M[iv[c] * nv + iv[d]] += value;
                if (d != c) M[iv[d] * nv + iv[c]] += value;
            });
        } else {
            w.for_pairs(model, [&](int c, int d, const T& value) {
                M[iv[c] * nv + iv[d]] = value;
                M[iv[d] * nv + iv[c]] = value;
            });
        }
        for (long k = 0; k < nv; ++k) M[k * nv + k] += model.armature[k];
    }

    // Calls f(d) for column c, the earlier columns of its body, and all columns of its ancestors.
    template <class F>
    static void for_ancestors(const ModelFor<T>& model, int c, F&& f) {
        const int* parent = model.column_parent.data();
        for (int d = c; d >= 0; d = parent[d]) f(d);
    }

  private:
    // Calls f(c, d, S_d^T I S_c) for each column c and each d of for_ancestors.
    template <class F>
    void for_pairs(const ModelFor<T>& model, F&& f) const {
        for (int c = model.ncolumns - 1; c >= 0; --c) {
            const Spatial<T> wrench = I[model.column_body[c]] * S[c];
            for_ancestors(model, c, [&](int d) { f(c, d, dot(S[d], wrench)); });
        }
    }
};

extern template Vec3<double> World<double>::place_bodies(World<double>, const Model&, const double*);
extern template void World<double>::write_mass_matrix(World<double>, const Model&, double*);
extern template Vec3<Pack> World<Pack>::place_bodies(World<Pack>, const Model&, const Pack*);
extern template void World<Pack>::write_mass_matrix(World<Pack>, const Model&, Pack*);
extern template Vec3<FloatPack> World<FloatPack>::place_bodies(World<FloatPack>, const ModelOf<float>&,
                                                               const FloatPack*);
extern template void World<FloatPack>::write_mass_matrix(World<FloatPack>, const ModelOf<float>&, FloatPack*);

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
// Solves M x = b in place, given factor(M). The current sum stays in a register.
template <class T>
inline void solve_factored(const ModelFor<T>& model, const T* H, T* x) {
    const long nv = model.nv;
    for (long j = nv - 1; j >= 0; --j) {  // L^T y = b: the subtree of a degree of freedom is contiguous
        T sum = x[j];
        for (long i = j + 1; i < model.dof_end[j]; ++i) sum -= H[i * nv + j] * x[i];
        x[j] = sum;
    }
    for (long i = 0; i < nv; ++i) {  // D L x = y
        T sum = x[i] / H[i * nv + i];
        for (long j = model.dof_parent[i]; j >= 0; j = model.dof_parent[j]) sum -= H[i * nv + j] * x[j];
        x[i] = sum;
    }
}

}  // namespace kinodyn::KINODYN_TARGET
