// Recursive Newton-Euler algorithm (RNEA), each body in its own frame, so that aligned joints cost few products.
// R. Featherstone, Rigid Body Dynamics Algorithms, 2008, table 5.1.
#pragma once

#include "kernels/placement.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class T>
inline Vec3<T> minus_gravity(const ModelFor<T>& model) {
    return {T(-model.gravity[0]), T(-model.gravity[1]), T(-model.gravity[2])};
}

// Converts external wrenches, given at frames in world axes, to body axes: calls add(body, wrench).
template <class T, class F>
inline void for_wrenches(Work<T>& w, const T* q, F&& add) {
    if (w.call.wrench_frames.size == 0) return;
    auto* placements = w.template take_as<Placement<T>>(w.model.bodies.size());
    place_all(w, q, placements);
    for (int k = 0; k < w.call.wrench_frames.size; ++k) {
        const FrameFor<T>& frame = w.model.frames[w.call.wrench_frames[k]];
        if (frame.body < 0) continue;  // wrenches on the world have no effect
        const T* x = w.in[w.call.first_wrench() + k];
        const Mat3<T>& R = placements[frame.body].R;
        const Vec3<T> force = tmul(R, vec(x));
        const Vec3<T> moment = tmul(R, vec(x + 3));
        add(frame.body, Spatial<T>{force, moment + cross(vec(frame.p), force)});
    }
}
inline long wrench_words(const Call& c) { return 14 * static_cast<long>(c.model->bodies.size()); }

template <class T>
struct Recursion {
    SinCos<T>* angles;
    T* joints;  // joint_words each
    Spatial<T>*v, *a, *f;

    static long words(const Model& m) { return (joint_words + 20) * static_cast<long>(m.bodies.size()); }
    static Recursion take(Work<T>& w) {
        const long n = static_cast<long>(w.model.bodies.size());
        return {w.template take_as<SinCos<T>>(n), w.take(joint_words * n), w.template take_as<Spatial<T>>(n),
                w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n)};
    }
};

// Forward pass: velocities, accelerations with gravity as an upward acceleration of the world, wrenches.
template <bool with_a, class T>
inline void rnea_forward_pass(const ModelFor<T>& model, Recursion<T>& r, const T* q, const T* qd, const T* qdd) {
    const Vec3<T> up = minus_gravity<T>(model);
    const int n = static_cast<int>(model.bodies.size());
    joint_angles(model, q, r.angles);
    for (int i = 0; i < n; ++i) {
        const BodyFor<T>& body = model.bodies[i];
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            const J joint = J::at(body, q, r.angles[i], r.joints + joint_words * i);
            Spatial<T> v, a;
            if (body.parent < 0) {
                const Vec3<T> zero = {0.0, 0.0, 0.0};
                v = {zero, zero};
                a = {joint.R.down(up), zero};
                joint.add_rate(v, qd);
            } else {
                v = motion_down(joint, r.v[body.parent]);
                a = motion_down(joint, r.a[body.parent]);
                joint.add_rate(v, qd);
                joint.add_bias(a, v, qd);
            }
            if constexpr (with_a) joint.add_rate(a, qdd);
            const auto inertia = inertia_of<T>(body);
            r.v[i] = v;
            r.a[i] = a;
            r.f[i] = inertia * a + cross_force(v, inertia * v);
        });
    }
}

// Backward pass: the torque of each joint, and the wrench that it transmits to the parent.
template <class T>
inline void rnea_backward_pass(const ModelFor<T>& model, Recursion<T>& r, T* tau) {
    for (int k = 0; k < model.nv; ++k) tau[k] = 0.0;
    for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
        const BodyFor<T>& body = model.bodies[i];
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            const J joint = J::stored(body, r.joints + joint_words * i);
            joint.add_effort(tau, r.f[i]);
            if (body.parent >= 0) r.f[body.parent] += force_up(joint, r.f[i]);
        });
    }
}

// Torques for the acceleration qdd (zero where with_a is false) and external wrenches, without armature and damping.
template <bool with_a, class T>
[[gnu::noinline]] inline void rnea(Work<T>& w, const T* q, const T* qd, const T* qdd, T* tau) {
    auto r = Recursion<T>::take(w);
    rnea_forward_pass<with_a>(w.model, r, q, qd, qdd);
    for_wrenches(w, q, [&](int body, const Spatial<T>& wrench) { r.f[body] -= wrench; });
    rnea_backward_pass(w.model, r, tau);
}
extern template void rnea<false>(Work<double>&, const double*, const double*, const double*, double*);  // in rnea.cpp
extern template void rnea<false>(Work<Pack>&, const Pack*, const Pack*, const Pack*, Pack*);
extern template void rnea<false>(Work<FloatPack>&, const FloatPack*, const FloatPack*, const FloatPack*, FloatPack*);

// The same with armature and damping.
template <bool with_a, class T>
inline void inverse_dynamics(Work<T>& w, const T* q, const T* qd, const T* qdd, T* tau) {
    rnea<with_a>(w, q, qd, qdd, tau);
    for (int k = 0; k < w.model.nv; ++k) {
        tau[k] += w.model.damping[k] * qd[k];
        if constexpr (with_a) tau[k] += w.model.armature[k] * qdd[k];
    }
}

}  // namespace kinodyn::KINODYN_TARGET
