// Operational-space control of a frame (O. Khatib, "A unified approach for motion and force control of robot
// manipulators", 1987), and of the joints towards a posture in its null space. One state at a time.
//
// Inputs and outputs: frame_control.hpp, with k controlled directions and n joints with motors.
#include "kernels/frame_control.hpp"

#include "kernels/controlled_frame.hpp"
#include "solver/jacobi_svd.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace in = frame_control_input;
namespace out = frame_control_output;

struct FrameControl {
    static constexpr bool sparse = false;

    static long words(const Call& c) {
        const long nv = c.model->nv;
        return 26L * c.bodies.size + 2 * nv * nv + 15 * nv;
    }

    static void run(Work<double>& w) {
        Solver solver(w);
        solver.solve();
    }

    struct Solver {
        Work<double>& w;
        const FrameControlSettings& settings;
        const Model& model;
        const long nv, base, n;  // n joints have motors
        ControlledFrame frame;
        const long k;
        double *M, *L, *J, *Y, *h, *a0,
            *z;  // matrices row by row; L: factor of the joints' inertia; J and Y have nv and n columns
        double b[6];
        FrameGains gains;
        JointGains joints;

        explicit Solver(Work<double>& work)
            : w(work),
              settings(work.call.as<FrameControlSettings>()),
              model(work.model),
              nv(model.nv),
              base(settings.free_base ? 6 : 0),
              n(nv - base),
              frame(settings.directions),
              k(frame.k),
              M(work.take(nv * nv)),
              L(work.take(nv * nv)),
              J(work.take(6 * nv)),
              Y(work.take(6 * nv)),
              h(work.take(nv)),
              a0(work.take(nv)),
              z(work.take(nv)) {
            const FrameControlSizes sizes = {static_cast<int>(k), static_cast<int>(n)};
            gains = view_block<FrameGains>(w.in[in::gains], sizes);
            joints = view_block<JointGains>(w.in[in::joint_gains], sizes);
        }

        void solve() {
            for (long i = 0; i < nv * nv; ++i) M[i] = w.in[in::mass_matrix][i];
            for (long i = 0; i < nv; ++i) h[i] = w.in[in::bias][i];
            frame_errors();
            for (long p = 0; p < base; ++p) eliminate(p);
            posture_accelerations();
            const bool weighted = settings.by_inertia;
            if (weighted) factor_joint_inertia(w, L, n, [&](long i, long j) { return inertia(i, j); });
            for (long r = 0; r < k; ++r) scaled_row(r, weighted);
            *w.out[out::damped] = exactly() ? 0 : damped();
            torques(weighted);
        }

        // Errors of pose and velocity, and the resulting desired acceleration.
        void frame_errors() {
            frame.measure(w, w.in[in::q], w.in[in::v], w.in[in::target], w.in[in::rate], J);
            double energy = 0, loss = 0;
            for (long i = 0; i < k; ++i) {
                const double e = w.out[out::error][i] = frame.error[i];
                const double e_dot = w.out[out::error_rate][i] = frame.error_rate[i];
                b[i] = w.in[in::acceleration][frame.rows[i]] + gains.damping[i] * e_dot + gains.stiffness[i] * e;
                energy += e_dot * e_dot + gains.stiffness[i] * e * e;
                loss += gains.damping[i] * e_dot * e_dot;
            }
            *w.out[out::lyapunov] = 0.5 * energy, *w.out[out::lyapunov_rate] = -loss;
        }

        // Eliminates a degree of freedom on which no force acts: its acceleration follows from the others'.
        void eliminate(long p) {
            const double pivot = M[p * nv + p];
            w.check_pivot(pivot, static_cast<int>(p));
            for (long r = 0; r < k; ++r) {
                const double fraction = J[r * nv + p] / pivot;
                for (long j = p + 1; j < nv; ++j) J[r * nv + j] -= fraction * M[j * nv + p];
                frame.drift[r] -= fraction * h[p];
            }
            for (long i = p + 1; i < nv; ++i) {
                const double fraction = M[i * nv + p] / pivot;
                for (long j = p + 1; j <= i; ++j) M[i * nv + j] -= fraction * M[j * nv + p];
                h[i] -= fraction * h[p];
            }
        }

        // Desired accelerations of the joints towards the posture.
        void posture_accelerations() {
            for (const Body& body : model.bodies) joint_difference(body, w.in[in::q], w.in[in::posture], z);
            const double* v = w.in[in::v] + base;
            for (long i = 0; i < n; ++i) a0[i] = joints.stiffness[i] * z[base + i] - joints.damping[i] * v[i];
        }

        double inertia(long i, long j) const {  // by the lower half
            return i >= j ? M[(base + i) * nv + base + j] : M[(base + j) * nv + base + i];
        }

        // A row of Y and its right-hand side: with Y Y^T = S J M^-1 J^T S, or S J J^T S, and S of the scale.
        void scaled_row(long r, bool weighted) {
            const double* row = J + r * nv + base;
            double *y = Y + r * n, already = frame.drift[r];
            for (long i = 0; i < n; ++i) {
                already += row[i] * a0[i];
                y[i] = gains.scale[r] * row[i];
            }
            if (weighted) solve_lower(L, n, n, y);
            b[r] = gains.scale[r] * (b[r] - already);
        }

        // z = Y^T (Y Y^T)^-1 b, unless an eigenvalue of Y Y^T may be below the smallest allowed: the trace of the
        // inverse bounds its largest eigenvalue, which usually decides.
        bool exactly() {
            double C[6][6], inverse[6][6], turned[6], x[6], trace = 0;
            if (!factor_products(C, Y, k, n)) return false;
            for (long i = 0; i < k; ++i) {  // the inverse of C, and C^-1 b
                inverse[i][i] = C[i][i];
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
            if (!(trace * settings.min_eigenvalue <= 1)) return false;
            for (long i = 0; i < k; ++i) {
                x[i] = 0;
                for (long j = i; j < k; ++j) x[i] += inverse[j][i] * turned[j];
            }
            combine(x);
            return true;
        }

        // The same with x / min^2 in place of 1 / x for eigenvalues x below the smallest allowed; returns whether there
        // are any.
        bool damped() {
            const double least = settings.min_eigenvalue;
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

        // M a0 + L z + h, or M (a0 + z) + h, plus J^T times the wrench.
        void torques(bool weighted) {
            for (long i = 0; i < nv; ++i) w.out[out::desired][i] = w.out[out::tau][i] = 0;
            for (long i = 0; i < n; ++i) {
                double tau = h[base + i];
                for (long j = 0; j < n; ++j) tau += inertia(i, j) * (weighted ? a0[j] : a0[j] + z[j]);
                if (weighted) tau += z[i] / L[i * n + i];
                for (long j = 0; weighted && j < i; ++j) tau += L[i * n + j] * z[j];
                for (long r = 0; r < k; ++r) tau += J[r * nv + base + i] * w.in[in::wrench][frame.rows[r]];
                const double limit = joints.torque_limit[i];
                w.out[out::desired][base + i] = tau;
                w.out[out::tau][base + i] = tau > limit ? limit : tau < -limit ? -limit : tau;
            }
        }
    };
};

constexpr KernelEntry entries[] = {
    {"frame_control", run_each<FrameControl>},
};
extern const KernelList frame_control_kernels;
const KernelList frame_control_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
