// Least squares in strict order: each level does what it can in the directions that the levels above leave, within
// bounds and inequalities that hold throughout.
//
// An orthonormal basis N of the free directions is carried from level to level (O. Kanoun, F. Lamiraux, P.-B. Wieber,
// "Kinematic control of redundant manipulators: generalizing the task-priority framework to inequality task", 2011, has
// the formulation; the elimination by an orthogonal basis follows A. Escande, N. Mansard, P.-B. Wieber, "Hierarchical
// quadratic programming", 2014). So a lower level cannot disturb a higher one by more than rounding. Zero is always an
// admissible motion in N: no level can be infeasible.
#pragma once

#include "active_set.hpp"

namespace kinodyn::KINODYN_TARGET {

// What a level asks for: A x = b for `rows` rows and, where `scale` is given, scale_i x_i = offset_i.
struct Level {
    Matrix A;
    double* b;
    long rows = 0;
    double *scale = nullptr, *offset = nullptr;
    double* way = nullptr;  // memory for whoever fills the level, n numbers
};

class Hierarchy {
  public:
    static long words(long n, long rows, long inequalities) {
        const long most = rows + n;
        return 2 * Memory::words(most, n + lanes) + 6 * Memory::words(n, n) + Memory::words(inequalities, n) +
               7 * padded(n) + lanes + 7 * padded(most) + padded(inequalities) +
               ActiveSet::words(n + inequalities, n + inequalities);
    }

    // For n variables, levels of up to `rows` dense rows, and `inequalities` in all.
    void take(Memory& memory, long variables, long rows, long inequalities) {
        n_ = variables;
        const long most = rows + n_;
        B_ = memory.matrix(most, n_);
        V_ = memory.matrix(most, n_ + lanes);
        for (Matrix* M : {&N_, &next_, &H_, &T_, &W_, &X_}) *M = memory.matrix(n_, n_);
        C_ = memory.matrix(inequalities, n_);
        for (double** v : {&x_, &lower_, &upper_, &y_, &move_, &inverse_, &turned_}) *v = memory.take(n_);
        for (double** v : {&rest_, &tau_, &norm_, &first_, &left_}) *v = memory.take(most);
        rows_ = reinterpret_cast<double**>(memory.take(most));
        order_ = reinterpret_cast<int*>(memory.take(most));
        most_ = memory.take(inequalities);
        set_.take(memory, n_ + inequalities, n_ + inequalities);
    }

    // Begins with nothing asked for: x is the point nearest to zero between the bounds.
    void start(const double* lower, const double* upper) {
        free_ = n_;
        whole_ = true;
        kept_ = 0;
        iterations_ = 0;
        const long end = padded(n_);
        for (long i = 0; i < end; ++i) x_[i] = y_[i] = move_[i] = 0;
        for (long i = 0; i < n_; ++i) {
            lower_[i] = lower[i], upper_[i] = upper[i];
            x_[i] = lower[i] > 0 ? lower[i] : upper[i] < 0 ? upper[i] : 0;
        }
        clear(N_);
        for (long i = 0; i < n_; ++i) N_[i][i] = 1;
    }

    double* x() const { return x_; }
    int iterations() const { return iterations_; }

    // From now on C x <= most, or as little more than that as the levels above allow.
    void bound(const Matrix& C, const double* most, long rows) {
        const long end = padded(n_);
        bool broken = false;
        for (long i = 0; i < rows; ++i) {
            memcpy(C_[kept_ + i], C[i], sizeof(double) * static_cast<std::size_t>(end));
            most_[kept_ + i] = most[i];
            broken |= dot(C[i], x_, 0, end) > most[i];
        }
        if (broken && free_ > 0) come_near(rows);
        kept_ += rows;
        for (long i = kept_ - rows; i < kept_; ++i) {
            const double now = dot(C_[i], x_, 0, end);
            if (now > most_[i]) most_[i] = now;
        }
    }

    // Brings the level as near as the rest allows, damped by `by_error` times the square `far` of its error, as if no
    // error were above 1 m or rad. After the last level no basis is kept.
    // `guess` says which bounds are likely to hold the level back, `held` takes those that did: 1 lower, -1 upper. They
    // may be the same.
    void pursue(const Level& level, double by_error, double far, bool last, const double* guess, double* held) {
        guess_ = guess, limited_ = false;
        const long m = free_ > 0 ? residual(level) : 0;
        if (m > 0) {
            const double damping = damping_of(m, by_error, far);
            project(level);
            // few rows depend on few directions: those are worth finding even if nothing comes after
            if (last && 2 * m >= free_)
                pursue_all(m, damping);
            else
                pursue_some(m, damping, last);
        }
        for (long i = 0; i < n_; ++i) held[i] = limited_ ? set_.side[i] : 0;
    }

    // The square of the longest row of a level: what turns its weighted errors into metres or radians.
    double square_of_rows(const Level& level) const {
        double most = 0;
        for (long i = 0; i < level.rows; ++i) {
            const double square = dot(level.A[i], level.A[i], 0, padded(n_));
            if (square > most) most = square;
        }
        for (long i = 0; level.scale && i < n_; ++i)
            if (level.scale[i] * level.scale[i] > most) most = level.scale[i] * level.scale[i];
        return most;
    }

    // The square of what a level misses after the motion x, or without motion; of inequalities what is beyond.
    double missing(const Level& level, bool inequalities, bool moved) const {
        double total = 0;
        for (long i = 0; i < level.rows; ++i) {
            const double rest = level.b[i] - (moved ? dot(level.A[i], x_, 0, padded(n_)) : 0);
            if (!inequalities || rest < 0) total += rest * rest;
        }
        for (long i = 0; level.scale && i < n_; ++i) {
            const double rest = level.offset[i] - (moved ? level.scale[i] * x_[i] : 0);
            total += rest * rest;
        }
        return total;
    }

  private:
    // b - A x; returns the number of rows that ask for something.
    long residual(const Level& level) {
        for (long i = 0; i < level.rows; ++i) {
            rest_[i] = level.b[i] - dot(level.A[i], x_, 0, padded(n_));
            norm_[i] = __builtin_sqrt(dot(level.A[i], level.A[i], 0, padded(n_)));
        }
        long m = level.rows;
        if (level.scale)
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
    void project(const Level& level) {
        const long end = padded(free_);
        if (whole_)
            for (long i = 0; i < level.rows; ++i)
                memcpy(B_[i], level.A[i], sizeof(double) * static_cast<std::size_t>(end));
        else
            multiply(level.A, level.rows, n_, N_, end, B_);
        long k = level.rows;
        for (long i = 0; level.scale && i < n_; ++i) {
            if (level.scale[i] == 0) continue;
            for (long j = 0; j < end; j += lanes) store(B_[k] + j, level.scale[i] * load(N_[i] + j));
            ++k;
        }
        used_ = free_;
        // most levels of a robot that stands leave its arms alone: then the directions of those need no turning
        if (whole_) used_ = last_used(k);
    }
    long last_used(long rows) const {
        long used = 1;
        for (long i = 0; i < rows; ++i)
            for (long j = free_ - 1; j >= used; --j)
                if (B_[i][j] != 0) used = j + 1;
        return used;
    }

    // The last level, in all directions that are left.
    void pursue_all(long m, double damping) {
        normal_equations(m, damping);
        solve_normal(free_);
        multiply(N_, n_, y_, padded(free_), move_);
        if (!admissible()) within_limits(free_, damping);
        advance();
        free_ = 0;
    }

    // A level of few rows: in the directions on which it depends, leaving the others.
    void pursue_some(long m, double damping, bool last) {
        const long rank = reduce(m);
        if (rank == 0) return;
        solve_triangular(m, rank, damping);
        gather_reflections(rank);
        turn(rank);
        multiply(N_, n_, turned_, padded(free_), move_);
        const bool free_of_limits = admissible();
        if (last && free_of_limits) return advance();
        spread(rank);
        if (free_of_limits) {
            leave_directions(rank);
        } else {
            turn_basis(rank);
            within_limits(rank, damping);
            drop_directions(rank);
        }
        whole_ = false;
        advance();
    }

    void solve_normal(long size) {
        factor_symmetric(H_, size, inverse_);
        solve_symmetric(H_, size, inverse_, y_);
        for (long j = size; j < padded(n_); ++j) y_[j] = 0;
    }

    // B^T B + damping and B^T rest, for all free directions.
    void normal_equations(long m, double damping) {
        const long end = padded(free_);
        for (long j = 0; j < free_; ++j) clear_row(H_[j], end);
        clear_row(y_, end);
        for (long i = 0; i < m; ++i) {
            for (long j = 0; j < free_; ++j) add(B_[i][j], B_[i], H_[j], 0, block_of(j) + lanes);
            add(rest_[i], B_[i], y_, 0, end);
        }
        for (long j = 0; j < free_; ++j) H_[j][j] += damping;
    }

    // L^T L + damping, for as many directions as the level has rank.
    void solve_triangular(long m, long rank, double damping) {
        const long end = padded(rank);
        for (long j = 0; j < rank; ++j) clear_row(H_[j], end);
        clear_row(y_, end);
        for (long i = 0; i < m; ++i) {
            double* row = B_[order_[i]];
            for (long j = rank; j < end; ++j) row[j] = 0;
            const long filled = i < rank ? i + 1 : rank;
            for (long j = 0; j < filled; ++j) add(row[j], row, H_[j], 0, block_of(j) + lanes);
            add(rest_[order_[i]], row, y_, 0, end);
        }
        for (long j = 0; j < rank; ++j) H_[j][j] += damping;
        solve_normal(rank);
    }

    // The product of the reflections is I - V^T T V with a triangular T (R. Schreiber, C. Van Loan, "A
    // storage-efficient WY representation for products of Householder transformations", 1989).
    void gather_reflections(long rank) {
        const long end = padded(used_);
        for (long i = 0; i < rank; ++i) clear_row(T_[i], padded(rank));
        for (long k = 0; k < rank; ++k) {
            for (long j = 0; j < k; ++j) first_[j] = dot(V_[k], V_[j], block_of(k), end);
            for (long i = 0; i < k; ++i) {
                double total = 0;
                for (long j = i; j < k; ++j) total += T_[i][j] * first_[j];
                T_[i][k] = -tau_[k] * total;
            }
            T_[k][k] = tau_[k];
        }
    }

    // What y is in the directions as they were before the reflections.
    void turn(long rank) {
        const long end = padded(used_);
        multiply(V_, rank, y_, padded(rank), first_);
        for (long i = 0; i < rank; ++i) {
            double total = 0;
            for (long j = i; j < rank; ++j) total += T_[i][j] * first_[j];
            left_[i] = -total;
        }
        combine(V_, 0, rank, left_, end, turned_);
        for (long j = 0; j < rank; ++j) turned_[j] += y_[j];
        for (long j = end; j < padded(free_); ++j) turned_[j] = 0;
    }

    // W = N V^T. While the basis is the identity, rows beyond `used_` are zero and left out.
    void spread(long rank) {
        if (!whole_) return multiply_transposed(N_, n_, V_, rank, padded(used_), W_);
        for (long k = 0; k < rank; ++k)
            for (long i = 0; i < used_; ++i) W_[i][k] = V_[k][i];
    }

    // The turned basis, N - W T V.
    void turn_basis(long rank) {
        const long end = padded(used_);
        multiply(T_, rank, rank, V_, end, X_);
        multiply<true>(W_, whole_ ? used_ : n_, rank, X_, end, N_);
    }

    // The turned basis without its first `rank` directions, straight from the old one.
    void leave_directions(long rank) {
        const long now = free_ - rank, end = padded(now), touched = padded(used_ - rank);
        const Matrix rest = {V_.data + rank, V_.rows, V_.columns, V_.stride};
        for (long i = 0; i < n_; ++i)
            for (long j = 0; j < end; j += lanes) store(next_[i] + j, load(N_[i] + rank + j));
        multiply(T_, rank, rank, rest, touched, X_);
        multiply<true>(W_, whole_ ? used_ : n_, rank, X_, touched, next_);
        for (long i = 0; i < n_; ++i)
            for (long j = now; j < end; ++j) next_[i][j] = 0;
        const Matrix old = N_;
        N_ = next_, next_ = old;
        free_ = now;
    }

    // Reflections from the right that make B lower triangular, the largest row first; returns the rank. A row counts
    // as spent when what is left of it is rounding beside the row as it was given.
    long reduce(long m) {
        constexpr double spent = 1e-20;  // of squares
        const long end = padded(used_);
        for (long i = 0; i < m; ++i) {
            order_[i] = static_cast<int>(i);
            rows_[i] = B_[i];
            first_[i] = left_[i] = dot(B_[i], B_[i], 0, end);
        }
        for (long k = 0; k < m && k < used_; ++k) {
            long best = -1;
            for (long i = k; i < m; ++i) {
                const int row = order_[i];
                if (left_[row] <= spent * norm_[row] * norm_[row]) continue;
                if (best < 0 || left_[row] > left_[order_[best]]) best = i;
            }
            if (best < 0) return k;
            const int chosen = order_[best];
            order_[best] = order_[k], order_[k] = chosen;
            rows_[best] = rows_[k], rows_[k] = B_[chosen];
            double length;
            clear_row(V_[k], block_of(k));
            clear_row(V_[k] + end, lanes);
            tau_[k] = reflector(B_[chosen], k, end, V_[k], length);
            reflect(rows_ + k + 1, m - k - 1, V_[k], tau_[k], block_of(k), end);
            B_[chosen][k] = length;
            for (long j = k + 1; j < end; ++j) B_[chosen][j] = 0;
            for (long i = k + 1; i < m; ++i) shorten(order_[i], k);
        }
        return m < used_ ? m : used_;
    }
    // What is left of a row beyond element k; computed anew where the difference has lost its digits.
    void shorten(int row, long k) {
        constexpr double doubtful = 1e-6;
        const double* b = B_[row];
        left_[row] -= b[k] * b[k];
        if (left_[row] > doubtful * first_[row]) return;
        double square = 0;
        for (long j = k + 1; j < used_; ++j) square += b[j] * b[j];
        left_[row] = first_[row] = square;
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
        set_.n = variables, set_.m = n_ + kept;
        set_.G.stride = set_.J.stride = set_.R.stride = end;
        for (long i = 0; i < n_; ++i) {
            double* row = set_.G[i];
            memcpy(row, N_[i], sizeof(double) * static_cast<std::size_t>(used));
            for (long j = used; j < end; ++j) row[j] = 0;
            const double down = lower_[i] - x_[i], up = upper_[i] - x_[i];
            set_.lower[i] = down < 0 ? down : 0, set_.upper[i] = up > 0 ? up : 0;
            set_.guess[i] = guess_ ? guess_[i] : 0;
        }
        for (long i = 0; i < kept; ++i) {
            double* row = set_.G[n_ + i];
            for (long j = 0; j < end; ++j) row[j] = 0;
            for (long k = 0; k < n_; ++k) add(C_[i][k], N_[k], row, 0, used);
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
            for (long i = 0; i < k; ++i) add(-H_[k][i], set_.J[i], row, 0, block_of(i) + lanes);
            for (long j = 0; j < k; ++j) row[j] *= inverse_[k];
            row[k] = inverse_[k];
        }
        for (long k = rank; k < free_; ++k) set_.J[k][k] = 1 / __builtin_sqrt(damping);
        for (long j = 0; j < rank; ++j) set_.y[j] = y_[j];
        finish();
        limited_ = true;
    }

    // As little beyond the new inequalities as can be: each has a slack of its own, far dearer than motion.
    void come_near(long rows) {
        constexpr double cheap = 1e-8;
        const long before = kept_;
        guess_ = nullptr;
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
        multiply(N_, n_, set_.y, padded(free_), move_);
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

    void drop_directions(long rank) {
        const long now = free_ - rank, end = padded(free_);
        for (long i = 0; i < n_; ++i) {
            memmove(N_[i], N_[i] + rank, sizeof(double) * static_cast<std::size_t>(now));
            for (long j = now; j < end; ++j) N_[i][j] = 0;
        }
        free_ = now;
    }

    long n_ = 0, free_ = 0, kept_ = 0;
    long used_ = 0;      // directions, from the first, on which the level at work may depend
    bool whole_ = true;  // the basis is still the identity
    int iterations_ = 0;
    Matrix B_, V_, N_, next_, H_, T_, W_, X_, C_;
    double *x_, *lower_, *upper_, *y_, *move_, *inverse_, *turned_;
    double *rest_, *tau_, *norm_, *first_, *left_, *most_;
    double** rows_;
    int* order_;
    const double* guess_ = nullptr;
    bool limited_ = false;  // bounds held the level back
    ActiveSet set_;
};

}  // namespace kinodyn::KINODYN_TARGET
