// Integration and difference on the configuration manifold: unit quaternions for rotations, SE(3) for free joints.
#pragma once

#include "kernels/joints.hpp"

namespace kinodyn::KINODYN_TARGET {

using V = Vec3<double>;

struct Quaternion {
    V u;
    double s;
};

inline Quaternion load_quaternion(const double* q) { return {{q[0], q[1], q[2]}, q[3]}; }

inline Quaternion product(const Quaternion& a, const Quaternion& b) {
    return {a.s * b.u + b.s * a.u + cross(a.u, b.u), a.s * b.s - dot(a.u, b.u)};
}
inline Quaternion conjugate(const Quaternion& a) { return {-a.u, a.s}; }

// Writes the quaternion normalised, so that integration does not drift off the unit sphere.
inline void store_unit(double* q, const Quaternion& a) {
    const double k = 1 / __builtin_sqrt(dot(a.u, a.u) + a.s * a.s);
    q[0] = k * a.u.x, q[1] = k * a.u.y, q[2] = k * a.u.z, q[3] = k * a.s;
}

// Rotation by the vector w.
inline Quaternion exponential(const V& w) {
    const double angle = __builtin_sqrt(dot(w, w));
    const double k = angle < 1e-6 ? 0.5 - angle * angle / 48 : sin(angle / 2) / angle;
    return {k * w, cos(angle / 2)};
}

// The shortest rotation vector of a quaternion.
inline V logarithm(Quaternion a) {
    if (a.s < 0) a = {-a.u, -a.s};
    const double length = __builtin_sqrt(dot(a.u, a.u));
    const double k = length < 1e-10 ? 2 / a.s : 2 * atan2(length, a.s) / length;
    return k * a.u;
}

// J_l(w) v with the left Jacobian of SO(3): the displacement of a body that moves with constant twist (v, w) for unit
// time, in its starting frame (T. D. Barfoot, State Estimation for Robotics, 2017, section 7.1.5).
inline V left_jacobian_times(const V& v, const V& w) {
    const double t2 = dot(w, w), t = __builtin_sqrt(t2);
    const bool small = t < 1e-2;
    const double a = small ? 0.5 - t2 / 24 + t2 * t2 / 720 : (1 - cos(t)) / t2;
    const double b = small ? 1.0 / 6 - t2 / 120 + t2 * t2 / 5040 : (t - sin(t)) / (t2 * t);
    const V wv = cross(w, v);
    return v + a * wv + b * cross(w, wv);
}

// J_l(w)^-1 d.
inline V inverse_left_jacobian_times(const V& d, const V& w) {
    const double t2 = dot(w, w), t = __builtin_sqrt(t2);
    const double c = t < 1e-2 ? 1.0 / 12 + t2 / 720 + t2 * t2 / 30240 : (1 - 0.5 * t / tan(0.5 * t)) / t2;
    const V wd = cross(w, d);
    return d - 0.5 * wd + c * cross(w, wd);
}

inline void integrate_joint(const Body& b, const double* q, const double* v, double scale, double* out) {
    const double* x = q + b.iq;
    const double* u = v + b.iv;
    if (b.kind == Kind::Free) {
        const V lin = scale * vec(u), ang = scale * vec(u + 3);
        const V p = vec(x) + rotation(x + 3) * left_jacobian_times(lin, ang);
        const Quaternion r = product(load_quaternion(x + 3), exponential(ang));
        out[b.iq] = p.x, out[b.iq + 1] = p.y, out[b.iq + 2] = p.z;
        store_unit(out + b.iq + 3, r);
    } else if (b.kind == Kind::Ball) {
        store_unit(out + b.iq, product(load_quaternion(x), exponential(scale * vec(u))));
    } else {
        out[b.iq] = *x + scale * *u;
    }
}

inline void joint_difference(const Body& b, const double* q0, const double* q1, double* out) {
    const double *x = q0 + b.iq, *y = q1 + b.iq;
    double* v = out + b.iv;
    if (b.kind == Kind::Free) {
        const V w = logarithm(product(conjugate(load_quaternion(x + 3)), load_quaternion(y + 3)));
        const V u = inverse_left_jacobian_times(tmul(rotation(x + 3), vec(y) - vec(x)), w);
        write(u, v), write(w, v + 3);
    } else if (b.kind == Kind::Ball) {
        const V w = logarithm(product(conjugate(load_quaternion(x)), load_quaternion(y)));
        write(w, v);
    } else {
        v[0] = *y - *x;
    }
}

// The unit quaternion of a rotation matrix, from its largest component (S. W. Shepperd, "Quaternion from rotation
// matrix", 1978).
inline Quaternion quaternion_of(const Mat3<double>& R) {
    const double s = 1 + R.x.x + R.y.y + R.z.z, x = 1 + R.x.x - R.y.y - R.z.z;
    const double y = 1 - R.x.x + R.y.y - R.z.z, z = 1 - R.x.x - R.y.y + R.z.z;
    const V sums = {R.z.y + R.y.z, R.x.z + R.z.x, R.y.x + R.x.y};
    const V differences = {R.z.y - R.y.z, R.x.z - R.z.x, R.y.x - R.x.y};
    Quaternion a;
    if (s >= x && s >= y && s >= z)
        a = {differences, s};
    else if (x >= y && x >= z)
        a = {{x, sums.z, sums.y}, differences.x};
    else if (y >= z)
        a = {{sums.z, y, sums.x}, differences.y};
    else
        a = {{sums.y, sums.x, z}, differences.z};
    const double k = 1 / __builtin_sqrt(dot(a.u, a.u) + a.s * a.s);
    return {k * a.u, k * a.s};
}

inline Mat3<double> skew(const V& a) { return {{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}; }
inline Mat3<double> scaled(double s, Mat3<double> M) {
    M.x = s * M.x, M.y = s * M.y, M.z = s * M.z;
    return M;
}

}  // namespace kinodyn::KINODYN_TARGET
