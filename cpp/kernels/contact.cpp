// Dynamics with constraints: accelerations under which they hold, and the forces that see to it.
//
// M a = tau - h + J^T f with J a as wanted: f from (J M^-1 J^T) f = wanted - J a_free, the shortest f where constraints
// are redundant (Featherstone 2008, section 8.6). M^-1 is applied by the sparse factor of M.
//
// call.mode: number of constraints; call.more: frames of the wrenches, then the integers of the constraints.
#include "kernels/algorithms.hpp"
#include "kernels/massless.hpp"
#include "kernels/reduction.hpp"
#include "kernels/rnea.hpp"
#include "solver/semidefinite.hpp"

namespace kinodyn::KINODYN_TARGET {

inline long rows_of(const int* integers, int constraints) {
    long m = 0;
    for (int k = 0; k < constraints; ++k) m += Constraint::read(integers + k * Constraint::integers).rows();
    return m;
}

template <class T>
inline PlacedConstraint<T> placed(Work<T>& w, const World<T>& world, const int* integers, int first, int k) {
    return {w.model, world, Constraint::read(integers + k * Constraint::integers), w.in[first + k]};
}

template <class T>
inline Motion<T> move_all(Work<T>& w, const World<T>& world, const T* v) {
    const int n = static_cast<int>(w.model.bodies.size());
    const Motion<T> motion = {w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n)};
    const Vec3<T> zero = {0.0, 0.0, 0.0};
    for (int i = 0; i < n; ++i) move_body<T>(w.model, world, i, v, nullptr, {zero, zero}, motion.v, motion.bias);
    return motion;
}

// tau - h: what accelerates the joints, before gather() of the inertias. Wrenches are the inputs from `first` on.
template <class T>
inline void free_torques(Work<T>& w, const World<T>& world, const Motion<T>& motion, const T* v, const T* tau,
                         int first, T* out) {
    const Model& model = w.model;
    const int n = static_cast<int>(model.bodies.size());
    auto* f = w.template take_as<Spatial<T>>(n);
    const Vec3<T> up = minus_gravity<T>(model);
    for (int i = 0; i < n; ++i) {
        const Spatial<T> a = {motion.bias[i].lin + up, motion.bias[i].ang};
        f[i] = world.I[i] * a + cross_force(motion.v[i], world.I[i] * motion.v[i]);
    }
    for (int k = first; k < w.call.n_in; ++k) {
        const FixedFrame& frame = model.frames[w.call.more[k - first]];
        if (frame.body < 0) continue;  // the world takes it
        const Vec3<T> force = {w.in[k][0], w.in[k][1], w.in[k][2]}, moment = {w.in[k][3], w.in[k][4], w.in[k][5]};
        const Placement<T>& at = world.at[frame.body];
        f[frame.body] -= Spatial<T>{force, moment + cross(at.p + at.R * vec(frame.p), force)};
    }
    for (int k = 0; k < model.nv; ++k) out[k] = tau[k] - model.damping[k] * v[k];
    for (int i = n - 1; i >= 0; --i) {
        const Body& body = model.bodies[i];
        for (int c = body.column; c < body.column + dofs(body.kind); ++c)
            out[model.column_iv[c]] -= dot(world.S[c], f[i]);
        if (body.parent >= 0) f[body.parent] += f[i];
    }
}

// Inputs: 0 q, 1 v, then 2 tau and 3 stiffness, damping [1/s^2, 1/s], or of an impact 2 restitution; then the numbers
// of each constraint; then wrenches.
// Outputs: 0 acceleration, or velocity after the impact; 1 forces or impulses, row by row; 2 rank; 3 what is missed, as
// a share of what could have been; 4 what each row misses.
template <bool impact>
struct Constrained {
    static constexpr bool sparse = false;
    static constexpr int first = impact ? 3 : 4;

    static const int* integers(const Call& c) { return c.more + (c.n_in - first - c.mode); }
    static long words(const Call& c) {
        const long nv = c.model->nv, n = static_cast<long>(c.model->bodies.size()), m = c.out[1].size;
        return World<double>::words(*c.model) + 18 * n + nv * nv + Reduction<double>::words(nv, m, c.mode) + 5 * m * m +
               11 * m + 5 * nv;
    }

    template <class T>
    static void run(Work<T>& w) {
        using L = Lanes<T>;
        const Model& model = w.model;
        const long nv = model.nv, m = w.call.out[1].size;
        T *a = w.out[0], *f = w.out[1];
        auto world = World<T>::take(w);
        world.place_all(model, w.in[0]);
        const Motion<T> motion = move_all(w, world, w.in[1]);
        Reduction<T> reduction(w, integers(w.call), w.call.mode, m);
        T *b = w.take(m), *rate = w.take(m), *drift = w.take(m), *error = w.take(m);
        for (int k = 0, row = 0; k < w.call.mode; ++k) {
            const auto constraint = placed(w, world, integers(w.call), first, k);
            constraint.columns(reduction.clear(k), m);
            constraint.motion(motion, rate + row, drift + row);
            constraint.error(error + row);
            row += reduction.rows(k);
        }
        for (long j = 0; j < m; ++j) {
            if constexpr (impact)
                b[j] = -(1.0 + w.in[2][0]) * rate[j];
            else
                b[j] = -drift[j] - w.in[3][0] * error[j] - w.in[3][1] * rate[j];
        }
        if constexpr (impact)
            for (long k = 0; k < nv; ++k) a[k] = 0.0;
        else
            free_torques(w, world, motion, w.in[1], w.in[2], first + w.call.mode, a);

        T *M = w.take(nv * nv), *A = w.take(m * m);
        world.mass_matrix(model, M);
        factor(w, M);
        T* wanted = error;  // the errors are in b now
        for (long j = 0; j < m; ++j) wanted[j] = b[j];
        T* memory = w.take(4 * m * m + 5 * m);
        T power = 0.0;
        if (w.singular_dof >= 0) {
            power = solve_massless(w, world, reduction, M, A, wanted, b, memory, f, a);
            if (w.singular_dof >= 0) return;
        } else {
            reduction.reduce(M, A);
            if constexpr (!impact) {
                solve_down(model, M, a);
                power = reduction.power(a);
                reduction.subtract_reduced(b, a);
            }
            w.out[2][0] = solve_semidefinite(A, b, m, f, memory);
            reduction.answer(M, f, a);
        }
        T* size = rate;
        for (long j = 0; j < m; ++j) size[j] = L::larger(wanted[j], -wanted[j]) + L::root(A[j * m + j] * power);
        if constexpr (impact) {  // one speed for all: that of a row may be zero by chance
            for (long j = 1; j < m; ++j) size[0] = L::larger(size[0], size[j]);
            for (long j = 1; j < m; ++j) size[j] = size[0];
        }
        T worst = miss(reduction, wanted, a, size, m, w.out[4]);
        if (!L::within(worst, 1e-13)) {
            refine(reduction, A, M, w.out[4], m, nv, memory, w.take(m + nv), f, a);
            worst = miss(reduction, wanted, a, size, m, w.out[4]);
        }
        w.out[3][0] = impact ? T(0.0) : worst;  // velocities at an impact never contradict each other
        if constexpr (impact)
            for (long k = 0; k < nv; ++k) a[k] += w.in[1][k];
    }

    // The same where M is singular: a takes tau - h in and accelerations out. Returns a M a. Notes a body that no
    // constraint holds.
    template <class T>
    static T solve_massless(Work<T>& w, World<T>& world, Reduction<T>& reduction, T* M, T* A, const T* wanted, T* b,
                            T* memory, T* f, T* a) {
        const Model& model = w.model;
        const long nv = model.nv, m = w.call.out[1].size;
        w.singular_dof = -1, w.singular_lane = 0;
        world.place_all(model, w.in[0]);  // mass_matrix() gathers the inertias of subtrees
        world.mass_matrix(model, M);
        T *E = w.take(nv), *tau = w.take(nv), *more = w.take(2 * nv), *still = w.take(m);
        factor_filled(model, M, E);
        reduction.reduce(M, A);
        const auto solve = [&](const T* target, T* x) {
            for (long j = 0; j < m; ++j) b[j] = target[j];
            solve_down(model, M, x);
            reduction.subtract_reduced(b, x);
            w.out[2][0] = solve_semidefinite(A, b, m, f, memory);
            reduction.answer(M, f, x);
        };
        for (long j = 0; j < m; ++j) still[j] = 0.0;
        check_held(w, E, more, [&](T* x) { solve(still, x); });
        if (w.singular_dof >= 0) return 0.0;
        for (long k = 0; k < nv; ++k) tau[k] = a[k];
        remove_fill(E, tau, nv, a, more, [&](T* x) { solve(wanted, x); });
        T power = 0.0;
        for (long k = 0; k < nv; ++k) power += a[k] * tau[k];
        for (long j = 0; j < m; ++j) power += f[j] * wanted[j];
        return Lanes<T>::larger(power, -power);
    }

    // Writes what is missed, wanted - J a, and returns its greatest share of what each row could come to: |J a| is at
    // most sqrt(J M^-1 J^T) sqrt(a M a).
    template <class T>
    static T miss(const Reduction<T>& reduction, const T* wanted, const T* a, const T* size, long m, T* missed) {
        using L = Lanes<T>;
        for (long j = 0; j < m; ++j) missed[j] = wanted[j];
        reduction.subtract_moved(missed, a);
        T worst = 0.0;
        for (long j = 0; j < m; ++j)
            worst = L::larger(worst, L::larger(missed[j], -missed[j]) / L::larger(size[j], T(1e-300)));
        return worst;
    }

    // Forms close to a singular one lose digits in A; solving once more for what is missed brings them back.
    template <class T>
    static void refine(const Reduction<T>& reduction, const T* A, const T* M, const T* missed, long m, long nv,
                       T* memory, T* more, T* f, T* a) {
        T* x = more + m;
        solve_semidefinite(A, missed, m, more, memory);
        for (long k = 0; k < nv; ++k) x[k] = 0.0;
        reduction.answer(M, more, x);
        for (long j = 0; j < m; ++j) f[j] += more[j];
        for (long k = 0; k < nv; ++k) a[k] += x[k];
    }
};

// Inputs: 0 q, 1 v, then constraints. Outputs: rows of the constraints (m, nv), and the accelerations that they need at
// joints of constant velocity.
struct ConstraintMatrix {
    static constexpr bool sparse = false;
    static constexpr int first = 2;
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
        for (int k = 0, row = 0; k < w.call.mode; ++k) {
            const auto constraint = placed(w, world, w.call.more, first, k);
            constraint.columns(JT + row, m);
            constraint.motion(motion, rate + row, w.out[1] + row);
            row += Constraint::read(w.call.more + k * Constraint::integers).rows();
        }
        for (long j = 0; j < m; ++j) w.out[1][j] = -w.out[1][j];
        for (long j = 0; j < m; ++j)
            for (long k = 0; k < nv; ++k) w.out[0][j * nv + k] = JT[k * m + j];
    }
};

// Inputs: 0 q, then constraints. Output: how far each row is from where it belongs.
struct ConstraintError {
    static constexpr bool sparse = false;
    static constexpr int first = 1;
    static long words(const Call& c) { return World<double>::words(*c.model); }
    template <class T>
    static void run(Work<T>& w) {
        auto world = World<T>::take(w);
        world.place_all(w.model, w.in[0]);
        for (int k = 0, row = 0; k < w.call.mode; ++k) {
            placed(w, world, w.call.more, first, k).error(w.out[0] + row);
            row += Constraint::read(w.call.more + k * Constraint::integers).rows();
        }
    }
};

// Newton steps onto the constraints, each the shortest in the metric of M, halved until the error falls.
// Inputs: 0 q, 1 tolerance, most steps and 1 for each degree of freedom that stays, then constraints. Outputs: 0 q, 1
// what is left of the error, 2 steps.
struct Settle {
    static constexpr bool sparse = false;
    static constexpr int first = 2;
    static long words(const Call& c) {
        const long nv = c.model->nv, m = rows_of(c.more, c.mode);
        return World<double>::words(*c.model) + Reduction<double>::words(nv, m, c.mode) + nv * nv + 5 * m * m + 7 * m +
               3 * nv + m + c.model->nq;
    }

    static void run(Work<double>& w) {
        const Model& model = w.model;
        const long nv = model.nv, m = rows_of(w.call.more, w.call.mode);
        double *q = w.out[0], *left = w.out[1], *steps = w.out[2];
        auto world = World<double>::take(w);
        Reduction<double> reduction(w, w.call.more, w.call.mode, m);
        double *M = w.take(nv * nv), *A = w.take(m * m), *e = w.take(m), *f = w.take(m);
        double *memory = w.take(4 * m * m + 5 * m), *x = w.take(nv), *trial = w.take(model.nq);
        double* massless = w.take(2 * nv + m);
        for (long k = 0; k < model.nq; ++k) q[k] = w.in[0][k];
        *left = place(w, world, q, e);
        for (*steps = 0; *left > w.in[1][0] && *steps < w.in[1][1]; ++*steps) {
            for (int k = 0; k < w.call.mode; ++k)
                placed(w, world, w.call.more, first, k).columns(reduction.clear(k), m);
            mass_matrix(w, world, reduction, M);
            factor(w, M);
            if (w.singular_dof >= 0) {
                fill(w, world, q, reduction, M, A, f, memory, massless);
                if (w.singular_dof >= 0) return;
            }
            reduction.reduce(M, A);
            solve_semidefinite(A, e, m, f, memory);
            for (long k = 0; k < nv; ++k) x[k] = 0;
            reduction.answer(M, f, x);
            if (!advance(w, world, x, trial, e, q, left)) return;
        }
    }

    // M, and J, in which what stays moves nothing and is moved by nothing.
    static void mass_matrix(Work<double>& w, World<double>& world, Reduction<double>& reduction, double* M) {
        const long nv = w.model.nv;
        world.mass_matrix(w.model, M);
        for (long k = 0; k < nv; ++k) {
            if (w.in[1][2 + k] == 0) continue;
            reduction.clear_dof(static_cast<int>(k));
            for (long i = 0; i < nv; ++i) M[k * nv + i] = M[i * nv + k] = 0;
            M[k * nv + k] = 1 + w.model.dof_scale[static_cast<std::size_t>(k)];
        }
    }

    // Factors M with a small inertia where bodies have none. Notes a body that no constraint holds. E: 2 nv + m
    // numbers.
    static void fill(Work<double>& w, World<double>& world, const double* q, Reduction<double>& reduction, double* M,
                     double* A, double* f, double* memory, double* E) {
        const Model& model = w.model;
        const long nv = model.nv, m = rows_of(w.call.more, w.call.mode);
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
            reduction.answer(M, f, y);
        });
    }

    // Places the bodies and returns the greatest error.
    static double place(Work<double>& w, World<double>& world, const double* q, double* e) {
        world.place_all(w.model, q);
        double greatest = 0;
        double* next = e;
        for (int k = 0; k < w.call.mode; ++k) {
            placed(w, world, w.call.more, first, k).error(next);
            next += Constraint::read(w.call.more + k * Constraint::integers).rows();
        }
        for (; e < next; ++e) greatest = fabs(*e) > greatest ? fabs(*e) : greatest;
        return greatest;
    }

    // Moves q against x, as far as the error falls; false if it does not.
    static bool advance(Work<double>& w, World<double>& world, const double* x, double* trial, double* e, double* q,
                        double* left) {
        for (double share = 1; share > 1e-4; share /= 2) {
            for (const Body& b : w.model.bodies) step(b, q, x, -share, trial);
            const double error = place(w, world, trial, e);
            if (!(error < *left)) continue;
            *left = error;
            for (int k = 0; k < w.model.nq; ++k) q[k] = trial[k];
            return true;
        }
        return false;
    }
};

void constraint_rows(const Call& c, long begin, long end, Fault& f) { run<ConstraintMatrix>(c, begin, end, f); }
void constraint_error(const Call& c, long begin, long end, Fault& f) { run<ConstraintError>(c, begin, end, f); }
void constrained(const Call& c, long begin, long end, Fault& f) { run<Constrained<false>>(c, begin, end, f); }
void impact(const Call& c, long begin, long end, Fault& f) { run<Constrained<true>>(c, begin, end, f); }
void project(const Call& c, long begin, long end, Fault& f) { run_each<Settle>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
