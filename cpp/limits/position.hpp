// Joint positions within limits, with room to stop before them.
#pragma once

#include "limits/joint_bounds.hpp"
#include "limits/viable.hpp"

namespace kinodyn::KINODYN_TARGET {

// The longest step of duration dt towards a limit at distance `room` that still allows stopping before it, braking by
// `braking` in each step: speeds v with (v + braking dt / 2)^2 <= 2 braking room, or that end in one step.
inline double longest_step(double room, double braking, double dt) {
    if (!(braking < unlimited) || room <= braking * dt * dt) return room;
    const double speed = __builtin_sqrt(2 * braking * room) - 0.5 * braking * dt;
    return dt * (speed > braking * dt ? speed : braking * dt);
}

inline void narrow_steps_by_position(Bounds& steps, double q, double lower, double upper, double braking, double dt) {
    const double below = q - lower, above = upper - q;
    steps.narrow(below < unlimited ? -longest_step(below, braking, dt) : -HUGE_VAL,
                 above < unlimited ? longest_step(above, braking, dt) : HUGE_VAL);
}

inline void narrow_by_position(Bounds& accelerations, double q, double v, double lower, double upper,
                               const Braking& braking, double dt) {
    const double below = q - lower, above = upper - q;
    accelerations.narrow(below < unlimited ? -viable(below, -v, braking, dt) : -HUGE_VAL,
                         above < unlimited ? viable(above, v, braking, dt) : HUGE_VAL);
}

}  // namespace kinodyn::KINODYN_TARGET
