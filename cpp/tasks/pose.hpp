// A frame at a pose: e = log(T_frame^-1 T_target), the twist in the frame's axes that leads to the target.
//
// The frame's twist u, in its own axes, and the target's twist t, at the frame's origin and in its axes, change e by
// J de/dt = t - u with the left Jacobian J of SE(3) at e.
#pragma once

#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"
#include "tasks/se3_log.hpp"

namespace kinodyn::KINODYN_TARGET {

struct PoseFields : TaskFields {
    const double* point;  // of the frame, to be brought to the target's origin

    static constexpr auto layout() {
        return named("pose",
                     std::tuple_cat(task_parts(6, 6, 4, 4), std::make_tuple(array("point", &PoseFields::point, 3))));
    }
};

class PoseTask {
  public:
    using Fields = PoseFields;
    static constexpr int rows = 6, distances = 3;

    PoseTask(const RobotState& state, const TaskEntry& entry, const PoseFields& fields)
        : state_(state),
          entry_(entry),
          fields_(fields),
          frame_(state.frames.place(entry.frame, fields.point)),
          reference_(state.frames.place(entry.reference, nullptr)),
          error_(error_of(fields.target)),
          jacobian_(error_) {}

    void error(double* e) const { write(error_, e); }

    template <class Put>
    void columns(Put&& put) const {
        state_.frames.for_relative_columns(entry_.frame, entry_.reference, frame_.p,
                                           [&](int iv, const Spatial<double>& s) {
                                               double column[6];
                                               write(jacobian_.inverse(own(s)), column);
                                               put(iv, column);
                                           });
    }

    void motion(double* rate, double* bias) const {
        Spatial<double> velocity, drift;
        state_.relative_motion(entry_.frame, entry_.reference, frame_.p, velocity, drift);
        // of the target, in world axes as seen from the reference; at the frame's origin
        const Spatial<double> v = given(fields_.velocity), a = given(fields_.acceleration);
        const V arm = frame_.p - target_p_;
        const Spatial<double> t = {v.lin + cross(v.ang, arm), v.ang};
        Spatial<double> change = {a.lin + cross(a.ang, arm) + cross(v.ang, velocity.lin - v.lin), a.ang};
        change = change - drift;
        // the axes of the frame rotate
        change.lin -= cross(velocity.ang, t.lin - velocity.lin);
        change.ang -= cross(velocity.ang, t.ang);
        const Spatial<double> de = jacobian_.inverse(own(t - velocity));
        write(de, rate);
        write(jacobian_.inverse(own(change) - jacobian_.rate_times(de)), bias);
    }

  private:
    Spatial<double> error_of(const double* t) {
        target_p_ = reference_.p + reference_.R * V{t[3], t[7], t[11]};
        const Mat3<double> R = reference_.R * Mat3<double>{vec(t), vec(t + 4), vec(t + 8)};
        const Mat3<double> back = {frame_.R.column(0), frame_.R.column(1), frame_.R.column(2)};
        const V turn = logarithm(quaternion_of(back * R));
        return {inverse_left_jacobian_times(back * (target_p_ - frame_.p), turn), turn};
    }
    Spatial<double> own(const Spatial<double>& s) const { return {tmul(frame_.R, s.lin), tmul(frame_.R, s.ang)}; }
    Spatial<double> given(const double* x) const { return {reference_.R * vec(x), reference_.R * vec(x + 3)}; }

    const RobotState& state_;
    const TaskEntry& entry_;
    const PoseFields& fields_;
    Placement<double> frame_, reference_;
    V target_p_;
    Spatial<double> error_;
    LeftJacobian jacobian_;
};

}  // namespace kinodyn::KINODYN_TARGET
