// The CoM at a position: e = target - com, in world axes.
#pragma once

#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"

namespace kinodyn::KINODYN_TARGET {

struct ComFields : TaskFields {
    static constexpr auto layout() { return named("com", task_parts(3, 3, 3)); }
};

class ComTask {
  public:
    using Fields = ComFields;
    static constexpr int rows = 3, distances = 3;

    ComTask(const RobotState& state, const TaskEntry&, const ComFields& fields) : state_(state), fields_(fields) {}

    void error(double* e) const { write(vec(fields_.target) - state_.com, e); }

    template <class Put>
    void columns(Put&& put) const {
        state_.for_com_columns([&](int iv, const V& d) {
            double column[3];
            write(d, column);
            put(iv, column);
        });
    }

    void motion(double* rate, double* bias) const {
        const double k = state_.model.inverse_mass;
        write(vec(fields_.velocity) - k * state_.momentum.lin, rate);
        write(vec(fields_.acceleration) - k * state_.momentum_rate.lin, bias);
    }

  private:
    const RobotState& state_;
    const ComFields& fields_;
};

}  // namespace kinodyn::KINODYN_TARGET
