// A point of a frame at a position: e = target - p, in the axes of the world or of the reference frame.
#pragma once

#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"

namespace kinodyn::KINODYN_TARGET {

struct PointFields : TaskFields {
    const double* point;  // in the frame

    static constexpr auto layout() {
        return named("point",
                     std::tuple_cat(task_parts(3, 3, 3), std::make_tuple(array("point", &PointFields::point, 3))));
    }
};

class PointTask {
  public:
    using Fields = PointFields;
    static constexpr int rows = 3, distances = 3;

    PointTask(const RobotState& state, const TaskEntry& entry, const PointFields& fields)
        : state_(state),
          entry_(entry),
          fields_(fields),
          p_(state.frames.place(entry.frame, fields.point).p),
          reference_(state.frames.place(entry.reference, nullptr)) {}

    void error(double* e) const { write(vec(fields_.target) - tmul(reference_.R, p_ - reference_.p), e); }

    template <class Put>
    void columns(Put&& put) const {
        state_.frames.for_relative_columns(entry_.frame, entry_.reference, p_, [&](int iv, const Spatial<double>& s) {
            double column[3];
            write(tmul(reference_.R, s.lin), column);
            put(iv, column);
        });
    }

    void motion(double* rate, double* bias) const {
        Spatial<double> velocity, drift;
        state_.relative_motion(entry_.frame, entry_.reference, p_, velocity, drift);
        write(vec(fields_.velocity) - tmul(reference_.R, velocity.lin), rate);
        write(vec(fields_.acceleration) - tmul(reference_.R, drift.lin), bias);
    }

  private:
    const RobotState& state_;
    const TaskEntry& entry_;
    const PointFields& fields_;
    V p_;
    Placement<double> reference_;
};

}  // namespace kinodyn::KINODYN_TARGET
