// Constrained dynamics: accelerations that satisfy constraints, and the constraint forces; impacts.
//
// M a = tau - h + J^T f with J a as desired: f from (J M^-1 J^T) f = desired - J a_free, the shortest f where
// constraints are redundant (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 8.6 and 11.7). M^-1 is
// applied by the sparse factor of M.
#include "kernels/massless.hpp"
#include "kernels/rnea.hpp"
#include "solver/semidefinite.hpp"

namespace kinodyn::KINODYN_TARGET {

template double solve_semidefinite(const double*, const double*, long, double*, double*);
template Pack solve_semidefinite(const Pack*, const Pack*, long, Pack*, Pack*);
template class Reduction<double>;
template class Reduction<Pack>;

// tau - h: the generalised force that accelerates the joints; before gather() of the inertias.
template <class T>
[[gnu::noinline]] inline void free_torques(Work<T>& w, const World<T>& world, const Motion<T>& motion, const T* v,
                                           const T* tau, T* out) {
    const Model& model = w.model;
    const int n = static_cast<int>(model.bodies.size());
    auto* f = w.template take_as<Spatial<T>>(n);
    const Vec3<T> up = minus_gravity<T>(model);
    for (int i = 0; i < n; ++i) {
        const Spatial<T> a = {motion.bias[i].lin + up, motion.bias[i].ang};
        f[i] = world.I[i] * a + cross_force(motion.v[i], world.I[i] * motion.v[i]);
    }
    for (int k = 0; k < w.call.wrench_frames.size; ++k) {
        const FixedFrame& frame = model.frames[w.call.wrench_frames[k]];
        if (frame.body < 0) continue;  // wrenches on the world have no effect
        const T* x = w.in[w.call.first_wrench() + k];
        const Vec3<T> force = vec(x), moment = vec(x + 3);
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

// The same where M is singular: a contains tau - h on entry and accelerations on return. Returns a M a. Records an
// unconstrained body without inertia as the fault.
template <class T>
[[gnu::noinline]] inline T solve_massless(Work<T>& w, World<T>& world, Reduction<T>& reduction, T* M, T* A,
                                          const T* desired, T* b, T* memory, T* f, T* a) {
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
        reduction.solve(M, f, x);
    };
    for (long j = 0; j < m; ++j) still[j] = 0.0;
    check_held(w, E, more, [&](T* x) { solve(still, x); });
    if (w.singular_dof >= 0) return 0.0;
    for (long k = 0; k < nv; ++k) tau[k] = a[k];
    remove_fill(E, tau, nv, a, more, [&](T* x) { solve(desired, x); });
    T power = 0.0;
    for (long k = 0; k < nv; ++k) power += a[k] * tau[k];
    for (long j = 0; j < m; ++j) power += f[j] * desired[j];
    return Lanes<T>::larger(power, -power);
}

// Writes the residuals, desired - J a, and returns their largest fraction of what each row could come to: |J a| is
// at most sqrt(J M^-1 J^T) sqrt(a M a).
template <class T>
[[gnu::noinline]] inline T residuals(const Reduction<T>& reduction, const T* desired, const T* a, const T* size, long m,
                                     T* residual) {
    using L = Lanes<T>;
    for (long j = 0; j < m; ++j) residual[j] = desired[j];
    reduction.subtract_moved(residual, a);
    T worst = 0.0;
    for (long j = 0; j < m; ++j)
        worst = L::larger(worst, L::larger(residual[j], -residual[j]) / L::larger(size[j], T(1e-300)));
    return worst;
}

// Near a singular configuration A loses digits; one step of iterative refinement on the residuals restores them.
template <class T>
[[gnu::noinline]] inline void refine(const Reduction<T>& reduction, const T* A, const T* M, const T* residual, long m,
                                     long nv, T* memory, T* more, T* f, T* a) {
    T* x = more + m;
    solve_semidefinite(A, residual, m, more, memory);
    for (long k = 0; k < nv; ++k) x[k] = 0.0;
    reduction.solve(M, more, x);
    for (long j = 0; j < m; ++j) f[j] += more[j];
    for (long k = 0; k < nv; ++k) a[k] += x[k];
}

// Inputs: 0 q, 1 v, then 2 tau and 3 stiffness, damping [1/s^2, 1/s], or of an impact 2 restitution; then the poses of
// each constraint; then wrenches.
// Outputs: 0 acceleration, or velocity after the impact; 1 forces or impulses, row by row; 2 rank; 3 the largest
// residual as a fraction of what the row could come to; 4 the residual of each row.
template <bool impact>
struct Constrained {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long nv = c.model->nv, n = static_cast<long>(c.model->bodies.size()), m = c.out[1].size;
        return World<double>::words(*c.model) + 18 * n + nv * nv +
               Reduction<double>::words(nv, m, constraints(c).count) + 5 * m * m + 11 * m + 5 * nv;
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
        Reduction<T> reduction(w, constraints(w.call));
        T *b = w.take(m), *rate = w.take(m), *drift = w.take(m), *error = w.take(m);
        for (int k = 0, row = 0; k < constraints(w.call).count; ++k) {
            const auto constraint = placed(w, world, k);
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
            free_torques(w, world, motion, w.in[1], w.in[2], a);

        T *M = w.take(nv * nv), *A = w.take(m * m);
        world.mass_matrix(model, M);
        factor(w, M);
        T* desired = error;  // the errors are in b now
        for (long j = 0; j < m; ++j) desired[j] = b[j];
        T* memory = w.take(4 * m * m + 5 * m);
        T power = 0.0;
        const bool massless = w.singular_dof >= 0;
        if (massless) {
            power = solve_massless(w, world, reduction, M, A, desired, b, memory, f, a);
            if (w.singular_dof >= 0) return;
        } else {
            reduction.reduce(M, A);
            if constexpr (!impact) {
                solve_down(model, M, a);
                power = reduction.power(a);
                reduction.subtract_reduced(b, a);
            }
            w.out[2][0] = solve_semidefinite(A, b, m, f, memory);
            reduction.solve(M, f, a);
        }
        T* size = rate;
        for (long j = 0; j < m; ++j) size[j] = L::larger(desired[j], -desired[j]) + L::root(A[j * m + j] * power);
        if constexpr (impact) {  // one reference speed for all rows: that of a single row may be zero by chance
            for (long j = 1; j < m; ++j) size[0] = L::larger(size[0], size[j]);
            for (long j = 1; j < m; ++j) size[j] = size[0];
        }
        T worst = residuals(reduction, desired, a, size, m, w.out[4]);
        // without masses A, and with it what a row could come to, is that of a small inertia: too large to compare with
        if (massless || !L::within(worst, 1e-13)) {
            refine(reduction, A, M, w.out[4], m, nv, memory, w.take(m + nv), f, a);
            worst = residuals(reduction, desired, a, size, m, w.out[4]);
        }
        w.out[3][0] = impact ? T(0.0) : worst;  // velocities at an impact never contradict each other
        if constexpr (impact)
            for (long k = 0; k < nv; ++k) a[k] += w.in[1][k];
    }
};

constexpr KernelEntry entries[] = {
    {"constrained", run<Constrained<false>>},
    {"impact", run<Constrained<true>>},
};
extern const KernelList constrained_dynamics_kernels;
const KernelList constrained_dynamics_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
