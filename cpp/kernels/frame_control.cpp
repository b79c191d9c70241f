// Torques that move a frame along its error dynamics, and the joints towards a posture with what that leaves free. One
// state at a time.
//
// Inputs: 0 configuration, 1 velocity, 2 mass matrix, 3 bias; of the frame 4 target pose, 5 its rate and 6 acceleration
// (6), 7 a wrench to exert beside it (6), 8 stiffness, damping, scale (k each) and least eigenvalue; of the n joints
// with motors 9 posture (nq), 10 stiffness, damping and torque limits (n each). call.list, call.more: the way to the
// frame, and the frame; call.mode: a bit for each of the k rows that are controlled, and those below.
//
// Outputs: 0 torques (nv) and 1 the same within limits, 2 error and 3 missing rate (k), 4 one if damped, Lyapunov
// function of unit masses on springs, its rate.
#include "kernels/algorithms.hpp"
#include "kernels/manifold.hpp"
#include "kernels/motion.hpp"
#include "solver/singular.hpp"

namespace kinodyn::KINODYN_TARGET {

struct FrameControl {
    static constexpr bool sparse = false;
    static constexpr int by_inertia = 64;  // joints share the motion by their inertia, else by their number
    static constexpr int flying = 128;     // the first six degrees of freedom have no motor and nothing touches them

    static long words(const Call& c) {
        const long nv = c.model->nv;
        return 26L * c.n_list + 2 * nv * nv + 15 * nv;
    }

    static void run(Work<double>& w) {
        Solver solver(w);
        solver.solve();
    }

    struct Solver {
        Work<double>& w;
        const Model& model;
        const long nv, base, n;  // n joints have motors
        long k = 0;
        int rows[6];
        double *M, *L, *J, *Y, *h, *a0, *z;  // matrices row by row; J and Y have nv and n columns
        double drift[6], b[6];
        const double *stiffness, *damping, *scale;
        double least;

        explicit Solver(Work<double>& work)
            : w(work),
              model(work.model),
              nv(model.nv),
              base(work.call.mode & flying ? 6 : 0),
              n(nv - base),
              M(work.take(nv * nv)),
              L(work.take(nv * nv)),
              J(work.take(6 * nv)),
              Y(work.take(6 * nv)),
              h(work.take(nv)),
              a0(work.take(nv)),
              z(work.take(nv)) {
            for (int row = 0; row < 6; ++row)
                if (work.call.mode >> row & 1) rows[k++] = row;
            stiffness = w.in[8], damping = stiffness + k, scale = damping + k, least = scale[k];
        }

        void solve() {
            for (long i = 0; i < nv * nv; ++i) M[i] = w.in[2][i];
            for (long i = 0; i < nv; ++i) h[i] = w.in[3][i];
            measure();
            for (long p = 0; p < base; ++p) eliminate(p);
            strive();
            const bool weighted = w.call.mode & by_inertia;
            if (weighted) factor();
            for (long r = 0; r < k; ++r) scaled_row(r, weighted);
            w.out[4][0] = exactly() ? 0 : damped();
            torques(weighted);
        }

        // Error, missing rate and the acceleration that both ask for, less what comes by itself; the Jacobian's rows.
        void measure() {
            auto* motions = w.take_as<Motion<double>>(w.call.n_list);
            const Motion<double> m = follow<double>(w, w.in[0], w.in[1], nullptr, motions);
            const Placement<double> f = frame_on(w, m);
            const V r = f.p - m.at.p;
            const Spatial<double> rate = velocity_at(m, r), a = acceleration_at(m, r);
            const double* T = w.in[4];
            const Mat3<double> R = {vec(T), vec(T + 4), vec(T + 8)};
            const V way = V{T[3], T[7], T[11]} - f.p;
            const bool turns = w.call.mode & 56;
            const V angle =
                turns ? logarithm(quaternion_of(R * Mat3<double>{f.R.column(0), f.R.column(1), f.R.column(2)}))
                      : V{0, 0, 0};
            const double error[6] = {way.x, way.y, way.z, angle.x, angle.y, angle.z};
            const double now[6] = {rate.lin.x, rate.lin.y, rate.lin.z, rate.ang.x, rate.ang.y, rate.ang.z};
            const double own[6] = {a.lin.x, a.lin.y, a.lin.z, a.ang.x, a.ang.y, a.ang.z};
            double energy = 0, loss = 0;
            for (long i = 0; i < k; ++i) {
                const int row = rows[i];
                const double e = w.out[2][i] = error[row], missing = w.out[3][i] = w.in[5][row] - now[row];
                b[i] = w.in[6][row] + damping[i] * missing + stiffness[i] * e;
                drift[i] = own[row];
                energy += missing * missing + stiffness[i] * e * e;
                loss += damping[i] * missing * missing;
            }
            w.out[4][1] = 0.5 * energy, w.out[4][2] = -loss;
            place_columns(motions, f.p);
        }

        void place_columns(const Motion<double>* motions, const V& point) {
            for (long i = 0; i < k * nv; ++i) J[i] = 0;
            for (int i = 0; i < w.call.n_list; ++i) {
                const Body& body = model.bodies[w.call.list[i]];
                const auto put = [&](int dof, const Spatial<double>& s) {
                    const double column[6] = {s.lin.x, s.lin.y, s.lin.z, s.ang.x, s.ang.y, s.ang.z};
                    for (long r = 0; r < k; ++r) J[r * nv + body.iv + dof] += column[rows[r]];
                };
                for_columns<double>(body, motions[i].at.R, motions[i].at.p - point, put);
            }
        }

        // Leaves out a degree of freedom on which no force acts: its acceleration follows from the others'.
        void eliminate(long p) {
            const double pivot = M[p * nv + p];
            w.check_pivot(pivot, static_cast<int>(p));
            for (long r = 0; r < k; ++r) {
                const double share = J[r * nv + p] / pivot;
                for (long j = p + 1; j < nv; ++j) J[r * nv + j] -= share * M[j * nv + p];
                drift[r] -= share * h[p];
            }
            for (long i = p + 1; i < nv; ++i) {
                const double share = M[i * nv + p] / pivot;
                for (long j = p + 1; j <= i; ++j) M[i * nv + j] -= share * M[j * nv + p];
                h[i] -= share * h[p];
            }
        }

        // Accelerations that the posture asks for.
        void strive() {
            for (const Body& body : model.bodies) between(body, w.in[0], w.in[9], z);
            const double *pull = w.in[10], *brake = pull + n, *v = w.in[1] + base;
            for (long i = 0; i < n; ++i) a0[i] = pull[i] * z[base + i] - brake[i] * v[i];
        }

        double inertia(long i, long j) const {  // by the lower half
            return i >= j ? M[(base + i) * nv + base + j] : M[(base + j) * nv + base + i];
        }

        // Cholesky's factor of the joints' inertia, the inverses of its diagonal in z.
        void factor() {
            for (long i = 0; i < n; ++i)
                for (long j = 0; j <= i; ++j) {
                    double total = inertia(i, j);
                    for (long c = 0; c < j; ++c) total -= L[i * n + c] * L[j * n + c];
                    if (i == j) {
                        w.check_pivot(total, static_cast<int>(base + i));
                        L[i * n + i] = __builtin_sqrt(total);
                        z[i] = 1 / L[i * n + i];
                    } else {
                        L[i * n + j] = total * z[j];
                    }
                }
        }

        // A row of Y and what it should give: with Y Y^T = S J M^-1 J^T S, or S J J^T S, and S of the scale.
        void scaled_row(long r, bool weighted) {
            const double* row = J + r * nv + base;
            double *y = Y + r * n, already = drift[r];
            for (long i = 0; i < n; ++i) {
                already += row[i] * a0[i];
                y[i] = scale[r] * row[i];
                if (!weighted) continue;
                for (long c = 0; c < i; ++c) y[i] -= L[i * n + c] * y[c];
                y[i] *= z[i];
            }
            b[r] = scale[r] * (b[r] - already);
        }

        // z = Y^T (Y Y^T)^-1 b, unless an eigenvalue of Y Y^T may be below the least: the trace of the inverse bounds
        // its greatest eigenvalue, and most often nothing else needs to be known.
        bool exactly() {
            double C[6][6], inverse[6][6], turned[6], x[6], trace = 0;
            for (long i = 0; i < k; ++i)
                for (long j = 0; j <= i; ++j) {
                    double total = 0;
                    for (long c = 0; c < n; ++c) total += Y[i * n + c] * Y[j * n + c];
                    for (long c = 0; c < j; ++c) total -= C[i][c] * C[j][c];
                    if (i > j)
                        C[i][j] = total * inverse[j][j];
                    else if (total > 0)
                        inverse[i][i] = 1 / __builtin_sqrt(total);
                    else
                        return false;
                }
            for (long i = 0; i < k; ++i) {  // of C, and what it makes of b
                turned[i] = inverse[i][i] * b[i];
                trace += inverse[i][i] * inverse[i][i];
                for (long j = 0; j < i; ++j) {
                    double total = 0;
                    for (long c = j; c < i; ++c) total += C[i][c] * inverse[c][j];
                    inverse[i][j] = -inverse[i][i] * total;
                    turned[i] += inverse[i][j] * b[j];
                    trace += inverse[i][j] * inverse[i][j];
                }
            }
            if (!(trace * least <= 1)) return false;
            for (long i = 0; i < k; ++i) {
                x[i] = 0;
                for (long j = i; j < k; ++j) x[i] += inverse[j][i] * turned[j];
            }
            combine(x);
            return true;
        }

        // The same with x / least^2 in place of 1 / x for eigenvalues x below the least; tells whether there are any.
        bool damped() {
            double x[6], size[6];
            orthogonalise(Y, b, size, k, n);
            bool any = false;
            for (long i = 0; i < k; ++i) {
                const bool small = size[i] < least;
                any |= small;
                x[i] = b[i] * (small ? size[i] / (least * least) : 1 / size[i]);
            }
            combine(x);
            return any;
        }

        void combine(const double* x) {
            for (long i = 0; i < n; ++i) {
                z[i] = 0;
                for (long r = 0; r < k; ++r) z[i] += x[r] * Y[r * n + i];
            }
        }

        // M a0 + L z + h, or M (a0 + z) + h, and what the wrench takes.
        void torques(bool weighted) {
            for (long i = 0; i < nv; ++i) w.out[0][i] = w.out[1][i] = 0;
            const double* limits = w.in[10] + 2 * n;
            for (long i = 0; i < n; ++i) {
                double tau = h[base + i];
                for (long j = 0; j < n; ++j) tau += inertia(i, j) * (weighted ? a0[j] : a0[j] + z[j]);
                for (long j = 0; weighted && j <= i; ++j) tau += L[i * n + j] * z[j];
                for (long r = 0; r < k; ++r) tau += J[r * nv + base + i] * w.in[7][rows[r]];
                w.out[0][base + i] = tau;
                w.out[1][base + i] = tau > limits[i] ? limits[i] : tau < -limits[i] ? -limits[i] : tau;
            }
        }
    };
};

void frame_control(const Call& c, long begin, long end, Fault& f) { run_each<FrameControl>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
