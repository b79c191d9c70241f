// The least of a convex quadratic form in some directions of x, under many two-sided constraints of which few matter.
//
// The dual active-set method of active_set.hpp (D. Goldfarb, A. Idnani, 1983), but in terms of x itself: the rows of J
// are directions of x, and a constraint is turned into numbers only when it is taken in. So constraints that are cheap
// to evaluate all together, such as torques, cost next to nothing as long as they do not matter.
//
// Constraints has: count, lower, upper, evaluate(x, values), normal(i, row) and tolerance(i).
#pragma once

#include "solver/dense.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class Constraints>
class LazySet {
  public:
    Matrix J;      // rows: directions; the inverse of the Hessian is J^T J
    double* x;     // the free minimum on entry, the answer on return
    double* side;  // of each constraint: 1 held at its lower, -1 at its upper side, 0 not held
    int iterations = 0;

    static long words(long n, long constraints) {
        return 2 * Memory::words(n, n) + 7 * padded(n + 1) + 2 * padded(constraints) + padded(n + 1) +
               padded(constraints);
    }
    void take(Memory& memory, long n, long constraints) {
        J = memory.matrix(n, n);
        R_ = memory.matrix(n, n);
        for (double** v : {&x, &start_, &u_, &normal_, &d_, &r_, &z_}) *v = memory.take(n + 1);
        for (double** v : {&side, &value_}) *v = memory.take(constraints);
        which_ = reinterpret_cast<int*>(memory.take(n + 1));
        infeasible_ = reinterpret_cast<char*>(memory.take(constraints));
    }

    // `directions` rows of J, each of n numbers. `guess` is like side: what held last time; it may be `side` itself.
    // Returns false if a constraint could not be met: with `best_effort`, after doing what can be done about the
    // others.
    bool solve(const Constraints& constraints, long directions, long n, const double* guess, bool best_effort) {
        of_ = &constraints;
        m_ = directions, end_ = padded(n);
        held_ = 0, iterations = 0, off_ = false;
        const long count = constraints.count;
        for (long i = 0; i < count; ++i) value_[i] = guess[i];
        for (long i = 0; i < count; ++i) side[i] = 0, infeasible_[i] = 0;
        warm_start();
        const int most = 50 + 4 * static_cast<int>(count);
        bool met = true, exact = false;  // exact: what is held has been met to rounding since it last changed
        for (;;) {
            const long next = most_violated();
            if (next < 0 && (exact || held_ == 0)) return met && !off_ && !infeasible_got_worse();
            if (iterations >= most) return false;
            if (next >= 0 && add_constraint(next, most)) {
                exact = false;
            } else if (!exact) {
                restore_feasibility(), exact = true;
            } else {
                const bool little = excess_ <= rounding_margin * of_->tolerance(next);
                if (!best_effort && !little) return false;
                infeasible_[next] = 1, met = met && little;
            }
        }
    }

  private:
    static constexpr double rounding_margin = 100;  // tolerances; rounding may keep from moving what is so little off

    // Did one that could not be moved get farther off since?
    bool infeasible_got_worse() const {
        for (long i = 0; i < of_->count; ++i) {
            const double below = of_->lower[i] - value_[i], above = value_[i] - of_->upper[i];
            if (infeasible_[i] && (below > above ? below : above) > rounding_margin * of_->tolerance(i)) return true;
        }
        return false;
    }

    // Holds what held last time, less what would have to be pulled rather than pushed: a valid place to start.
    void warm_start() {
        for (long i = 0; i < of_->count && held_ < m_; ++i) {
            const double sign = value_[i];
            if (sign == 0 || !(fabs(sign > 0 ? of_->lower[i] : of_->upper[i]) < HUGE_VAL)) continue;
            point_at(i, sign);
            multiply(J, m_, normal_, end_, d_);
            if (blocked(1e-10)) continue;  // a guess is worth no trouble with rounding
            combine(J, held_, m_, d_, end_, z_);
            activate(i, sign, 0);
        }
        if (held_ == 0) return;
        memcpy(start_, x, sizeof(double) * static_cast<std::size_t>(end_));
        of_->evaluate(start_, value_);
        while (held_ > 0) {
            const long worst = multipliers_of_guess();
            if (worst < 0) break;
            drop(worst);
        }
        combine(J, 0, held_, d_, end_, z_);
        add(1, z_, x, 0, end_);
    }

    // The way, in terms of J, onto the held constraints from where value_ was evaluated.
    void way_to_held() {
        for (long k = 0; k < held_; ++k) {
            const int i = which_[k];
            double total = side[i] > 0 ? of_->lower[i] - value_[i] : value_[i] - of_->upper[i];
            for (long j = 0; j < k; ++j) total -= R_[k][j] * d_[j];
            d_[k] = total / R_[k][k];
        }
    }

    // Multipliers of what is held if it holds exactly, in u, and the way there in d; returns the most negative, or -1.
    long multipliers_of_guess() {
        way_to_held();
        long worst = -1;
        double most = 0;
        for (long k = 0; k < held_; ++k) u_[k] = d_[k];
        for (long k = held_ - 1; k >= 0; --k) {
            u_[k] /= R_[k][k];
            for (long j = 0; j < k; ++j) u_[j] -= u_[k] * R_[k][j];
            if (u_[k] < most) most = u_[k], worst = k;
        }
        return worst;
    }

    // Steps back onto the held constraints, from which rounding has led away: more than once where they are nearly
    // dependent.
    void restore_feasibility() {
        for (int pass = 0; pass < 4; ++pass) {
            of_->evaluate(x, value_);
            off_ = false;
            for (long k = 0; k < held_; ++k) {
                const int i = which_[k];
                off_ |= fabs((side[i] > 0 ? of_->lower[i] : of_->upper[i]) - value_[i]) > of_->tolerance(i);
            }
            if (!off_) return;
            way_to_held();
            combine(J, 0, held_, d_, end_, z_);
            add(1, z_, x, 0, end_);
        }
    }

    void point_at(long i, double sign) {
        of_->normal(i, normal_);
        for (long j = 0; j < end_; j += lanes) store(normal_ + j, sign * load(normal_ + j));
    }

    // Is there no direction left, beside those held, in which the constraint behind d can be met? `least` is the share
    // of the square of d that counts as one.
    bool blocked(double least) {
        double size = 0;
        through_ = 0;
        for (long k = 0; k < held_; ++k) size += d_[k] * d_[k];
        for (long k = held_; k < m_; ++k) through_ += d_[k] * d_[k];
        return !(through_ > least * (size + through_));
    }

    long most_violated() {
        of_->evaluate(x, value_);
        long worst = -1;
        double most = 0;
        for (long i = 0; i < of_->count; ++i) {
            const double below = of_->lower[i] - value_[i], above = value_[i] - of_->upper[i];
            const double excess = below > above ? below : above;
            if (!(excess > most) || side[i] != 0 || infeasible_[i] || !(excess > of_->tolerance(i))) continue;
            worst = i, most = excess;
        }
        excess_ = most;
        return worst;
    }

    // Moves until constraint `next` is met, letting go of others whose multipliers vanish on the way.
    bool add_constraint(long next, int most) {
        const double sign = value_[next] < of_->lower[next] ? 1 : -1;
        double missing = sign > 0 ? of_->lower[next] - value_[next] : value_[next] - of_->upper[next];
        point_at(next, sign);
        double own = 0;  // its multiplier
        while (iterations++ < most) {
            multiply(J, m_, normal_, end_, d_);
            const bool stuck = blocked(1e-18);
            const double full = stuck ? HUGE_VAL : missing / through_;
            long leave = -1;
            const double partial = first_to_vanish(leave);
            if (stuck && leave < 0) return false;
            const double step = partial < full ? partial : full;
            if (!stuck) {
                combine(J, held_, m_, d_, end_, z_);
                add(step, z_, x, 0, end_);
                missing -= step * through_;
            }
            for (long k = 0; k < held_; ++k) u_[k] -= step * r_[k];
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
        for (long j = 0; j < held_; ++j) r_[j] = d_[j];
        double least = HUGE_VAL;
        for (long j = held_ - 1; j >= 0; --j) {
            r_[j] /= R_[j][j];
            for (long i = 0; i < j; ++i) r_[i] -= r_[j] * R_[j][i];
            if (r_[j] > 0 && u_[j] < least * r_[j]) least = u_[j] / r_[j], leave = j;
        }
        return least;
    }

    // Adds a constraint to those held: a reflection turns d beyond the held ones onto one direction.
    void activate(long next, double sign, double multiplier) {
        const long end = padded(m_);
        for (long j = m_; j < end; ++j) d_[j] = 0;
        double length;
        const double tau = reflector(d_, held_, end, normal_, length);
        add(-length, J[held_], z_, 0, end_);  // z holds the sum of d[k] J[k] already
        for (long k = held_; k < m_; ++k) add(-tau * normal_[k], z_, J[k], 0, end_);
        for (long i = 0; i < held_; ++i) R_[held_][i] = d_[i];
        R_[held_][held_] = length;
        u_[held_] = multiplier;
        which_[held_] = static_cast<int>(next);
        side[next] = sign;
        ++held_;
    }

    // Removes the constraint at place l and makes R triangular again.
    void drop(long l) {
        side[which_[l]] = 0;
        --held_;
        for (long j = l; j < held_; ++j) {
            memcpy(R_[j], R_[j + 1], sizeof(double) * static_cast<std::size_t>(held_ + 1));
            u_[j] = u_[j + 1];
            which_[j] = which_[j + 1];
        }
        for (long i = l; i < held_; ++i) {
            const double a = R_[i][i], b = R_[i][i + 1], length = __builtin_sqrt(a * a + b * b);
            const double c = length > 0 ? a / length : 1, s = length > 0 ? b / length : 0;
            for (long j = i; j < held_; ++j) {
                const double v = R_[j][i], w = R_[j][i + 1];
                R_[j][i] = c * v + s * w, R_[j][i + 1] = c * w - s * v;
            }
            for (long j = 0; j < end_; j += lanes) {
                const Pack::Vector v = load(J[i] + j), w = load(J[i + 1] + j);
                store(J[i] + j, c * v + s * w), store(J[i + 1] + j, c * w - s * v);
            }
        }
    }

    const Constraints* of_ = nullptr;
    long m_ = 0, end_ = 0, held_ = 0;
    double through_ = 0;  // square of the part of d beyond what is held
    double excess_ = 0;   // of what is most violated
    bool off_ = false;    // rounding keeps what is held from being met
    Matrix R_;            // row j: column j of the triangular factor of the held constraints
    double *start_, *u_, *normal_, *d_, *r_, *z_, *value_;
    int* which_;        // constraint behind each multiplier
    char* infeasible_;  // constraints that cannot be met
};

}  // namespace kinodyn::KINODYN_TARGET
