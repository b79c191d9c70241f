// Rows of tasks and limits as solvers take them.
#pragma once

#include "solver/objective.hpp"
#include "tasks/registry.hpp"

namespace kinodyn::KINODYN_TARGET {

// Opens a row W b of an objective and returns the place of its W J, all zero.
inline double* open_row(Objective& to, double weighted_b) {
    double* row = to.A[to.rows];
    clear_row(row, to.A.stride);
    to.b[to.rows++] = weighted_b;
    return row;
}

// Adds W J x = W b to an objective, for those rows of a task that have weight; e is its error.
template <class Task>
inline void add_rows(const Task& task, int, const double* weights, const double* b, const double*, Objective& to) {
    constexpr int count = Task::rows;
    double* rows[count];
    const long first = to.rows;
    for (int k = 0; k < count; ++k) rows[k] = weights[k] != 0 ? open_row(to, weights[k] * b[k]) : nullptr;
    if (to.rows - first == count)  // the common case
        task.columns([&](int iv, const double* column) {
            for (int k = 0; k < count; ++k) rows[k][iv] += weights[k] * column[k];
        });
    else
        task.columns([&](int iv, const double* column) {
            for (int k = 0; k < count; ++k)
                if (rows[k]) rows[k][iv] += weights[k] * column[k];
        });
}

inline void add_rows(const RowsTask& task, int rows, const double* weights, const double* b, const double*,
                     Objective& to) {
    for (int k = 0; k < rows; ++k) {
        if (weights[k] == 0) continue;
        double* row = open_row(to, weights[k] * b[k]);
        const double* J = task.jacobian_row(k);
        for (long j = 0; j < task.nv(); ++j) row[j] = weights[k] * J[j];
    }
}

// One-DoF joints go to the diagonal part: several postures in one level give their weighted mean.
inline void add_rows(const PostureTask& task, int, const double* weights, const double* b, const double* e,
                     Objective& to) {
    task.for_joints(
        e,
        [&](int k) {
            const double w = weights[k], before = to.scale[k], both = __builtin_sqrt(before * before + w * w);
            if (w == 0) return;
            to.offset[k] = (before * to.offset[k] + w * w * b[k]) / both;
            to.scale[k] = both;
            to.diagonal = true;
        },
        [&](int k, int n, const PostureTask::Joint& joint) {
            double J[36];
            joint.write_rows(J);
            for (int i = 0; i < n; ++i) {
                const double w = weights[k + i];
                if (w == 0) continue;
                double* row = open_row(to, w * b[k + i]);
                for (int j = 0; j < n; ++j) row[k + j] = w * J[i * n + j];
            }
        });
}

// A limit has no weights and is not an objective.
inline void add_rows(const ComLimit&, int, const double*, const double*, const double*, Objective&) {}
inline void add_rows(const CollisionLimit&, int, const double*, const double*, const double*, Objective&) {}

// The part of the remaining margins e that a limit allows in one step.
template <class Limit>
inline void bound_step(const Limit&, double*, double) {}
inline void bound_step(const CollisionLimit& limit, double* e, double dt) { limit.slow_down(e, dt); }

// How many rows of a limit are in use.
template <class Limit>
inline int used_rows(const Limit&, int rows) {
    return rows;
}
inline int used_rows(const CollisionLimit& limit, int) { return limit.used(); }

// Identifies a row of a limit from one state to the next.
template <class Limit>
inline int label_of(const Limit&, int row) {
    return row;
}
inline int label_of(const CollisionLimit& limit, int row) { return limit.pair(row); }

// Adds J x <= h of a limit.
template <class Limit>
inline void add_inequalities(const Limit& limit, int rows, const double* h, Objective& to) {
    const long first = to.rows;
    for (int k = 0; k < rows; ++k) open_row(to, h[k]);
    limit.columns([&](int iv, const auto& column) {
        for (int k = 0; k < rows; ++k) to.A[first + k][iv] += column[k];
    });
}
inline void add_inequalities(const RowsTask& limit, int rows, const double* h, Objective& to) {
    for (int k = 0; k < rows; ++k) {
        double* row = open_row(to, h[k]);
        for (long j = 0; j < limit.nv(); ++j) row[j] = limit.jacobian_row(k)[j];
    }
}
inline void add_inequalities(const CollisionLimit& limit, int rows, const double* h, Objective& to) {
    const long first = to.rows;
    for (int k = 0; k < rows; ++k) open_row(to, h[k]);
    limit.entries([&](int k, int iv, double value) { to.A[first + k][iv] += value; });
}
inline void add_inequalities(const PostureTask&, int, const double*, Objective&) {}  // joints have limits of their own

}  // namespace kinodyn::KINODYN_TARGET
