// The joint kinds: transform, motion subspace S and products with it.
//
// A Joint<K, T> connects a parent and a body. `up` transforms coordinates from the body to the parent, `down` back.
#pragma once

#include "kernels/algebra.hpp"

namespace kinodyn::KINODYN_TARGET {

// Rotation about one coordinate axis: four products instead of nine.
template <int axis, class T>
struct AxisRotation {
    T c, s;

    template <class A>
    Vec3<T> up(const Vec3<A>& a) const {
        if constexpr (axis == 0) return {T(a.x), c * a.y - s * a.z, s * a.y + c * a.z};
        if constexpr (axis == 1) return {c * a.x + s * a.z, T(a.y), c * a.z - s * a.x};
        if constexpr (axis == 2) return {c * a.x - s * a.y, s * a.x + c * a.y, T(a.z)};
    }
    template <class A>
    Vec3<T> down(const Vec3<A>& a) const {
        return AxisRotation{c, -s}.up(a);
    }
    // M * R: each row r of M becomes R^T r.
    template <class A>
    Mat3<T> after(const Mat3<A>& M) const {
        return {down(M.x), down(M.y), down(M.z)};
    }
    // R S R^T: with double angles the block of the two mixed axes needs four products.
    Sym3<T> up(const Sym3<T>& S) const {
        const auto rotate = [&](T a, T b, T& x, T& y) { x = c * a - s * b, y = s * a + c * b; };
        Sym3<T> R;
        const T cs = c * s, cc = c * c, ss = s * s;
        if constexpr (axis == 0) {
            R.xx = S.xx;
            rotate(S.xy, S.xz, R.xy, R.xz);
            const T m = 2.0 * cs * S.yz;
            R.yy = cc * S.yy + ss * S.zz - m;
            R.zz = ss * S.yy + cc * S.zz + m;
            R.yz = cs * (S.yy - S.zz) + (cc - ss) * S.yz;
        } else if constexpr (axis == 1) {
            R.yy = S.yy;
            rotate(S.yz, S.xy, R.yz, R.xy);
            const T m = 2.0 * cs * S.xz;
            R.zz = cc * S.zz + ss * S.xx - m;
            R.xx = ss * S.zz + cc * S.xx + m;
            R.xz = cs * (S.zz - S.xx) + (cc - ss) * S.xz;
        } else {
            R.zz = S.zz;
            rotate(S.xz, S.yz, R.xz, R.yz);
            const T m = 2.0 * cs * S.xy;
            R.xx = cc * S.xx + ss * S.yy - m;
            R.yy = ss * S.xx + cc * S.yy + m;
            R.xy = cs * (S.xx - S.yy) + (cc - ss) * S.xy;
        }
        return R;
    }
    // R M R^T: rows rotated, then combined.
    Mat3<T> up(const Mat3<T>& M) const {
        const Vec3<T> x = up(M.x), y = up(M.y), z = up(M.z);
        if constexpr (axis == 0) return {x, c * y - s * z, s * y + c * z};
        if constexpr (axis == 1) return {c * x + s * z, y, c * z - s * x};
        if constexpr (axis == 2) return {c * x - s * y, s * x + c * y, z};
    }
};

// Any rotation; A is a number, not a pack, where it does not depend on q.
template <class A, class T>
struct FullRotation {
    Mat3<A> R;

    template <class B>
    Vec3<T> up(const Vec3<B>& a) const {
        const auto r = R * a;
        return {T(r.x), T(r.y), T(r.z)};
    }
    template <class B>
    Vec3<T> down(const Vec3<B>& a) const {
        const auto r = tmul(R, a);
        return {T(r.x), T(r.y), T(r.z)};
    }
    template <class B>
    Mat3<T> after(const Mat3<B>& M) const {
        return {down(M.x), down(M.y), down(M.z)};
    }
    Sym3<T> up(const Sym3<T>& S) const { return rotate(R, S); }
    Mat3<T> up(const Mat3<T>& M) const { return R * Mat3<T>{up(M.x), up(M.y), up(M.z)}; }
};

// Rotation matrix of a quaternion [x y z w], orthogonal for any norm, so that rounding in q has no effect.
template <class T>
inline Mat3<T> rotation(const T* q) {
    const T x = q[0], y = q[1], z = q[2], w = q[3];
    const T s = 2.0 / (x * x + y * y + z * z + w * w);
    return {{1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)},
            {s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)},
            {s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)}};
}

// Turns a unit quaternion [x y z w] by the rotation vector r in its own frame, to first order, and normalises it.
template <class T>
inline void turn_by(T* u, const Vec3<T>& r) {
    const Vec3<T> h = T(0.5) * r, v = {u[0], u[1], u[2]};
    const Vec3<T> x = v + u[3] * h + cross(v, h);
    const T s = u[3] - dot(v, h);
    const T k = 1.0 / Lanes<T>::root(dot(x, x) + s * s);
    u[0] = k * x.x, u[1] = k * x.y, u[2] = k * x.z, u[3] = k * s;
}

template <class T>
inline T angle_of(const BodyFor<T>& b, const T* q) {
    return b.kind <= Kind::RevoluteAny ? b.scale * q[b.iq] + b.offset : T(0.0);
}
// Sine and cosine of a revolute joint.
template <class T>
inline void joint_angle(const BodyFor<T>& b, const T* q, SinCos<T>& result) {
    if (b.kind <= Kind::RevoluteAny) result = sincos(angle_of<T>(b, q));
}

// Those of n bodies, of which body(k) is one: for all joints at once, to avoid the latency of dependent calls. One
// state fills the lanes of packs with neighbouring joints.
template <class T, class BodyAt>
inline void joint_angles(const T* q, int n, BodyAt&& body, SinCos<T>* angles) {
    for (int k = 0; k < n; ++k) joint_angle(body(k), q, angles[k]);
}
template <class BodyAt>
inline void joint_angles(const double* q, int n, BodyAt&& body, SinCos<double>* angles) {
    for (int k = 0; k < n; k += lanes) {
        const int count = n - k < lanes ? n - k : lanes;
        Pack angle;
        for (int i = 0; i < lanes; ++i) angle.v[i] = angle_of(body(k + (i < count ? i : 0)), q);
        const SinCos<Pack> found = sincos(angle);
        for (int i = 0; i < count; ++i) angles[k + i] = {found.sin[i], found.cos[i]};
    }
}
template <class T>
inline void joint_angles(const ModelFor<T>& model, const T* q, SinCos<T>* angles) {
    joint_angles(
        q, static_cast<int>(model.bodies.size()), [&](int i) -> const auto& { return model.bodies[i]; }, angles);
}

// Words that store a joint's transform between passes: c, s for aligned revolute joints; R (9) and p (3) otherwise.
constexpr int joint_words = 12;

template <Kind K, class T>
struct Joint;

// Revolute about coordinate axis `axis` of the body; RevoluteAny carries a full rotation.
template <int axis, class Rotation, class T>
struct RevoluteBase {
    static constexpr int n = 1;
    const BodyFor<T>& body;
    Rotation R;

    Vec3<RealOf<T>> p() const { return vec(body.p); }
    static T component(const Vec3<T>& a) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }
    static T& component(Vec3<T>& a) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

    // v += S qd
    void add_rate(Spatial<T>& v, const T* qd) const { component(v.ang) += body.scale * qd[body.iv]; }
    // a += v x (S qd), the rate of change of the axis
    void add_bias(Spatial<T>& a, const Spatial<T>& v, const T* qd) const {
        const T w = body.scale * qd[body.iv];
        add_cross(a.lin, v.lin, w);
        add_cross(a.ang, v.ang, w);
    }
    // tau += S^T f
    void add_effort(T* tau, const Spatial<T>& f) const { tau[body.iv] += body.scale * component(f.ang); }
    // Column k of S in world axes about the origin, for the body at (Rw, pw), scaled.
    Spatial<T> world_column(int, const Mat3<T>& Rw, const Vec3<T>& pw) const {
        const Vec3<T> w = body.scale * Rw.column(axis);
        return {cross(pw, w), w};
    }

  private:
    static void add_cross(Vec3<T>& a, const Vec3<T>& v, T w) {
        if constexpr (axis == 0) a.y += v.z * w, a.z -= v.y * w;
        if constexpr (axis == 1) a.z += v.x * w, a.x -= v.z * w;
        if constexpr (axis == 2) a.x += v.y * w, a.y -= v.x * w;
    }
};

template <int axis, class T>
struct Revolute : RevoluteBase<axis, AxisRotation<axis, T>, T> {
    using Base = RevoluteBase<axis, AxisRotation<axis, T>, T>;
    static Revolute at(const BodyFor<T>& b, const T*, const SinCos<T>& angle, T* store) {
        store[0] = angle.cos, store[1] = angle.sin;
        return {Base{b, {angle.cos, angle.sin}}};
    }
    static Revolute stored(const BodyFor<T>& b, const T* store) { return {Base{b, {store[0], store[1]}}}; }
};
template <class T>
struct Joint<Kind::RevoluteX, T> : Revolute<0, T> {
    Joint(const Revolute<0, T>& r) : Revolute<0, T>(r) {}
};
template <class T>
struct Joint<Kind::RevoluteY, T> : Revolute<1, T> {
    Joint(const Revolute<1, T>& r) : Revolute<1, T>(r) {}
};
template <class T>
struct Joint<Kind::RevoluteZ, T> : Revolute<2, T> {
    Joint(const Revolute<2, T>& r) : Revolute<2, T>(r) {}
};

template <class T>
inline void save_rotation(T* store, const Mat3<T>& R) {
    write(R.x, store), write(R.y, store + 3), write(R.z, store + 6);
}

template <class T>
struct Joint<Kind::RevoluteAny, T> : RevoluteBase<2, FullRotation<T, T>, T> {
    using Base = RevoluteBase<2, FullRotation<T, T>, T>;
    Joint(const Base& base) : Base(base) {}
    static Joint at(const BodyFor<T>& b, const T*, const SinCos<T>& angle, T* store) {
        const Mat3<T> R = AxisRotation<2, T>{angle.cos, angle.sin}.after(mat(b.R));
        save_rotation(store, R);
        return Base{b, {R}};
    }
    static Joint stored(const BodyFor<T>& b, const T* store) { return Base{b, {mat(store)}}; }
};

template <class T>
struct Joint<Kind::Prismatic, T> {
    static constexpr int n = 1;
    const BodyFor<T>& body;
    FullRotation<RealOf<T>, T> R;
    Vec3<T> offset;

    static Joint at(const BodyFor<T>& b, const T* q, const SinCos<T>&, T* store) {
        const T d = b.scale * q[b.iq] + b.offset;
        const Vec3<T> p = d * (mat(b.R) * vec(b.axis)) + vec(b.p);
        write(p, store);
        return stored(b, store);
    }
    static Joint stored(const BodyFor<T>& b, const T* store) { return {b, {mat(b.R)}, {store[0], store[1], store[2]}}; }

    Vec3<T> p() const { return offset; }
    void add_rate(Spatial<T>& v, const T* qd) const { v.lin += (body.scale * qd[body.iv]) * vec(body.axis); }
    void add_bias(Spatial<T>& a, const Spatial<T>& v, const T* qd) const {
        a.lin += (body.scale * qd[body.iv]) * cross(v.ang, vec(body.axis));
    }
    void add_effort(T* tau, const Spatial<T>& f) const { tau[body.iv] += body.scale * dot(f.lin, vec(body.axis)); }
    Spatial<T> world_column(int, const Mat3<T>& Rw, const Vec3<T>&) const {
        return {T(body.scale) * (Rw * vec(body.axis)), {T(0.0), T(0.0), T(0.0)}};
    }
};

template <class T>
struct Joint<Kind::Ball, T> {
    static constexpr int n = 3;
    const BodyFor<T>& body;
    FullRotation<T, T> R;

    static Joint at(const BodyFor<T>& b, const T* q, const SinCos<T>&, T* store) {
        const Mat3<T> R = b.aligned ? rotation(q + b.iq) : mat(b.R) * rotation(q + b.iq);
        save_rotation(store, R);
        return {b, {R}};
    }
    static Joint stored(const BodyFor<T>& b, const T* store) { return {b, {mat(store)}}; }

    Vec3<RealOf<T>> p() const { return vec(body.p); }
    Vec3<T> rate(const T* qd) const { return {qd[body.iv], qd[body.iv + 1], qd[body.iv + 2]}; }
    void add_rate(Spatial<T>& v, const T* qd) const { v.ang += rate(qd); }
    void add_bias(Spatial<T>& a, const Spatial<T>& v, const T* qd) const {
        a.lin += cross(v.lin, rate(qd));
        a.ang += cross(v.ang, rate(qd));
    }
    void add_effort(T* tau, const Spatial<T>& f) const {
        tau[body.iv] += f.ang.x, tau[body.iv + 1] += f.ang.y, tau[body.iv + 2] += f.ang.z;
    }
    Spatial<T> world_column(int k, const Mat3<T>& Rw, const Vec3<T>& pw) const {
        const Vec3<T> w = Rw.column(k);
        return {cross(pw, w), w};
    }
};

template <class T>
struct Joint<Kind::Free, T> {
    static constexpr int n = 6;
    const BodyFor<T>& body;
    FullRotation<T, T> R;
    Vec3<T> offset;

    static Joint at(const BodyFor<T>& b, const T* q, const SinCos<T>&, T* store) {
        Mat3<T> R = rotation(q + b.iq + 3);
        Vec3<T> p = {q[b.iq], q[b.iq + 1], q[b.iq + 2]};
        if (!b.aligned) R = mat(b.R) * R, p = mat(b.R) * p;
        p += vec(b.p);
        save_rotation(store, R);
        write(p, store + 9);
        return {b, {R}, p};
    }
    static Joint stored(const BodyFor<T>& b, const T* store) {
        return {b, {mat(store)}, {store[9], store[10], store[11]}};
    }

    Vec3<T> p() const { return offset; }
    Spatial<T> rate(const T* qd) const {
        const T* u = qd + body.iv;
        return {{u[0], u[1], u[2]}, {u[3], u[4], u[5]}};
    }
    void add_rate(Spatial<T>& v, const T* qd) const { v += rate(qd); }
    void add_bias(Spatial<T>& a, const Spatial<T>& v, const T* qd) const { a += cross_motion(v, rate(qd)); }
    void add_effort(T* tau, const Spatial<T>& f) const {
        T* t = tau + body.iv;
        t[0] += f.lin.x, t[1] += f.lin.y, t[2] += f.lin.z;
        t[3] += f.ang.x, t[4] += f.ang.y, t[5] += f.ang.z;
    }
    Spatial<T> world_column(int k, const Mat3<T>& Rw, const Vec3<T>& pw) const {
        if (k < 3) return {Rw.column(k), {T(0.0), T(0.0), T(0.0)}};
        const Vec3<T> w = Rw.column(k - 3);
        return {cross(pw, w), w};
    }
};

template <Kind K>
struct KindTag {
    static constexpr Kind value = K;
};

// The one switch on the joint kind.
template <class F>
inline void visit(Kind kind, F&& f) {
    switch (kind) {
        case Kind::RevoluteX: return f(KindTag<Kind::RevoluteX>{});
        case Kind::RevoluteY: return f(KindTag<Kind::RevoluteY>{});
        case Kind::RevoluteZ: return f(KindTag<Kind::RevoluteZ>{});
        case Kind::RevoluteAny: return f(KindTag<Kind::RevoluteAny>{});
        case Kind::Prismatic: return f(KindTag<Kind::Prismatic>{});
        case Kind::Ball: return f(KindTag<Kind::Ball>{});
        case Kind::Free: return f(KindTag<Kind::Free>{});
    }
}

// Transforms a twist from the parent to the body, and a wrench from the body to the parent.
template <class J, class T>
inline Spatial<T> motion_down(const J& joint, const Spatial<T>& v) {
    return {joint.R.down(v.lin + cross(v.ang, joint.p())), joint.R.down(v.ang)};
}
template <class J, class T>
inline Spatial<T> force_up(const J& joint, const Spatial<T>& f) {
    const Vec3<T> lin = joint.R.up(f.lin);
    return {lin, joint.R.up(f.ang) + cross(joint.p(), lin)};
}

template <class T>
inline RigidInertia<RealOf<T>> inertia_of(const BodyFor<T>& b) {
    return {b.mass, vec(b.h), sym(b.I)};
}

}  // namespace kinodyn::KINODYN_TARGET
