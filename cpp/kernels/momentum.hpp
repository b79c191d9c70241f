// Momentum and motion of bodies in world axes about the common point of World.
#pragma once

#include "kernels/world.hpp"

namespace kinodyn::KINODYN_TARGET {

// Twist and spatial acceleration of body i from those of its parent; `ground` is the acceleration of the world
// (minus gravity, or zero). qdd may be null.
template <class T>
inline void move_body(const Model& model, const World<T>& world, int i, const T* qd, const T* qdd,
                      const Spatial<T>& ground, Spatial<T>* v, Spatial<T>* a) {
    const Body& body = model.bodies[i];
    const Vec3<T> zero = {0.0, 0.0, 0.0};
    Spatial<T> own = {zero, zero}, gain = {zero, zero};
    for (int c = body.column; c < body.column + dofs(body.kind); ++c) {
        own += qd[model.column_iv[c]] * world.S[c];
        if (qdd) gain += qdd[model.column_iv[c]] * world.S[c];
    }
    const bool root = body.parent < 0;
    v[i] = root ? own : v[body.parent] + own;
    a[i] = (root ? ground : a[body.parent]) + gain;
    if (!root) a[i] += cross_motion(v[i], own);  // at the root v is `own` itself
}

// Placements, twists and spatial accelerations of the bodies.
template <class T>
struct MovingBodies {
    World<T> world;
    Spatial<T>*v, *a;

    static long words(const Model& m) { return World<double>::words(m) + 12 * static_cast<long>(m.bodies.size()); }
    static MovingBodies take(Work<T>& w) {
        const long n = static_cast<long>(w.model.bodies.size());
        return {World<T>::take(w), w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n)};
    }
    // The world at rest, in which gravity is an acceleration upwards.
    static Spatial<T> ground(const Model& model) {
        const double* g = model.gravity;
        return {{T(-g[0]), T(-g[1]), T(-g[2])}, {T(0.0), T(0.0), T(0.0)}};
    }
};

// CoM relative to the common point, after gather(): the roots then have the inertia of the whole robot.
template <class T>
inline Vec3<T> centre(const Model& model, const World<T>& world) {
    Vec3<T> moment = {0.0, 0.0, 0.0};
    for (std::size_t i = 0; i < model.bodies.size(); ++i)
        if (model.bodies[i].parent < 0) moment += world.I[i].h;
    return model.inverse_mass * moment;
}

// 6 x nv, about the point `com`, from subtree inertias.
template <class T>
inline void momentum_matrix_of(const Model& model, const World<T>& world, const Vec3<T>& com, T* A) {
    const long nv = model.nv;
    for (long k = 0; k < 6 * nv; ++k) A[k] = 0.0;
    for (int c = 0; c < model.ncolumns; ++c) {
        Spatial<T> F = world.I[model.column_body[c]] * world.S[c];
        F.ang -= cross(com, F.lin);
        T* out = A + model.column_iv[c];
        out[0] += F.lin.x, out[nv] += F.lin.y, out[2 * nv] += F.lin.z;
        out[3 * nv] += F.ang.x, out[4 * nv] += F.ang.y, out[5 * nv] += F.ang.z;
    }
}

// 3 x nv from subtree inertias.
template <class T>
inline void com_jacobian_of(const Model& model, const World<T>& world, T* J) {
    const long nv = model.nv;
    for (long k = 0; k < 3 * nv; ++k) J[k] = 0.0;
    for (int c = 0; c < model.ncolumns; ++c) {
        const auto& I = world.I[model.column_body[c]];
        const Spatial<T>& s = world.S[c];
        const Vec3<T> d = model.inverse_mass * (I.mass * s.lin + cross(s.ang, I.h));
        T* out = J + model.column_iv[c];
        out[0] += d.x, out[nv] += d.y, out[2 * nv] += d.z;
    }
}

}  // namespace kinodyn::KINODYN_TARGET
