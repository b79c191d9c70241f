// The least of a convex quadratic form under two-sided linear constraints: the dual active-set method of D. Goldfarb
// and A. Idnani, "A numerically stable dual method for solving strictly convex quadratic programs" (1983).
//
// It starts at the free minimum, or where the constraints hold that held last time, and takes in one violated
// constraint after the other: so it is done at once where none is violated, which in control is the rule.
#pragma once

#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

struct ActiveSet {
    long n = 0;  // variables
    long m = 0;  // constraints
    Matrix G;    // lower <= G y <= upper
    double *lower, *upper;
    Matrix J;       // H^-1 = J^T J; rows from `held` on span the directions that the held constraints leave
    Matrix R;       // row j: column j of the triangular factor of the held constraints
    double* y;      // the free minimum on entry, the answer on return
    double* u;      // multipliers of the held constraints
    double* side;   // of each constraint: 1 held at its lower, -1 at its upper side, 0 not held
    double* guess;  // like side: what is expected to be held in the end
    double *normal, *d, *r, *value, *z;
    double* inverse;  // of the diagonal of R
    double* shut;     // of each constraint: 0, or endless where it is held or rounding makes it impossible to meet
    double* excess;
    int* which;  // constraint behind each multiplier
    long held = 0;
    double through = 0;  // square of the part of d beyond what is held
    int iterations = 0;

    static constexpr double tolerance = 1e-12;  // of a constraint, in its own units

    static long words(long n, long m) {
        return Memory::words(m, n) + 2 * Memory::words(n, n) + 8 * padded(n + 1) + 7 * padded(m);
    }
    void take(Memory& memory, long most_n, long most_m) {
        G = memory.matrix(most_m, most_n);
        J = memory.matrix(most_n, most_n);
        R = memory.matrix(most_n, most_n);
        for (double** x : {&y, &u, &normal, &d, &r, &z, &inverse}) *x = memory.take(most_n + 1);
        for (double** x : {&lower, &upper, &side, &guess, &value, &shut, &excess}) *x = memory.take(most_m);
        which = reinterpret_cast<int*>(memory.take(most_n + 1));
    }

    // Returns false if a constraint could not be met.
    bool solve() {
        held = 0;
        iterations = 0;
        bool met = true;
        for (long i = 0; i < m; ++i) side[i] = 0, shut[i] = 0;
        for (long i = m; i < padded(m); ++i) lower[i] = upper[i] = value[i] = 0, shut[i] = HUGE_VAL;
        warm_start();
        const int most = 20 + 10 * static_cast<int>(m + n);
        bool exact = false;  // what is held has been met to rounding since it last changed
        for (;;) {
            const long next = most_violated();
            if (next < 0 && (exact || held == 0)) return met;
            if (iterations >= most) return false;
            if (next >= 0 && add_constraint(next, most))
                exact = false;
            else if (!exact)
                restore_feasibility(), exact = true;
            else
                shut[next] = HUGE_VAL, met = false;
        }
    }

  private:
    // Holds what is expected to be held, less what would have to be pulled rather than pushed: a valid place to start.
    void warm_start() {
        const long end = padded(n);
        for (long i = 0; i < m && held < n; ++i) {
            if (guess[i] == 0) continue;
            point_at(i, guess[i]);
            multiply(J, n, normal, end, d);
            if (blocked()) continue;
            combine(J, held, n, d, end, z);
            activate(i, guess[i], 0);
        }
        if (held == 0) return;
        multiply(G, m, y, end, value);
        while (held > 0) {
            const long worst = multipliers_of_guess();
            if (worst < 0) break;
            drop(worst);
        }
        combine(J, 0, held, d, end, z);
        add(1, z, y, 0, end);
    }

    // Multipliers of what is held if it holds exactly, in u, and the way there in d; returns the most negative, or -1.
    long multipliers_of_guess() {
        for (long k = 0; k < held; ++k) {
            const int i = which[k];
            const double missing = side[i] > 0 ? lower[i] - value[i] : value[i] - upper[i];
            d[k] = (missing - before(k, d)) * inverse[k];
        }
        long worst = -1;
        double most = 0;
        for (long k = 0; k < held; ++k) u[k] = d[k];
        for (long k = held - 1; k >= 0; --k) {
            spread(k, u);
            if (u[k] < most) most = u[k], worst = k;
        }
        return worst;
    }

    // Forward and backward substitution with the factor, one row at a time.
    double before(long k, const double* x) const {
        double total = dot(R[k], x, 0, block_of(k));
        for (long j = block_of(k); j < k; ++j) total += R[k][j] * x[j];
        return total;
    }
    void spread(long k, double* x) const {
        x[k] *= inverse[k];
        add(-x[k], R[k], x, 0, block_of(k));
        for (long j = block_of(k); j < k; ++j) x[j] -= x[k] * R[k][j];
    }

    // Steps back onto the held constraints, from which rounding has led away where H is nearly singular.
    void restore_feasibility() {
        const long end = padded(n);
        for (long k = 0; k < held; ++k) {
            const int i = which[k];
            const double value_now = dot(G[i], y, 0, end);
            double total = side[i] > 0 ? lower[i] - value_now : value_now - upper[i];
            d[k] = (total - before(k, d)) * inverse[k];
        }
        combine(J, 0, held, d, end, z);
        add(1, z, y, 0, end);
    }

    void point_at(long i, double sign) {
        for (long j = 0; j < padded(n); j += lanes) store(normal + j, sign * load(G[i] + j));
    }

    // Is there no direction left, beside those held, in which the constraint behind d can be met?
    bool blocked() {
        const long split = padded(held) < n ? padded(held) : n, end = padded(n);
        for (long k = n; k < end; ++k) d[k] = 0;
        through = dot(d, d, padded(held), end);
        for (long k = held; k < split; ++k) through += d[k] * d[k];
        return !(through > 1e-20 * dot(d, d, 0, end));
    }

    long most_violated() {
        multiply(G, m, y, padded(n), value);
        Pack::Vector most = {};
        for (long i = 0; i < m; i += lanes) {
            const Pack::Vector now = load(value + i), below = load(lower + i) - now, above = now - load(upper + i);
            const Pack::Vector beyond = (below > above ? below : above) - load(shut + i);
            store(excess + i, beyond);
            most = beyond > most ? beyond : most;
        }
        double worst = tolerance;
        for (int k = 0; k < lanes; ++k) worst = most[k] > worst ? most[k] : worst;
        if (!(worst > tolerance)) return -1;
        long i = 0;
        while (excess[i] != worst) ++i;
        return i;
    }

    // Moves until constraint `next` is met, letting go of others whose multipliers vanish on the way.
    bool add_constraint(long next, int most) {
        const double sign = value[next] < lower[next] ? 1 : -1;
        const double bound = sign > 0 ? lower[next] : -upper[next];
        const long end = padded(n);
        point_at(next, sign);
        double own = 0;  // its multiplier
        while (iterations++ < most) {
            multiply(J, n, normal, end, d);
            const bool stuck = blocked();
            const double missing = bound - dot(normal, y, 0, end);
            const double full = stuck ? HUGE_VAL : missing / through;
            long leave = -1;
            const double partial = first_to_vanish(leave);
            if (stuck && leave < 0) return false;
            const double step = partial < full ? partial : full;
            if (!stuck) {
                combine(J, held, n, d, end, z);
                add(step, z, y, 0, end);
            }
            for (long k = 0; k < held; ++k) u[k] -= step * r[k];
            own += step;
            if (!(partial < full)) {
                activate(next, sign, own);
                return true;
            }
            drop(leave);
        }
        return false;
    }

    // How far the multipliers allow to go, and whose vanishes first. Leaves their rates in r.
    double first_to_vanish(long& leave) {
        for (long j = 0; j < held; ++j) r[j] = d[j];
        double least = HUGE_VAL;
        for (long j = held - 1; j >= 0; --j) {
            spread(j, r);
            if (r[j] > 0 && u[j] < least * r[j]) least = u[j] / r[j], leave = j;
        }
        return least;
    }

    // Adds a constraint to those held: a reflection turns d beyond the held ones onto one direction.
    void activate(long next, double sign, double multiplier) {
        const long end = padded(n);
        double length;
        const double tau = reflector(d, held, end, normal, length);
        add(-length, J[held], z, 0, end);  // z holds the sum of d[k] J[k] already
        for (long k = held; k < n; ++k) add(-tau * normal[k], z, J[k], 0, end);
        for (long i = 0; i < held; ++i) R[held][i] = d[i];
        R[held][held] = length;
        inverse[held] = 1 / length;
        u[held] = multiplier;
        which[held] = static_cast<int>(next);
        side[next] = sign;
        shut[next] = HUGE_VAL;
        ++held;
    }

    // Removes the constraint at place l and makes R triangular again.
    void drop(long l) {
        side[which[l]] = shut[which[l]] = 0;
        --held;
        for (long j = l; j < held; ++j) {
            memcpy(R[j], R[j + 1], sizeof(double) * static_cast<std::size_t>(held + 1));
            u[j] = u[j + 1];
            which[j] = which[j + 1];
        }
        const long end = padded(n);
        for (long i = l; i < held; ++i) {
            const double a = R[i][i], b = R[i][i + 1], length = __builtin_sqrt(a * a + b * b);
            const double c = length > 0 ? a / length : 1, s = length > 0 ? b / length : 0;
            for (long j = i; j < held; ++j) {
                const double x = R[j][i], w = R[j][i + 1];
                R[j][i] = c * x + s * w, R[j][i + 1] = c * w - s * x;
            }
            inverse[i] = 1 / R[i][i];
            for (long j = 0; j < end; j += lanes) {
                const Pack::Vector x = load(J[i] + j), w = load(J[i + 1] + j);
                store(J[i] + j, c * x + s * w), store(J[i + 1] + j, c * w - s * x);
            }
        }
    }
};

}  // namespace kinodyn::KINODYN_TARGET
