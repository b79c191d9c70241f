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
};

// Gains of the controlled directions.
struct FrameGains {
    const double *stiffness, *damping, *scale;
};
// Gains and limits of the joints with motors.
struct JointGains {
    const double *stiffness, *damping, *torque_limit;
};
struct FrameControlSizes {
    std::int32_t rows, motors;
};

template <>
struct Layout<FrameControlSettings> {
    static constexpr const char* name = "frame_control_settings";
    static constexpr auto fields() {
        using S = FrameControlSettings;
        return std::make_tuple(field("min_eigenvalue", &S::min_eigenvalue), field("directions", &S::directions),
                               field("by_inertia", &S::by_inertia), field("free_base", &S::free_base));
    }
};
template <>
struct Layout<FrameControlSizes> {
    static constexpr const char* name = "frame_control_sizes";
    static constexpr auto fields() {
        return std::make_tuple(field("rows", &FrameControlSizes::rows), field("motors", &FrameControlSizes::motors));
    }
};
template <>
struct BlockLayout<FrameGains> {
    static constexpr const char* name = "frame_gains";
    using Sizes = FrameControlSizes;
    static constexpr auto parts() {
        return std::make_tuple(array("stiffness", &FrameGains::stiffness, &Sizes::rows),
                               array("damping", &FrameGains::damping, &Sizes::rows),
                               array("scale", &FrameGains::scale, &Sizes::rows));
    }
};
template <>
struct BlockLayout<JointGains> {
    static constexpr const char* name = "joint_gains";
    using Sizes = FrameControlSizes;
    static constexpr auto parts() {
        return std::make_tuple(array("stiffness", &JointGains::stiffness, &Sizes::motors),
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
