// Minimises a strictly convex quadratic form under two-sided linear constraints: the dual active-set method of
// D. Goldfarb and A. Idnani, "A numerically stable dual method for solving strictly convex quadratic programs" (1983).
//
// It starts at the unconstrained minimum, or with the working set of the last solve (warm start), and activates one
// violated constraint after the other: it finishes at once if none is violated, which is the usual case in control.
//
// The form is given in terms of x itself by J, whose rows are directions of x. Constraints are evaluated all together,
// and a constraint's normal is needed only once it is activated: rows that are easy to evaluate, such as torques,
// cost almost nothing until they become active, and a bound of a single variable never needs a product.
//
// Constraints has:
//   long count                        number of constraints
//   double *lower, *upper, *tolerance of each constraint; bounds may be infinite
//   void evaluate(x, value)           values of all constraints
//   void normal(i, row)               gradient of constraint i
//   long variable_of(i)               variable that is constraint i, or -1 if it is not a single variable
#pragma once

#include "solver/null_space.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class Constraints>
class ActiveSet {
  public:
    Matrix J;      // rows: directions of x; the inverse of the Hessian is J^T J
    double* x;     // the unconstrained minimum on entry, the solution on return
    double* side;  // of each constraint: 1 active at its lower, -1 at its upper bound, 0 inactive. On entry: warm start
    int iterations = 0;

    static long words(long n, long constraints) {
        return 2 * Memory::words(n, n) + 9 * padded(n + 1) + 7 * padded(constraints);
    }
    void take(Memory& memory, long n, long constraints) {
        J = memory.matrix(n, n);
        R_ = memory.matrix(n, n);
        for (double** v : {&x, &start_, &u_, &normal_, &d_, &r_, &z_, &inverse_}) *v = memory.take(n + 1);
        for (double** v : {&side, &lower_, &upper_, &value_, &guess_, &excluded_, &violation_})
            *v = memory.take(constraints);
        which_ = reinterpret_cast<int*>(memory.take(n + 1));
    }

    // For `directions` rows of J, each of n numbers. Returns false if a constraint cannot be met: with `best_effort`
    // after meeting the others. All motion lies in `space`, which contains the point `from`. If that is `feasible`,
    // constraints that it violates within their tolerance are widened to it, so that they stay feasible where `space`
    // leaves no motion.
    [[gnu::noinline]] bool solve(const Constraints& constraints, const NullSpace& space, const double* from,
                                 bool feasible, long directions, long n, bool best_effort) {
        of_ = &constraints, space_ = &space, from_ = from;
        m_ = directions, end_ = padded(n);
        active_ = 0, iterations = 0, direct_ = false, J_square_ = -1;
        const long count = constraints.count;
        of_->evaluate(from, value_);
        for (long i = 0; i < count; ++i) {
            const double value = value_[i], low = of_->lower[i], high = of_->upper[i];
            const double little = feasible ? of_->tolerance[i] : 0;
            lower_[i] = value < low && value >= low - little ? value : low;
            upper_[i] = value > high && value <= high + little ? value : high;
            guess_[i] = side[i], side[i] = excluded_[i] = 0;
        }
        for (long i = count; i < padded(count); ++i) excluded_[i] = HUGE_VAL;
        memcpy(start_, x, sizeof(double) * static_cast<std::size_t>(end_));
        warm_start();
        const int most = 50 + 10 * static_cast<int>(count);
        for (bool exact = active_ == 0;;) {  // exact: the active constraints hold to rounding
            const long next = most_violated();
            if (next < 0 && exact) return met();
            if (iterations >= most) return false;
            const bool little = next < 0 || violation_[next] <= rounding * of_->tolerance[next];
            if ((exact || !little) && add_constraint(next, most))
                exact = false;
            else if (!exact)
                restore_active(), exact = true;
            else if (best_effort || little)
                excluded_[next] = HUGE_VAL;
            else
                return false;
        }
    }

    bool satisfied(const Constraints& constraints, const double* at) {
        constraints.evaluate(at, value_);
        for (long i = 0; i < constraints.count; ++i) {
            const double value = value_[i], little = constraints.tolerance[i];
            if (!(value >= constraints.lower[i] - little && value <= constraints.upper[i] + little)) return false;
        }
        return true;
    }

    // After `solve`: the largest step in [0, 1] from a feasible point to x that violates no constraint.
    double max_step(const double* from) {
        of_->evaluate(from, guess_);
        of_->evaluate(x, value_);
        double step = 1;
        for (long i = 0; i < of_->count; ++i) {
            const double change = value_[i] - guess_[i];
            const double room = change > 0 ? upper_[i] - guess_[i] : guess_[i] - lower_[i];
            if (fabs(change) * step > room + rounding * of_->tolerance[i]) step = (room > 0 ? room : 0) / fabs(change);
        }
        return step;
    }

  private:
    static constexpr double rounding = 100;  // tolerances by which rounding may keep a constraint from being met

    // Whether all constraints are met as well as rounding allows, those included that could not be moved.
    bool met() const {
        bool all = true;
        for (long i = 0; i < of_->count; ++i) {
            const double little = rounding * of_->tolerance[i];
            all &= value_[i] >= lower_[i] - little && value_[i] <= upper_[i] + little;
        }
        return all;
    }

    // Activates the last working set, then drops constraints with negative multipliers: a valid starting point.
    void warm_start() {
        constexpr double dependence = 1e-20;
        for (long i = 0; i < of_->count && active_ < m_; ++i) {
            if (guess_[i] == 0 || !(fabs(guess_[i] > 0 ? lower_[i] : upper_[i]) < HUGE_VAL)) continue;
            project_normal(i, guess_[i]);
            if (is_dependent(dependence)) continue;
            combine(J, active_, m_, d_, end_, z_);
            activate(i, guess_[i], 0);
        }
        if (active_ == 0) return;
        of_->evaluate(x, value_);
        for (long worst; (worst = most_negative_multiplier()) >= 0;) drop(worst);
        move_onto_active();
        direct_ = true;
    }

    // Multipliers, in u, of the active constraints once they hold exactly; returns the most negative, or -1.
    long most_negative_multiplier() {
        step_to_active();
        long worst = -1;
        double least = 0;
        for (long k = 0; k < active_; ++k) u_[k] = d_[k];
        for (long k = active_ - 1; k >= 0; --k) {
            substitute_back(k, u_);
            if (u_[k] < least) least = u_[k], worst = k;
        }
        return worst;
    }

    // The step onto the active constraints, in d along the rows of J, from the point at which value_ was evaluated.
    void step_to_active() {
        for (long k = 0; k < active_; ++k) {
            const int i = which_[k];
            double rest = side[i] > 0 ? lower_[i] - value_[i] : value_[i] - upper_[i];
            rest -= dot(R_[k], d_, 0, block_of(k));
            for (long j = block_of(k); j < k; ++j) rest -= R_[k][j] * d_[j];
            d_[k] = rest * inverse_[k];
        }
    }
    void substitute_back(long k, double* x) const {
        x[k] *= inverse_[k];
        add(-x[k], R_[k], x, 0, block_of(k));
        for (long j = block_of(k); j < k; ++j) x[j] -= x[k] * R_[k][j];
    }

    // Moves onto the active constraints from the unconstrained minimum in one step, which discards the rounding of
    // all steps so far, and corrects those due to J: first deviations from `space`, then from the constraints.
    // This is needed for consistency where many more constraints meet than there are directions.
    void restore_active() {
        if (!direct_) {
            memcpy(x, start_, sizeof(double) * static_cast<std::size_t>(end_));
            of_->evaluate(x, value_);
            move_onto_active();
        }
        space_->project_point(from_, x, z_);
        for (int pass = 0; pass < 3; ++pass) {
            of_->evaluate(x, value_);
            if (pass > 0 && active_met()) return;
            move_onto_active();
        }
    }
    void move_onto_active() {
        step_to_active();
        combine(J, 0, active_, d_, end_, z_);
        add(1, z_, x, 0, end_);
    }
    bool active_met() const {
        bool all = true;
        for (long k = 0; k < active_; ++k) {
            const int i = which_[k];
            all &= fabs((side[i] > 0 ? lower_[i] : upper_[i]) - value_[i]) <= of_->tolerance[i];
        }
        return all;
    }

    // d = J times the normal of constraint i, which points into the feasible side.
    void project_normal(long i, double sign) {
        const long variable = of_->variable_of(i);
        if (variable >= 0) {
            for (long k = 0; k < m_; ++k) d_[k] = sign * J[k][variable];
            normal_square_ = 1;
        } else {
            of_->normal(i, normal_);
            normal_square_ = dot(normal_, normal_, 0, end_);
            multiply(J, m_, normal_, end_, d_);
            for (long k = 0; k < m_; ++k) d_[k] *= sign;
        }
        for (long k = m_; k < padded(m_); ++k) d_[k] = 0;
    }

    // Whether the normal behind d depends linearly on those of the active constraints: at most the fraction `tolerance`
    // of the square of d lies in the directions that they leave free, or no more than the rounding of d.
    bool is_dependent(double tolerance) {
        constexpr double rounding_of_d = 1e-28;  // square of a hundred units in the last place
        const long split = padded(active_) < m_ ? padded(active_) : m_, end = padded(m_);
        slope_ = dot(d_, d_, padded(active_), end);
        for (long k = active_; k < split; ++k) slope_ += d_[k] * d_[k];
        return !(slope_ > tolerance * dot(d_, d_, 0, end) && slope_ > rounding_of_d * J_square() * normal_square_);
    }
    // The squares of all elements of J, which rotations of its rows do not change.
    double J_square() {
        if (J_square_ < 0) {
            J_square_ = 0;
            for (long k = 0; k < m_; ++k) J_square_ += dot(J[k], J[k], 0, end_);
        }
        return J_square_;
    }

    long most_violated() {
        of_->evaluate(x, value_);
        Pack::Vector most = {};
        for (long i = 0; i < of_->count; i += lanes) {
            const Pack::Vector v = load(value_ + i), below = load(lower_ + i) - v, above = v - load(upper_ + i);
            const Pack::Vector beyond = (below > above ? below : above) - load(excluded_ + i);
            store(violation_ + i, beyond);
            const Pack::Vector counts = beyond > load(of_->tolerance + i) ? beyond : Pack::Vector{};
            most = counts > most ? counts : most;
        }
        double worst = 0;
        for (int k = 0; k < lanes; ++k) worst = most[k] > worst ? most[k] : worst;
        if (!(worst > 0)) return -1;
        long i = 0;
        while (violation_[i] != worst) ++i;
        return i;
    }

    // Moves until constraint `next` is met, dropping others whose multipliers vanish before. False if it depends on
    // active constraints none of which can be dropped.
    bool add_constraint(long next, int most) {
        constexpr double dependence = 1e-20;
        const double sign = value_[next] < lower_[next] ? 1 : -1;
        double missing = violation_[next], multiplier = 0;
        direct_ = false;
        while (iterations++ < most) {
            project_normal(next, sign);
            const bool dependent = is_dependent(dependence);
            long leave = -1;
            const double full = dependent ? HUGE_VAL : missing / slope_, dual = dual_step(leave);
            if (dependent && leave < 0) return false;
            const double step = dual < full ? dual : full;
            if (!dependent) {
                combine(J, active_, m_, d_, end_, z_);
                add(step, z_, x, 0, end_);
                missing -= step * slope_;
            }
            for (long k = 0; k < active_; ++k) u_[k] -= step * r_[k];
            multiplier += step;
            if (!(dual < full)) {
                activate(next, sign, multiplier);
                return true;
            }
            drop(leave);
        }
        return false;
    }

    // The largest step that keeps all multipliers positive, and which one vanishes first. Leaves their rates in r.
    double dual_step(long& leave) {
        for (long j = 0; j < active_; ++j) r_[j] = d_[j];
        double least = HUGE_VAL;
        for (long j = active_ - 1; j >= 0; --j) {
            substitute_back(j, r_);
            if (r_[j] > 0 && u_[j] < least * r_[j]) least = u_[j] / r_[j], leave = j;
        }
        return least;
    }

    // Adds a constraint to the working set: a reflector maps d beyond the active ones onto one direction. z holds the
    // sum of d[k] J[k] over them.
    void activate(long next, double sign, double multiplier) {
        double length;
        const double tau = reflector(d_, active_, padded(m_), r_, length);
        add(-length, J[active_], z_, 0, end_);
        add_outer(-tau, r_, z_, J, active_, m_, end_);
        for (long i = 0; i < active_; ++i) R_[active_][i] = d_[i];
        R_[active_][active_] = length;
        inverse_[active_] = 1 / length;
        u_[active_] = multiplier;
        which_[active_++] = static_cast<int>(next);
        side[next] = sign;
        excluded_[next] = HUGE_VAL;
    }

    // Removes the constraint at position l from the working set and restores the triangular R by Givens rotations.
    void drop(long l) {
        side[which_[l]] = excluded_[which_[l]] = 0;
        --active_;
        for (long j = l; j < active_; ++j) {
            memcpy(R_[j], R_[j + 1], sizeof(double) * static_cast<std::size_t>(active_ + 1));
            u_[j] = u_[j + 1];
            which_[j] = which_[j + 1];
        }
        for (long i = l; i < active_; ++i) {
            const double a = R_[i][i], b = R_[i][i + 1], length = __builtin_sqrt(a * a + b * b);
            const double c = length > 0 ? a / length : 1, s = length > 0 ? b / length : 0;
            for (long j = i; j < active_; ++j) {
                const double v = R_[j][i], w = R_[j][i + 1];
                R_[j][i] = c * v + s * w, R_[j][i + 1] = c * w - s * v;
            }
            inverse_[i] = 1 / R_[i][i];
            for (long j = 0; j < end_; j += lanes) {
                const Pack::Vector v = load(J[i] + j), w = load(J[i + 1] + j);
                store(J[i] + j, c * v + s * w), store(J[i + 1] + j, c * w - s * v);
            }
        }
    }

    const Constraints* of_ = nullptr;
    const NullSpace* space_ = nullptr;
    const double* from_ = nullptr;
    long m_ = 0, end_ = 0, active_ = 0;
    double normal_square_ = 0, J_square_ = -1;
    double slope_ = 0;     // square of the part of d beyond the active constraints: progress per unit of multiplier
    bool direct_ = false;  // x has been reached from the unconstrained minimum in one step
    Matrix R_;             // row j: column j of the triangular factor of the active constraints
    double *start_, *u_, *normal_, *d_, *r_, *z_;
    double* inverse_;                // of the diagonal of R
    double *lower_, *upper_;         // of the constraints, widened by rounding
    double *value_, *guess_;         // of the constraints: values at x, and warm start
    double *excluded_, *violation_;  // 0, or infinite for a constraint that is active or cannot be met; violation
    int* which_;                     // constraint behind each multiplier
};

}  // namespace kinodyn::KINODYN_TARGET
