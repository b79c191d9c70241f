// Dynamics with constraints: accelerations under which they hold, and the forces that see to it.
//
// M a = tau - h + J^T f with J a as wanted: f from (J M^-1 J^T) f = wanted - J a_free, the shortest f where constraints
// are redundant (Featherstone 2008, section 8.6). M^-1 is applied by the sparse factor of M.
//
// Inputs: 0 q, 1 v, 2 tau (of an impact: 2 restitution (1)), then the numbers of each constraint, then wrenches.
// call.mode: number of constraints; call.more: frames of the wrenches, then the integers of the constraints.
// Outputs: 0 acceleration (of an impact: velocity after it), 1 forces (impulses), row by row, 2 rank.
#include "algorithms.hpp"
#include "constraints.hpp"
#include "recursion.hpp"
#include "semidefinite.hpp"

namespace kinodyn::KINODYN_TARGET {

template <bool impact>
struct Constrained {
    static constexpr bool sparse = false;
    static constexpr int first_constraint = 3;

    static const int* integers(const Call& c) { return c.more + (c.n_in - first_constraint - c.mode); }
    static long rows(const Call& c) {
        long m = 0;
        for (int k = 0; k < c.mode; ++k) m += Constraint::read(integers(c) + k * Constraint::integers).rows();
        return m;
    }
    static long words(const Call& c) {
        const long nv = c.model->nv, n = static_cast<long>(c.model->bodies.size()), m = rows(c);
        return World<double>::words(*c.model) + nv * nv + 2 * nv * m + 5 * m * m + 9 * m + 12 * n +
               Recursion<double>::words(*c.model) + wrench_words(c);
    }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        const long nv = model.nv, m = rows(w.call), n = static_cast<long>(model.bodies.size());
        T* a = w.out[0];
        // the backward recursion has memory of its own, so that it comes first
        if constexpr (!impact) {
            inverse_dynamics<false>(w, first_constraint + w.call.mode, w.in[0], w.in[1], w.in[1], a);
            for (long k = 0; k < nv; ++k) a[k] = w.in[2][k] - a[k];
        }
        auto world = World<T>::take(w);
        world.place_all(model, w.in[0]);
        const Motion<T> motion = {w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n)};
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        for (int i = 0; i < n; ++i)
            move_body<T>(model, world, i, w.in[1], nullptr, {zero, zero}, motion.v, motion.bias);
        T *M = w.take(nv * nv), *JT = w.take(nv * m), *Y = w.take(nv * m);
        T *A = w.take(m * m), *b = w.take(m), *rate = w.take(m), *memory = w.take(4 * m * m + 5 * m);
        for (long k = 0; k < nv * m; ++k) JT[k] = 0.0;
        const ConstraintRows<T> rows_of(model, world, motion);
        long row = 0;
        for (int k = 0; k < w.call.mode; ++k)
            row += rows_of.write(Constraint::read(integers(w.call) + k * Constraint::integers),
                                 w.in[first_constraint + k], JT, m, row, b, rate);
        for (long k = 0; k < nv * nv; ++k) M[k] = 0.0;
        world.mass_matrix(model, M);
        factor(w, M);
        if constexpr (!impact) solve_factored(model, M, a, 1);
        for (long k = 0; k < nv * m; ++k) Y[k] = JT[k];
        solve_factored(model, M, Y, m);
        multiply_rows(JT, Y, nv, m, A);
        right_hand_side(w, JT, a, rate, m, b);
        T* f = w.out[1];
        w.out[2][0] = solve_semidefinite(A, b, m, f, memory);
        for (long k = 0; k < nv; ++k) {
            T change = 0.0;
            for (long j = 0; j < m; ++j) change += Y[k * m + j] * f[j];
            a[k] = impact ? w.in[1][k] + change : a[k] + change;
        }
    }

    // A = J Y, symmetric.
    template <class T>
    static void multiply_rows(const T* JT, const T* Y, long nv, long m, T* A) {
        for (long i = 0; i < m; ++i)
            for (long j = 0; j <= i; ++j) {
                T total = 0.0;
                for (long k = 0; k < nv; ++k) total += JT[k * m + i] * Y[k * m + j];
                A[i * m + j] = A[j * m + i] = total;
            }
    }

    // What the forces must add: to the accelerations, or to the velocities of an impact.
    template <class T>
    static void right_hand_side(Work<T>& w, const T* JT, const T* a, const T* rate, long m, T* b) {
        for (long j = 0; j < m; ++j) {
            if constexpr (impact) {
                b[j] = -(1.0 + w.in[2][0]) * rate[j];
            } else {
                for (long k = 0; k < w.model.nv; ++k) b[j] -= JT[k * m + j] * a[k];
            }
        }
    }
};

// Rows of the constraints (m, nv), and the accelerations that they need at joints of constant velocity.
struct ConstraintMatrix {
    static constexpr bool sparse = false;
    static constexpr int first_constraint = 2;
    static long words(const Call& c) {
        const long nv = c.model->nv, n = static_cast<long>(c.model->bodies.size()), m = c.out[1].size;
        return World<double>::words(*c.model) + nv * m + m + 12 * n;
    }
    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        const long nv = model.nv, m = w.call.out[1].size, n = static_cast<long>(model.bodies.size());
        auto world = World<T>::take(w);
        world.place_all(model, w.in[0]);
        const Motion<T> motion = {w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n)};
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        for (int i = 0; i < n; ++i)
            move_body<T>(model, world, i, w.in[1], nullptr, {zero, zero}, motion.v, motion.bias);
        T *JT = w.take(nv * m), *rate = w.take(m);
        for (long k = 0; k < nv * m; ++k) JT[k] = 0.0;
        const ConstraintRows<T> rows(model, world, motion);
        long row = 0;
        for (int k = 0; k < w.call.mode; ++k)
            row += rows.write(Constraint::read(w.call.more + k * Constraint::integers), w.in[first_constraint + k], JT,
                              m, row, w.out[1], rate);
        for (long j = 0; j < m; ++j)
            for (long k = 0; k < nv; ++k) w.out[0][j * nv + k] = JT[k * m + j];
    }
};

void constraint_rows(const Call& c, long begin, long end, Fault& f) { run<ConstraintMatrix>(c, begin, end, f); }
void constrained(const Call& c, long begin, long end, Fault& f) { run<Constrained<false>>(c, begin, end, f); }
void impact(const Call& c, long begin, long end, Fault& f) { run<Constrained<true>>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
