// Bounds of a joint's acceleration under which its limits can be kept for all time.
//
// It is not enough to be within the limits after the next step: from there one must be able to stop before them,
// braking at a finite rate (A. Del Prete, "Joint position and velocity bounds in discrete-time acceleration/torque
// control of robot arms with limited acceleration", 2018). The bounds hold whether the acceleration acts throughout the
// step or the velocity changes at its beginning, as in semi-implicit integration.
#pragma once

#include <math.h>

namespace kinodyn::KINODYN_TARGET {

struct Bounds {
    double lower, upper;

    // Narrows to [low, high]; what of it lies outside is moved to the nearer end, so that something is left always.
    void narrow(double low, double high) {
        const double a = lower, b = upper;
        lower = low < a ? a : low > b ? b : low;
        upper = high > b ? b : high < a ? a : high;
    }
};

// The largest acceleration towards a limit at distance `room`, for a joint that moves towards it at `speed` and can
// brake at `braking`. After the step, position and way to stop, q + speed^2 / (2 braking), must not pass the limit.
inline double viable(double room, double speed, double braking, double dt) {
    if (room <= 0) {
        // beyond: stop, and come back critically damped
        constexpr double rate = 20;  // rad/s
        const double back = rate * rate * room - 2 * rate * speed, stop = -speed / dt;
        const double wish = speed > 0 && stop < back ? stop : back;
        return wish > -braking ? wish : -braking;
    }
    // with q' = q + dt v + share dt^2 a: share 1/2 while braking, 1 while gaining speed is the farther of both ways
    const auto root = [&](double share) {
        const double b = speed * dt + share * braking * dt * dt;
        const double c = speed * speed - 2 * braking * (room - speed * dt);
        const double square = b * b - dt * dt * c;
        return square > 0 ? (__builtin_sqrt(square) - b) / (dt * dt) : -HUGE_VAL;
    };
    double a = root(1);
    if (a < 0) {
        a = root(0.5);
        if (a > 0) a = 0;
    }
    // if the joint turns back within the step, only the way up to there counts
    if (a * dt < -speed) {
        const double turn = -0.5 * speed * speed / room;
        a = speed > 0 && turn < -speed / dt ? turn : -speed / dt;
    }
    return a > -braking ? a : -braking;
}

}  // namespace kinodyn::KINODYN_TARGET
