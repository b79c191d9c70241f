// Soft contacts: positions and velocities of points of the robot, and the forces of compliant ground with friction.
//
// The contact law is described in src/kinodyn/dynamics/contact/soft.py; the ground itself, plane or height field, stays
// in Python between the two kernels.
#include "kernels/contact.hpp"
#include "kernels/motion.hpp"

namespace kinodyn::KINODYN_TARGET {

// Pose of a body, velocity of its origin and angular velocity, in world axes.
template <class T>
struct PointBody {
    Placement<T> at;
    Spatial<T> v;
};

// Motion of the bodies to visit, parents before children.
template <class T>
inline void move_list(Work<T>& w, const T* q, const T* qd, PointBody<T>* moving) {
    const SinCos<T>* angles = path_angles(w, q);
    for (int k = 0; k < w.call.bodies.size; ++k) {
        const Body& body = w.model.bodies[w.call.bodies[k]];
        const PointBody<T>* parent = body.parent < 0 ? nullptr : moving + body.parent;
        PointBody<T>& m = moving[w.call.bodies[k]];
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            T store[joint_words];
            const J joint = J::at(body, q, angles[k], store);
            place<T>(joint, parent ? &parent->at : nullptr, m.at);
            Spatial<T> rate = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
            joint.add_rate(rate, qd);
            m.v = {m.at.R * rate.lin, m.at.R * rate.ang};
        });
        if (!parent) continue;
        m.v.lin += parent->v.lin + cross(parent->v.ang, m.at.p - parent->at.p);
        m.v.ang += parent->v.ang;
    }
}

// Inputs: 0 q, 1 v, 2 points in their frames, call.frames. Outputs: 0 positions in the world, 1 velocities, 2 arms from
// the frame's origin, all in world axes.
struct PointMotion {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 18 * static_cast<long>(c.model->bodies.size()) + 2L * c.bodies.size; }

    template <class T>
    static void run(Work<T>& w) {
        auto* moving = w.template take_as<PointBody<T>>(w.model.bodies.size());
        move_list(w, w.in[0], w.in[1], moving);
        for (int k = 0; k < w.call.frames.size; ++k) {
            const FixedFrame& frame = w.model.frames[w.call.frames[k]];
            const Vec3<T> point = vec(w.in[2] + 3 * k);
            Vec3<T> arm, p, rate = {0.0, 0.0, 0.0};
            if (frame.body < 0) {
                arm = mat(frame.R) * point;
                p = vec(frame.p) + arm;
            } else {
                const PointBody<T>& m = moving[frame.body];
                const Vec3<T> origin = m.at.R * vec(frame.p);
                arm = m.at.R * (mat(frame.R) * point);
                p = m.at.p + origin + arm;
                rate = m.v.lin + cross(m.v.ang, origin + arm);
            }
            write(p, w.out[0] + 3 * k);
            write(rate, w.out[1] + 3 * k);
            write(arm, w.out[2] + 3 * k);
        }
    }
};

// Inputs, for each point: soft_contact_input. Outputs: 0 forces, 1 new anchors, 2 wrenches on the frames.
struct SoftForces {
    static constexpr bool sparse = false;
    static long words(const Call&) { return 0; }

    template <class T>
    static void run(Work<T>& w) {
        namespace in = soft_contact_input;
        const auto& settings = w.call.template as<SoftContactSettings>();
        const int normal_stride = settings.shared_normal ? 0 : 3;
        for (int k = 0; k < w.call.out[2].size; ++k) w.out[2][k] = 0.0;
        for (int k = 0; k < settings.n_points; ++k) {
            const Vec3<T> p = vec(w.in[in::position] + 3 * k);
            Vec3<T> stretch = p - vec(w.in[in::anchor] + 3 * k);
            const Vec3<T> force =
                law(w.in[in::stiffness][k], w.in[in::damping][k], w.in[in::friction][k], w.in[in::height][k],
                    vec(w.in[in::normal] + normal_stride * k), vec(w.in[in::velocity] + 3 * k), stretch);
            write(force, w.out[0] + 3 * k);
            write(p - stretch, w.out[1] + 3 * k);
            T* wrench = w.out[2] + 6 * settings.points[k].owner;
            const Vec3<T> moment = cross(vec(w.in[in::arm] + 3 * k), force);
            wrench[0] += force.x, wrench[1] += force.y, wrench[2] += force.z;
            wrench[3] += moment.x, wrench[4] += moment.y, wrench[5] += moment.z;
        }
    }

    // The force on one point; its bristle deflection is projected onto the tangent plane and the Coulomb disc.
    template <class T>
    static Vec3<T> law(T stiffness, T damping, T friction, T height, const Vec3<T>& n, const Vec3<T>& rate,
                       Vec3<T>& stretch) {
        using L = Lanes<T>;
        const T rising = dot(rate, n);
        const T push = -stiffness * height - damping * rising;
        const T pressure = L::larger(push, T(0.0)) * L::one_if_less(height, T(0.0));
        const T limit = friction * pressure;
        stretch -= dot(stretch, n) * n;
        stretch = share(limit, stiffness * stretch) * stretch;
        const Vec3<T> pull = stiffness * stretch + damping * (rate - rising * n);
        return pressure * n - share(limit, pull) * pull;
    }

    // Scale factor that brings a vector into a disc.
    template <class T>
    static T share(T radius, const Vec3<T>& x) {
        using L = Lanes<T>;
        return L::smaller(1.0, radius / (L::root(dot(x, x)) + 1e-300));
    }
};

constexpr KernelEntry entries[] = {
    {"point_motion", run<PointMotion>},
    {"soft_forces", run<SoftForces>},
};
extern const KernelList soft_contact_kernels;
const KernelList soft_contact_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
