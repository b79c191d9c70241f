// Joint accelerations within limits.
#pragma once

#include <math.h>

#include "limits/joint_bounds.hpp"

namespace kinodyn::KINODYN_TARGET {

// Steps of length dt whose velocity differs by at most limit dt from v.
inline void narrow_steps_by_acceleration(Bounds& steps, double limit, double v, double dt) {
    if (limit < unlimited) steps.narrow((v - limit * dt) * dt, (v + limit * dt) * dt);
}

inline Bounds acceleration_bounds(double limit) {
    const double largest = limit < unlimited ? limit : HUGE_VAL;
    return {-largest, largest};
}

}  // namespace kinodyn::KINODYN_TARGET
