// Motion of the bodies in world axes about a common point, with Coriolis operators: the terms of which the Coriolis
// matrix, the derivatives of the dynamics and the regressor are sums.
#pragma once

#include "kernels/momentum.hpp"

namespace kinodyn::KINODYN_TARGET {

// The operator B with B u = sum over particles of mass * (u.ang x x', x cross (u.ang x x')), x' the particle's
// velocity. It has twelve numbers: the momentum P, and K = tr(W) 1 - W^T for W = sum of mass * x x'^T. B v is the
// velocity product v x* I v, and dI/dt - 2 B is skew.
template <class T>
struct CoriolisOperator {
    Vec3<T> P;
    Mat3<T> K;

    static CoriolisOperator of(const RigidInertia<T>& I, const Spatial<T>& v) {
        // W = h v^T - X [w], with X = tr(I) / 2 - I the second moment of mass
        const T half = 0.5 * (I.I.xx + I.I.yy + I.I.zz);
        const Vec3<T> x = {half - I.I.xx, -I.I.xy, -I.I.xz}, y = {-I.I.xy, half - I.I.yy, -I.I.yz},
                      z = {-I.I.xz, -I.I.yz, half - I.I.zz};
        // row_i of X [w] is (x_i cross w)
        const Vec3<T> a = I.h.x * v.lin - cross(x, v.ang), b = I.h.y * v.lin - cross(y, v.ang),
                      c = I.h.z * v.lin - cross(z, v.ang);
        const T trace = a.x + b.y + c.z;
        return {I.mass * v.lin + cross(v.ang, I.h),
                {{trace - a.x, -b.x, -c.x}, {-a.y, trace - b.y, -c.y}, {-a.z, -b.z, trace - c.z}}};
    }
    Spatial<T> operator*(const Spatial<T>& u) const { return {cross(u.ang, P), K * u.ang}; }
    // B^T u has an angular part only.
    Vec3<T> transposed(const Spatial<T>& u) const { return cross(P, u.lin) + tmul(K, u.ang); }
    CoriolisOperator& operator+=(const CoriolisOperator& other) {
        P += other.P;
        K += other.K;
        return *this;
    }
};

// Twists, accelerations, wrenches and Coriolis operators of the bodies for given q, v, a.
template <class T>
struct BodyMotion : MovingBodies<T> {
    using Moving = MovingBodies<T>;
    using Moving::a, Moving::v, Moving::world;
    Spatial<T>* f;
    CoriolisOperator<T>* B;

    static long words(const Model& m) { return Moving::words(m) + 18 * static_cast<long>(m.bodies.size()); }
    static BodyMotion take(Work<T>& w) {
        const long n = static_cast<long>(w.model.bodies.size());
        return {Moving::take(w), w.template take_as<Spatial<T>>(n), w.template take_as<CoriolisOperator<T>>(n)};
    }
    // Needs the inertias of single bodies, so before gather().
    void move(const Model& model, const T* qd, const T* qdd) {
        for (std::size_t i = 0; i < model.bodies.size(); ++i) {
            move_body(model, world, static_cast<int>(i), qd, qdd, Moving::ground(model), v, a);
            B[i] = CoriolisOperator<T>::of(world.I[i], v[i]);
            f[i] = world.I[i] * a[i] + cross_force(v[i], world.I[i] * v[i]);
        }
    }
    // Sums over subtrees.
    void gather(const Model& model) {
        for (int i = static_cast<int>(model.bodies.size()) - 1; i > 0; --i) {
            const int parent = model.bodies[i].parent;
            if (parent < 0) continue;
            B[parent] += B[i];
            f[parent] += f[i];
        }
        world.gather(model);
    }
};

// Writes or, where mimic joints share coordinates, adds.
template <class T>
inline void put(const Model& model, T& entry, const T& value) {
    if (model.mimic)
        entry += value;
    else
        entry = value;
}

template <class T>
inline void clear_if_shared(const Model& model, T* M) {
    if (model.mimic)
        for (long k = 0; k < static_cast<long>(model.nv) * model.nv; ++k) M[k] = 0.0;
}

}  // namespace kinodyn::KINODYN_TARGET
