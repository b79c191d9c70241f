// Joint velocities within limits.
#pragma once

#include <math.h>

#include "limits/joint_bounds.hpp"

namespace kinodyn::KINODYN_TARGET {

// Steps of length dt.
inline Bounds velocity_steps(double limit, double dt) {
    const double longest = limit < unlimited ? limit * dt : HUGE_VAL;
    return {-longest, longest};
}

// Accelerations that keep the velocity after dt within the limit. Braking bounds the change only where the joint is too
// fast already.
inline void narrow_by_velocity(Bounds& accelerations, double limit, double v, double braking, double dt) {
    if (!(limit < unlimited)) return;
    const double low = (-limit - v) / dt, high = (limit - v) / dt;
    accelerations.narrow(low < braking ? low : braking, high > -braking ? high : -braking);
}

}  // namespace kinodyn::KINODYN_TARGET
