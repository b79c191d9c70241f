// Impulses of hard contacts in one step of implicit time stepping (J. J. Moreau, "Unilateral contact and dry friction
// in finite freedom dynamics", 1988): velocities after the step and impulses in it are solved for together.
//
// Inputs and outputs: hard_contacts.hpp, with m points on the call's frames.
#include "kernels/hard_contacts.hpp"

#include "core/impulses.hpp"
#include "kernels/motion.hpp"
#include "solver/cholesky.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace in = hard_contact_input;
namespace out = hard_contact_output;

struct HardContacts {
    static constexpr bool sparse = false;
    static constexpr double depth_correction = 0.2;      // fraction of the penetration that is corrected in one step
    static constexpr double max_correction_speed = 0.5;  // [m/s]
    static constexpr double inactive = -1;               // as a friction coefficient: takes no part in this step

    static long words(const Call& c) {
        const long nv = c.model->nv, m = c.in[in::friction].size;
        return 12 * static_cast<long>(c.model->bodies.size()) + nv * nv + 6 * m * nv + 9 * m * m + 21 * m + nv;
    }
    static void run(Work<double>& w) { Solver(w).solve(); }

    using V = Vec3<double>;
    struct Solver {
        Work<double>& w;
        const HardContactSettings& settings;
        const Model& model;
        const long nv, m;
        Placement<double>* at;
        double *L, *J, *Y, *A, *before, *after, *axes, *points, *least, *friction, *height, *free;

        explicit Solver(Work<double>& work)
            : w(work),
              settings(work.call.as<HardContactSettings>()),
              model(work.model),
              nv(model.nv),
              m(work.call.in[in::friction].size),
              at(work.take_as<Placement<double>>(static_cast<long>(model.bodies.size()))) {
            L = w.take(nv * nv), J = w.take(3 * m * nv), Y = w.take(3 * m * nv), A = w.take(9 * m * m);
            before = w.take(3 * m), after = w.take(3 * m), axes = w.take(9 * m), points = w.take(3 * m);
            least = w.take(m), friction = w.take(m), height = w.take(m), free = w.take(nv);
        }

        void solve() {
            for (int k = 0; k < w.call.n_out; ++k)
                for (int i = 0; i < w.call.out[k].size; ++i) w.out[k][i] = 0;
            place_points();
            multiply(w.in[in::v], before);
            if (all_away()) return;
            free_motion();
            multiply(free, after);
            for (long i = 0; i < m; ++i) aim_of(i);
            mobility();
            double* x = w.out[out::impulse];
            for (long k = 0; k < 3 * m; ++k) x[k] = friction[k / 3] < 0 ? 0 : w.in[in::guess][k];
            const ImpulseProblem problem = {static_cast<int>(m), A, after, least, friction, x};
            int sweeps;
            *w.out[out::change] = solve_impulses(problem, settings.tolerance, settings.max_sweeps, sweeps);
            forces();
        }

        int frame_of(long i) const { return w.call.frames[static_cast<int>(w.in[in::owner][i])]; }

        // Points, their heights, contact axes (normal and two tangents) and rows of the Jacobian along these.
        void place_points() {
            for (int k = 0; k < w.call.bodies.size; ++k) {
                const Body& body = model.bodies[w.call.bodies[k]];
                SinCos<double> angle;
                joint_angle(body, w.in[in::q], angle);
                place(body, parent_of(at, body), w.in[in::q], angle, at[w.call.bodies[k]]);
            }
            for (long k = 0; k < 3 * m * nv; ++k) J[k] = 0;
            for (long i = 0; i < m; ++i) {
                const FixedFrame& frame = model.frames[frame_of(i)];
                const Placement<double> f = place_frame(frame, at);
                const V p = f.p + f.R * vec(w.in[in::position] + 3 * i), n = vec(w.in[in::normal] + 3 * i);
                const V side = cross(n, fabs(n.x) < 0.7 ? V{1, 0, 0} : V{0, 1, 0});
                const V first = (1 / __builtin_sqrt(dot(side, side))) * side, second = cross(n, first);
                write(p, points + 3 * i);
                write(n, axes + 9 * i), write(first, axes + 9 * i + 3), write(second, axes + 9 * i + 6);
                height[i] = settings.plane ? dot(p, n) : w.in[in::height][i];
                for (int b = frame.body; b >= 0; b = model.bodies[b].parent) {
                    const Body& body = model.bodies[b];
                    for_columns<double>(body, at[b].R, at[b].p - p, [&](int dof, const Spatial<double>& s) {
                        double* row = J + 3 * i * nv + body.iv + dof;
                        row[0] += dot(n, s.lin), row[nv] += dot(first, s.lin), row[2 * nv] += dot(second, s.lin);
                    });
                }
            }
        }

        void multiply(const double* v, double* result) const {
            for (long r = 0; r < 3 * m; ++r) {
                result[r] = 0;
                for (long c = 0; c < nv; ++c) result[r] += J[r * nv + c] * v[c];
            }
        }

        // Whether no point can reach the ground in this step.
        bool all_away() const {
            for (long i = 0; i < m; ++i)
                if (!(height[i] > settings.dt * (2 * fabs(before[3 * i]) + max_correction_speed))) return false;
            return true;
        }

        // Velocities after a step without contacts.
        void free_motion() {
            const double *M = w.in[in::mass_matrix], *v = w.in[in::v];
            cholesky(
                L, nv, nv, [&](long i, long j) { return M[i * nv + j] + (i == j ? w.in[in::inertia][i] : 0); },
                [&](long i, double d) {
                    w.check_pivot(d, static_cast<int>(i));
                    return d;
                });
            for (long i = 0; i < nv; ++i) free[i] = w.in[in::force][i];
            cholesky_solve(L, nv, nv, free);
            for (long i = 0; i < nv; ++i) free[i] = v[i] + settings.dt * free[i];
            for (const Body& body : model.bodies) {
                if (body.kind != Kind::Free) continue;
                const V turn = cross(vec(v + body.iv + 3), vec(v + body.iv));  // integration is along fixed axes
                free[body.iv] += settings.dt * turn.x, free[body.iv + 1] += settings.dt * turn.y;
                free[body.iv + 2] += settings.dt * turn.z;
            }
        }

        // The least normal velocity of a point after the step, and its friction; inactive if it is far away.
        void aim_of(long i) {
            const double dt = settings.dt, h = height[i], now = before[3 * i], next = after[3 * i];
            const double deep = -depth_correction * h / dt;
            const double correction = deep < max_correction_speed ? deep : max_correction_speed;
            bool active;
            if (settings.restitution > 0) {
                const double bounce = -settings.restitution * now;
                active = h <= 0;
                least[i] = correction > bounce ? correction : bounce;
            } else {
                active = h + dt * (now < next ? now : next) <= dt * max_correction_speed;
                least[i] = h > 0 ? -h / dt : correction;
            }
            friction[i] = active ? w.in[in::friction][i] : inactive;
            if (!active) least[i] = 0;
        }

        // A = J M^-1 J^T of the active points; the others' rows are not read.
        void mobility() {
            const long rows = 3 * m;
            for (long r = 0; r < rows; ++r) {
                if (friction[r / 3] < 0) continue;
                for (long c = 0; c < nv; ++c) Y[r * nv + c] = J[r * nv + c];
                solve_lower(L, nv, nv, Y + r * nv);
            }
            for (long r = 0; r < rows; ++r)
                for (long s = 0; s <= r; ++s) {
                    double total = 0;
                    if (!(friction[r / 3] < 0 || friction[s / 3] < 0))
                        for (long c = 0; c < nv; ++c) total += Y[r * nv + c] * Y[s * nv + c];
                    A[r * rows + s] = A[s * rows + r] = total;
                }
        }

        void forces() {
            for (long i = 0; i < m; ++i) {
                const double *x = w.out[out::impulse] + 3 * i, *u = axes + 9 * i;
                const V force = (1 / settings.dt) * (x[0] * vec(u) + x[1] * vec(u + 3) + x[2] * vec(u + 6));
                const Placement<double> f = place_frame(model.frames[frame_of(i)], at);
                const V moment = cross(vec(points + 3 * i) - f.p, force);
                double* wrench = w.out[out::wrench] + 6 * static_cast<int>(w.in[in::owner][i]);
                wrench[0] += force.x, wrench[1] += force.y, wrench[2] += force.z;
                wrench[3] += moment.x, wrench[4] += moment.y, wrench[5] += moment.z;
            }
        }
    };
};

constexpr KernelEntry entries[] = {
    {"hard_contacts", run_each<HardContacts>},
};
extern const KernelList hard_contacts_kernels;
const KernelList hard_contacts_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
