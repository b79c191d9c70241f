// Least squares in strict order of priority: each level is solved in the directions that the levels above leave free,
// within constraints that hold for all levels.
//
// The formulation is that of O. Kanoun, F. Lamiraux, P.-B. Wieber, "Kinematic control of redundant manipulators:
// generalizing the task-priority framework to inequality task" (2011). An orthonormal basis N of the free directions is
// updated from level to level, as in A. Escande, N. Mansard, P.-B. Wieber, "Hierarchical quadratic programming" (2014):
// so a lower level cannot disturb a higher one by more than rounding. A level is first solved without constraints, by
// orthogonal elimination and normal equations of the size of its rank; the active set is set up only if the solution
// violates one.
#pragma once

#include "solver/active_set.hpp"
#include "solver/cholesky.hpp"
#include "solver/null_space.hpp"
#include "solver/objective.hpp"

namespace kinodyn::KINODYN_TARGET {

struct LevelSettings {
    double damping;             // weight of |y|^2 for motion y along the directions on which the level depends
    double null_space_damping;  // the same along the others, which serve it only through constraints
    double rank_tolerance;      // smallest remainder of an independent row, relative to its length
};

// Constraints has, besides what ActiveSet needs:
//   long set_elastic(bool)   adds a slack variable to each elastic constraint, or removes them; returns how many
//   void widen_to(x)         widens elastic constraints that x violates until it does not
template <class Constraints>
class Hierarchy {
  public:
    // For up to n variables, levels of up to `rows` dense rows, `constraints` and `slacks` of elastic ones.
    static long words(long n, long rows, long constraints, long slacks) {
        const long most = rows + n;
        return Memory::words(most, n) + Memory::words(padded(n), n) + Elimination::words(most, n) +
               NullSpace::words(n, most) + 3 * padded(most) + 7 * padded(n) + 2 * padded(n + slacks) +
               ActiveSet<Constraints>::words(n + slacks, constraints);
    }
    void take(Memory& memory, long n, long rows, long constraints, long slacks) {
        const long most = rows + n;
        B_ = memory.matrix(most, n);
        H_ = memory.matrix(padded(n), n);
        elimination_.take(memory, most, n);
        basis_.take(memory, n, most);
        for (double** v : {&residual_, &squared_norm_, &error_}) *v = memory.take(most);
        for (double** v : {&y_, &step_, &rotated_, &inverse_, &single_, &single_residual_}) *v = memory.take(n);
        blocks_ = reinterpret_cast<std::uint64_t*>(memory.take(n));
        for (double** v : {&x_, &candidate_}) {  // slack variables stay zero
            *v = memory.take(n + slacks);
            clear_row(*v, padded(n + slacks));
        }
        set_.take(memory, n + slacks, constraints);
    }

    // Starts at x = 0 without any level.
    void start(long n) {
        n_ = n, iterations_ = 0, feasible_ = false;
        basis_.start(n);
        clear_row(x_, padded(n));
        clear_row(candidate_, padded(n));
    }

    double* x() const { return x_; }
    int iterations() const { return iterations_; }

    // For each constraint: 1 active at its lower, -1 at its upper bound, 0 inactive. Before `minimise` and `relax`: the
    // expected working set (warm start); afterwards: the actual one.
    double* working_set() const { return set_.side; }

    // Imposes A x = b on all later levels, in the least-squares sense and regardless of the constraints.
    void add_equalities(const Matrix& A, const double* b, long rows, double rank_tolerance) {
        const long m = project({A, const_cast<double*>(b), rows}, false);
        elimination_.reduce(B_, m, used_, squared_norm_, rank_tolerance);
        if (!elimination_.substitute(residual_, y_)) least_squares(m, elimination_.rank, 0);
        propose(true);
        accept();
        basis_.rotate(elimination_, elimination_.rank);
    }

    // Minimises the objective as far as the levels above and the constraints allow, and leaves to later levels the
    // directions on which it does not depend; after the last one there are none. False if a constraint cannot be met.
    [[gnu::noinline]] bool minimise(const Objective& objective, const LevelSettings& settings, bool last,
                                    const Constraints& constraints, bool best_effort) {
        // few rows depend on few directions, which are worth finding even for the last level
        const bool all = last && 2 * rows_of(objective) >= basis_.dimension();
        const long m = project(objective, all);
        if (!all) elimination_.reduce(B_, m, used_, squared_norm_, settings.rank_tolerance);
        const long rank = all ? basis_.dimension() : elimination_.rank;
        least_squares(m, rank, settings.damping);
        propose(!all);
        const bool unconstrained = set_.satisfied(constraints, candidate_);
        bool met = true;
        if (!all && !(last && unconstrained)) basis_.rotate(elimination_, unconstrained ? rank : 0);
        if (unconstrained) {
            clear_row(set_.side, padded(constraints.count));
            accept();
        } else {
            met = constrained(rank, settings.null_space_damping, constraints, best_effort);
            if (!last) basis_.remove(rank);
        }
        if (last) basis_.remove_all();
        feasible_ = true;
        return met;
    }

    // Finds the least violation of the elastic constraints, the others being met, and widens them by it.
    [[gnu::noinline]] void relax(Constraints& constraints) {
        constexpr double motion_weight = 1e-4;  // relative to violation
        if (set_.satisfied(constraints, x_)) {
            clear_row(set_.side, padded(constraints.count));
            return constraints.widen_to(x_);
        }
        const long slacks = constraints.set_elastic(true), free = basis_.dimension(), end = padded(n_ + slacks);
        write_directions(0, motion_weight, end);
        clear_row(set_.x, end);
        memcpy(set_.x, x_, sizeof(double) * static_cast<std::size_t>(n_));
        for (long k = 0; k < slacks; ++k) {
            clear_row(set_.J[free + k], end);
            set_.J[free + k][n_ + k] = 1;
        }
        set_.solve(constraints, basis_, x_, feasible_, free + slacks, n_ + slacks, true);
        iterations_ += set_.iterations;
        memcpy(x_, set_.x, sizeof(double) * static_cast<std::size_t>(n_));
        constraints.set_elastic(false);
        constraints.widen_to(x_);
        feasible_ = true;
    }

  private:
    long rows_of(const Objective& objective) const {
        long m = objective.rows;
        for (long i = 0; objective.diagonal && i < n_; ++i) m += objective.scale[i] != 0;
        return m;
    }

    // Computes B = A N and the residual of b; returns the number of rows. For `all` directions, rows of single
    // variables that are directions of their own are kept apart, as they need no products.
    long project(const Objective& objective, bool all) {
        const long end = padded(n_);
        clear_row(single_, end);
        clear_row(single_residual_, end);
        used_ = all ? basis_.dimension()
                    : basis_.touch(objective.A, objective.rows, objective.diagonal ? objective.scale : nullptr);
        basis_.project(objective.A, objective.rows, used_, B_);
        const double* known = objective.squared_norm;
        for (long i = 0; i < objective.rows; ++i) {
            residual_[i] = objective.b[i] - dot(objective.A[i], x_, 0, end);
            squared_norm_[i] = known ? known[i] : dot(objective.A[i], objective.A[i], 0, end);
        }
        long m = objective.rows;
        for (long i = 0; objective.diagonal && i < n_; ++i) {
            const double s = objective.scale[i];
            if (s == 0) continue;
            if (const long k = all ? basis_.direction_of(i) : -1; k >= 0) {
                single_[k] = s, single_residual_[k] = objective.offset[i] - s * x_[i];
                continue;
            }
            basis_.project(i, s, B_[m]);
            squared_norm_[m] = s * s;
            residual_[m++] = objective.offset[i] - s * x_[i];
        }
        return m;
    }

    // y minimises |B y - residual|^2 + damping |y|^2, with the rows kept apart, over the first n columns of B. Leaves
    // Cholesky's factor of the normal equations in H.
    void least_squares(long m, long n, double damping) {
        const long end = padded(n);
        if (basis_.untouched() && m <= most_sparse_rows)
            gram_sparse(B_, m, n, H_, blocks_);
        else
            gram(B_, m, n, H_);
        for (long j = 0; j < n; ++j) H_[j][j] += single_[j] * single_[j];
        double largest = 0;
        for (long j = 0; j < n; ++j)
            if (H_[j][j] > largest) largest = H_[j][j];
        // the second term keeps the diagonal positive despite rounding where weights differ by orders of magnitude
        for (long j = 0; j < n; ++j) H_[j][j] += damping + 1e-14 * largest;
        factor_symmetric(H_, n, inverse_);
        combine(B_, 0, m, residual_, end, y_);
        for (long j = 0; j < n; ++j) y_[j] += single_[j] * single_residual_[j];
        solve_symmetric(H_, n, inverse_, y_);
        double least = largest;
        for (long j = 0; j < n; ++j)
            if (H_[j][j] * H_[j][j] < least) least = H_[j][j] * H_[j][j];
        constexpr double well_conditioned = 1e-6;
        if (least > well_conditioned * largest) return;
        // normal equations lose digits: one step of iterative refinement
        multiply(B_, m, y_, end, error_);
        for (long i = 0; i < m; ++i) error_[i] = residual_[i] - error_[i];
        combine(B_, 0, m, error_, end, step_);
        for (long j = 0; j < n; ++j) step_[j] += single_[j] * (single_residual_[j] - single_[j] * y_[j]);
        add(-damping, y_, step_, 0, end);
        solve_symmetric(H_, n, inverse_, step_);
        add(1, step_, y_, 0, end);
    }

    // The point x + N y, with y along the directions of the elimination or along those of the basis.
    void propose(bool eliminated) {
        if (eliminated) elimination_.apply_transposed(y_, rotated_, padded(basis_.dimension()));
        basis_.move(eliminated ? rotated_ : y_, x_, candidate_);
    }
    void accept() {
        double* old = x_;
        x_ = candidate_, candidate_ = old;
    }

    // Solves the level again under constraints. H holds the factor of its Hessian in the first `rank` directions.
    bool constrained(long rank, double null_space_damping, const Constraints& constraints, bool best_effort) {
        const long end = padded(n_);
        write_directions(rank, __builtin_sqrt(null_space_damping), end);
        solve_lower(H_, rank, inverse_, set_.J, end);
        memcpy(set_.x, candidate_, sizeof(double) * static_cast<std::size_t>(end));
        const bool met = set_.solve(constraints, basis_, x_, feasible_, basis_.dimension(), n_, best_effort);
        iterations_ += set_.iterations;
        // if rounding prevents a constraint from being met: move towards the solution as far as constraints allow
        const double step = met || !best_effort ? 1 : set_.max_step(x_);
        for (long i = 0; i < n_; ++i) x_[i] += step * (set_.x[i] - x_[i]);
        return met;
    }

    // Free directions as rows of J, motion along those from `first` on being weighted.
    void write_directions(long first, double weight, long end) {
        basis_.write_transposed(set_.J, end);
        for (long k = first; k < basis_.dimension(); ++k)
            for (long j = 0; j < end; j += lanes) store(set_.J[k] + j, (1 / weight) * load(set_.J[k] + j));
    }

    long n_ = 0;
    long used_ = 0;  // directions, from the first, on which the current level depends
    int iterations_ = 0;
    bool feasible_ = false;  // x satisfies the constraints, as ensured by an earlier level
    NullSpace basis_;
    Elimination elimination_;
    Matrix B_, H_;
    double *residual_, *squared_norm_, *error_;
    double *x_, *candidate_, *y_, *step_, *rotated_, *inverse_;
    double *single_, *single_residual_;  // rows kept apart, by direction: their coefficient, and residual
    std::uint64_t* blocks_;              // scratch memory
    ActiveSet<Constraints> set_;
};

}  // namespace kinodyn::KINODYN_TARGET
