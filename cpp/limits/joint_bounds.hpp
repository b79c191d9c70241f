// What joints can do, as both solvers take it: what single limits leave, by coordinate. 1e30 stands for no limit.
#pragma once

#include "core/layout.hpp"

namespace kinodyn {

namespace KINODYN_TARGET {

constexpr double unlimited = 1e29;  // limits from here on are none

struct JointBoundsSizes {
    std::int32_t nq, nv;
};

// Which limit bounds the acceleration of a joint, and how it is called.
enum class JointLimit : int { Acceleration, Velocity, Position };
constexpr const char* joint_limit_names[] = {"acceleration", "velocity", "position"};

struct JointBounds {
    const double *lower, *upper;                      // of positions
    const double *velocity, *acceleration, *braking;  // magnitudes; braking: deceleration that is always available
    const double* effort;                             // magnitude of the torque
};

// An interval of steps or of accelerations.
struct Bounds {
    double lower, upper;

    // Narrows to [low, high]; what of it lies outside is moved to the nearer end, so that something is left always.
    void narrow(double low, double high) {
        const double a = lower, b = upper;
        lower = low < a ? a : low > b ? b : low;
        upper = high > b ? b : high < a ? a : high;
    }
};

}  // namespace KINODYN_TARGET

template <>
struct Layout<KINODYN_TARGET::JointBoundsSizes> {
    using JointBoundsSizes = KINODYN_TARGET::JointBoundsSizes;
    static constexpr const char* name = "joint_bounds_sizes";
    static constexpr auto fields() {
        return std::make_tuple(field("nq", &JointBoundsSizes::nq), field("nv", &JointBoundsSizes::nv));
    }
};

template <>
struct BlockLayout<KINODYN_TARGET::JointBounds> {
    static constexpr const char* name = "joint_bounds";
    using Sizes = KINODYN_TARGET::JointBoundsSizes;
    static constexpr auto parts() {
        using B = KINODYN_TARGET::JointBounds;
        constexpr auto nq = &Sizes::nq, nv = &Sizes::nv;
        return std::make_tuple(array("lower", &B::lower, nq), array("upper", &B::upper, nq),
                               array("velocity", &B::velocity, nv), array("acceleration", &B::acceleration, nv),
                               array("braking", &B::braking, nv), array("effort", &B::effort, nv));
    }
};

}  // namespace kinodyn
