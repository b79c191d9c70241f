// Propagation of motion along the path to a frame: over call.bodies, parents first, to the frames in call.frames.
#pragma once

#include "kernels/row_pose.hpp"

namespace kinodyn::KINODYN_TARGET {

// Sine and cosine of the joints of the bodies to visit. Takes 2 words of memory for each.
template <class T>
inline SinCos<T>* path_angles(Work<T>& w, const T* q) {
    auto* angles = w.template take_as<SinCos<T>>(w.call.bodies.size);
    joint_angles(q, w.call.bodies.size, [&](int k) -> const auto& { return w.model.bodies[w.call.bodies[k]]; }, angles);
    return angles;
}

// Motion of a body: velocity of its origin, angular velocity, and their true time derivatives, in world axes.
template <class T>
struct Motion {
    Placement<T> at;
    Spatial<T> v, a;
};

template <class T>
inline Motion<T> at_rest() {
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

// Propagates the motion along call.bodies; qdd may be null. Returns the motion of the last body.
template <class T>
inline Motion<T> propagate(Work<T>& w, const T* q, const T* qd, const T* qdd, Motion<T>* motions) {
    const SinCos<T>* angles = path_angles(w, q);
    Motion<T> last = at_rest<T>();
    for (int k = 0; k < w.call.bodies.size; ++k) {
        const BodyFor<T>& body = w.model.bodies[w.call.bodies[k]];
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            T store[joint_words];
            const J joint = J::at(body, q, angles[k], store);
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
            // prismatic motion has a Coriolis term; the velocity of a rotating body turns with it
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

// Pose of the one frame in call.frames, which is fixed in the last body of the path.
template <class T>
inline Placement<T> frame_on(const Work<T>& w, const Motion<T>& m) {
    const FrameFor<T>& frame = w.model.frames[w.call.frames[0]];
    return {m.at.R * mat(frame.R), m.at.p + m.at.R * vec(frame.p)};
}

// Calls f(k, column) for each degree of freedom of a body at (R, p), p from the reference point.
template <class T, class F>
inline void for_columns(const BodyFor<T>& body, const Mat3<T>& R, const Vec3<T>& p, F&& f) {
    const T store[joint_words] = {};
    visit(body.kind, [&](auto kind) {
        using J = Joint<decltype(kind)::value, T>;
        const J joint = J::stored(body, store);
        for (int k = 0; k < J::n; ++k) f(k, joint.world_column(k, R, p));
    });
}

// Writes one column of a 6 x nv matrix; those of mimic joints add to the column of their leader.
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

// Poses of the bodies to visit, by body index.
template <class T, class Pose>
inline void place_list(Work<T>& w, const T* q, Pose* poses) {
    const SinCos<T>* angles = path_angles(w, q);
    for (int k = 0; k < w.call.bodies.size; ++k) {
        const BodyFor<T>& body = w.model.bodies[w.call.bodies[k]];
        place(body, parent_of(poses, body), q, angles[k], poses[w.call.bodies[k]]);
    }
}

}  // namespace kinodyn::KINODYN_TARGET
