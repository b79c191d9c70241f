// Poses, Jacobians, velocities and accelerations of frames.
//
// call.list: the bodies to visit, parents first (for one frame: the way from the root to it);
// call.more: the frames; call.mode: the reference (Jacobians, velocities) and, for accelerations, + 4 if classical.
#include "kernels/algorithms.hpp"
#include "kernels/motion.hpp"

namespace kinodyn::KINODYN_TARGET {

enum Reference { Aligned = 0, Local = 1, World = 2 };

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
};

template <class T>
inline void put(T* out, const Spatial<T>& s) {
    out[0] = s.lin.x, out[1] = s.lin.y, out[2] = s.lin.z, out[3] = s.ang.x, out[4] = s.ang.y, out[5] = s.ang.z;
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
            for_columns<T>(body, b.at.R, r, [&](int dof, const Spatial<T>& s) {
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
