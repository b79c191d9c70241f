// Jacobians and errors of constraints, and the projection of configurations onto them.
#include "kernels/massless.hpp"
#include "solver/semidefinite.hpp"

namespace kinodyn::KINODYN_TARGET {

// Inputs: 0 q, 1 v, then the poses of the constraints. Outputs: 0 Jacobian (m, nv), 1 minus the drift dJ/dt v (m).
struct ConstraintJacobian {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long nv = c.model->nv, n = static_cast<long>(c.model->bodies.size()), m = c.out[1].size;
        return World<double>::words(*c.model) + nv * m + m + 12 * n;
    }
    template <class T>
    static void run(Work<T>& w) {
        const long nv = w.model.nv, m = w.call.out[1].size;
        auto world = World<T>::take(w);
        world.place_all(w.model, w.in[0]);
        const Motion<T> motion = move_all(w, world, w.in[1]);
        T *JT = w.take(nv * m), *rate = w.take(m);
        for (long k = 0; k < nv * m; ++k) JT[k] = 0.0;
        for (int k = 0, row = 0; k < constraints(w.call).count; ++k) {
            const auto constraint = placed(w, world, k);
            constraint.columns(JT + row, m);
            constraint.motion(motion, rate + row, w.out[1] + row);
            row += constraint.rows();
        }
        for (long j = 0; j < m; ++j) w.out[1][j] = -w.out[1][j];
        for (long j = 0; j < m; ++j)
            for (long k = 0; k < nv; ++k) w.out[0][j * nv + k] = JT[k * m + j];
    }
};

// Inputs: 0 q, then the poses of the constraints. Output: the error of each row.
struct ConstraintError {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return World<double>::words(*c.model); }
    template <class T>
    static void run(Work<T>& w) {
        auto world = World<T>::take(w);
        world.place_all(w.model, w.in[0]);
        for (int k = 0, row = 0; k < constraints(w.call).count; ++k) {
            const auto constraint = placed(w, world, k);
            constraint.error(w.out[0] + row);
            row += constraint.rows();
        }
    }
};

// Projects a configuration onto the constraints by Newton steps, each the shortest in the metric of M, halved until the
// error falls (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 1996, section VII.2).
// Inputs: 0 q, 1 tolerance, 2 maximum number of steps, 3 one for each degree of freedom that stays fixed and zero for
// the others, then the poses of the constraints. Outputs: 0 q, 1 the largest error left, 2 steps.
struct Project {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long nv = c.model->nv, m = constraints(c).rows;
        return World<double>::words(*c.model) + Reduction<double>::words(nv, m, constraints(c).count) + nv * nv +
               5 * m * m + 8 * m + 3 * nv + c.model->nq;
    }

    static void run(Work<double>& w) {
        const Model& model = w.model;
        const long nv = model.nv, m = constraints(w.call).rows;
        double *q = w.out[0], *error = w.out[1], *steps = w.out[2];
        auto world = World<double>::take(w);
        Reduction<double> reduction(w, constraints(w.call));
        double *M = w.take(nv * nv), *A = w.take(m * m), *e = w.take(m), *f = w.take(m);
        double *memory = w.take(4 * m * m + 5 * m), *x = w.take(nv), *trial = w.take(model.nq);
        double* massless = w.take(2 * nv + m);
        for (long k = 0; k < model.nq; ++k) q[k] = w.in[0][k];
        *error = errors(w, world, q, e);
        for (*steps = 0; *error > *w.in[1] && *steps < *w.in[2]; ++*steps) {
            for (int k = 0; k < constraints(w.call).count; ++k) placed(w, world, k).columns(reduction.clear(k), m);
            mass_matrix(w, world, reduction, M);
            factor(w, M);
            if (w.singular_dof >= 0) {
                fill(w, world, q, reduction, M, A, f, memory, massless);
                if (w.singular_dof >= 0) return;
            }
            reduction.reduce(M, A);
            solve_semidefinite(A, e, m, f, memory);
            for (long k = 0; k < nv; ++k) x[k] = 0;
            reduction.solve(M, f, x);
            if (!line_search(w, world, x, trial, e, q, error)) return;
        }
    }

    // M and J with the fixed degrees of freedom decoupled.
    static void mass_matrix(Work<double>& w, World<double>& world, Reduction<double>& reduction, double* M) {
        const long nv = w.model.nv;
        const double* fixed = w.in[3];
        world.mass_matrix(w.model, M);
        for (long k = 0; k < nv; ++k) {
            if (fixed[k] == 0) continue;
            reduction.clear_dof(static_cast<int>(k));
            for (long i = 0; i < nv; ++i) M[k * nv + i] = M[i * nv + k] = 0;
            M[k * nv + k] = 1 + w.model.dof_scale[static_cast<std::size_t>(k)];
        }
    }

    // Factors M with a small inertia for massless bodies. Records an unconstrained one as the fault. E: 2 nv + m
    // numbers.
    static void fill(Work<double>& w, World<double>& world, const double* q, Reduction<double>& reduction, double* M,
                     double* A, double* f, double* memory, double* E) {
        const Model& model = w.model;
        const long nv = model.nv, m = constraints(w.call).rows;
        double *x = E + nv, *b = x + nv;
        w.singular_dof = -1, w.singular_lane = 0;
        world.place_all(model, q);  // mass_matrix() gathers the inertias of subtrees
        mass_matrix(w, world, reduction, M);
        factor_filled(model, M, E);
        reduction.reduce(M, A);
        check_held(w, E, x, [&](double* y) {
            for (long j = 0; j < m; ++j) b[j] = 0;
            solve_down(model, M, y);
            reduction.subtract_reduced(b, y);
            solve_semidefinite(A, b, m, f, memory);
            reduction.solve(M, f, y);
        });
    }

    // Writes the errors at q and returns the largest.
    static double errors(Work<double>& w, World<double>& world, const double* q, double* e) {
        world.place_all(w.model, q);
        double largest = 0;
        double* next = e;
        for (int k = 0; k < constraints(w.call).count; ++k) {
            const auto constraint = placed(w, world, k);
            constraint.error(next);
            next += constraint.rows();
        }
        for (; e < next; ++e) largest = fabs(*e) > largest ? fabs(*e) : largest;
        return largest;
    }

    // Moves q against x by the largest fraction of it that lowers the error; false if none does.
    static bool line_search(Work<double>& w, World<double>& world, const double* x, double* trial, double* e, double* q,
                            double* error) {
        for (double share = 1; share > 1e-4; share /= 2) {
            for (const Body& b : w.model.bodies) integrate_joint(b, q, x, -share, trial);
            const double found = errors(w, world, trial, e);
            if (!(found < *error)) continue;
            *error = found;
            for (int k = 0; k < w.model.nq; ++k) q[k] = trial[k];
            return true;
        }
        return false;
    }
};

constexpr KernelEntry entries[] = {
    {"constraint_jacobian", run<ConstraintJacobian>},
    {"constraint_error", run<ConstraintError>},
    {"project", run_each<Project>},
};
extern const KernelList constraints_kernels;
const KernelList constraints_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
