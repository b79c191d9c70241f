// Gravity torques, kinetic and potential energy.
#include "kernels/placement.hpp"

namespace kinodyn::KINODYN_TARGET {

// Gravity torques: each joint carries the weight of its subtree, for which mass and first moment suffice.
struct Gravity {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 18 * static_cast<long>(c.model->bodies.size()); }
    template <class T>
    static void run(Work<T>& w) {
        const int n = static_cast<int>(w.model.bodies.size());
        auto* at = w.template take_as<Placement<T>>(n);
        T* mass = w.take(n);
        auto* h = w.template take_as<Vec3<T>>(n);
        const Vec3<double> g = vec(w.model.gravity);
        T* tau = w.out[0];
        for (int k = 0; k < w.model.nv; ++k) tau[k] = 0.0;
        place_all(w, w.in[0], at);
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
};

// out[0]: kinetic, out[1]: potential energy, zero at the height of the world's origin.
struct Energy {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 20 * static_cast<long>(c.model->bodies.size()); }
    template <class T>
    static void run(Work<T>& w) {
        const int n = static_cast<int>(w.model.bodies.size());
        auto* angles = w.template take_as<SinCos<T>>(n);
        auto* at = w.template take_as<Placement<T>>(n);
        auto* v = w.template take_as<Spatial<T>>(n);
        const T *q = w.in[0], *qd = w.in[1];
        T kinetic = 0.0;
        Vec3<T> moment = {0.0, 0.0, 0.0};
        joint_angles(w.model, q, angles);
        for (int i = 0; i < n; ++i) {
            const Body& body = w.model.bodies[i];
            visit(body.kind, [&](auto kind) {
                using J = Joint<decltype(kind)::value, T>;
                T store[joint_words];
                const J joint = J::at(body, q, angles[i], store);
                const Vec3<T> zero = {0.0, 0.0, 0.0};
                place<T>(joint, parent_of(at, body), at[i]);
                v[i] = body.parent < 0 ? Spatial<T>{zero, zero} : motion_down(joint, v[body.parent]);
                joint.add_rate(v[i], qd);
            });
            kinetic += dot(inertia_of<T>(body) * v[i], v[i]);
            moment += at[i].R * vec(body.h) + body.mass * at[i].p;
        }
        for (int k = 0; k < w.model.nv; ++k) kinetic += w.model.armature[k] * qd[k] * qd[k];
        w.out[0][0] = 0.5 * kinetic;
        w.out[1][0] = -dot(moment, vec(w.model.gravity));
    }
};

constexpr KernelEntry entries[] = {
    {"gravity", run<Gravity>},
    {"energy", run<Energy>},
};
extern const KernelList gravity_kernels;
const KernelList gravity_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
