// Rows computed in Python at this state, for user-defined tasks and limits: error, Jacobian and drift.
#pragma once

#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"

namespace kinodyn::KINODYN_TARGET {

struct RowsFields : TaskFields {
    const double *jacobian, *drift;

    static constexpr auto layout() {
        return named("rows",
                     std::tuple_cat(task_parts(&Sizes::rows, &Sizes::rows, &Sizes::rows),
                                    std::make_tuple(array("jacobian", &RowsFields::jacobian, &Sizes::rows, &Sizes::nv),
                                                    array("drift", &RowsFields::drift, &Sizes::rows))));
    }
};

class RowsTask {
  public:
    using Fields = RowsFields;
    static constexpr int rows = 0, distances = -1;  // as many as the entry says

    RowsTask(const RobotState& state, const TaskEntry& entry, const RowsFields& fields)
        : nv_(state.model.nv), rows_(entry.rows), v_(state.v), fields_(fields) {}

    void error(double* e) const {
        for (int k = 0; k < rows_; ++k) e[k] = fields_.target[k];
    }

    long nv() const { return nv_; }
    const double* jacobian_row(int k) const { return fields_.jacobian + k * nv_; }

    void motion(double* rate, double* bias) const {
        for (int k = 0; k < rows_; ++k) {
            rate[k] = fields_.velocity[k];
            for (long j = 0; j < nv_; ++j) rate[k] -= jacobian_row(k)[j] * v_[j];
            bias[k] = fields_.acceleration[k] - fields_.drift[k];
        }
    }

  private:
    long nv_;
    int rows_;
    const double* v_;
    const RowsFields& fields_;
};

}  // namespace kinodyn::KINODYN_TARGET
