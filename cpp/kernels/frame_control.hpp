// What the kernel `frame_control` takes and returns.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

struct FrameControlSettings {
    double min_eigenvalue;    // of the weighted J M^-1 J^T or J J^T; smaller ones are damped
    std::int32_t directions;  // bit k: direction k of x y z rx ry rz is controlled
    std::int32_t by_inertia;  // 1: inertia-weighted pseudo-inverse; 0: unweighted
    std::int32_t free_base;   // 1: the first six degrees of freedom have no motor and no contact
    int rows() const { return __builtin_popcount(static_cast<unsigned>(directions)); }

    static constexpr auto layout() {
        using S = FrameControlSettings;
        return named("frame_control_settings", field("min_eigenvalue", &S::min_eigenvalue),
                     field("directions", &S::directions), field("by_inertia", &S::by_inertia),
                     field("free_base", &S::free_base));
    }
};

struct FrameControlSizes {
    std::int32_t rows, motors;

    static constexpr auto layout() {
        return named("frame_control_sizes", field("rows", &FrameControlSizes::rows),
                     field("motors", &FrameControlSizes::motors));
    }
};

// Gains of the controlled directions.
struct FrameGains {
    const double *stiffness, *damping, *scale;

    using Sizes = FrameControlSizes;
    static constexpr auto layout() {
        return named("frame_gains", array("stiffness", &FrameGains::stiffness, &Sizes::rows),
                     array("damping", &FrameGains::damping, &Sizes::rows),
                     array("scale", &FrameGains::scale, &Sizes::rows));
    }
};

// Gains and limits of the joints with motors.
struct JointGains {
    const double *stiffness, *damping, *torque_limit;

    using Sizes = FrameControlSizes;
    static constexpr auto layout() {
        return named("joint_gains", array("stiffness", &JointGains::stiffness, &Sizes::motors),
                     array("damping", &JointGains::damping, &Sizes::motors),
                     array("torque_limit", &JointGains::torque_limit, &Sizes::motors));
    }
};

namespace frame_control_input {
enum { q, v, mass_matrix, bias, target, rate, acceleration, wrench, gains, posture, joint_gains };
}
namespace frame_control_output {
enum { desired, tau, error, error_rate, damped, lyapunov, lyapunov_rate };
}

}  // namespace kinodyn
