#include "core/impulses.hpp"

#include <algorithm>
#include <cmath>

namespace kinodyn {

double ImpulseProblem::velocity(int row) const {
    double total = c[row];
    for (int k = 0; k < 3 * m; ++k) total += A[row * 3 * m + k] * x[k];
    return total;
}

double ImpulseProblem::solve_point(int i) const {
    const int n = 3 * i;
    const double old[3] = {x[n], x[n + 1], x[n + 2]};
    if (!(diagonal(n) > 0)) return 0;  // the point cannot move
    x[n] = std::max(0.0, x[n] - (velocity(n) - b[i]) / diagonal(n));
    // divided by the largest eigenvalue of the tangential block, the step for both tangents cannot overshoot
    const double couple = A[(n + 1) * 3 * m + n + 2];
    const double spread = std::hypot(0.5 * (diagonal(n + 1) - diagonal(n + 2)), couple);
    const double stiff = 0.5 * (diagonal(n + 1) + diagonal(n + 2)) + spread;
    if (stiff > 0) {
        const double v1 = velocity(n + 1), v2 = velocity(n + 2);
        x[n + 1] -= v1 / stiff, x[n + 2] -= v2 / stiff;
        const double length = std::hypot(x[n + 1], x[n + 2]), limit = mu[i] * x[n];
        if (length > limit) x[n + 1] *= limit / length, x[n + 2] *= limit / length;
    }
    double change = 0;
    for (int k = 0; k < 3; ++k) change = std::max(change, std::fabs((x[n + k] - old[k]) * diagonal(n + k)));
    return change;
}

double solve_impulses(const ImpulseProblem& problem, double tolerance, int max_sweeps, int& sweeps) {
    double change = 0;
    for (sweeps = 0; sweeps < max_sweeps;) {
        change = 0;
        for (int i = 0; i < problem.m; ++i)
            if (!(problem.mu[i] < 0)) change = std::max(change, problem.solve_point(i));
        ++sweeps;
        if (change <= tolerance) break;
    }
    return change;
}

}  // namespace kinodyn
