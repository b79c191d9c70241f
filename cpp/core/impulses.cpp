#include "core/impulses.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/contact.hpp"

namespace kinodyn {

namespace {

struct Problem {
    int m;
    const double *A, *c, *b, *mu;
    double* x;

    double velocity(int row) const {
        double total = c[row];
        for (int k = 0; k < 3 * m; ++k) total += A[row * 3 * m + k] * x[k];
        return total;
    }
    double diagonal(int row) const { return A[row * 3 * m + row]; }

    // Solves for one point with all others fixed; returns the largest change of its velocity.
    double solve_point(int i) const {
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
};

}  // namespace

void contact_impulses(const Call& call, long begin, long end, Fault& fault) {
    const int m = call.in[2].size;
    const auto row = [&](int k, long state) { return call.in[k].data + state * call.in[k].stride; };
    for (long state = begin; state < end; ++state) {
        double* x = call.out[0].data + state * 3 * m;
        const Problem problem = {m, row(0, state), row(1, state), row(2, state), row(3, state), x};
        for (int i = 0; i < m; ++i)
            for (int k = 3 * i; k < 3 * i + 3; ++k) x[k] = problem.mu[i] < 0 ? 0.0 : row(4, state)[k];
        const double tolerance = *row(5, state);
        double change = 0;
        int sweep = 0;
        while (sweep < call.as<ImpulseSettings>().max_sweeps) {
            change = 0;
            for (int i = 0; i < m; ++i)
                if (!(problem.mu[i] < 0)) change = std::max(change, problem.solve_point(i));
            ++sweep;
            if (change <= tolerance) break;
        }
        call.out[1].data[state] = change;
        call.out[2].data[state] = sweep;
        for (int k = 0; k < 3 * m; ++k)
            if (!std::isfinite(x[k])) {
                fault = {FaultKind::Overflow, state, 0, 0};
                return;
            }
    }
}

}  // namespace kinodyn
