// Poses, Jacobians, velocities and accelerations of frames.
//
// call.list: the bodies to visit, parents first (for one frame: the way from the root to it);
// call.more: the frames; call.mode: the reference (Jacobians, velocities) and, for accelerations, + 4 if classical.
#include "algorithms.hpp"
#include "placement.hpp"

namespace kinodyn::KINODYN_TARGET {

enum Reference { Aligned = 0, Local = 1, World = 2 };

// Takes 2 words of memory for each body on the list.
template <class T>
inline SinCos<T>* turn_list(Work<T>& w, const T* q) {
    auto* turns = w.template take_as<SinCos<T>>(w.call.n_list);
    for (int k = 0; k < w.call.n_list; ++k) turn(w.model.bodies[w.call.list[k]], q, turns[k]);
    return turns;
}

template <class T>
inline void place_list(Work<T>& w, const T* q, Placement<T>* placements) {
    const SinCos<T>* turns = turn_list(w, q);
    for (int k = 0; k < w.call.n_list; ++k) {
        const Body& body = w.model.bodies[w.call.list[k]];
        place(body, parent_of(placements, body), q, turns[k], placements[w.call.list[k]]);
    }
}

struct Poses {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 14 * static_cast<long>(c.model->bodies.size()); }

    template <class T>
    static void run(Work<T>& w) {
        auto* placements = w.template take_as<Placement<T>>(w.model.bodies.size());
        place_list(w, w.in[0], placements);
        T* out = w.out[0];
        for (int k = 0; k < w.call.n_more; ++k, out += 16)
            store_pose(out, place_frame(w.model.frames[w.call.more[k]], placements));
    }
};

// Writes one column of a 6 x nv matrix; joints that share a coordinate add up.
template <class T>
inline void put_column(const Work<T>& w, T* J, int iv, const Spatial<T>& s) {
    const int nv = w.model.nv;
    T* out = J + iv;
    if (!w.model.mimic) {
        out[0] = s.lin.x, out[nv] = s.lin.y, out[2 * nv] = s.lin.z;
        out[3 * nv] = s.ang.x, out[4 * nv] = s.ang.y, out[5 * nv] = s.ang.z;
    } else {
        out[0] += s.lin.x, out[nv] += s.lin.y, out[2 * nv] += s.lin.z;
        out[3 * nv] += s.ang.x, out[4 * nv] += s.ang.y, out[5 * nv] += s.ang.z;
    }
}

template <class T>
inline void clear_if_shared(const Work<T>& w, T* J) {
    if (w.model.mimic)
        for (int i = 0; i < 6 * w.model.nv; ++i) J[i] = 0.0;
}

struct Jacobian {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return 14 * static_cast<long>(c.model->bodies.size()); }

    template <class T>
    static void run(Work<T>& w) {
        auto* placements = w.template take_as<Placement<T>>(w.model.bodies.size());
        place_list(w, w.in[0], placements);
        const Placement<T> f = place_frame(w.model.frames[w.call.more[0]], placements);
        clear_if_shared(w, w.out[0]);
        for (int k = 0; k < w.call.n_list; ++k) {
            const int i = w.call.list[k];
            const Body& body = w.model.bodies[i];
            const Vec3<T> p = w.call.mode == World ? placements[i].p : placements[i].p - f.p;
            for_columns<T>(body, placements[i].R, p, [&](int dof, Spatial<T> s) {
                if (w.call.mode == Local) s = {tmul(f.R, s.lin), tmul(f.R, s.ang)};
                put_column(w, w.out[0], body.iv + dof, s);
            });
        }
    }
    // Calls f(k, column) for each degree of freedom of a body at (R, p), p from the reference point.
    template <class T, class F>
    static void for_columns(const Body& body, const Mat3<T>& R, const Vec3<T>& p, F&& f) {
        const T store[joint_words] = {};
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            const J joint = J::stored(body, store);
            for (int k = 0; k < J::n; ++k) f(k, joint.world_column(k, R, p));
        });
    }
};

// Motion of a body: velocity of its origin, angular velocity, and their true time derivatives, in world axes.
template <class T>
struct Motion {
    Placement<T> at;
    Spatial<T> v, a;
};

template <class T>
inline Motion<T> still() {
    const Spatial<T> zero = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    return {world<T>(), zero, zero};
}

// A point fixed in a moving body, r away from its origin in world axes.
template <class T>
inline Spatial<T> velocity_at(const Motion<T>& m, const Vec3<T>& r) {
    return {m.v.lin + cross(m.v.ang, r), m.v.ang};
}
template <class T>
inline Spatial<T> acceleration_at(const Motion<T>& m, const Vec3<T>& r) {
    return {m.a.lin + cross(m.a.ang, r) + cross(m.v.ang, cross(m.v.ang, r)), m.a.ang};
}

// Follows the motion along call.list; qdd may be null. Returns the motion of the last body.
template <class T>
inline Motion<T> follow(Work<T>& w, const T* q, const T* qd, const T* qdd, Motion<T>* motions) {
    const SinCos<T>* turns = turn_list(w, q);
    Motion<T> last = still<T>();
    for (int k = 0; k < w.call.n_list; ++k) {
        const Body& body = w.model.bodies[w.call.list[k]];
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            T store[joint_words];
            const J joint = J::at(body, q, turns[k], store);
            Motion<T> m;
            place<T>(joint, body.parent < 0 ? nullptr : &last.at, m.at);
            const Vec3<T> r = m.at.p - last.at.p;
            const Spatial<T> zero = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
            Spatial<T> rate = zero, gain = zero;
            joint.add_rate(rate, qd);
            if (qdd) joint.add_rate(gain, qdd);
            const Vec3<T> u = m.at.R * rate.lin, turn = m.at.R * rate.ang;
            m.v = velocity_at(last, r);
            m.a = acceleration_at(last, r);
            // a sliding point feels Coriolis terms; a body that also turns carries its own velocity round
            m.a.lin += m.at.R * gain.lin + 2.0 * cross(last.v.ang, u) + cross(turn, u);
            m.a.ang += m.at.R * gain.ang + cross(last.v.ang, turn);
            m.v.lin += u;
            m.v.ang += turn;
            last = m;
        });
        if (motions) motions[k] = last;
    }
    return last;
}

template <class T>
inline void put(T* out, const Spatial<T>& s) {
    out[0] = s.lin.x, out[1] = s.lin.y, out[2] = s.lin.z, out[3] = s.ang.x, out[4] = s.ang.y, out[5] = s.ang.z;
}

// Pose of the one frame in call.more, which hangs on the last body of the list.
template <class T>
inline Placement<T> frame_on(const Work<T>& w, const Motion<T>& m) {
    const FixedFrame& frame = w.model.frames[w.call.more[0]];
    return {m.at.R * mat(frame.R), m.at.p + m.at.R * vec(frame.p)};
}

struct Velocity {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 2 * static_cast<long>(c.n_list); }

    template <class T>
    static void run(Work<T>& w) {
        const Motion<T> m = follow<T>(w, w.in[0], w.in[1], nullptr, nullptr);
        const Placement<T> f = frame_on(w, m);
        Spatial<T> v = velocity_at(m, f.p - m.at.p);
        if (w.call.mode == Local) v = {tmul(f.R, v.lin), tmul(f.R, v.ang)};
        if (w.call.mode == World) v.lin += cross(f.p, v.ang);
        put(w.out[0], v);
    }
};

struct Acceleration {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 2 * static_cast<long>(c.n_list); }

    template <class T>
    static void run(Work<T>& w) {
        const int reference = w.call.mode & 3;
        const bool classical = w.call.mode & 4;
        const Motion<T> m = follow(w, w.in[0], w.in[1], w.in[2], static_cast<Motion<T>*>(nullptr));
        const Placement<T> f = frame_on(w, m);
        Spatial<T> v = velocity_at(m, f.p - m.at.p);
        Spatial<T> a = acceleration_at(m, f.p - m.at.p);
        a.lin -= cross(v.ang, v.lin);  // spatial acceleration, the one that moves like a twist
        if (reference == World) {
            v.lin += cross(f.p, v.ang);
            a.lin += cross(f.p, a.ang);
        }
        if (classical) a.lin += cross(v.ang, v.lin);
        if (reference == Local) a = {tmul(f.R, a.lin), tmul(f.R, a.ang)};
        put(w.out[0], a);
    }
};

// The time derivative of the Jacobian, as it stands, in each reference.
struct JacobianDot {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return 26 * static_cast<long>(c.n_list); }

    template <class T>
    static void run(Work<T>& w) {
        auto* motions = w.template take_as<Motion<T>>(w.call.n_list);
        const Motion<T> m = follow<T>(w, w.in[0], w.in[1], nullptr, motions);
        const Placement<T> f = frame_on(w, m);
        const Spatial<T> v_frame = velocity_at(m, f.p - m.at.p);
        const bool at_world = w.call.mode == World;
        clear_if_shared(w, w.out[0]);
        for (int k = 0; k < w.call.n_list; ++k) {
            const Motion<T>& b = motions[k];
            const Body& body = w.model.bodies[w.call.list[k]];
            const Vec3<T> r = at_world ? b.at.p : b.at.p - f.p;
            const Vec3<T> r_dot = at_world ? b.v.lin : b.v.lin - v_frame.lin;
            Jacobian::for_columns<T>(body, b.at.R, r, [&](int dof, const Spatial<T>& s) {
                put_column(w, w.out[0], body.iv + dof, derivative(w, s, b, r, r_dot, f, v_frame));
            });
        }
    }

    // A column is (r x s, s) for a turning axis s, (s, 0) for a sliding one; s is carried round by the body.
    template <class T>
    static Spatial<T> derivative(const Work<T>& w, const Spatial<T>& s, const Motion<T>& b, const Vec3<T>& r,
                                 const Vec3<T>& r_dot, const Placement<T>& f, const Spatial<T>& v_frame) {
        const Vec3<T> slide = s.lin - cross(r, s.ang);
        const Vec3<T> ang = cross(b.v.ang, s.ang);
        Spatial<T> d = {cross(b.v.ang, slide) + cross(r_dot, s.ang) + cross(r, ang), ang};
        if (w.call.mode == Local) {
            d.lin -= cross(v_frame.ang, s.lin);
            d.ang -= cross(v_frame.ang, s.ang);
            d = {tmul(f.R, d.lin), tmul(f.R, d.ang)};
        }
        return d;
    }
};

void poses(const Call& c, long begin, long end, Fault& f) { run<Poses>(c, begin, end, f); }
void jacobian(const Call& c, long begin, long end, Fault& f) { run<Jacobian>(c, begin, end, f); }
void jacobian_dot(const Call& c, long begin, long end, Fault& f) { run<JacobianDot>(c, begin, end, f); }
void velocity(const Call& c, long begin, long end, Fault& f) { run<Velocity>(c, begin, end, f); }
void acceleration(const Call& c, long begin, long end, Fault& f) { run<Acceleration>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
