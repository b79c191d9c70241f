// Joint bounds for both solvers: the intersection of all limits, by coordinate.
#pragma once

#include "core/layout.hpp"

namespace kinodyn::KINODYN_TARGET {

constexpr double no_limit = 1e30;   // given for a quantity without a limit: arguments are finite
constexpr double unlimited = 1e29;  // values from here on count as no limit

struct JointBoundsSizes {
    std::int32_t nq, nv;

    static constexpr auto layout() {
        return named("joint_bounds_sizes", field("nq", &JointBoundsSizes::nq), field("nv", &JointBoundsSizes::nv));
    }
};

// The limit that bounds the acceleration of a joint.
enum class JointLimit : int { Acceleration, Velocity, Position };
constexpr auto codes_of(JointLimit) {
    using L = JointLimit;
    return codes("joint_limit", code("acceleration", L::Acceleration), code("velocity", L::Velocity),
                 code("position", L::Position));
}

struct JointBounds {
    const double *lower, *upper;                      // of positions
    const double *velocity, *acceleration, *braking;  // magnitudes; braking: deceleration that is always available
    const double* effort;                             // magnitude of the torque

    using Sizes = JointBoundsSizes;
    static constexpr auto layout() {
        using B = JointBounds;
        constexpr auto nq = &Sizes::nq, nv = &Sizes::nv;
        return named("joint_bounds", array("lower", &B::lower, nq), array("upper", &B::upper, nq),
                     array("velocity", &B::velocity, nv), array("acceleration", &B::acceleration, nv),
                     array("braking", &B::braking, nv), array("effort", &B::effort, nv));
    }
};

// An interval of steps or of accelerations.
struct Bounds {
    double lower, upper;

    // Narrows to [low, high], clipped to the current interval, so that the result is never empty.
    void narrow(double low, double high) {
        const double a = lower, b = upper;
        lower = low < a ? a : low > b ? b : low;
        upper = high > b ? b : high < a ? a : high;
    }
};

}  // namespace kinodyn::KINODYN_TARGET
