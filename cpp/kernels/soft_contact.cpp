// Soft contacts: where points of the robot are and how they move, and the forces of springy, rough ground on them.
//
// The law is told in src/kinodyn/contact/soft.py; the ground itself, plane or height field, stays in Python between
// the two kernels.
#include "kernels/algorithms.hpp"
#include "kernels/placement.hpp"

namespace kinodyn::KINODYN_TARGET {

// Where a body is, the velocity of its origin and its angular velocity, in world axes.
template <class T>
struct Moving {
    Placement<T> at;
    Spatial<T> v;
};

// Follows the motion of the bodies on the list, parents before children.
template <class T>
inline void move_list(Work<T>& w, const T* q, const T* qd, Moving<T>* moving) {
    auto* turns = w.template take_as<SinCos<T>>(w.call.n_list);
    for (int k = 0; k < w.call.n_list; ++k) turn(w.model.bodies[w.call.list[k]], q, turns[k]);
    for (int k = 0; k < w.call.n_list; ++k) {
        const Body& body = w.model.bodies[w.call.list[k]];
        const Moving<T>* parent = body.parent < 0 ? nullptr : moving + body.parent;
        Moving<T>& m = moving[w.call.list[k]];
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            T store[joint_words];
            const J joint = J::at(body, q, turns[k], store);
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

template <class T>
inline Vec3<T> get(const T* x) {
    return {x[0], x[1], x[2]};
}
template <class T>
inline void put(T* out, const Vec3<T>& x) {
    out[0] = x.x, out[1] = x.y, out[2] = x.z;
}

// Inputs: 0 q, 1 v, 2 places in the frames; call.more: the frame of each. Outputs: 0 places in the world, 1 their
// velocities, 2 the way from the frame's origin, all in world axes.
struct PointMotion {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 18 * static_cast<long>(c.model->bodies.size()) + 2L * c.n_list; }

    template <class T>
    static void run(Work<T>& w) {
        auto* moving = w.template take_as<Moving<T>>(w.model.bodies.size());
        move_list(w, w.in[0], w.in[1], moving);
        for (int k = 0; k < w.call.n_more; ++k) {
            const FixedFrame& frame = w.model.frames[w.call.more[k]];
            const Vec3<T> place = get(w.in[2] + 3 * k);
            Vec3<T> arm, p, rate = {0.0, 0.0, 0.0};
            if (frame.body < 0) {
                arm = mat(frame.R) * place;
                p = vec(frame.p) + arm;
            } else {
                const Moving<T>& m = moving[frame.body];
                const Vec3<T> origin = m.at.R * vec(frame.p);
                arm = m.at.R * (mat(frame.R) * place);
                p = m.at.p + origin + arm;
                rate = m.v.lin + cross(m.v.ang, origin + arm);
            }
            put(w.out[0] + 3 * k, p);
            put(w.out[1] + 3 * k, rate);
            put(w.out[2] + 3 * k, arm);
        }
    }
};

// Inputs, for each point: 0 place, 1 velocity, 2 way from the frame's origin, 3 height above the ground, 4 normal (or
// one for all), 5 anchor, 6 stiffness, 7 damping, 8 friction; call.more: which of the frames carries it. Outputs:
// 0 forces, 1 new anchors, 2 wrenches on the frames.
struct SoftForces {
    static constexpr bool sparse = false;
    static long words(const Call&) { return 0; }

    template <class T>
    static void run(Work<T>& w) {
        const int normals = w.call.in[4].size == 3 ? 0 : 3;
        for (int k = 0; k < w.call.out[2].size; ++k) w.out[2][k] = 0.0;
        for (int k = 0; k < w.call.n_more; ++k) {
            const Vec3<T> p = get(w.in[0] + 3 * k);
            Vec3<T> stretch = p - get(w.in[5] + 3 * k);
            const Vec3<T> force = law(w.in[6][k], w.in[7][k], w.in[8][k], w.in[3][k], get(w.in[4] + normals * k),
                                      get(w.in[1] + 3 * k), stretch);
            put(w.out[0] + 3 * k, force);
            put(w.out[1] + 3 * k, p - stretch);
            T* wrench = w.out[2] + 6 * w.call.more[k];
            const Vec3<T> moment = cross(get(w.in[2] + 3 * k), force);
            wrench[0] += force.x, wrench[1] += force.y, wrench[2] += force.z;
            wrench[3] += moment.x, wrench[4] += moment.y, wrench[5] += moment.z;
        }
    }

    // The force on one point; the stretch of its bristle is brought into the ground's plane and within Coulomb's disc.
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

    // How much of a vector fits into a disc.
    template <class T>
    static T share(T radius, const Vec3<T>& x) {
        using L = Lanes<T>;
        return L::smaller(1.0, radius / (L::root(dot(x, x)) + 1e-300));
    }
};

void point_motion(const Call& c, long begin, long end, Fault& f) { run<PointMotion>(c, begin, end, f); }
void soft_forces(const Call& c, long begin, long end, Fault& f) { run<SoftForces>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
