// The compiled robot: a tree of moving bodies in flat arrays, parents before children. Constant once built.
#pragma once

#include <cstdint>
#include <vector>

#include "core/layout.hpp"

namespace kinodyn {

// RevoluteX, Y and Z turn about a coordinate axis of a frame that is parallel to the parent's at angle zero, so that
// most of the rotation matrix is zeros and ones. RevoluteAny turns about z of an arbitrarily placed frame.
enum class Kind : std::int32_t { RevoluteX, RevoluteY, RevoluteZ, RevoluteAny, Prismatic, Ball, Free };
constexpr auto codes_of(Kind) {
    return codes("joint_kind", code("revolute_x", Kind::RevoluteX), code("revolute_y", Kind::RevoluteY),
                 code("revolute_z", Kind::RevoluteZ), code("revolute_any", Kind::RevoluteAny),
                 code("prismatic", Kind::Prismatic), code("ball", Kind::Ball), code("free", Kind::Free));
}

constexpr int dofs(Kind kind) { return kind == Kind::Free ? 6 : kind == Kind::Ball ? 3 : 1; }
constexpr int coordinates(Kind kind) { return kind == Kind::Free ? 7 : kind == Kind::Ball ? 4 : 1; }

// One moving body and the joint that carries it, as Python describes it. The joint's position is scale * q[iq] +
// offset, its rate scale * v[iv]: this serves negative axes and mimic joints, which share iq and iv with the joint they
// follow.
template <class Real>
struct BodyConstants {
    Kind kind;
    std::int32_t parent;  // -1 is the world
    std::int32_t iq, iv;
    Real scale, offset;
    Real R[9];     // parent to body at position zero, row major; identity for RevoluteX, Y, Z
    Real p[3];     // origin of the body in the parent
    Real axis[3];  // Prismatic: direction in the body frame
    Real mass;
    Real h[3];       // first moment of mass in the body frame: mass * com
    Real I[6];       // inertia about the body's origin: xx xy yy xz yz zz
    Real R_link[9];  // axes of the link in the description, in body axes: v_link = R_link^T v_body

    static constexpr auto layout() {
        using B = BodyConstants;
        return named("body", field("kind", &B::kind), field("parent", &B::parent), field("iq", &B::iq),
                     field("iv", &B::iv), field("scale", &B::scale), field("offset", &B::offset),
                     field<3, 3>("R", &B::R), field("p", &B::p), field("axis", &B::axis), field("mass", &B::mass),
                     field("h", &B::h), field("I", &B::I), field<3, 3>("R_link", &B::R_link));
    }
};
using BodyRecord = BodyConstants<double>;

struct BodyDerived {
    bool aligned;  // R is the identity
    int column;    // first of its columns: one per degree of freedom, those of mimic joints included
};

// What follows from the record stands first, next to kind, parent, iq and iv, in one cache line.
template <class Real>
struct BodyOf : BodyDerived, BodyConstants<Real> {};
using Body = BodyOf<double>;

// A named frame, fixed in a body, as Python describes it.
template <class Real>
struct FrameConstants {
    Real R[9], p[3];
    std::int32_t body;  // -1: fixed in the world

    static constexpr auto layout() {
        using F = FrameConstants;
        return named("frame", field<3, 3>("R", &F::R), field("p", &F::p), field("body", &F::body));
    }
};
using FrameRecord = FrameConstants<double>;

template <class Real>
struct FixedFrameOf : FrameConstants<Real> {
    bool aligned;  // R is the identity
};
using FixedFrame = FixedFrameOf<double>;

// The frame in which twists, Jacobians and accelerations are expressed: axes of the world at the frame's origin, axes
// of the frame at its origin, or axes of the world at the world's origin.
enum class Reference : std::int32_t { LocalWorldAligned, Local, World };

template <class Real>
struct ModelOf {
    int nq = 0, nv = 0, ncolumns = 0;
    bool mimic = false;
    Real gravity[3] = {0, 0, Real(-9.81)};
    Real total_mass = 0;    // of all moving bodies
    Real inverse_mass = 0;  // 0 without mass: there is no CoM then, and functions that need it raise
    std::vector<BodyOf<Real>> bodies;
    std::vector<FixedFrameOf<Real>> frames;
    std::vector<Real> armature, damping;  // by v index, mimic followers added in
    std::vector<Real> dof_scale;          // by v index: upper bound of its subtree's inertia, fully stretched out
    std::vector<int> quaternions;         // q index of each unit quaternion
    std::vector<int> column_iv;           // column -> v index
    std::vector<int> column_body;
    std::vector<int> column_parent;  // column -> the one before it on the path from the root, -1
    std::vector<int> dof_parent;     // v index -> v index towards the root, -1; i - 1 throughout if mimic
    std::vector<int> dof_end;        // v index -> one past the last of its subtree, which is contiguous
};
using Model = ModelOf<double>;

}  // namespace kinodyn
