// Gravity torques, kinetic and potential energy.
#include "kernels/gravity.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Gravity {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return gravity_words(*c.model); }
    template <class T>
    static void run(Work<T>& w) {
        gravity_torques(w, w.in[0], w.out[0]);
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
