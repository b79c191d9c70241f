// Momentum about the CoM, linear first. The target is a velocity, not a position: e is the momentum error at
// rest, steps of length dt require J x = e dt, and the rate of e is the momentum error of the motion.
#pragma once

#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"

namespace kinodyn::KINODYN_TARGET {

struct MomentumFields : TaskFields {
    static constexpr auto layout() { return named("momentum", task_parts(6, 6, 6)); }
};

class MomentumTask {
  public:
    using Fields = MomentumFields;
    static constexpr int rows = 6, distances = 0;
    static constexpr bool of_motion = true;

    MomentumTask(const RobotState& state, const TaskEntry&, const MomentumFields& fields)
        : state_(state), fields_(fields), com_(state.com - state.world.origin) {}

    void error(double* e) const {
        for (int k = 0; k < 6; ++k) e[k] = fields_.target[k];
    }

    // Columns of the centroidal momentum matrix.
    template <class Put>
    void columns(Put&& put) const {
        const Model& model = state_.model;
        for (int c = 0; c < model.ncolumns; ++c) {
            double column[6];
            write(about(com_, state_.world.I[model.column_body[c]] * state_.world.S[c]), column);
            put(model.column_iv[c], column);
        }
    }

    // The velocity of the target is the rate of the momentum.
    void motion(double* rate, double* bias) const {
        for (int k = 0; k < 6; ++k) {
            rate[k] = fields_.target[k] - component(state_.momentum, k);
            bias[k] = fields_.velocity[k] - component(state_.momentum_rate, k);
        }
    }

  private:
    const RobotState& state_;
    const MomentumFields& fields_;
    V com_;
};

}  // namespace kinodyn::KINODYN_TARGET
