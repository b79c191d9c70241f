// What the kernel `cartesian_impedance` takes and returns.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

struct ImpedanceSettings {
    double min_mobility;      // of the weighted J M^-1 J^T; smaller eigenvalues are damped
    double damping_ratio;     // of each mode of the frame's inertia on the springs; 0 adds no damping
    double null_damping;      // of motion in the null space [1/s]
    std::int32_t directions;  // bit k: direction k of x y z rx ry rz is controlled
    std::int32_t free_base;   // 1: the first six degrees of freedom have no motor and are taken to be fixed
    int rows() const { return __builtin_popcount(static_cast<unsigned>(directions)); }

    static constexpr auto layout() {
        using S = ImpedanceSettings;
        return named("impedance_settings", field("min_mobility", &S::min_mobility),
                     field("damping_ratio", &S::damping_ratio), field("null_damping", &S::null_damping),
                     field("directions", &S::directions), field("free_base", &S::free_base));
    }
};

namespace impedance_input {
enum {
    q,
    v,
    mass_matrix,
    target,             // (4, 4)
    rate,               // (6) of the target
    stiffness,          // (k, k) in world axes
    damping,            // (k, k) in world axes, besides that of damping_ratio
    weights,            // (k)
    posture,            // (nq)
    posture_stiffness,  // (n) [1/s^2]
};
}
namespace impedance_output {
enum {
    tau,         // (nv)
    error,       // (k)
    error_rate,  // (k)
    wrench,      // (k) of springs and dampers
    damped,
    energy,  // kinetic and elastic
    loss,    // power of dampers and of null space damping
    Jbar,    // (n, k)
};
}

}  // namespace kinodyn
