// Inputs and outputs of the kernels for constraints and soft contacts.
//
// A constraint acts between a frame and another frame or the world. With a pose fixed in each, it constrains some of
// the six directions of the first pose relative to the second, in the axes of the second. Forces act on the first frame
// there, in those axes, and the opposite ones on the other.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

struct ConstraintRecord {
    std::int32_t frame, other;  // other = -1: the world
    std::int32_t directions;    // bit k: direction k of x y z rx ry rz is constrained
    std::int32_t has_target;    // 0: it is fixed at its current pose, so that it has no error
    bool constrains(int direction) const { return directions >> direction & 1; }
    int rows() const { return __builtin_popcount(static_cast<unsigned>(directions)); }

    static constexpr auto layout() {
        using C = ConstraintRecord;
        return named("constraint", field("frame", &C::frame), field("other", &C::other),
                     field("directions", &C::directions), field("has_target", &C::has_target));
    }
};

// The poses that a constraint makes coincide, one in each frame.
template <class T>
struct ConstraintPoses {
    T p_frame[3], R_frame[9];
    T p_other[3], R_other[9];

    static constexpr auto layout() {
        using P = ConstraintPoses<T>;
        return named("constraint_poses", field("p_frame", &P::p_frame), field<3, 3>("R_frame", &P::R_frame),
                     field("p_other", &P::p_other), field<3, 3>("R_other", &P::R_other));
    }
};

// The constraints of a call. Their poses are inputs, one for each, from `first_input` on.
struct ConstraintList {
    const ConstraintRecord* records;
    int count, rows, first_input;
};

// A point of the robot that may touch the ground: which of the frames of a soft contact carries it.
struct SoftPointRecord {
    std::int32_t owner;

    static constexpr auto layout() { return named("soft_point", field("owner", &SoftPointRecord::owner)); }
};

struct SoftContactSettings {
    const SoftPointRecord* points;
    int n_points, n_frames;
    bool shared_normal;  // one normal (3) for all points
};

namespace soft_contact_input {
enum { position, velocity, arm, height, normal, anchor, stiffness, damping, friction };
}

}  // namespace kinodyn
