// Vectors, rotations and spatial vectors over any mix of numbers and packs of them. Linear part first, everywhere.
#pragma once

#include "kernels/pack.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class T>
struct Vec3 {
    T x, y, z;
};

template <class A, class B>
inline auto operator+(const Vec3<A>& a, const Vec3<B>& b) -> Vec3<decltype(a.x + b.x)> {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class A, class B>
inline auto operator-(const Vec3<A>& a, const Vec3<B>& b) -> Vec3<decltype(a.x - b.x)> {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class A>
inline Vec3<A> operator-(const Vec3<A>& a) {
    return {-a.x, -a.y, -a.z};
}
template <class A, class B>
inline Vec3<A>& operator+=(Vec3<A>& a, const Vec3<B>& b) {
    a.x += b.x, a.y += b.y, a.z += b.z;
    return a;
}
template <class A, class B>
inline Vec3<A>& operator-=(Vec3<A>& a, const Vec3<B>& b) {
    a.x -= b.x, a.y -= b.y, a.z -= b.z;
    return a;
}
template <class S, class A>
inline auto operator*(S s, const Vec3<A>& a) -> Vec3<decltype(s * a.x)> {
    return {s * a.x, s * a.y, s * a.z};
}
template <class A, class B>
inline auto dot(const Vec3<A>& a, const Vec3<B>& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class A, class B>
inline auto cross(const Vec3<A>& a, const Vec3<B>& b) -> Vec3<decltype(a.x * b.x)> {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

template <class T>
inline Vec3<T> vec(const T* p) {
    return {p[0], p[1], p[2]};
}
template <class T>
inline void write(const Vec3<T>& a, T* out) {
    out[0] = a.x, out[1] = a.y, out[2] = a.z;
}

// A 3 x 3 matrix by its rows. Named members instead of an array: compilers keep them in registers.
template <class T>
struct Mat3 {
    Vec3<T> x, y, z;
    Vec3<T> column(int i) const {
        return i == 0 ? Vec3<T>{x.x, y.x, z.x} : i == 1 ? Vec3<T>{x.y, y.y, z.y} : Vec3<T>{x.z, y.z, z.z};
    }
};

template <class T>
inline Mat3<T> mat(const T* m) {
    return {vec(m), vec(m + 3), vec(m + 6)};
}

template <class A, class B>
inline auto operator*(const Mat3<A>& M, const Vec3<B>& a) -> Vec3<decltype(M.x.x * a.x)> {
    return {dot(M.x, a), dot(M.y, a), dot(M.z, a)};
}
// Transpose times vector.
template <class A, class B>
inline auto tmul(const Mat3<A>& M, const Vec3<B>& a) -> Vec3<decltype(M.x.x * a.x)> {
    return a.x * M.x + a.y * M.y + a.z * M.z;
}
template <class A, class B>
inline auto operator*(const Mat3<A>& M, const Mat3<B>& N) -> Mat3<decltype(M.x.x * N.x.x)> {
    return {tmul(N, M.x), tmul(N, M.y), tmul(N, M.z)};
}
template <class A, class B>
inline Mat3<A>& operator+=(Mat3<A>& M, const Mat3<B>& N) {
    M.x += N.x, M.y += N.y, M.z += N.z;
    return M;
}

// A symmetric 3 x 3 matrix: xx xy yy xz yz zz.
template <class T>
struct Sym3 {
    T xx, xy, yy, xz, yz, zz;
};

template <class T>
inline Sym3<T> sym(const T* s) {
    return {s[0], s[1], s[2], s[3], s[4], s[5]};
}

template <class A, class B>
inline auto operator*(const Sym3<A>& S, const Vec3<B>& a) -> Vec3<decltype(S.xx * a.x)> {
    return {S.xx * a.x + S.xy * a.y + S.xz * a.z, S.xy * a.x + S.yy * a.y + S.yz * a.z,
            S.xz * a.x + S.yz * a.y + S.zz * a.z};
}

// R S R^T, the symmetric matrix in rotated axes.
template <class A, class B>
inline auto rotate(const Mat3<A>& R, const Sym3<B>& S) -> Sym3<decltype(R.x.x * S.xx)> {
    const auto x = S * R.x, y = S * R.y, z = S * R.z;
    return {dot(R.x, x), dot(R.x, y), dot(R.y, y), dot(R.x, z), dot(R.y, z), dot(R.z, z)};
}

// A twist (v of the point at the origin, angular velocity) or a wrench (force, moment about the origin).
template <class T>
struct Spatial {
    Vec3<T> lin, ang;
};
// A wrench or a momentum about another point.
template <class T>
inline Spatial<T> about(const Vec3<T>& point, const Spatial<T>& w) {
    return {w.lin, w.ang - cross(point, w.lin)};
}
template <class T>
inline void write(const Spatial<T>& s, T* out) {
    write(s.lin, out), write(s.ang, out + 3);
}

template <class A, class B>
inline auto operator+(const Spatial<A>& a, const Spatial<B>& b) -> Spatial<decltype(a.lin.x + b.lin.x)> {
    return {a.lin + b.lin, a.ang + b.ang};
}
template <class A>
inline Spatial<A> operator-(const Spatial<A>& a, const Spatial<A>& b) {
    return {a.lin - b.lin, a.ang - b.ang};
}
template <class A>
inline Spatial<A>& operator+=(Spatial<A>& a, const Spatial<A>& b) {
    a.lin += b.lin, a.ang += b.ang;
    return a;
}
template <class A>
inline Spatial<A>& operator-=(Spatial<A>& a, const Spatial<A>& b) {
    a.lin -= b.lin, a.ang -= b.ang;
    return a;
}
template <class S, class A>
inline auto operator*(S s, const Spatial<A>& a) -> Spatial<decltype(s * a.lin.x)> {
    return {s * a.lin, s * a.ang};
}
// Power of a wrench on a twist.
template <class A, class B>
inline auto dot(const Spatial<A>& a, const Spatial<B>& b) {
    return dot(a.lin, b.lin) + dot(a.ang, b.ang);
}
// v x m: rate of change of a motion vector m that moves with the twist v.
template <class A, class B>
inline auto cross_motion(const Spatial<A>& v, const Spatial<B>& m) -> Spatial<decltype(v.lin.x * m.lin.x)> {
    return {cross(v.ang, m.lin) + cross(v.lin, m.ang), cross(v.ang, m.ang)};
}
// v x* f: rate of change of a wrench f that moves with the twist v.
template <class A, class B>
inline auto cross_force(const Spatial<A>& v, const Spatial<B>& f) -> Spatial<decltype(v.lin.x * f.lin.x)> {
    return {cross(v.ang, f.lin), cross(v.ang, f.ang) + cross(v.lin, f.lin)};
}

// Spatial inertia of a rigid body about the origin: mass, first moment h = mass * com, rotational inertia.
template <class T>
struct RigidInertia {
    T mass;
    Vec3<T> h;
    Sym3<T> I;
};

template <class A, class B>
inline auto operator*(const RigidInertia<A>& I, const Spatial<B>& v) -> Spatial<decltype(I.mass * v.lin.x)> {
    return {I.mass * v.lin + cross(v.ang, I.h), I.I * v.ang + cross(I.h, v.lin)};
}
template <class T>
inline RigidInertia<T>& operator+=(RigidInertia<T>& a, const RigidInertia<T>& b) {
    a.mass += b.mass;
    a.h += b.h;
    a.I.xx += b.I.xx, a.I.xy += b.I.xy, a.I.yy += b.I.yy, a.I.xz += b.I.xz, a.I.yz += b.I.yz, a.I.zz += b.I.zz;
    return a;
}

// Shifts the origin of the inertia S by -r: for first moment h (about the old origin) and mass m,
// I -> I - [r][h] - [h][r] - m [r][r], with [.] the cross product matrix.
template <class T, class B>
inline void parallel_axis(Sym3<T>& S, const Vec3<B>& r, const Vec3<T>& h, T mass) {
    const auto u = h + 0.5 * (mass * r);  // symmetric split of the quadratic term
    const auto d = 2.0 * dot(r, u);
    S.xx += d - 2.0 * r.x * u.x;
    S.yy += d - 2.0 * r.y * u.y;
    S.zz += d - 2.0 * r.z * u.z;
    S.xy -= r.x * u.y + r.y * u.x;
    S.xz -= r.x * u.z + r.z * u.x;
    S.yz -= r.y * u.z + r.z * u.y;
}

}  // namespace kinodyn::KINODYN_TARGET
