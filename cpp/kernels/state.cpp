// All quantities that a controller needs at one state, in one pass over the tree.
#include "kernels/momentum.hpp"

namespace kinodyn::KINODYN_TARGET {

// In the order of the binding. `columns` has six numbers for each joint column, then the common point;
// `momentum_bias` is the rate of momentum at zero acceleration.
namespace out {
enum { poses, columns, mass_matrix, bias, com, com_jacobian, com_velocity, momentum_matrix, momentum, momentum_bias };
}

struct State {
    static constexpr bool sparse = true;
    static long words(const Call& c) {
        return MovingBodies<double>::words(*c.model) + 6 * static_cast<long>(c.model->bodies.size());
    }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        const int n = static_cast<int>(model.bodies.size());
        auto [world, v, a] = MovingBodies<T>::take(w);
        auto* f = w.template take_as<Spatial<T>>(n);
        const Spatial<T> ground = MovingBodies<T>::ground(model);
        const Vec3<T> zero = {0.0, 0.0, 0.0};

        world.place_all(model, w.in[0]);
        Spatial<T> momentum = {zero, zero};
        for (int i = 0; i < n; ++i) {
            move_body(model, world, i, w.in[1], static_cast<const T*>(nullptr), ground, v, a);
            const Spatial<T> h = world.I[i] * v[i];
            f[i] = world.I[i] * a[i] + cross_force(v[i], h);
            momentum += h;
        }
        const Spatial<T> force = bias(w, world, f, w.out[out::bias]);
        world.mass_matrix(model, w.out[out::mass_matrix]);  // gathers the inertias of subtrees
        const Vec3<T> com = centre(model, world);
        com_jacobian_of(model, world, w.out[out::com_jacobian]);
        momentum_matrix_of(model, world, com, w.out[out::momentum_matrix]);

        write(com + world.origin, w.out[out::com]);
        write(model.inverse_mass * momentum.lin, w.out[out::com_velocity]);
        write(about(com, momentum), w.out[out::momentum]);
        write(force.lin + model.total_mass * vec(model.gravity), w.out[out::momentum_bias]);
        write(force.ang - cross(com, force.lin), w.out[out::momentum_bias] + 3);
        poses(w, world);
        for (int c = 0; c < model.ncolumns; ++c) write(world.S[c], w.out[out::columns] + 6 * c);
        write(world.origin, w.out[out::columns] + 6 * model.ncolumns);
    }

  private:
    // Torques at zero acceleration; returns the sum of all wrenches on bodies.
    template <class T>
    static Spatial<T> bias(const Work<T>& w, const World<T>& world, Spatial<T>* f, T* tau) {
        const Model& model = w.model;
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        Spatial<T> sum = {zero, zero};
        for (int k = 0; k < model.nv; ++k) tau[k] = model.damping[k] * w.in[1][k];
        for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
            const Body& body = model.bodies[i];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c)
                tau[model.column_iv[c]] += dot(world.S[c], f[i]);
            if (body.parent >= 0)
                f[body.parent] += f[i];
            else
                sum += f[i];
        }
        return sum;
    }

    template <class T>
    static void poses(const Work<T>& w, const World<T>& world) {
        T* pose = w.out[out::poses];
        for (const FixedFrame& frame : w.model.frames) {
            Placement<T> f = place_frame(frame, world.at);
            if (frame.body >= 0) f.p += world.origin;
            store_pose(pose, f);
            pose += 16;
        }
    }
};

// The Jacobian of a frame from the columns and the frame's pose. Settings: the Reference.
struct StateJacobian {
    static constexpr bool sparse = true;
    static long words(const Call&) { return 0; }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        const T *columns = w.in[0], *T_world_frame = w.in[1];
        const T* origin = columns + 6 * model.ncolumns;
        const Reference reference = w.call.template as<Reference>();
        const bool local = reference == Reference::Local, at_world = reference == Reference::World;
        // from the common point to the reference point
        Vec3<T> r = {-origin[0], -origin[1], -origin[2]};
        if (!at_world) r += Vec3<T>{T_world_frame[3], T_world_frame[7], T_world_frame[11]};
        const T* t = T_world_frame;
        const Mat3<T> R = {{t[0], t[1], t[2]}, {t[4], t[5], t[6]}, {t[8], t[9], t[10]}};
        const long nv = model.nv;
        if (model.mimic)
            for (long k = 0; k < 6 * nv; ++k) w.out[0][k] = 0.0;
        for (int k = 0; k < w.call.bodies.size; ++k) {
            const Body& body = model.bodies[w.call.bodies[k]];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c) {
                const T* s = columns + 6 * c;
                Vec3<T> ang = {s[3], s[4], s[5]};
                Vec3<T> lin = Vec3<T>{s[0], s[1], s[2]} + cross(ang, r);
                if (local) lin = tmul(R, lin), ang = tmul(R, ang);
                T* out = w.out[0] + model.column_iv[c];
                const T column[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
                for (int j = 0; j < 6; ++j) out[j * nv] = model.mimic ? out[j * nv] + column[j] : column[j];
            }
        }
    }
};

constexpr KernelEntry entries[] = {
    {"state", run<State>},
    {"state_jacobian", run<StateJacobian>},
};
extern const KernelList state_kernels;
const KernelList state_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
