// The CoM within half-spaces normal . com <= offset: e is the remaining margin of each.
#pragma once

#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"

namespace kinodyn::KINODYN_TARGET {

struct ComLimitFields : TaskFields {
    const double *normals, *offsets;

    static constexpr auto layout() {
        return named("com_limit",
                     std::tuple_cat(task_parts(0, 0, 0),
                                    std::make_tuple(array("normals", &ComLimitFields::normals, &Sizes::rows, 3),
                                                    array("offsets", &ComLimitFields::offsets, &Sizes::rows))));
    }
};

class ComLimit {
  public:
    using Fields = ComLimitFields;
    static constexpr int rows = 0, distances = -1;

    ComLimit(const RobotState& state, const TaskEntry& entry, const ComLimitFields& fields)
        : state_(state), fields_(fields), rows_(entry.rows) {}

    void error(double* e) const {
        for (int k = 0; k < rows_; ++k) e[k] = fields_.offsets[k] - dot(normal(k), state_.com);
    }

    // One column: how a velocity of the CoM reduces the margins.
    struct Column {
        const ComLimit& limit;
        V velocity;
        double operator[](int k) const { return dot(limit.normal(k), velocity); }
    };
    template <class Put>
    void columns(Put&& put) const {
        state_.for_com_columns([&](int iv, const V& velocity) { put(iv, Column{*this, velocity}); });
    }

    void motion(double* rate, double* bias) const {
        const double inverse_mass = state_.model.inverse_mass;
        for (int k = 0; k < rows_; ++k) {
            rate[k] = -inverse_mass * dot(normal(k), state_.momentum.lin);
            bias[k] = -inverse_mass * dot(normal(k), state_.momentum_rate.lin);
        }
    }

  private:
    V normal(int k) const { return vec(fields_.normals + 3 * k); }

    const RobotState& state_;
    const ComLimitFields& fields_;
    int rows_;
};

}  // namespace kinodyn::KINODYN_TARGET
