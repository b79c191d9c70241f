// Least squares in strict order: each level does what it can in the directions that the levels above leave, within
// bounds and inequalities that hold throughout.
//
// An orthonormal basis N of the free directions is carried from level to level (O. Kanoun, F. Lamiraux, P.-B. Wieber,
// "Kinematic control of redundant manipulators: generalizing the task-priority framework to inequality task", 2011, has
// the formulation; the elimination by an orthogonal basis follows A. Escande, N. Mansard, P.-B. Wieber, "Hierarchical
// quadratic programming", 2014). So a lower level cannot disturb a higher one by more than rounding. Zero is always an
// admissible motion in N: no level can be infeasible.
#pragma once

#include "solver/active_set.hpp"
#include "solver/basis.hpp"
#include "solver/objective.hpp"

namespace kinodyn::KINODYN_TARGET {

class Hierarchy {
  public:
    static long words(long n, long rows, long inequalities) {
        const long most = rows + n;
        return 2 * Memory::words(most, n + lanes) + Memory::words(padded(n), n) + Memory::words(n, n) +
               Basis::words(n, most) + Memory::words(inequalities, n) + 7 * padded(n) + lanes + 7 * padded(most) +
               padded(inequalities) + ActiveSet::words(n + inequalities, n + inequalities);
    }

    // For n variables, levels of up to `rows` dense rows, and `inequalities` in all.
    void take(Memory& memory, long variables, long rows, long inequalities) {
        n_ = variables;
        const long most = rows + n_;
        B_ = memory.matrix(most, n_);
        by_.V = memory.matrix(most, n_ + lanes);
        H_ = memory.matrix(padded(n_), n_);
        by_.products = memory.matrix(n_, n_);
        basis_.take(memory, n_, most);
        C_ = memory.matrix(inequalities, n_);
        for (double** v : {&x_, &lower_, &upper_, &y_, &move_, &inverse_, &turned_}) *v = memory.take(n_);
        for (double** v : {&rest_, &by_.tau, &norm_, &first_, &left_, &least_}) *v = memory.take(most);
        rows_ = reinterpret_cast<double**>(memory.take(most));
        most_ = memory.take(inequalities);
        set_.take(memory, n_ + inequalities, n_ + inequalities);
        own_ = set_.G;
    }

    // Begins with nothing asked for: x is the point nearest to zero between the bounds.
    void start(const double* lower, const double* upper) {
        free_ = n_;
        basis_.start();
        kept_ = 0;
        iterations_ = 0;
        const long end = padded(n_);
        for (long i = 0; i < end; ++i) x_[i] = y_[i] = move_[i] = 0;
        for (long i = 0; i < n_; ++i) {
            lower_[i] = lower[i], upper_[i] = upper[i];
            x_[i] = lower[i] > 0 ? lower[i] : upper[i] < 0 ? upper[i] : 0;
        }
    }

    double* x() const { return x_; }
    int iterations() const { return iterations_; }

    // From now on C x <= most, or as little more than that as the levels above allow.
    void add_inequalities(const Matrix& C, const double* most, long rows) {
        const long end = padded(n_);
        bool broken = false;
        for (long i = 0; i < rows; ++i) {
            memcpy(C_[kept_ + i], C[i], sizeof(double) * static_cast<std::size_t>(end));
            most_[kept_ + i] = most[i];
            broken |= dot(C[i], x_, 0, end) > most[i];
        }
        if (broken && free_ > 0) relax(rows);
        kept_ += rows;
        for (long i = kept_ - rows; i < kept_; ++i) {
            const double now = dot(C_[i], x_, 0, end);
            if (now > most_[i]) most_[i] = now;
        }
    }

    // Brings the level as near as the rest allows, damped by `by_error` times the square `far` of its error, as if no
    // error were above 1 m or rad. After the last level no basis is kept.
    // `warm_start` says which bounds are likely to hold the level back, `active` takes those that did: 1 lower, -1
    // upper. They may be the same.
    void minimise(const Objective& level, double by_error, double far, bool last, const double* warm_start,
                  double* active) {
        warm_start_ = warm_start, limited_ = false;
        const long m = free_ > 0 ? residual(level) : 0;
        if (m > 0) {
            const double damping = damping_of(m, by_error, far);
            project(level);
            // few rows depend on few directions: those are worth finding even if nothing comes after
            if (last && 2 * m >= free_)
                minimise_all(m, damping);
            else
                minimise_some(m, damping, last);
        }
        for (long i = 0; i < n_; ++i) active[i] = limited_ ? set_.side[i] : 0;
    }

  private:
    // b - A x; returns the number of rows that ask for something.
    long residual(const Objective& level) {
        for (long i = 0; i < level.rows; ++i) {
            rest_[i] = level.b[i] - dot(level.A[i], x_, 0, padded(n_));
            norm_[i] = __builtin_sqrt(dot(level.A[i], level.A[i], 0, padded(n_)));
        }
        long m = level.rows;
        if (level.diagonal)
            for (long i = 0; i < n_; ++i)
                if (level.scale[i] != 0) {
                    norm_[m] = fabs(level.scale[i]);
                    rest_[m++] = level.offset[i] - level.scale[i] * x_[i];
                }
        return m;
    }

    // At least enough to have a best answer where the level alone leaves a choice, little beside what it asks for.
    double damping_of(long m, double by_error, double far) const {
        double longest = 0;
        for (long i = 0; i < m; ++i)
            if (norm_[i] > longest) longest = norm_[i];
        const double square = longest * longest;
        return 1e-10 * square + by_error * (far < square ? far : square) + 1e-200;
    }

    // B = A N, the level seen in the free directions.
    void project(const Objective& level) {
        by_.used = basis_.arrange(level.A, level.rows, level.diagonal ? level.scale : nullptr);
        basis_.project(level.A, level.rows, B_);
        long k = level.rows;
        for (long i = 0; level.diagonal && i < n_; ++i)
            if (level.scale[i] != 0) basis_.project(i, level.scale[i], B_[k++]);
    }

    // The last level, in all directions that are left.
    void minimise_all(long m, double damping) {
        normal_equations(m, damping);
        solve_normal(free_);
        basis_.move(y_, move_);
        if (!admissible()) within_limits(free_, damping);
        advance();
        basis_.drop_all();
        free_ = 0;
    }

    // A level of few rows: in the directions on which it depends, leaving the others.
    void minimise_some(long m, double damping, bool last) {
        const long rank = reduce(m);
        if (rank == 0) return;
        solve_triangular(m, rank, damping);
        by_.count = rank;
        by_.gather();
        by_.turn(y_, first_, turned_, free_);
        basis_.move(turned_, move_);
        const bool free_of_limits = admissible();
        if (last && free_of_limits) return advance();
        if (free_of_limits) {
            basis_.turn(by_, rank);
        } else {
            basis_.turn(by_, 0);
            within_limits(rank, damping);
            basis_.drop(rank);
        }
        free_ = basis_.free();
        advance();
    }

    void solve_normal(long size) {
        factor_symmetric(H_, size, inverse_);
        solve_symmetric(H_, size, inverse_, y_);
        for (long j = size; j < padded(n_); ++j) y_[j] = 0;
    }

    // B^T B + damping and B^T rest, for all free directions.
    void normal_equations(long m, double damping) {
        gram(B_, m, free_, H_);
        combine(B_, 0, m, rest_, padded(free_), y_);
        for (long j = 0; j < free_; ++j) H_[j][j] += damping;
    }

    // L^T L + damping, for as many directions as the level has rank.
    void solve_triangular(long m, long rank, double damping) {
        const long end = padded(rank);
        for (long i = 0; i < m; ++i)
            for (long j = rank; j < end; ++j) B_[i][j] = 0;
        combine(B_, 0, m, rest_, end, y_);
        gram(B_, m, rank, H_);
        for (long j = 0; j < rank; ++j) H_[j][j] += damping;
        solve_normal(rank);
    }

    // Reflections from the right that make B lower triangular, the largest row first; returns the rank. A row counts
    // as spent when what is left of it is rounding beside the row as it was given.
    long reduce(long m) {
        constexpr double spent = 1e-20;  // of squares
        const long used = by_.used, end = padded(used);
        for (long i = 0; i < m; ++i) {
            rows_[i] = B_[i];
            least_[i] = spent * norm_[i] * norm_[i];
            first_[i] = dot(B_[i], B_[i], 0, end);
            left_[i] = first_[i] > least_[i] ? first_[i] : 0;
        }
        for (long k = 0; k < m && k < used; ++k) {
            long best = k;
            for (long i = k + 1; i < m; ++i)
                if (left_[i] > left_[best]) best = i;
            if (left_[best] == 0) return k;
            for (double* x : {least_, first_, left_}) swap(x[best], x[k]);
            swap(rows_[best], rows_[k]);
            double length;
            clear_row(by_.V[k], block_of(k));
            clear_row(by_.V[k] + end, lanes);
            by_.tau[k] = reflector(rows_[k], k, end, by_.V[k], length);
            reflect(rows_ + k + 1, m - k - 1, by_.V[k], by_.tau[k], block_of(k), end);
            rows_[k][k] = length;
            for (long j = k + 1; j < end; ++j) rows_[k][j] = 0;
            for (long i = k + 1; i < m; ++i) shorten(i, k);
        }
        return m < used ? m : used;
    }
    // What is left of a row beyond element k; computed anew where the difference has lost its digits.
    void shorten(long i, long k) {
        constexpr double doubtful = 1e-6;
        const double* b = rows_[i];
        left_[i] -= b[k] * b[k];
        if (left_[i] > doubtful * first_[i]) return;
        double square = 0;
        for (long j = k + 1; j < by_.used; ++j) square += b[j] * b[j];
        first_[i] = square;
        left_[i] = square > least_[i] ? square : 0;
    }
    template <class X>
    static void swap(X& a, X& b) {
        const X old = a;
        a = b, b = old;
    }

    bool admissible() const {
        for (long i = 0; i < n_; ++i) {
            const double to = x_[i] + move_[i];
            if (!(to >= lower_[i] - ActiveSet::tolerance && to <= upper_[i] + ActiveSet::tolerance)) return false;
        }
        for (long i = 0; i < kept_; ++i) {
            const double to = dot(C_[i], x_, 0, padded(n_)) + dot(C_[i], move_, 0, padded(n_));
            if (!(to <= most_[i] + ActiveSet::tolerance)) return false;
        }
        return true;
    }

    // The bounds, and the first `kept` inequalities, as constraints on motion along the free directions.
    void constrain(long kept, long variables) {
        const long end = padded(variables), used = padded(free_);
        const Matrix& N = basis_.whole();
        set_.n = variables, set_.m = n_ + kept;
        set_.J.stride = set_.R.stride = own_.stride = end;
        set_.G = kept == 0 ? N : own_;
        for (long i = 0; i < n_; ++i) {
            if (kept > 0) {
                memcpy(own_[i], N[i], sizeof(double) * static_cast<std::size_t>(used));
                for (long j = used; j < end; ++j) own_[i][j] = 0;
            }
            const double down = lower_[i] - x_[i], up = upper_[i] - x_[i];
            set_.lower[i] = down < 0 ? down : 0, set_.upper[i] = up > 0 ? up : 0;
            set_.guess[i] = warm_start_ ? warm_start_[i] : 0;
        }
        for (long i = 0; i < kept; ++i) {
            double* row = set_.G[n_ + i];
            for (long j = 0; j < end; ++j) row[j] = 0;
            for (long k = 0; k < n_; ++k) add(C_[i][k], N[k], row, 0, used);
            const double up = most_[i] - dot(C_[i], x_, 0, padded(n_));
            set_.lower[n_ + i] = -HUGE_VAL, set_.upper[n_ + i] = up > 0 ? up : 0;
            set_.guess[n_ + i] = 0;
        }
        for (long k = 0; k < variables; ++k) memset(set_.J[k], 0, sizeof(double) * static_cast<std::size_t>(end));
        for (long j = 0; j < end; ++j) set_.y[j] = 0;
    }

    // The level again, this time with limits. The factor of its Hessian is in H_; directions beyond `rank` are damped
    // only.
    void within_limits(long rank, double damping) {
        constrain(kept_, free_);
        for (long k = 0; k < rank; ++k) {  // J = L^-1, row by row
            double* row = set_.J[k];
            for (long i = 0; i < k; ++i) add(-H_[i][k], set_.J[i], row, 0, block_of(i) + lanes);
            for (long j = 0; j < k; ++j) row[j] *= inverse_[k];
            row[k] = inverse_[k];
        }
        for (long k = rank; k < free_; ++k) set_.J[k][k] = 1 / __builtin_sqrt(damping);
        for (long j = 0; j < rank; ++j) set_.y[j] = y_[j];
        finish();
        limited_ = true;
    }

    // As little beyond the new inequalities as can be: each has a slack of its own, far dearer than motion.
    void relax(long rows) {
        constexpr double cheap = 1e-8;
        const long before = kept_;
        warm_start_ = nullptr;
        constrain(before + rows, free_ + rows);
        for (long k = 0; k < free_; ++k) set_.J[k][k] = 1 / __builtin_sqrt(cheap);
        for (long i = 0; i < rows; ++i) {
            const long slack = free_ + i, row = n_ + before + i;
            set_.J[slack][slack] = 1;
            set_.G[row][slack] = -1;
            set_.upper[row] = most_[before + i] - dot(C_[before + i], x_, 0, padded(n_));
        }
        finish();
        advance();
    }

    void finish() {
        const bool met = set_.solve();
        iterations_ += set_.iterations;
        basis_.move(set_.y, move_);
        if (!met) shorten_move();
    }
    // Rounding stood in the way of a constraint: goes as far in this direction as the limits allow, give or take a
    // little rounding.
    void shorten_move() {
        constexpr double little = 1e-11;
        double share = 1;
        const auto shorten = [&](double change, double down, double up) {
            if (change > up + little && up < share * change) share = up / change;
            if (change < down - little && down > share * change) share = down / change;
        };
        for (long i = 0; i < n_; ++i) shorten(move_[i], set_.lower[i], set_.upper[i]);
        for (long i = 0; i < kept_; ++i) shorten(dot(C_[i], move_, 0, padded(n_)), -HUGE_VAL, set_.upper[n_ + i]);
        for (long i = 0; i < n_; ++i) move_[i] *= share;
    }

    void advance() {
        for (long i = 0; i < n_; ++i) {
            const double to = x_[i] + move_[i];
            x_[i] = to < lower_[i] ? lower_[i] : to > upper_[i] ? upper_[i] : to;
        }
    }

    long n_ = 0, free_ = 0, kept_ = 0;
    int iterations_ = 0;
    Basis basis_;     // of the free directions
    Reflections by_;  // those of the level at work
    Matrix B_, H_, C_;
    Matrix own_;  // constraints, where there are more than bounds
    double *x_, *lower_, *upper_, *y_, *move_, *inverse_, *turned_;
    double *rest_, *norm_, *first_, *left_, *least_, *most_;
    double** rows_;
    const double* warm_start_ = nullptr;
    bool limited_ = false;  // bounds held the level back
    ActiveSet set_;
};

}  // namespace kinodyn::KINODYN_TARGET
