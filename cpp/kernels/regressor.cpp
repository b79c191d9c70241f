// The torque regressor: torques as a linear function of inertial parameters.
#include "kernels/body_motion.hpp"

namespace kinodyn::KINODYN_TARGET {

// Torques as a linear function of the ten inertial parameters of each body in call.bodies, in the axes of its link:
// mass, mass * com, inertia about the link's origin (xx xy yy xz yz zz).
struct Regressor {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return BodyMotion<double>::words(*c.model); }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        auto m = BodyMotion<T>::take(w);
        m.world.place_all(model, w.in[0]);
        m.move(model, w.in[1], w.in[2]);
        const long width = 10L * w.call.bodies.size;
        if (model.mimic)
            for (long k = 0; k < model.nv * width; ++k) w.out[0][k] = 0.0;
        for (int k = 0; k < w.call.bodies.size; ++k) {
            const int i = w.call.bodies[k];
            Spatial<T> columns[10];
            body_columns(model.bodies[i], m, i, columns);
            const int last = model.bodies[i].column + dofs(model.bodies[i].kind) - 1;
            World<T>::for_ancestors(model, last, [&](int d) {
                T* row = w.out[0] + model.column_iv[d] * width + 10L * k;
                for (int j = 0; j < 10; ++j) put(model, row[j], dot(m.world.S[d], columns[j]));
            });
        }
    }

    // Wrench on body i per unit of each parameter, in world axes about the common point.
    template <class T>
    static void body_columns(const Body& body, const BodyMotion<T>& m, int i, Spatial<T>* out) {
        const Mat3<T> R = m.world.at[i].R * mat(body.R_link);
        const Vec3<T>& p = m.world.at[i].p;
        // acceleration of the link's origin, gravity included, and angular motion, all in link axes
        const Vec3<T> lin_v = m.v[i].lin + cross(m.v[i].ang, p);
        const Vec3<T> lin_a = m.a[i].lin + cross(m.a[i].ang, p) + cross(m.v[i].ang, lin_v);
        const Vec3<T> d = tmul(R, lin_a), w = tmul(R, m.v[i].ang), alpha = tmul(R, m.a[i].ang);
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        const Vec3<T> unit[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        const T aa[3] = {alpha.x, alpha.y, alpha.z}, ww[3] = {w.x, w.y, w.z};
        out[0] = {d, zero};
        for (int k = 0; k < 3; ++k)
            out[1 + k] = {cross(alpha, unit[k]) + cross(w, cross(w, unit[k])), cross(unit[k], d)};
        constexpr int pairs[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}};
        for (int k = 0; k < 6; ++k) {
            const int r = pairs[k][0], c = pairs[k][1];
            Vec3<T> Ea = aa[c] * unit[r], Ew = ww[c] * unit[r];
            if (r != c) Ea += aa[r] * unit[c], Ew += ww[r] * unit[c];
            out[4 + k] = {zero, Ea + cross(w, Ew)};
        }
        for (int k = 0; k < 10; ++k) {
            const Vec3<T> lin = R * out[k].lin;
            out[k] = {lin, R * out[k].ang + cross(p, lin)};
        }
    }
};

constexpr KernelEntry entries[] = {
    {"regressor", run<Regressor>},
};
extern const KernelList regressor_kernels;
const KernelList regressor_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
