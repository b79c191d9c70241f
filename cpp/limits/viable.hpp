// The largest acceleration towards a limit for which the limit remains satisfiable at all future times (viability).
//
// It is not enough to be within the limit after the next step: from there one must be able to stop before it, braking
// at a finite rate (A. Del Prete, "Joint position and velocity bounds in discrete-time acceleration/torque
// control of robot arms with limited acceleration", 2018). The bound holds whether the acceleration acts throughout the
// step or the velocity changes at its beginning, as in semi-implicit integration.
#pragma once

#include <math.h>

namespace kinodyn::KINODYN_TARGET {

// Available decelerations: one to plan with, and the maximum if that no longer suffices.
struct Braking {
    double planned, most;

    // The deceleration that stops a motion at `speed` within `room`, clamped between the two.
    double needed(double room, double speed, double dt) const {
        const double left = room - speed * dt;
        if (!(speed > 0 && speed * speed > 2 * planned * left)) return planned;
        return speed * speed < 2 * most * left ? 0.5 * speed * speed / left : most;
    }
};

// The largest acceleration towards a limit at distance `room`, for what moves towards it at `speed`: a joint, or the
// margin of any limit. After the step, the position and the distance to stop, q + speed^2 / (2 braking), must not pass
// the limit. If the planned braking is too late, it is as strong as the limit requires.
inline double viable(double room, double speed, const Braking& braking, double dt) {
    if (room <= 0) {
        // beyond the limit: stop, and return critically damped
        constexpr double rate = 20;  // rad/s
        const double back = rate * rate * room - 2 * rate * speed, stop = -speed / dt;
        const double desired = speed > 0 && stop < back ? stop : back;
        return desired > -braking.most ? desired : -braking.most;
    }
    // with q' = q + dt v + fraction dt^2 a: fraction 1/2 while braking, 1 while gaining speed gives the longer distance
    // of both
    const auto root = [&](double fraction) {
        const double b = speed * dt + fraction * braking.planned * dt * dt;
        const double c = speed * speed - 2 * braking.planned * (room - speed * dt);
        const double square = b * b - dt * dt * c;
        return square > 0 ? (__builtin_sqrt(square) - b) / (dt * dt) : -HUGE_VAL;
    };
    double a = root(1);
    if (a < 0) {
        a = root(0.5);
        if (a > 0) a = 0;
    }
    // if the joint reverses within the step, only the distance up to there counts
    if (a * dt < -speed) {
        const double turn = -0.5 * speed * speed / room;
        a = speed > 0 && turn < -speed / dt ? turn : -speed / dt;
    }
    const double strongest = braking.needed(room, speed, dt);
    return a > -strongest ? a : -strongest;
}

}  // namespace kinodyn::KINODYN_TARGET
