// Gravity torques.
#pragma once

#include "kernels/placement.hpp"

namespace kinodyn::KINODYN_TARGET {

inline long gravity_words(const Model& model) { return 18 * static_cast<long>(model.bodies.size()); }

// Each joint carries the weight of its subtree, for which mass and first moment suffice.
template <class T>
inline void gravity_torques(Work<T>& w, const T* q, T* tau) {
    const int n = static_cast<int>(w.model.bodies.size());
    auto* at = w.template take_as<Placement<T>>(n);
    T* mass = w.take(n);
    auto* h = w.template take_as<Vec3<T>>(n);
    const Vec3<double> g = vec(w.model.gravity);
    for (int k = 0; k < w.model.nv; ++k) tau[k] = 0.0;
    place_all(w, q, at);
    for (int i = 0; i < n; ++i) {
        const Body& body = w.model.bodies[i];
        mass[i] = body.mass;
        h[i] = at[i].R * vec(body.h) + body.mass * at[i].p;
    }
    for (int i = n - 1; i >= 0; --i) {
        const Body& body = w.model.bodies[i];
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            const T store[joint_words] = {};
            const J joint = J::stored(body, store);
            // weight of the subtree, its moment about the joint's own origin
            const Vec3<T> arm = h[i] - mass[i] * at[i].p;
            const Spatial<T> weight = {mass[i] * g, cross(arm, g)};
            const Vec3<T> here = {0.0, 0.0, 0.0};
            for (int k = 0; k < J::n; ++k) tau[body.iv + k] -= dot(joint.world_column(k, at[i].R, here), weight);
        });
        if (body.parent >= 0) {
            mass[body.parent] += mass[i];
            h[body.parent] += h[i];
        }
    }
}

}  // namespace kinodyn::KINODYN_TARGET
