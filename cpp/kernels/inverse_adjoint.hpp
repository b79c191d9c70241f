// The adjoint of inverse dynamics (RNEA), in world axes about the common point of World, linear in the number of
// joints.
//
// With the gradient x with respect to tau and the twists u of the bodies at the joint rates x, x . tau is the sum of
// u . f over the bodies, f = I a + v x* I v. Its adjoint is one sweep to the root.
#pragma once

#include "kernels/body_motion.hpp"
#include "kernels/coordinate_gradient.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class T>
struct InverseAdjoint {
    Spatial<T>*v, *a, *u;        // twists, accelerations and twists at the rates x
    Spatial<T>*by_v, *by_a, *f;  // gradients with respect to v, a and u; sums over subtrees after collect()
    Vec3<T>* turn;               // moments due to wrenches that keep their direction while the bodies turn

    static long words(const Model& m) { return 39 * static_cast<long>(m.bodies.size()); }
    static InverseAdjoint take(Work<T>& w) {
        const long n = static_cast<long>(w.model.bodies.size());
        const auto spatials = [&] { return w.template take_as<Spatial<T>>(n); };
        InverseAdjoint result;
        result.v = spatials(), result.a = spatials(), result.u = spatials();
        result.by_v = spatials(), result.by_a = spatials(), result.f = spatials();
        result.turn = w.template take_as<Vec3<T>>(n);
        return result;
    }

    // Needs the inertias of single bodies.
    void move(const Model& model, const World<T>& world, const T* qd, const T* qdd, const T* x) {
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i) {
            const Body& body = model.bodies[i];
            move_body(model, world, i, qd, qdd, BodyMotion<T>::ground(model), v, a);
            u[i] = body.parent < 0 ? Spatial<T>{zero, zero} : u[body.parent];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c)
                u[i] += x[model.column_iv[c]] * world.S[c];
            const auto& I = world.I[i];
            const Spatial<T> momentum = I * v[i];
            f[i] = I * a[i] + cross_force(v[i], momentum);
            by_a[i] = I * u[i];
            by_v[i] = -1.0 * (cross_force(u[i], momentum) + I * cross_motion(v[i], u[i]));
            turn[i] = zero;
        }
    }

    // Gradients with respect to the wrenches, 6 numbers each; between move() and collect().
    void add_wrenches(const Work<T>& w, const World<T>& world, T* out) {
        const int n = w.call.wrench_frames.size;
        for (int k = 0; k < n; ++k, out += 6) {
            const FixedFrame& frame = w.model.frames[w.call.wrench_frames[k]];
            const T* x = w.in[w.call.first_wrench() + k];
            Spatial<T> at = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};  // wrenches on the world have no effect
            if (frame.body >= 0) {
                const Placement<T>& b = world.at[frame.body];
                at = add_wrench(frame.body, b.p + b.R * vec(frame.p), {vec(x), vec(x + 3)});
            }
            write(-1.0 * at, out);
        }
    }

    // A wrench in world axes at the point p of a body. Returns the twist at the rates x there.
    Spatial<T> add_wrench(int body, const Vec3<T>& p, const Spatial<T>& w) {
        const Spatial<T> at = {u[body].lin + cross(u[body].ang, p), u[body].ang};
        f[body] -= Spatial<T>{w.lin, w.ang + cross(p, w.lin)};
        turn[body] += cross(w.lin, at.lin) + cross(w.ang, at.ang);
        return at;
    }

    // The gradient z, in world axes, with respect to the acceleration of the point p of a body.
    void add_acceleration(int body, const Vec3<T>& p, const Spatial<T>& z) {
        const Vec3<T>& w = v[body].ang;
        const Vec3<T> speed = v[body].lin + cross(w, p);
        const Vec3<T> point = a[body].lin + cross(a[body].ang, p) + cross(w, speed);
        const Vec3<T> force = cross(z.lin, w);
        by_a[body] += Spatial<T>{z.lin, z.ang + cross(p, z.lin)};
        by_v[body] += Spatial<T>{force, cross(speed, z.lin) + cross(p, force)};
        turn[body] += cross(point, z.lin) + cross(a[body].ang, z.ang);
    }

    // The tangent gradients by q, v and a.
    void collect(const Model& model, const World<T>& world, T* q, T* qd, T* qdd) {
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        const Spatial<T> still = {zero, zero}, ground = BodyMotion<T>::ground(model);
        for (int k = 0; k < model.nv; ++k) q[k] = qd[k] = qdd[k] = 0.0;
        for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
            const Body& body = model.bodies[i];
            const int parent = body.parent;
            const Spatial<T> before = parent < 0 ? still : v[parent];
            by_v[i] += cross_force(v[i] - before, by_a[i]);
            const Spatial<T> rate = by_v[i] - cross_force(v[i], by_a[i]);
            // turning the subtree is the same as turning the motion of its parent back
            Spatial<T> moved = cross_force(parent < 0 ? ground : a[parent], by_a[i]);
            if (parent >= 0) moved += cross_force(before, by_v[i]) + cross_force(u[parent], f[i]);
            moved.ang -= turn[i];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c) {
                const int iv = model.column_iv[c];
                q[iv] -= dot(world.S[c], moved);
                qd[iv] += dot(world.S[c], rate);
                qdd[iv] += dot(world.S[c], by_a[i]);
            }
            if (parent < 0) continue;
            by_v[parent] += by_v[i], by_a[parent] += by_a[i], f[parent] += f[i];
            turn[parent] += turn[i];
        }
    }
};

}  // namespace kinodyn::KINODYN_TARGET
