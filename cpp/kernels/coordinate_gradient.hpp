// From gradients on the tangent space to gradients with respect to the numbers in q.
#pragma once

#include "kernels/joints.hpp"

namespace kinodyn::KINODYN_TARGET {

// From the tangent space (nv) to q (nq): the transposed pseudo-inverse of d integrate(q, v) / dv at v = 0. A quaternion
// turns by the rotation vector r at the rate u (r, 0) / 2, so that its gradient is 2 u (g, 0), orthogonal to u: that of
// a function that normalises its quaternions.
template <class T>
inline void gradient_of_quaternion(const T* u, const Vec3<T>& g, T* out) {
    const Vec3<T> v = {u[0], u[1], u[2]};
    const T k = 2.0 / (dot(v, v) + u[3] * u[3]);
    write(k * (u[3] * g + cross(v, g)), out);
    out[3] = -k * dot(v, g);
}
template <class T>
inline void gradient_of_coordinates(const Model& model, const T* q, const T* tangent, T* out) {
    for (const Body& body : model.bodies) {
        const T *x = q + body.iq, *g = tangent + body.iv;
        if (body.kind == Kind::Free) {
            write(rotation(x + 3) * vec(g), out + body.iq);
            gradient_of_quaternion(x + 3, vec(g + 3), out + body.iq + 3);
        } else if (body.kind == Kind::Ball) {
            gradient_of_quaternion(x, vec(g), out + body.iq);
        } else {
            out[body.iq] = *g;
        }
    }
}

}  // namespace kinodyn::KINODYN_TARGET
