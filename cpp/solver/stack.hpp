// Least squares in order of priority, for few levels, under constraints that are written in terms of x.
//
// An orthonormal basis Z of the directions that are still free is carried from level to level, so that a lower level
// cannot disturb a higher one by more than rounding (A. Escande, N. Mansard, P.-B. Wieber, "Hierarchical quadratic
// programming", 2014). What must hold exactly is the first of the levels.
#pragma once

#include "solver/elimination.hpp"
#include "solver/lazy_set.hpp"
#include "solver/objective.hpp"

namespace kinodyn::KINODYN_TARGET {

// The upper half of C^T C, for m rows and n columns.
inline void square_of(const Matrix& C, long m, long n, const Matrix& H) {
    for (long i = 0; i < n; i += 4) {
        for (long j = block_of(i); j < padded(n); j += lanes) {
            Pack::Vector total[4] = {};
            for (long k = 0; k < m; ++k) {
                const double* row = C[k];
                const Pack::Vector b = load(row + j);
                for (int r = 0; r < 4; ++r) total[r] += row[i + r] * b;
            }
            for (long r = 0; r < 4 && i + r < n; ++r) store(H[i + r] + j, total[r]);
        }
    }
}

// X = U^-T X, for n rows of `end` columns (padded): four rows at a time.
inline void solve_lower(const Matrix& U, long n, const double* inverse, const Matrix& X, long end) {
    for (long i = 0; i < n; i += 4) {
        const long count = n - i < 4 ? n - i : 4;
        for (long j = 0; j < end; j += lanes) {
            Pack::Vector total[4] = {};
            for (long k = 0; k < i; ++k) {
                const Pack::Vector b = load(X[k] + j);
                for (long r = 0; r < 4; ++r) total[r] += U[k][i + (r < count ? r : 0)] * b;
            }
            for (long r = 0; r < count; ++r) {
                Pack::Vector own = load(X[i + r] + j) - total[r];
                for (long k = 0; k < r; ++k) own -= U[i + k][i + r] * load(X[i + k] + j);
                store(X[i + r] + j, inverse[i + r] * own);
            }
        }
    }
}

template <class Constraints>
class Stack {
  public:
    // For n variables, levels of up to `rows` dense rows, and `slacks` more variables in `relax`.
    static long words(long n, long rows, long constraints, long slacks) {
        const long most = rows + n;
        return Memory::words(most, n + lanes) + 4 * Memory::words(n, n + lanes) + Elimination::words(most, n) +
               2 * padded(most) + 6 * padded(n + lanes) + LazySet<Constraints>::words(n + slacks, constraints);
    }
    void take(Memory& memory, long n, long rows, long constraints, long slacks) {
        const long most = rows + n;
        B_ = memory.matrix(most, n + lanes);
        for (Matrix* M : {&Z_, &next_, &H_, &W_}) *M = memory.matrix(n, n + lanes);
        turns_.take(memory, most, n);
        for (double** v : {&rest_, &norm_}) *v = memory.take(most);
        for (double** v : {&x_, &y_, &move_, &inverse_, &turned_, &more_}) *v = memory.take(n + lanes);
        set_.take(memory, n + slacks, constraints);
    }

    double* x() const { return x_; }
    int iterations() const { return iterations_; }
    long free() const { return free_; }

    // Begins with rows A x = b that must hold, or come as near as they can. They depend on `count` columns only.
    void start(long n, const Matrix& A, const double* b, long rows, const int* columns, long count,
               double rank_tolerance) {
        n_ = n, iterations_ = 0;
        for (long i = 0; i < rows; ++i) {
            for (long j = 0; j < count; ++j) B_[i][j] = A[i][columns[j]];
            for (long j = count; j < padded(count); ++j) B_[i][j] = 0;
            norm_[i] = __builtin_sqrt(dot(B_[i], B_[i], 0, padded(count)));
        }
        turns_.reduce(B_, rows, count, norm_, rank_tolerance);
        turns_.solve(B_, rows, b, 0, y_);
        turns_.turn(y_, count, turned_);
        const long rank = turns_.rank;
        free_ = n - rank;
        clear_row(x_, padded(n));
        for (long i = 0; i < n; ++i) clear_row(Z_[i], padded(free_));
        // the turned basis of these columns without its first `rank` directions
        multiply(turns_.T, rank, rank, turns_.V, padded(count), W_);
        for (long i = 0; i < count; ++i) {
            double* row = Z_[columns[i]];
            x_[columns[i]] = turned_[i];
            for (long j = rank; j < count; ++j) {
                double total = i == j;
                for (long k = 0; k < rank; ++k) total -= turns_.V[k][i] * W_[k][j];
                row[j - rank] = total;
            }
        }
        long place = count - rank;
        for (long i = 0, used = 0; i < n; ++i) {
            if (used < count && columns[used] == i)
                ++used;
            else
                Z_[i][place++] = 1;
        }
    }

    // More rows that must hold.
    void add_equalities(const Matrix& A, const double* b, long rows, double rank_tolerance) {
        project(A, b, rows);
        turns_.reduce(B_, rows, free_, norm_, rank_tolerance);
        turns_.solve(B_, rows, rest_, 0, y_);
        move_by_turned();
        leave_directions();
    }

    // Brings a level as near as the rest allows, and leaves to later levels the directions on which it does not depend;
    // after the last one there are none. `damping` is for levels that are not the last. False if a constraint could
    // not be met. `warm_start` and `active` are like LazySet::side.
    bool minimise(const Objective& objective, double damping, bool last, const Constraints& constraints,
                  const double* warm_start, double* active, bool best_effort) {
        for (long i = 0; i < constraints.count; ++i) set_.side[i] = warm_start[i];
        const long m = project(objective);
        const bool met =
            last ? minimise_all(m, constraints, best_effort) : minimise_some(m, damping, constraints, best_effort);
        for (long i = 0; i < constraints.count; ++i) active[i] = set_.side[i];
        return met;
    }

    // Finds the least violation of what the constraints call elastic, the others being met, and allows for it.
    void relax(Constraints& constraints, const double* warm_start, double* active) {
        const long n = n_ + constraints.set_elastic(true);
        const long end = padded(n);
        for (long k = 0; k < n - n_ + free_; ++k) clear_row(set_.J[k], end);
        for (long i = 0; i < n_; ++i)
            for (long k = 0; k < free_; ++k) set_.J[k][i] = Z_[i][k] / motion_weight;
        for (long k = 0; k < n - n_; ++k) set_.J[free_ + k][n_ + k] = 1;
        clear_row(set_.x, end);
        for (long i = 0; i < n_; ++i) set_.x[i] = x_[i];
        set_.solve(constraints, n - n_ + free_, n, warm_start, true);
        for (long i = 0; i < constraints.count; ++i) active[i] = set_.side[i];
        iterations_ += set_.iterations;
        for (long i = 0; i < n_; ++i) x_[i] = set_.x[i];
        constraints.set_elastic(false);
        constraints.widen_to(x_);
    }

  private:
    static constexpr double motion_weight = 1e-3;  // what motion costs beside violation
    // what motion costs that serves a level only by way of constraints, beside motion that serves it directly
    static constexpr double detour = 10;

    // B = A Z and what is missing of b.
    void project(const Matrix& A, const double* b, long rows) {
        multiply(A, rows, n_, Z_, padded(free_), B_);
        const long end = padded(n_);
        for (long i = 0; i < rows; ++i) {
            rest_[i] = b[i] - dot(A[i], x_, 0, end);
            norm_[i] = __builtin_sqrt(dot(A[i], A[i], 0, end));
        }
    }
    long project(const Objective& objective) {
        project(objective.A, objective.b, objective.rows);
        long m = objective.rows;
        const long end = padded(free_);
        for (long i = 0; objective.diagonal && i < n_; ++i) {
            const double s = objective.scale[i];
            if (s == 0) continue;
            for (long j = 0; j < end; j += lanes) store(B_[m] + j, s * load(Z_[i] + j));
            norm_[m] = fabs(s);
            rest_[m++] = objective.offset[i] - s * x_[i];
        }
        return m;
    }

    // The last level, in all directions that are left.
    bool minimise_all(long m, const Constraints& constraints, bool best_effort) {
        for (long k = 0; k < m; ++k)  // square_of reads whole blocks of four
            for (long j = padded(free_); j < free_ + 3; ++j) B_[k][j] = 0;
        square_of(B_, m, free_, H_);
        stiffen(H_, free_, 0);
        factor_symmetric(H_, free_, inverse_);
        const long end = padded(free_);
        clear_row(y_, end);
        for (int pass = 0; pass < 2; ++pass) {  // once more with what is missing: normal equations lose digits
            clear_row(turned_, end);
            for (long i = 0; i < m; ++i) add(rest_[i] - (pass ? dot(B_[i], y_, 0, end) : 0), B_[i], turned_, 0, end);
            solve_symmetric(H_, free_, inverse_, turned_);
            for (long j = 0; j < free_; ++j) y_[j] += turned_[j];
        }
        multiply(Z_, n_, y_, end, move_);
        bool met = true;
        if (!arrive(constraints)) met = within(H_, inverse_, free_, 1, constraints, best_effort);
        free_ = 0;
        return met;
    }

    // A level of few rows: in the directions on which it depends, leaving the others.
    bool minimise_some(long m, double damping, const Constraints& constraints, bool best_effort) {
        constexpr double rank_tolerance = 1e-6;
        turns_.reduce(B_, m, free_, norm_, rank_tolerance);
        turns_.solve(B_, m, rest_, damping, y_);
        turned_move();
        bool met = true;
        if (arrive(constraints)) {
            leave_directions();
        } else {
            const long rank = turns_.rank;
            turn_basis();
            const double null_space_weight = detour * __builtin_sqrt(damping);
            met = within(turns_.factor(), turns_.inverse(), rank, null_space_weight, constraints, best_effort);
            drop_directions(rank);
        }
        return met;
    }

    void turned_move() {
        turns_.turn(y_, free_, turned_);
        multiply(Z_, n_, turned_, padded(free_), move_);
    }
    void move_by_turned() {
        turned_move();
        for (long i = 0; i < n_; ++i) x_[i] += move_[i];
    }

    // Goes along `move_` if no constraint stands against it; else x stays.
    bool arrive(const Constraints& constraints) {
        const long end = padded(n_);
        for (long i = 0; i < end; i += lanes) store(more_ + i, load(x_ + i) + load(move_ + i));
        if (!constraints.satisfied(more_)) return false;
        for (long i = 0; i < constraints.count; ++i) set_.side[i] = 0;
        memcpy(x_, more_, sizeof(double) * static_cast<std::size_t>(end));
        return true;
    }

    // The level again, this time under constraints. `factor` belongs to its Hessian in the first `rank` directions of
    // Z; along the others motion costs `null_space_weight`.
    bool within(const Matrix& factor, const double* inverse, long rank, double null_space_weight,
                const Constraints& constraints, bool best_effort) {
        const long end = padded(n_);
        for (long k = 0; k < free_; ++k) {
            const double scale = k < rank ? 1 : 1 / null_space_weight;
            for (long i = 0; i < n_; ++i) set_.J[k][i] = scale * Z_[i][k];
            for (long i = n_; i < end; ++i) set_.J[k][i] = 0;
        }
        solve_lower(factor, rank, inverse, set_.J, end);
        memcpy(set_.x, more_, sizeof(double) * static_cast<std::size_t>(end));
        const bool met = set_.solve(constraints, free_, n_, set_.side, best_effort);
        iterations_ += set_.iterations;
        // where rounding stood in the way: towards the answer as far as constraints allow
        const double share = met || !best_effort ? 1 : constraints.max_step(x_, set_.x);
        for (long i = 0; i < n_; ++i) x_[i] += share * (set_.x[i] - x_[i]);
        return met;
    }

    // Z without the directions on which the rows depend.
    void leave_directions() {
        const long rank = turns_.rank, now = free_ - rank, end = padded(now);
        const Matrix rest = {turns_.V.data + rank, turns_.V.rows, turns_.V.columns, turns_.V.stride};
        multiply_transposed(Z_, n_, turns_.V, rank, padded(free_), H_);
        for (long i = 0; i < n_; ++i)
            for (long j = 0; j < end; j += lanes) store(next_[i] + j, load(Z_[i] + rank + j));
        multiply(turns_.T, rank, rank, rest, end, W_);
        multiply<true>(H_, n_, rank, W_, end, next_);
        for (long i = 0; i < n_; ++i)
            for (long j = now; j < end; ++j) next_[i][j] = 0;
        const Matrix old = Z_;
        Z_ = next_, next_ = old;
        free_ = now;
    }

    // Z in the directions of the reflections: those on which the rows depend come first.
    void turn_basis() {
        const long rank = turns_.rank, end = padded(free_);
        multiply_transposed(Z_, n_, turns_.V, rank, end, H_);
        multiply(turns_.T, rank, rank, turns_.V, end, W_);
        multiply<true>(H_, n_, rank, W_, end, Z_);
    }
    void drop_directions(long rank) {
        const long now = free_ - rank, end = padded(free_);
        for (long i = 0; i < n_; ++i) {
            memmove(Z_[i], Z_[i] + rank, sizeof(double) * static_cast<std::size_t>(now));
            for (long j = now; j < end; ++j) Z_[i][j] = 0;
        }
        free_ = now;
    }

    long n_ = 0, free_ = 0;
    int iterations_ = 0;
    Matrix B_, Z_, next_, H_, W_;
    Elimination turns_;
    double *rest_, *norm_, *x_, *y_, *move_, *inverse_, *turned_, *more_;
    LazySet<Constraints> set_;
};

}  // namespace kinodyn::KINODYN_TARGET
