// Forward dynamics by the articulated-body algorithm (ABA), linear in the number of joints (R. Featherstone, Rigid Body
// Dynamics Algorithms, 2008, table 7.1), and through the mass matrix for robots with mimic joints.
#pragma once

#include "kernels/rnea.hpp"
#include "kernels/world.hpp"

namespace kinodyn::KINODYN_TARGET {

// Articulated inertia of a body, about its origin: force = A v + B w, moment = B^T v + C w.
template <class T>
struct Articulated {
    Sym3<T> A;
    Mat3<T> B;
    Sym3<T> C;
};

template <class T>
inline Articulated<T> articulated(const BodyFor<T>& b) {
    const RealOf<T> m = b.mass, *h = b.h, *I = b.I;
    return {{T(m), T(0.0), T(m), T(0.0), T(0.0), T(m)},
            {{T(0.0), T(h[2]), T(-h[1])}, {T(-h[2]), T(0.0), T(h[0])}, {T(h[1]), T(-h[0]), T(0.0)}},
            {T(I[0]), T(I[1]), T(I[2]), T(I[3]), T(I[4]), T(I[5])}};
}

template <class T>
inline Spatial<T> operator*(const Articulated<T>& I, const Spatial<T>& v) {
    return {I.A * v.lin + I.B * v.ang, tmul(I.B, v.lin) + I.C * v.ang};
}

template <class T>
inline void add(Sym3<T>& a, const Sym3<T>& b) {
    a.xx += b.xx, a.xy += b.xy, a.yy += b.yy, a.xz += b.xz, a.yz += b.yz, a.zz += b.zz;
}
// S -= a b^T for a symmetric result
template <class T>
inline void subtract_outer(Sym3<T>& S, const Vec3<T>& a, const Vec3<T>& b) {
    S.xx -= a.x * b.x, S.xy -= a.x * b.y, S.yy -= a.y * b.y;
    S.xz -= a.x * b.z, S.yz -= a.y * b.z, S.zz -= a.z * b.z;
}
// I -= U W^T
template <class T>
inline void subtract_outer(Articulated<T>& I, const Spatial<T>& U, const Spatial<T>& W) {
    subtract_outer(I.A, U.lin, W.lin);
    subtract_outer(I.C, U.ang, W.ang);
    I.B.x -= U.lin.x * W.ang, I.B.y -= U.lin.y * W.ang, I.B.z -= U.lin.z * W.ang;
}

// [p] M for the cross product matrix of p
template <class P, class T>
inline Mat3<T> cross_matrix(const Vec3<P>& p, const Mat3<T>& M) {
    return {p.y * M.z - p.z * M.y, p.z * M.x - p.x * M.z, p.x * M.y - p.y * M.x};
}

// Adds to `parent` the inertia I of a body beyond `joint`.
template <class J, class T>
inline void add_up(Articulated<T>& parent, const J& joint, const Articulated<T>& I) {
    const auto p = joint.p();
    const Sym3<T> A = joint.R.up(I.A);
    const Mat3<T> B = joint.R.up(I.B);
    add(parent.A, A);
    // B' = B - A [p], row by row: a^T [p] = (a x p)^T
    const Mat3<T> moved = {B.x - cross(Vec3<T>{A.xx, A.xy, A.xz}, p), B.y - cross(Vec3<T>{A.xy, A.yy, A.yz}, p),
                           B.z - cross(Vec3<T>{A.xz, A.yz, A.zz}, p)};
    parent.B += moved;
    // C' = C + [p] B' + ([p] B)^T
    const Mat3<T> X = cross_matrix(p, moved), Y = cross_matrix(p, B);
    add(parent.C, joint.R.up(I.C));
    parent.C.xx += X.x.x + Y.x.x, parent.C.yy += X.y.y + Y.y.y, parent.C.zz += X.z.z + Y.z.z;
    parent.C.xy += X.x.y + Y.y.x, parent.C.xz += X.x.z + Y.z.x, parent.C.yz += X.y.z + Y.z.y;
}

// A unit twist along degree of freedom k, in the body frame.
template <Kind K, class T>
inline Spatial<T> axis_of(const BodyFor<T>& b, int k) {
    RealOf<T> s[6] = {0, 0, 0, 0, 0, 0};
    if constexpr (K == Kind::Prismatic) {
        s[0] = b.scale * b.axis[0], s[1] = b.scale * b.axis[1], s[2] = b.scale * b.axis[2];
    } else if constexpr (K == Kind::Free) {
        s[k] = 1;
    } else if constexpr (K == Kind::Ball) {
        s[3 + k] = 1;
    } else {
        s[K == Kind::RevoluteX ? 3 : K == Kind::RevoluteY ? 4 : 5] = b.scale;
    }
    return {{T(s[0]), T(s[1]), T(s[2])}, {T(s[3]), T(s[4]), T(s[5])}};
}

template <Kind K, class T>
inline Spatial<T> inertia_column(const Articulated<T>& I, const BodyFor<T>& b, int k) {
    if constexpr (K == Kind::RevoluteX)
        return b.scale * Spatial<T>{I.B.column(0), {I.C.xx, I.C.xy, I.C.xz}};
    else if constexpr (K == Kind::RevoluteY)
        return b.scale * Spatial<T>{I.B.column(1), {I.C.xy, I.C.yy, I.C.yz}};
    else if constexpr (K == Kind::RevoluteZ || K == Kind::RevoluteAny)
        return b.scale * Spatial<T>{I.B.column(2), {I.C.xz, I.C.yz, I.C.zz}};
    else
        return I * axis_of<K, T>(b, k);
}

template <Kind K, class T>
inline T along(const Spatial<T>& f, const BodyFor<T>& b, int k) {
    if constexpr (K == Kind::RevoluteX)
        return b.scale * f.ang.x;
    else if constexpr (K == Kind::RevoluteY)
        return b.scale * f.ang.y;
    else if constexpr (K == Kind::RevoluteZ || K == Kind::RevoluteAny)
        return b.scale * f.ang.z;
    else
        return dot(f, axis_of<K, T>(b, k));
}

// Results of the backward pass for one joint: U = I S, the factor of D = S^T I S + armature, u = tau - S^T p.
template <int n, class T>
struct Reduced {
    Spatial<T> U[n];
    T D[n * n];  // unit lower triangle L and, on the diagonal, 1 / d
    T u[n];
};

// Factors D = L d L^T in place; the diagonal becomes 1 / d.
template <int n, class T>
inline void factor_small(Work<T>& w, T* D, int iv) {
    for (int k = 0; k < n; ++k) {
        w.check_pivot(D[(n + 1) * k], iv + k);
        const T inverse = 1.0 / D[(n + 1) * k];
        for (int i = k + 1; i < n; ++i) {
            const T factor = D[n * i + k] * inverse;
            for (int j = k + 1; j <= i; ++j) D[n * i + j] -= factor * D[n * j + k];
        }
        for (int i = k + 1; i < n; ++i) D[n * i + k] *= inverse;
        D[(n + 1) * k] = inverse;
    }
}
template <int n, class T>
inline void solve_small(const T* D, T* x) {
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) x[i] -= D[n * i + j] * x[j];
    for (int i = 0; i < n; ++i) x[i] *= D[(n + 1) * i];
    for (int i = n - 1; i >= 0; --i)
        for (int j = i + 1; j < n; ++j) x[i] -= D[n * j + i] * x[j];
}

// Forces and inertias of the joints themselves, apart from the bodies: torque, damping, armature.
template <class T>
struct ModelJoints {
    const ModelFor<T>& model;
    const T *tau, *qd;
    T force(int iv) const { return tau[iv] - model.damping[iv] * qd[iv]; }
    RealOf<T> armature(int iv) const { return model.armature[iv]; }
};

// The same, with forces and inertias given by v index.
template <class T>
struct GivenJoints {
    const T *forces, *inertias;
    T force(int iv) const { return forces[iv]; }
    T armature(int iv) const { return inertias[iv]; }
};

struct ArticulatedBodies {
    static constexpr long per_body = 2 + joint_words + 6 + 6 + 6 + 21;
    static constexpr long per_column = 13;  // Reduced<6> has 78 words for 6 columns, the maximum
    static long words(const Call& c) {
        return per_body * static_cast<long>(c.model->bodies.size()) + per_column * c.model->ncolumns + wrench_words(c);
    }

    // Accelerations qdd at (q, qd).
    template <class T, class Joints>
    static void run(Work<T>& w, const T* q, const T* qd, const Joints& acting, T* qdd) {
        const ModelFor<T>& model = w.model;
        const int n = static_cast<int>(model.bodies.size());
        auto* angles = w.template take_as<SinCos<T>>(n);
        T* joints = w.take(joint_words * n);
        auto* v = w.template take_as<Spatial<T>>(n);
        auto* a = w.template take_as<Spatial<T>>(n);
        auto* p = w.template take_as<Spatial<T>>(n);
        auto* I = w.template take_as<Articulated<T>>(n);
        T* reduced = w.take(per_column * model.ncolumns);

        joint_angles(model, q, angles);
        for (int i = 0; i < n; ++i) {
            const BodyFor<T>& body = model.bodies[i];
            visit(body.kind, [&](auto kind) {
                using J = Joint<decltype(kind)::value, T>;
                const J joint = J::at(body, q, angles[i], joints + joint_words * i);
                const Vec3<T> zero = {0.0, 0.0, 0.0};
                v[i] = body.parent < 0 ? Spatial<T>{zero, zero} : motion_down(joint, v[body.parent]);
                joint.add_rate(v[i], qd);
            });
            I[i] = articulated<T>(body);
            p[i] = cross_force(v[i], inertia_of<T>(body) * v[i]);
        }
        for_wrenches(w, q, [&](int body, const Spatial<T>& wrench) { p[body] -= wrench; });

        for (int i = n - 1; i >= 0; --i) {
            const BodyFor<T>& body = model.bodies[i];
            visit(body.kind, [&](auto kind) {
                constexpr Kind K = decltype(kind)::value;
                const auto joint = Joint<K, T>::stored(body, joints + joint_words * i);
                auto* r = reinterpret_cast<Reduced<Joint<K, T>::n, T>*>(reduced + per_column * body.column);
                reduce<K>(w, joint, v[i], I[i], p[i], qd, acting, *r);
                if (body.parent < 0) return;
                add_up(I[body.parent], joint, I[i]);
                p[body.parent] += force_up(joint, p[i]);
            });
        }

        const Vec3<T> up = minus_gravity<T>(model);
        for (int i = 0; i < n; ++i) {
            const BodyFor<T>& body = model.bodies[i];
            visit(body.kind, [&](auto kind) {
                constexpr Kind K = decltype(kind)::value;
                const auto joint = Joint<K, T>::stored(body, joints + joint_words * i);
                if (body.parent < 0) {
                    a[i] = {joint.R.down(up), {T(0.0), T(0.0), T(0.0)}};
                } else {
                    a[i] = motion_down(joint, a[body.parent]);
                    joint.add_bias(a[i], v[i], qd);
                }
                auto* r = reinterpret_cast<Reduced<Joint<K, T>::n, T>*>(reduced + per_column * body.column);
                accelerate<K>(joint, *r, a[i], qdd);
            });
        }
    }

    // Removes the joint's degrees of freedom from the articulated inertia I and bias force p of its body.
    template <Kind K, class T, class J, class Joints>
    static void reduce(Work<T>& w, const J& joint, const Spatial<T>& v, Articulated<T>& I, Spatial<T>& p, const T* qd,
                       const Joints& acting, Reduced<J::n, T>& r) {
        constexpr int n = J::n;
        const BodyFor<T>& body = joint.body;
        for (int k = 0; k < n; ++k) {
            const int iv = body.iv + k;
            r.U[k] = inertia_column<K>(I, body, k);
            r.u[k] = acting.force(iv) - along<K>(p, body, k);
            for (int j = 0; j <= k; ++j) r.D[n * k + j] = along<K>(r.U[j], body, k);
            r.D[(n + 1) * k] += acting.armature(iv);
        }
        factor_small<n>(w, r.D, body.iv);
        if (body.parent < 0) return;

        T x[n];
        for (int k = 0; k < n; ++k) x[k] = r.u[k];
        solve_small<n>(r.D, x);
        Spatial<T> bias = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        joint.add_bias(bias, v, qd);
        if constexpr (n == 1) {
            const Spatial<T> W = r.D[0] * r.U[0];
            subtract_outer(I, r.U[0], W);
        } else {
            for (int k = 0; k < n; ++k) {  // row k of D^-1 U^T
                T e[n];
                for (int j = 0; j < n; ++j) e[j] = j == k ? 1.0 : 0.0;
                solve_small<n>(r.D, e);
                Spatial<T> W = e[0] * r.U[0];
                for (int j = 1; j < n; ++j) W += e[j] * r.U[j];
                subtract_outer(I, r.U[k], W);
            }
        }
        p += I * bias;
        for (int k = 0; k < n; ++k) p += x[k] * r.U[k];
    }

    // Computes the joint's acceleration and adds it to that of the body.
    template <Kind K, class J, class T>
    static void accelerate(const J& joint, const Reduced<J::n, T>& r, Spatial<T>& a, T* qdd) {
        constexpr int n = J::n;
        T x[n];
        for (int k = 0; k < n; ++k) x[k] = r.u[k] - dot(r.U[k], a);
        solve_small<n>(r.D, x);
        for (int k = 0; k < n; ++k) qdd[joint.body.iv + k] = x[k];
        joint.add_rate(a, qdd);
    }
};

// Mimic joints couple branches of the tree, which articulated-body inertias cannot represent: M is used instead.
struct FactoredMass {
    static long words(const Call& c) {
        const long nv = c.model->nv;
        return nv * nv + nv + Recursion<double>::words(*c.model) + wrench_words(c) + World<double>::words(*c.model);
    }
    template <class T, class Joints>
    static void run(Work<T>& w, const T* q, const T* qd, const Joints& acting, T* qdd) {
        const int nv = w.model.nv;
        T* H = w.take(static_cast<long>(nv) * nv);
        T* h = w.take(nv);
        rnea<false, T>(w, q, qd, nullptr, h);
        auto world = World<T>::take(w);
        world.place_all(w.model, q);
        world.mass_matrix(w.model, H);
        for (int k = 0; k < nv; ++k) H[k * (nv + 1)] += acting.armature(k) - w.model.armature[k];
        factor(w, H);
        for (int k = 0; k < nv; ++k) qdd[k] = acting.force(k) - h[k];
        solve_factored(w.model, H, qdd);
    }
};

// Runs an algorithm of forward dynamics. Mimic joints couple bodies that are not neighbours, so that articulated bodies
// do not apply.
template <template <class> class Algorithm, class T = Pack>
void run_forward_dynamics(const Call& c, long begin, long end, Fault& f) {
    if (c.model->mimic)
        run<Algorithm<FactoredMass>, T>(c, begin, end, f);
    else
        run<Algorithm<ArticulatedBodies>, T>(c, begin, end, f);
}

}  // namespace kinodyn::KINODYN_TARGET
