// Poses of the bodies in the world.
#pragma once

#include "kernels/batch.hpp"
#include "kernels/float_pack.hpp"
#include "kernels/joints.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class T>
struct Placement {
    Mat3<T> R;
    Vec3<T> p;
};

template <class T>
inline Placement<T> world() {
    return {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, {0.0, 0.0, 0.0}};
}

// Pose of a body in the world from that of its parent (null: the world). Written in place: copies of twelve packs would
// cost as much as the products.
template <class T, class J>
inline void place(const J& joint, const Placement<T>* parent, Placement<T>& result) {
    if (parent) {
        result.R = joint.R.after(parent->R);
        result.p = parent->p + parent->R * joint.p();
    } else {
        const Mat3<RealOf<T>> identity = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        const auto p = joint.p();
        result.R = joint.R.after(identity);
        result.p = {T(p.x), T(p.y), T(p.z)};
    }
}

template <class T, class Pose>
inline void place(const BodyFor<T>& body, const Pose* parent, const T* q, const SinCos<T>& angle, Pose& result) {
    visit(body.kind, [&](auto kind) {
        T store[joint_words];
        place<T>(Joint<decltype(kind)::value, T>::at(body, q, angle, store), parent, result);
    });
}

template <class Pose, class Real>
inline const Pose* parent_of(const Pose* poses, const BodyOf<Real>& body) {
    return body.parent < 0 ? nullptr : poses + body.parent;
}

// Poses of all bodies and unit twists S of the degrees of freedom, in world axes about `origin`: the origin of the
// first body. Calls placed(i) after each body.
template <class T, class Placed>
inline void place_columns(const ModelFor<T>& model, const T* q, SinCos<T>* angles, Placement<T>* at, Spatial<T>* S,
                          Vec3<T>& origin, Placed&& placed) {
    joint_angles(model, q, angles);
    const int n = static_cast<int>(model.bodies.size());
    for (int i = 0; i < n; ++i) {
        const BodyFor<T>& body = model.bodies[i];
        visit(body.kind, [&](auto kind) {
            using J = Joint<decltype(kind)::value, T>;
            T store[joint_words];
            const J joint = J::at(body, q, angles[i], store);
            place<T>(joint, parent_of(at, body), at[i]);
            if (i == 0) origin = at[0].p;
            if (body.parent < 0) at[i].p -= origin;
            for (int k = 0; k < J::n; ++k) S[body.column + k] = joint.world_column(k, at[i].R, at[i].p);
        });
        placed(i);
    }
}

// Pose of a frame, given those of the bodies.
template <class T>
inline Placement<T> place_frame(const FrameFor<T>& frame, const Placement<T>* bodies) {
    if (frame.body < 0) {
        const Placement<T> w = world<T>();
        return {w.R * mat(frame.R), w.p + vec(frame.p)};
    }
    const Placement<T>& b = bodies[frame.body];
    const Vec3<T> p = b.p + b.R * vec(frame.p);
    if (frame.aligned) return {b.R, p};
    return {b.R * mat(frame.R), p};
}

// A pose as a 4 x 4 matrix, row by row.
template <class T>
inline void store_pose(T* out, const Placement<T>& f) {
    out[0] = f.R.x.x, out[1] = f.R.x.y, out[2] = f.R.x.z, out[3] = f.p.x;
    out[4] = f.R.y.x, out[5] = f.R.y.y, out[6] = f.R.y.z, out[7] = f.p.y;
    out[8] = f.R.z.x, out[9] = f.R.z.y, out[10] = f.R.z.z, out[11] = f.p.z;
    out[12] = out[13] = out[14] = 0.0, out[15] = 1.0;
}

// Poses of all bodies. Takes 2 words of memory for each.
template <class T>
[[gnu::noinline]] inline void place_all(Work<T>& w, const T* q, Placement<T>* placements) {
    const int n = static_cast<int>(w.model.bodies.size());
    auto* angles = w.template take_as<SinCos<T>>(n);
    joint_angles(w.model, q, angles);
    for (int i = 0; i < n; ++i) {
        const BodyFor<T>& body = w.model.bodies[i];
        place(body, parent_of(placements, body), q, angles[i], placements[i]);
    }
}
extern template void place_all(Work<double>&, const double*, Placement<double>*);  // compiled once, in world.cpp
extern template void place_all(Work<Pack>&, const Pack*, Placement<Pack>*);
extern template void place_all(Work<FloatPack>&, const FloatPack*, Placement<FloatPack>*);

}  // namespace kinodyn::KINODYN_TARGET
