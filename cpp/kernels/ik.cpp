// Inverse kinematics: moves joints within their limits until frames reach their targets, all lanes at once.
//
// The methods share errors, Jacobian and integration; they differ only in the step (IkMethod):
// - LevenbergMarquardt with damping in proportion to the cost (S. K. Chan, P. D. Lawrence, "General inverse kinematics
//   with the error damped pseudoinverse", 1988): long steps far from singularities, quadratic convergence near the
//   solution, and steps rarely increase the cost. Where a target is out of reach the cost stays large, and with
//   it the damping: to converge to the nearest configuration, damping 0 makes it adaptive, and steps that do not lower
//   the cost are then rejected.
// - Transpose: along the transposed Jacobian, with the step length that is best for the linearised error
//   (W. A. Wolovich, H. Elliott, 1984).
// - Pseudoinverse: least norm by singular values, those near zero left out (D. E. Whitney, 1969).
// - DampedLeastSquares: by singular values, with more damping the lower the manipulability (Y. Nakamura, H. Hanafusa,
//   1986, eq. 23).
// - Newton: Newton-Raphson, least norm for redundant robots; stops where the Jacobian has lost rank.
// Joints at a limit that the step would push beyond it are fixed for the step.
//
// Inputs and outputs: ik.hpp; call.frames have targets, call.bodies carry them, call.dofs are the v indices that may
// move, all or none of a body's. Other coordinates are copied; their limits should be infinite.
//
// With `first_leads`, the other states are additional starts for the same target, run in the adjacent lanes and then in
// groups of four: all stop once the first converges, and no new group starts once any other has. Rows after the group
// in which the first one converged are then not written.
#include "kernels/ik.hpp"

#include "kernels/placement.hpp"
#include "solver/cholesky.hpp"
#include "solver/jacobi_svd.hpp"

namespace kinodyn::KINODYN_TARGET {

struct InverseKinematics {
    static constexpr int first_group_size = 4;  // states in the first group
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long n = c.dofs.size, rows = 6 * c.frames.size;
        return 14 * static_cast<long>(c.model->bodies.size()) + rows * n + n * n + 3 * n + 2 * rows + c.model->nq;
    }

    template <class T>
    static void run(Work<T>& w) {
        Solver<T> solver(w);
        solver.solve();
    }

    template <class T>
    struct Solver {
        using L = Lanes<T>;
        Work<T>& w;
        const Model& model;
        const IkSettings& settings;
        const long n, frames, rows;
        T* q;
        Placement<T>* at;
        SinCos<T>* angles;
        T *J, *N, *g, *step, *free, *error, *size, *best_q;

        explicit Solver(Work<T>& work)
            : w(work),
              model(work.model),
              settings(work.call.template as<IkSettings>()),
              n(work.call.dofs.size),
              frames(work.call.frames.size),
              rows(6 * frames) {
            q = w.out[ik_output::q];
            at = w.template take_as<Placement<T>>(model.bodies.size());
            angles = w.template take_as<SinCos<T>>(model.bodies.size());
            J = w.take(rows * n);
            N = w.take(n * n);
            g = w.take(n);
            step = w.take(n);
            free = w.take(n);
            error = w.take(rows);
            size = w.take(rows);
            best_q = w.take(model.nq);
            for (int k = 0; k < model.nq; ++k) q[k] = best_q[k] = w.in[ik_input::q][k];
        }

        void solve() {
            const bool adaptive = settings.damping == 0;
            const T max_stalled =
                adaptive ? 12.0 : 6.0;  // steps without progress; adaptive damping needs some to settle
            T best = 1e300, stalled = 0.0, iterations = 0.0, damping = 1e-3, regular = 1.0;
            clamp();
            for (int k = 0;; ++k) {
                T lin, ang;
                T cost = residuals(lin, ang);
                const T better = L::one_if_less(cost, (1.0 - settings.min_progress) * best);
                if (adaptive) {
                    damping = L::larger(T(1e-6), (better * 0.2 + (1.0 - better) * 5.0) * damping);
                    if (reject_worse(better)) cost = residuals(lin, ang);
                }
                best = L::smaller(best, cost);
                stalled = (stalled + 1.0) * (1.0 - better);
                // converged or stalled lanes no longer move
                const T open = 1.0 - L::one_if_less(lin, settings.position_tolerance) *
                                         L::one_if_less(ang, settings.orientation_tolerance);
                const T moving = L::one_if_less(stalled, max_stalled);
                const T active = open * moving * regular;
                w.out[ik_output::iterations][0] = iterations;
                w.out[ik_output::ending][0] =
                    open *
                    ((1.0 - regular) * code(IkEnding::Singular) +
                     regular * ((1.0 - moving) * code(IkEnding::Stalled) + moving * code(IkEnding::OutOfIterations)));
                if (k == settings.max_iterations || L::all_zero(active)) return;
                if (settings.first_leads && L::lane(open, 0) == 0) return;
                jacobian();
                fix_at_limits();
                take_step(adaptive ? damping + 1e-12 : settings.damping * cost + 1e-12, regular);
                iterations += active * regular;
                integrate(active * regular);
            }
        }
        static constexpr double code(IkEnding ending) { return static_cast<double>(ending); }

        // Computes the step; `regular` becomes 0 in lanes where the method has no step.
        void take_step(T damping, T& regular) {
            switch (settings.method) {
                case IkMethod::LevenbergMarquardt: normal_equations(); return solve_step(damping);
                case IkMethod::Transpose: return along_gradient();
                case IkMethod::Pseudoinverse: return by_singular_values(1e-3, 0.0);
                case IkMethod::DampedLeastSquares: return by_singular_values(1e-8, 0.01);
                case IkMethod::Newton:
                    by_singular_values(1e-8, 0.0);
                    if (rank() > 0) regular *= L::one_if_less(1e-12 * size[0], size[rank() - 1]);  // of squares
            }
        }

        // Restores the best configuration in lanes without improvement; returns whether there are any.
        bool reject_worse(T better) {
            for (int k = 0; k < w.call.bodies.size; ++k) {
                const Body& body = model.bodies[w.call.bodies[k]];
                if (index_of(body.iv) < 0) continue;
                for (int j = body.iq; j < body.iq + coordinates(body.kind); ++j)
                    q[j] = best_q[j] = better * q[j] + (1.0 - better) * best_q[j];
            }
            return !L::all_zero(1.0 - better);
        }

        // Weighted errors of all frames; returns half their square, and the largest errors without weights.
        T residuals(T& lin, T& ang) {
            joint_angles(
                q, w.call.bodies.size, [&](int k) -> const auto& { return model.bodies[w.call.bodies[k]]; }, angles);
            for (int k = 0; k < w.call.bodies.size; ++k) {
                const int i = w.call.bodies[k];
                place(model.bodies[i], parent_of(at, model.bodies[i]), q, angles[k], at[i]);
            }
            T cost = 0.0;
            lin = 0.0, ang = 0.0;
            for (long k = 0; k < frames; ++k) {
                const T *t = w.in[ik_input::first_target + k], *weight = weights(k);
                const Placement<T> f = place_frame(model.frames[w.call.frames[k]], at);
                const Vec3<T> d = Vec3<T>{t[3], t[7], t[11]} - f.p;
                const Vec3<T> r = rotation_error({{t[0], t[1], t[2]}, {t[4], t[5], t[6]}, {t[8], t[9], t[10]}}, f.R);
                const T e[6] = {d.x, d.y, d.z, r.x, r.y, r.z};
                T square[2] = {0.0, 0.0};
                for (int j = 0; j < 6; ++j) {
                    // a direction without weight is free: it counts neither for the step nor for the residual
                    const T counts = L::one_if_less(0.0, weight[j]);
                    square[j / 3] += counts * e[j] * e[j];
                    error[6 * k + j] = weight[j] * e[j];
                    cost += 0.5 * error[6 * k + j] * error[6 * k + j];
                }
                lin = L::larger(lin, L::root(square[0]));
                ang = L::larger(ang, L::root(square[1]));
            }
            return cost;
        }
        const T* weights(long k) const { return w.in[ik_input::first_target + frames + k]; }

        // From R to the target: 2 sin(angle / 2) along the axis, which is well defined up to half a turn.
        static Vec3<T> rotation_error(const Mat3<T>& target, const Mat3<T>& R) {
            const Mat3<T> E = {{dot(target.x, R.x), dot(target.x, R.y), dot(target.x, R.z)},
                               {dot(target.y, R.x), dot(target.y, R.y), dot(target.y, R.z)},
                               {dot(target.z, R.x), dot(target.z, R.y), dot(target.z, R.z)}};
            const T trace = 1.0 + E.x.x + E.y.y + E.z.z;
            const T k = 1.0 / L::root(L::larger(trace, T(1e-12)));
            const Vec3<T> r = {k * (E.z.y - E.y.z), k * (E.x.z - E.z.x), k * (E.y.x - E.x.y)};
            const T half = L::one_if_less(trace, T(1e-8));
            if (__builtin_expect(L::all_zero(half), 1)) return r;
            return (1.0 - half) * r + half * half_turn(E);
        }
        // At half a turn E + 1 is twice axis axis^T: its longest row gives the axis most accurately.
        static Vec3<T> half_turn(const Mat3<T>& E) {
            const Vec3<T> rows[3] = {
                {E.x.x + 1.0, E.x.y, E.x.z}, {E.y.x, E.y.y + 1.0, E.y.z}, {E.z.x, E.z.y, E.z.z + 1.0}};
            Vec3<T> axis = rows[0];
            for (int i = 1; i < 3; ++i) {
                const T longer = L::one_if_less(dot(axis, axis), dot(rows[i], rows[i]));
                axis = (1.0 - longer) * axis + longer * rows[i];
            }
            return (2.0 / L::root(dot(axis, axis))) * axis;
        }

        // Weighted Jacobian of all frames, rows x n, in the order of call.dofs.
        void jacobian() {
            for (long k = 0; k < rows * n; ++k) J[k] = 0.0;
            for (long k = 0; k < frames; ++k) {
                const FixedFrame& frame = model.frames[w.call.frames[k]];
                const Placement<T> f = place_frame(frame, at);
                const T* weight = weights(k);
                for (int b = frame.body; b >= 0; b = model.bodies[b].parent) {
                    const Body& body = model.bodies[b];
                    const long i = index_of(body.iv);
                    if (i < 0) continue;
                    visit(body.kind, [&](auto kind) {
                        using Joint = Joint<decltype(kind)::value, T>;
                        const T store[joint_words] = {};
                        const Joint joint = Joint::stored(body, store);
                        for (int d = 0; d < Joint::n; ++d) {
                            const Spatial<T> s = joint.world_column(d, at[b].R, at[b].p - f.p);
                            T* column = J + 6 * k * n + i + d;
                            column[0] += weight[0] * s.lin.x, column[n] += weight[1] * s.lin.y;
                            column[2 * n] += weight[2] * s.lin.z, column[3 * n] += weight[3] * s.ang.x;
                            column[4 * n] += weight[4] * s.ang.y, column[5 * n] += weight[5] * s.ang.z;
                        }
                    });
                }
            }
        }
        long index_of(int iv) const { return w.call.dof_index[iv]; }

        // free is 0 for a joint at a limit that the gradient g pushes beyond it, 1 otherwise. Columns of the former are
        // cleared, so that the step is optimal for the others.
        void fix_at_limits() {
            for (long i = 0; i < n; ++i) {
                T sum = 0.0;
                for (long r = 0; r < rows; ++r) sum += J[r * n + i] * error[r];
                g[i] = sum, free[i] = 1.0;
            }
            T all = 1.0;
            for (int k = 0; k < w.call.bodies.size; ++k) {
                const Body& body = model.bodies[w.call.bodies[k]];
                const long i = index_of(body.iv);
                if (i < 0 || dofs(body.kind) != 1) continue;
                const T below =
                    L::one_if_less(q[body.iq], w.in[ik_input::lower][body.iq] + 1e-12) * L::one_if_less(g[i], T(0.0));
                const T above =
                    L::one_if_less(w.in[ik_input::upper][body.iq] - 1e-12, q[body.iq]) * L::one_if_less(T(0.0), g[i]);
                free[i] = (1.0 - below) * (1.0 - above);
                all *= free[i];
            }
            if (L::all_zero(1.0 - all)) return;
            for (long i = 0; i < n; ++i) {
                g[i] *= free[i];
                for (long r = 0; r < rows; ++r) J[r * n + i] *= free[i];
            }
        }

        // g times the length that is best for the linearised error, g.g / |J g|^2.
        void along_gradient() {
            T length = 0.0, change = 0.0;
            for (long i = 0; i < n; ++i) length += g[i] * g[i];
            for (long r = 0; r < rows; ++r) {
                T sum = 0.0;
                for (long i = 0; i < n; ++i) sum += J[r * n + i] * g[i];
                change += sum * sum;
            }
            const T factor = length / L::larger(change, T(1e-300));
            for (long i = 0; i < n; ++i) step[i] = factor * g[i];
        }

        // How many singular values can differ from zero: directions with weight, or joints if those are fewer.
        long rank() const {
            long weighted = 0;
            for (long k = 0; k < frames; ++k)
                for (int j = 0; j < 6; ++j) weighted += L::lane(weights(k)[j], 0) > 0;
            return weighted < n ? weighted : n;
        }

        // The step by singular values s of J: sum of e_i / (s_i^2 + damping) along the right singular vectors, without
        // those below `cut` of the largest. The damping grows to (`max_damping` times the largest)^2 as the product
        // of s_i / s_0, the manipulability without its unit, falls from 0.01 to zero.
        void by_singular_values(double cut, double max_damping) {
            orthogonalise(J, error, size, rows, n);
            const T largest = L::larger(size[0], T(1e-300));
            T damping = 0.0;
            if (max_damping > 0) {
                T product = 1.0;
                for (long r = 0; r < rank(); ++r) product *= size[r] / largest;
                const T lack = L::larger(T(0.0), 1.0 - 100.0 * L::root(product));
                damping = max_damping * max_damping * largest * lack * lack;
            }
            for (long i = 0; i < n; ++i) step[i] = 0.0;
            for (long r = 0; r < rows; ++r) {
                const T counts = L::one_if_less(cut * cut * largest, size[r]);
                const T factor = counts * error[r] / L::larger(size[r] + damping, T(1e-300));
                for (long i = 0; i < n; ++i) step[i] += factor * J[r * n + i];
            }
        }

        void normal_equations() {
            for (long i = 0; i < n; ++i)
                for (long j = 0; j <= i; ++j) {
                    T product = 0.0;
                    for (long r = 0; r < rows; ++r) product += J[r * n + i] * J[r * n + j];
                    N[i * n + j] = product;
                }
        }

        // (N + damping) step = g, in place.
        void solve_step(T damping) {
            cholesky(
                N, n, n, [&](long i, long j) { return i == j ? N[i * n + i] + damping : N[i * n + j]; },
                [](long, T d) { return L::larger(d, T(1e-30)); });
            for (long i = 0; i < n; ++i) step[i] = g[i];
            cholesky_solve(N, n, n, step);
        }

        // Takes the step in the active lanes, no joint by more than a radian or a metre.
        void integrate(T active) {
            T largest = 1.0;
            for (long k = 0; k < n; ++k) largest = L::larger(largest, L::larger(step[k], -step[k]));
            const T scale = active / largest;
            for (int k = 0; k < w.call.bodies.size; ++k) {
                const Body& body = model.bodies[w.call.bodies[k]];
                const long i = index_of(body.iv);
                if (i < 0) continue;
                const T* s = step + i;
                T* x = q + body.iq;
                if (body.kind == Kind::Free) {
                    const Vec3<T> d = rotation(x + 3) * Vec3<T>{scale * s[0], scale * s[1], scale * s[2]};
                    x[0] += d.x, x[1] += d.y, x[2] += d.z;
                    turn_by(x + 3, {scale * s[3], scale * s[4], scale * s[5]});
                } else if (body.kind == Kind::Ball) {
                    turn_by(x, {scale * s[0], scale * s[1], scale * s[2]});
                } else if (first_of(k)) {
                    *x += scale * *s;
                }
            }
            clamp();
        }
        // Mimic joints share a coordinate with the joint that they follow, which must move only once.
        bool first_of(int k) const {
            if (!model.mimic) return true;
            for (int j = 0; j < k; ++j)
                if (model.bodies[w.call.bodies[j]].iq == model.bodies[w.call.bodies[k]].iq) return false;
            return true;
        }
        void clamp() {
            for (int k = 0; k < model.nq; ++k)
                q[k] = L::larger(w.in[ik_input::lower][k], L::smaller(w.in[ik_input::upper][k], q[k]));
        }
    };
};

// Runs the first group of starts, then further groups of four until some have converged, on any number of
// lanes.
static void solve_with_leader(const Call& c, long count, Fault& f) {
    constexpr auto converged = static_cast<double>(IkEnding::Converged);
    const double* endings = c.out[ik_output::ending].row(0);
    IkSettings settings = c.as<IkSettings>();
    settings.first_leads = 0;  // in the packs after the first
    Call others = c;
    others.settings = &settings;
    bool any_converged = false;
    for (long at = 0, next; at < count; at = next) {
        if (at % InverseKinematics::first_group_size == 0 && any_converged) return;
        next = at + lanes < count ? at + lanes : count;
        run<InverseKinematics>(at == 0 ? c : others, at, next, f);
        if (f.kind != FaultKind::None || endings[0] == converged) return;
        for (long k = at; k < next; ++k) any_converged |= endings[k] == converged;
    }
}

static void ik(const Call& c, long begin, long end, Fault& f) {
    if (begin == 0 && c.as<IkSettings>().first_leads) return solve_with_leader(c, end, f);
    run<InverseKinematics>(c, begin, end, f);
}

constexpr KernelEntry entries[] = {
    {"ik", ik},
};
extern const KernelList ik_kernels;
const KernelList ik_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
