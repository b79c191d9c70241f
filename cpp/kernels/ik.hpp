// What the kernels `ik` and `ik_residual` take and return.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

enum class IkMethod : std::int32_t { LevenbergMarquardt, Transpose, Pseudoinverse, DampedLeastSquares, Newton };
constexpr auto codes_of(IkMethod) {
    using M = IkMethod;
    return codes("ik_method", code("levenberg_marquardt", M::LevenbergMarquardt), code("transpose", M::Transpose),
                 code("pseudoinverse", M::Pseudoinverse), code("damped_least_squares", M::DampedLeastSquares),
                 code("newton", M::Newton));
}

// How a solve of one state ended; output `ending`.
enum class IkEnding : std::int32_t { Converged, Stalled, OutOfIterations, Singular };
constexpr auto codes_of(IkEnding) {
    using E = IkEnding;
    return codes("ik_ending", code("converged", E::Converged), code("stalled", E::Stalled),
                 code("out_of_iterations", E::OutOfIterations), code("singular", E::Singular));
}

struct IkSettings {
    double position_tolerance;     // [m]
    double orientation_tolerance;  // [rad]
    double damping;       // of Levenberg-Marquardt, proportional to the cost; 0: adaptive, each step must improve
    double min_progress;  // smallest relative reduction of the cost that counts as progress
    IkMethod method;
    std::int32_t max_iterations;
    std::int32_t first_leads;  // 1: the states are several starts for one target, and the first is preferred

    static constexpr auto layout() {
        using S = IkSettings;
        return named("ik_settings", field("position_tolerance", &S::position_tolerance),
                     field("orientation_tolerance", &S::orientation_tolerance), field("damping", &S::damping),
                     field("min_progress", &S::min_progress), field("method", &S::method),
                     field("max_iterations", &S::max_iterations), field("first_leads", &S::first_leads));
    }
};

// Tolerances of the verification.
struct IkTolerances {
    double position;     // [m]
    double orientation;  // [rad]
    double limits;       // [rad or m] beyond the joint limits

    static constexpr auto layout() {
        return named("ik_tolerances", field("position", &IkTolerances::position),
                     field("orientation", &IkTolerances::orientation), field("limits", &IkTolerances::limits));
    }
};

// Inputs of both kernels; after them a target pose (16) for each frame, then a weight vector (6) for each frame.
namespace ik_input {
enum { q, lower, upper, first_target };
}
namespace ik_output {
enum { q, iterations, ending };
}
namespace ik_residual_output {
enum { error, success, cost, poses };
}

}  // namespace kinodyn
