// An axis a of a frame that points at a position: e is the rotation vector that turns a towards the direction s of the
// target, in the axes of the frame: its two components normal to a. Rotation about the axis is free.
//
// With c = a . s and y the components of a x s, e = k(c) y where k = angle / sin(angle): the logarithm on the sphere.
#pragma once

#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"

namespace kinodyn::KINODYN_TARGET {

struct GazeFields : TaskFields {
    const double* axis;  // of unit length, in the frame

    static constexpr auto layout() {
        return named("gaze", std::tuple_cat(task_parts(2, 3, 3), std::make_tuple(array("axis", &GazeFields::axis, 3))));
    }
};

class GazeTask {
  public:
    using Fields = GazeFields;
    static constexpr int rows = 2, distances = 0;

    GazeTask(const RobotState& state, const TaskEntry& entry, const GazeFields& fields)
        : state_(state), entry_(entry), fields_(fields), frame_(state.frames.place(entry.frame, nullptr)) {
        target_ = vec(fields.target) - state.world.origin;
        const V sight = tmul(frame_.R, target_ - frame_.p);
        distance_ = __builtin_sqrt(dot(sight, sight));
        a_ = vec(fields.axis);
        b_ = across(a_), c_ = cross(a_, b_);
        if (!visible()) return;
        s_ = (1 / distance_) * sight;
        y_ = across_axis(s_);
        cosine_ = dot(a_, s_), sine_ = __builtin_sqrt(y_.b * y_.b + y_.c * y_.c), angle_ = atan2(sine_, cosine_);
        expand();
    }

    void error(double* e) const {
        if (!visible()) {
            e[0] = e[1] = 0;
        } else if (opposite()) {  // all rotations are equally short: about b
            e[0] = sine_ > 1e-9 ? angle_ * y_.b / sine_ : angle_;
            e[1] = sine_ > 1e-9 ? angle_ * y_.c / sine_ : 0;
        } else {
            e[0] = k_ * y_.b, e[1] = k_ * y_.c;
        }
    }

    template <class Put>
    void columns(Put&& put) const {
        if (!visible()) return;
        state_.frames.for_columns(entry_.frame, -1, target_, [&](int iv, const Spatial<double>& s) {
            const Pair de = rate_of(rate_of_direction(-tmul(frame_.R, s.lin)));
            const double column[2] = {-de.b, -de.c};
            put(iv, column);
        });
    }

    void motion(double* rate, double* bias) const {
        rate[0] = rate[1] = bias[0] = bias[1] = 0;
        if (!visible()) return;
        // the target as seen from the frame
        Spatial<double> velocity, drift;
        state_.relative_motion(-1, entry_.frame, target_, velocity, drift);
        const V spin = -velocity.ang, v = vec(fields_.velocity);
        const V du = tmul(frame_.R, velocity.lin + v);
        const V ddu = tmul(frame_.R, drift.lin + vec(fields_.acceleration) - 2 * cross(spin, v));
        const V ds = rate_of_direction(du);
        const V dds = rate_of_direction(ddu) - (2 * dot(s_, du) / distance_) * ds - dot(ds, ds) * s_;
        const Pair de = rate_of(ds);
        rate[0] = de.b, rate[1] = de.c;
        if (opposite()) return;
        const Pair dy = across_axis(ds), ddy = across_axis(dds);
        const double dc = dot(a_, ds), dk = dk_ * dc, ddk = ddk_ * dc * dc + dk_ * dot(a_, dds);
        bias[0] = ddk * y_.b + 2 * dk * dy.b + k_ * ddy.b;
        bias[1] = ddk * y_.c + 2 * dk * dy.c + k_ * ddy.c;
    }

  private:
    struct Pair {
        double b, c;
    };
    static constexpr double nearest = 1e-9;  // m; at smaller distances the direction is undefined
    static constexpr double smallest_sine = 0.03;

    bool visible() const { return distance_ >= nearest; }
    // Within two degrees of the opposite direction, where the logarithm is singular. Normal to the rotation e changes
    // at most as fast as at the edge of this region, and its curvature is neglected.
    bool opposite() const { return cosine_ < 0 && sine_ < smallest_sine; }

    // Components of a x s normal to the axis.
    Pair across_axis(const V& s) const { return {-dot(c_, s), dot(b_, s)}; }
    V rate_of_direction(const V& du) const { return (1 / distance_) * (du - dot(s_, du) * s_); }

    Pair rate_of(const V& ds) const {
        const Pair dy = across_axis(ds);
        if (!opposite()) {
            const double dk = dk_ * dot(a_, ds);
            return {dk * y_.b + k_ * dy.b, dk * y_.c + k_ * dy.c};
        }
        const Pair r = sine_ > 1e-9 ? Pair{y_.b / sine_, y_.c / sine_} : Pair{1, 0};
        const double along = r.b * dy.b + r.c * dy.c, k = angle_ / smallest_sine;
        const double turn = cosine_ * along - sine_ * dot(a_, ds) - k * along;
        return {turn * r.b + k * dy.b, turn * r.c + k * dy.c};
    }

    // k and its derivatives by c: in closed form, or as the sum of n! / (2 n + 1)!! (1 - c)^n.
    void expand() {
        const double x = 1 - cosine_;
        if (x > 0.1) {
            const double square = sine_ * sine_;
            k_ = angle_ / sine_, dk_ = (cosine_ * k_ - 1) / square, ddk_ = (k_ + 3 * cosine_ * dk_) / square;
            return;
        }
        k_ = dk_ = ddk_ = 0;
        constexpr int terms = 16;
        double factor[terms];
        factor[0] = 1;
        for (int n = 1; n < terms; ++n) factor[n] = factor[n - 1] * n / (2 * n + 1);
        for (int n = terms - 1; n >= 0; --n) {  // Horner
            k_ = k_ * x + factor[n];
            if (n >= 1) dk_ = dk_ * x - n * factor[n];
            if (n >= 2) ddk_ = ddk_ * x + n * (n - 1) * factor[n];
        }
    }

    // A unit vector at a right angle to a unit vector.
    static V across(const V& a) {
        const V u = cross(a, fabs(a.x) < 0.6 ? V{1, 0, 0} : V{0, 1, 0});
        return (1 / __builtin_sqrt(dot(u, u))) * u;
    }

    const RobotState& state_;
    const TaskEntry& entry_;
    const GazeFields& fields_;
    Placement<double> frame_;
    V target_, a_, b_, c_, s_;
    Pair y_;
    double distance_, cosine_ = 1, sine_ = 0, angle_ = 0, k_ = 1, dk_ = 0, ddk_ = 0;
};

}  // namespace kinodyn::KINODYN_TARGET
