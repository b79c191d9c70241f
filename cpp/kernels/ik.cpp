// Inverse kinematics: moves joints within their limits until frames stand at their targets, all lanes at once.
//
// Every method measures, differentiates and moves alike; they differ in the step alone (call.mode):
// - lm: Levenberg-Marquardt with damping in proportion to the remaining error (S. K. Chan, P. D. Lawrence, "General
//   inverse kinematics with the error damped pseudoinverse", 1988): bold far from singularities, quadratic near the
//   solution, and hardly a step that must be taken back. Where a target is out of reach the error stays, so with it
//   the damping: to come to rest at the nearest place, it can be told to be patient, and then takes back each step
//   that does not help.
// - transpose: along the transposed Jacobian, as far as is best for a straight way (W. A. Wolovich, H. Elliott, 1984).
// - pinv: least norm by singular values, those near zero left out (D. E. Whitney, 1969).
// - dls: damped by singular values, the more the lower the manipulability (Y. Nakamura, H. Hanafusa, 1986, eq. 23).
// - newton: Newton-Raphson, least norm where joints are many; stops where the Jacobian has lost rank.
// Joints that press against a limit are held there for the step.
//
// Inputs: 0 start, 1 lower and 2 upper limits (nq), 3 settings (metres, radians, most iterations, damping by the
// error or 0 to be patient, progress that counts as such, 1 if the first state leads), then for each frame in call.more
// its target pose (16) and, after all of those, its weights (6). call.list: the bodies that matter; call.dofs: their v
// indices.
// Outputs: 0 configuration, 1 iterations, 2 how it ended (Ending).
//
// Where the first state leads, the others are further starts for its target, taken in the lanes beside it and then four
// by four: all stop once it has arrived, and no more are taken once others have. Of the others, what is written then
// means something only up to the end of the four among which the first arrived.
#include "kernels/algorithms.hpp"
#include "kernels/placement.hpp"
#include "solver/singular.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Reach {
    enum Method { Lm, Transpose, Pinv, Dls, Newton };
    enum Ending { Arrived, Standstill, OutOfIterations, Singular };
    static constexpr int leads = 5;     // place among the settings
    static constexpr int together = 4;  // states, the first and the starts beside it
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long n = c.n_dofs, rows = 6 * c.n_more;
        return 14 * static_cast<long>(c.model->bodies.size()) + rows * n + n * n + 3 * n + 2 * rows + c.model->nv +
               c.model->nq;
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
        const long n, frames, rows;
        T* q;
        Placement<T>* at;
        SinCos<T>* turns;
        T *J, *N, *g, *step, *held, *error, *size, *kept;
        T* place_of;  // v index -> place among call.dofs, as numbers for want of integer memory

        explicit Solver(Work<T>& work)
            : w(work), model(work.model), n(work.call.n_dofs), frames(work.call.n_more), rows(6 * frames) {
            q = w.out[0];
            at = w.template take_as<Placement<T>>(model.bodies.size());
            turns = w.template take_as<SinCos<T>>(model.bodies.size());
            J = w.take(rows * n);
            N = w.take(n * n);
            g = w.take(n);
            step = w.take(n);
            held = w.take(n);
            error = w.take(rows);
            size = w.take(rows);
            place_of = w.take(model.nv);
            kept = w.take(model.nq);
            for (int k = 0; k < model.nq; ++k) q[k] = kept[k] = w.in[0][k];
            for (long k = 0; k < n; ++k) place_of[w.call.dofs[k]] = static_cast<double>(k);
        }

        void solve() {
            const T* settings = w.in[3];
            const double metres = L::lane(settings[0], 0), radians = L::lane(settings[1], 0);
            const int most = static_cast<int>(L::lane(settings[2], 0));
            const double by_error = L::lane(settings[3], 0), progress = L::lane(settings[4], 0);
            const bool patient = by_error == 0, led = L::lane(settings[leads], 0) > 0;
            const T standstill =
                patient ? 12.0 : 6.0;  // steps without progress; patience needs some to find its damping
            T best = 1e300, stalled = 0.0, iterations = 0.0, damping = 1e-3, regular = 1.0;
            clamp();
            for (int k = 0;; ++k) {
                T lin, ang;
                T cost = measure(lin, ang);
                const T better = L::one_if_less(cost, (1.0 - progress) * best);
                if (patient) {
                    damping = L::larger(T(1e-6), (better * 0.2 + (1.0 - better) * 5.0) * damping);
                    if (keep_better(better)) cost = measure(lin, ang);
                }
                best = L::smaller(best, cost);
                stalled = (stalled + 1.0) * (1.0 - better);
                // lanes that have arrived, or that have come no nearer for a while, stand still from here on
                const T open = 1.0 - L::one_if_less(lin, metres) * L::one_if_less(ang, radians);
                const T moving = L::one_if_less(stalled, standstill);
                const T active = open * moving * regular;
                w.out[1][0] = iterations;
                w.out[2][0] = open * ((1.0 - regular) * Singular +
                                      regular * ((1.0 - moving) * Standstill + moving * OutOfIterations));
                if (k == most || L::all_zero(active)) return;
                if (led && L::lane(open, 0) == 0) return;
                differentiate();
                hold_at_limits();
                take_step(patient ? damping + 1e-12 : by_error * cost + 1e-12, regular);
                iterations += active * regular;
                move(active * regular);
            }
        }

        // Sets the step; `regular` becomes 0 in lanes where the method has none.
        void take_step(T damping, T& regular) {
            switch (w.call.mode) {
                case Lm: normal_equations(); return solve_step(damping);
                case Transpose: return along_the_gradient();
                case Pinv: return by_singular_values(1e-3, 0.0);
                case Dls: return by_singular_values(1e-8, 0.01);
                default:
                    by_singular_values(1e-8, 0.0);
                    if (rank() > 0) regular *= L::one_if_less(1e-12 * size[0], size[rank() - 1]);  // of squares
            }
        }

        // Goes back to where it was in the lanes that are no better; tells whether there are any.
        bool keep_better(T better) {
            for (int k = 0; k < model.nq; ++k) q[k] = kept[k] = better * q[k] + (1.0 - better) * kept[k];
            return !L::all_zero(1.0 - better);
        }

        // Errors of all frames, weighted; returns half their square and the largest residuals without weights.
        T measure(T& lin, T& ang) {
            for (int k = 0; k < w.call.n_list; ++k) turn(model.bodies[w.call.list[k]], q, turns[w.call.list[k]]);
            for (int k = 0; k < w.call.n_list; ++k) {
                const int i = w.call.list[k];
                place(model.bodies[i], parent_of(at, model.bodies[i]), q, turns[i], at[i]);
            }
            T cost = 0.0;
            lin = 0.0, ang = 0.0;
            for (long k = 0; k < frames; ++k) {
                const T *t = w.in[4 + k], *weight = w.in[4 + frames + k];
                const Placement<T> f = place_frame(model.frames[w.call.more[k]], at);
                const Vec3<T> d = Vec3<T>{t[3], t[7], t[11]} - f.p;
                const Vec3<T> r = turn_to({{t[0], t[1], t[2]}, {t[4], t[5], t[6]}, {t[8], t[9], t[10]}}, f.R);
                const T e[6] = {d.x, d.y, d.z, r.x, r.y, r.z};
                T square[2] = {0.0, 0.0};
                for (int j = 0; j < 6; ++j) {
                    // a direction without weight is free: it counts neither for the step nor for the residual
                    const T wanted = L::one_if_less(0.0, weight[j]);
                    square[j / 3] += wanted * e[j] * e[j];
                    error[6 * k + j] = weight[j] * e[j];
                    cost += 0.5 * error[6 * k + j] * error[6 * k + j];
                }
                lin = L::larger(lin, L::root(square[0]));
                ang = L::larger(ang, L::root(square[1]));
            }
            return cost;
        }

        // From R to the target: 2 sin(angle / 2) along the axis, which has a direction up to half a turn.
        static Vec3<T> turn_to(const Mat3<T>& target, const Mat3<T>& R) {
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
        // At half a turn E + 1 is twice the axis times itself; its longest row shows the axis best.
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
        void differentiate() {
            for (long k = 0; k < rows * n; ++k) J[k] = 0.0;
            for (long k = 0; k < frames; ++k) {
                const FixedFrame& frame = model.frames[w.call.more[k]];
                const Placement<T> f = place_frame(frame, at);
                const T* weight = w.in[4 + frames + k];
                for (int b = frame.body; b >= 0; b = model.bodies[b].parent) {
                    const Body& body = model.bodies[b];
                    visit(body.kind, [&](auto kind) {
                        using Joint = Joint<decltype(kind)::value, T>;
                        const T store[joint_words] = {};
                        const Joint joint = Joint::stored(body, store);
                        for (int d = 0; d < Joint::n; ++d) {
                            const Spatial<T> s = joint.world_column(d, at[b].R, at[b].p - f.p);
                            T* column = J + 6 * k * n + index_of(body.iv + d);
                            column[0] += weight[0] * s.lin.x, column[n] += weight[1] * s.lin.y;
                            column[2 * n] += weight[2] * s.lin.z, column[3 * n] += weight[3] * s.ang.x;
                            column[4 * n] += weight[4] * s.ang.y, column[5 * n] += weight[5] * s.ang.z;
                        }
                    });
                }
            }
        }
        long index_of(int iv) const { return static_cast<long>(L::lane(place_of[iv], 0)); }

        // held is 0 for a joint that stands at a limit and is pushed beyond it by the gradient g, 1 otherwise. Columns
        // of held joints are cleared, so that the step is the best one of the others.
        void hold_at_limits() {
            for (long i = 0; i < n; ++i) {
                T sum = 0.0;
                for (long r = 0; r < rows; ++r) sum += J[r * n + i] * error[r];
                g[i] = sum, held[i] = 1.0;
            }
            T all = 1.0;
            for (int k = 0; k < w.call.n_list; ++k) {
                const Body& body = model.bodies[w.call.list[k]];
                if (dofs(body.kind) != 1) continue;
                const long i = index_of(body.iv);
                const T below = L::one_if_less(q[body.iq], w.in[1][body.iq] + 1e-12) * L::one_if_less(g[i], T(0.0));
                const T above = L::one_if_less(w.in[2][body.iq] - 1e-12, q[body.iq]) * L::one_if_less(T(0.0), g[i]);
                held[i] = (1.0 - below) * (1.0 - above);
                all *= held[i];
            }
            if (L::all_zero(1.0 - all)) return;
            for (long i = 0; i < n; ++i) {
                g[i] *= held[i];
                for (long r = 0; r < rows; ++r) J[r * n + i] *= held[i];
            }
        }

        // g for as long as the error shrinks on a straight way: g.g / |J g|^2.
        void along_the_gradient() {
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

        // How many singular values can differ from zero: directions that count, or joints if those are fewer.
        long rank() const {
            long wanted = 0;
            for (long k = 0; k < frames; ++k)
                for (int j = 0; j < 6; ++j) wanted += L::lane(w.in[4 + frames + k][j], 0) > 0;
            return wanted < n ? wanted : n;
        }

        // The step by singular values s of J: sum of e_i / (s_i^2 + damping) along the right singular vectors, without
        // those below `cut` of the greatest. The damping grows to (`most_damping` times the greatest)^2 as the product
        // of s_i / s_0, the manipulability without its unit, falls from 0.01 to zero.
        void by_singular_values(double cut, double most_damping) {
            orthogonalise(J, error, size, rows, n);
            const T greatest = L::larger(size[0], T(1e-300));
            T damping = 0.0;
            if (most_damping > 0) {
                T product = 1.0;
                for (long r = 0; r < rank(); ++r) product *= size[r] / greatest;
                const T lack = L::larger(T(0.0), 1.0 - 100.0 * L::root(product));
                damping = most_damping * most_damping * greatest * lack * lack;
            }
            for (long i = 0; i < n; ++i) step[i] = 0.0;
            for (long r = 0; r < rows; ++r) {
                const T counts = L::one_if_less(cut * cut * greatest, size[r]);
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

        // (N + damping) step = g by Cholesky's method, in place.
        void solve_step(T damping) {
            for (long i = 0; i < n; ++i) {
                for (long j = 0; j <= i; ++j) {
                    T sum = N[i * n + j];
                    if (i == j) sum += damping;
                    for (long k = 0; k < j; ++k) sum -= N[i * n + k] * N[j * n + k];
                    N[i * n + j] = i == j ? 1.0 / L::root(L::larger(sum, T(1e-30))) : sum * N[j * n + j];
                }
            }
            for (long i = 0; i < n; ++i) {
                T sum = g[i];
                for (long k = 0; k < i; ++k) sum -= N[i * n + k] * step[k];
                step[i] = sum * N[i * n + i];
            }
            for (long i = n - 1; i >= 0; --i) {
                T sum = step[i];
                for (long k = i + 1; k < n; ++k) sum -= N[k * n + i] * step[k];
                step[i] = sum * N[i * n + i];
            }
        }

        // Takes the step in the lanes that are active, no joint by more than a radian or a metre.
        void move(T active) {
            T largest = 1.0;
            for (long k = 0; k < n; ++k) largest = L::larger(largest, L::larger(step[k], -step[k]));
            const T scale = active / largest;
            for (int k = 0; k < w.call.n_list; ++k) {
                const Body& body = model.bodies[w.call.list[k]];
                const T* s = step + index_of(body.iv);
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
        // Joints that follow others share a coordinate, which must move only once.
        bool first_of(int k) const {
            if (!model.mimic) return true;
            for (int j = 0; j < k; ++j)
                if (model.bodies[w.call.list[j]].iq == model.bodies[w.call.list[k]].iq) return false;
            return true;
        }
        static void turn_by(T* u, const Vec3<T>& r) {
            const Vec3<T> h = T(0.5) * r, v = {u[0], u[1], u[2]};
            const Vec3<T> x = v + u[3] * h + cross(v, h);
            const T s = u[3] - dot(v, h);
            const T k = 1.0 / L::root(dot(x, x) + s * s);
            u[0] = k * x.x, u[1] = k * x.y, u[2] = k * x.z, u[3] = k * s;
        }
        void clamp() {
            for (int k = 0; k < model.nq; ++k) q[k] = L::larger(w.in[1][k], L::smaller(w.in[2][k], q[k]));
        }
    };
};

// Runs a first state and the starts beside it, those four by four until some have arrived, on any number of lanes.
void reach_led(const Call& c, long count, Fault& f) {
    const double* ended = c.out[2].data;
    double settings[Reach::leads + 1] = {};  // nobody leads the packs after the first
    for (int k = 0; k < Reach::leads; ++k) settings[k] = c.in[3].data[k];
    Call others = c;
    others.in[3].data = settings;
    bool arrived = false;
    for (long at = 0, next; at < count; at = next) {
        if (at % Reach::together == 0 && arrived) return;
        next = at + lanes < count ? at + lanes : count;
        run<Reach>(at == 0 ? c : others, at, next, f);
        if (f.kind != FaultKind::None || ended[0] == Reach::Arrived) return;
        for (long k = at; k < next; ++k) arrived |= ended[k] == Reach::Arrived;
    }
}

void ik(const Call& c, long begin, long end, Fault& f) {
    if (begin == 0 && c.in[3].data[Reach::leads] > 0) return reach_led(c, end, f);
    run<Reach>(c, begin, end, f);
}

}  // namespace kinodyn::KINODYN_TARGET
