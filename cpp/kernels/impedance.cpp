// Cartesian impedance control of a frame that keeps its inertia (C. Ott, "Cartesian Impedance Control of Redundant and
// Flexible-Joint Robots", 2008, section 3.2): springs and dampers at the frame, damping and a posture in its null
// space, gravity compensation. One state at a time.
//
// Inputs and outputs: impedance.hpp, with k controlled directions and n joints with motors.
#include "kernels/impedance.hpp"

#include "kernels/controlled_frame.hpp"
#include "kernels/gravity.hpp"
#include "solver/symmetric_eigen.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace in = impedance_input;
namespace out = impedance_output;

struct CartesianImpedance {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long nv = c.model->nv;
        return gravity_words(*c.model) + 26L * c.bodies.size + nv * nv + 18 * nv;
    }

    static void run(Work<double>& w) { Solver(w).solve(); }

    struct Solver {
        Work<double>& w;
        const ImpedanceSettings& settings;
        const Model& model;
        const long nv, base, n;
        ControlledFrame frame;
        const long k;
        double *L, *J, *X, *z, *null, *force;  // J (k, nv); X (k, n): rows of (M^-1 J^T)^T, then of Jbar^T
        double C[6][6];                        // factor of A = J M^-1 J^T, if this is regular
        bool regular = true;
        double Lambda[6][6];

        explicit Solver(Work<double>& work)
            : w(work),
              settings(work.call.as<ImpedanceSettings>()),
              model(work.model),
              nv(model.nv),
              base(settings.free_base ? 6 : 0),
              n(nv - base),
              frame(settings.directions),
              k(frame.k),
              L(work.take(n * n)),
              J(work.take(6 * nv)),
              X(work.take(6 * nv)),
              z(work.take(nv)),
              null(work.take(n)),
              force(work.take(n)) {}

        double M(long i, long j) const { return w.in[in::mass_matrix][(base + i) * nv + base + j]; }
        const double* joints(long r) const { return J + r * nv + base; }

        void solve() {
            frame_errors();
            factor();
            regular = exact_inertia();
            *w.out[out::damped] = regular ? 0 : damped_inertia();
            springs();
            dampers();
            consistent_inverse();
            torques();
        }

        void frame_errors() {
            frame.measure(w, w.in[in::q], w.in[in::v], w.in[in::target], w.in[in::rate], J);
            for (long i = 0; i < k; ++i) {
                w.out[out::error][i] = frame.error[i];
                w.out[out::error_rate][i] = frame.error_rate[i];
            }
        }

        void factor() {
            factor_joint_inertia(w, L, n, [&](long i, long j) { return M(i, j); });
            for (long r = 0; r < k; ++r) {
                for (long i = 0; i < n; ++i) X[r * n + i] = joints(r)[i];
                solve_lower(L, n, n, X + r * n);
            }
        }
        double mobility(long i, long j) const {  // rows of X are L^-1 J^T here
            double total = 0;
            for (long c = 0; c < n; ++c) total += X[i * n + c] * X[j * n + c];
            return total;
        }

        // Lambda = A^-1, unless an eigenvalue of the weighted A may be below the smallest allowed: the trace of the
        // weighted inverse bounds its largest eigenvalue, which usually decides.
        bool exact_inertia() {
            if (!factor_products(C, X, k, n)) return false;
            double trace = 0;
            for (long j = 0; j < k; ++j) {
                double column[6] = {};
                column[j] = 1;
                cholesky_solve(C[0], k, 6, column);
                for (long i = 0; i < k; ++i) Lambda[i][j] = column[i];
                trace += w.in[in::weights][j] * column[j];
            }
            return trace * settings.min_mobility <= 1;
        }

        // Lambda with x / min^2 in place of 1 / x for eigenvalues x of the weighted A below the smallest allowed;
        // returns whether there are any.
        bool damped_inertia() {
            const double least = settings.min_mobility;
            double A[6][6], U[6][6], scale[6];
            for (long i = 0; i < k; ++i) scale[i] = 1 / __builtin_sqrt(w.in[in::weights][i]);
            for (long i = 0; i < k; ++i)
                for (long j = 0; j < k; ++j) A[i][j] = scale[i] * mobility(i, j) * scale[j];
            symmetric_eigen(A, U, k);
            bool any = false;
            for (long i = 0; i < k; ++i)
                for (long j = 0; j < k; ++j) Lambda[i][j] = 0;
            for (long c = 0; c < k; ++c) {
                const double x = A[c][c], inverse = x < least ? (x > 0 ? x : 0) / least / least : 1 / x;
                any |= x < least;
                for (long i = 0; i < k; ++i)
                    for (long j = 0; j < k; ++j) Lambda[i][j] += scale[i] * U[i][c] * inverse * U[j][c] * scale[j];
            }
            return any;
        }

        // K e, its moment multiplied by the inverse of the left Jacobian of rotations: the gradient of the energy.
        void springs() {
            const double *e = w.out[out::error], *K = w.in[in::stiffness];
            double *F = w.out[out::wrench], energy = 0;
            for (long i = 0; i < k; ++i) {
                F[i] = 0;
                for (long j = 0; j < k; ++j) F[i] += K[i * k + j] * e[j];
                energy += 0.5 * e[i] * F[i];
            }
            *w.out[out::energy] = energy;
            if ((settings.directions & 0b111000) != 0b111000) return;
            const V phi = vec(e + k - 3), pull = vec(F + k - 3);
            const double square = dot(phi, phi), half = 0.5 * __builtin_sqrt(square);
            const double factor = square > 1e-4 ? (1 - half / tan(half)) / square : 1.0 / 12 + square / 720;
            const V u = cross(phi, pull);
            write(pull - 0.5 * u + factor * cross(phi, u), F + k - 3);
        }

        // D e', D such that each mode of Lambda and K has the damping ratio: with Lambda = F F^T and
        // F^-1 K F^-T = U diag(w^2) U^T it is 2 ratio F U diag(w) U^T F^T.
        void dampers() {
            const double *rate = w.out[out::error_rate], *D = w.in[in::damping];
            double force[6], power = 0;
            for (long i = 0; i < k; ++i) {
                force[i] = 0;
                for (long j = 0; j < k; ++j) force[i] += D[i * k + j] * rate[j];
            }
            if (settings.damping_ratio > 0)
                regular ? add_modal_damping(rate, force) : add_modal_damping_of_damped(rate, force);
            for (long i = 0; i < k; ++i) w.out[out::wrench][i] += force[i], power += force[i] * rate[i];
            *w.out[out::loss] = power;
        }

        // 2 ratio U diag(w) U^T times x, S = U diag(w^2) U^T.
        void damp_modes(double (&S)[6][6], const double (&x)[6], double (&result)[6]) const {
            double U[6][6];
            symmetric_eigen(S, U, k);
            for (long i = 0; i < k; ++i) result[i] = 0;
            for (long m = 0; m < k; ++m) {
                double along = 0;
                for (long i = 0; i < k; ++i) along += U[i][m] * x[i];
                along *= 2 * settings.damping_ratio * (S[m][m] > 0 ? __builtin_sqrt(S[m][m]) : 0);
                for (long i = 0; i < k; ++i) result[i] += along * U[i][m];
            }
        }
        // G^T K G
        void congruent(const double (&G)[6][6], double (&S)[6][6]) const {
            double KG[6][6];
            for (long i = 0; i < k; ++i)
                for (long c = 0; c < k; ++c) {
                    KG[i][c] = 0;
                    for (long j = 0; j < k; ++j) KG[i][c] += w.in[in::stiffness][i * k + j] * G[j][c];
                }
            for (long a = 0; a < k; ++a)
                for (long c = 0; c < k; ++c) {
                    S[a][c] = 0;
                    for (long i = 0; i < k; ++i) S[a][c] += G[i][a] * KG[i][c];
                }
        }

        // With Lambda^-1 = C C^T, F^-T is C.
        void add_modal_damping(const double* rate, double (&force)[6]) const {
            double G[6][6], S[6][6], x[6], modal[6];
            for (long i = 0; i < k; ++i)
                for (long j = 0; j < k; ++j) G[i][j] = j < i ? C[i][j] : j == i ? 1 / C[i][i] : 0;
            congruent(G, S);
            for (long i = 0; i < k; ++i) x[i] = rate[i];
            solve_lower(C[0], k, 6, x);
            damp_modes(S, x, modal);
            solve_lower_transposed(C[0], k, 6, modal);
            for (long i = 0; i < k; ++i) force[i] += modal[i];
        }

        // Where Lambda is damped, and perhaps singular, F comes from its eigenvectors, and lost directions drop out.
        void add_modal_damping_of_damped(const double* rate, double (&force)[6]) const {
            double A[6][6], axes[6][6], G[6][6], S[6][6], root[6], x[6], modal[6], largest = 0;
            for (long i = 0; i < k; ++i)
                for (long j = 0; j < k; ++j) A[i][j] = Lambda[i][j];
            symmetric_eigen(A, axes, k);
            for (long c = 0; c < k; ++c) {
                root[c] = A[c][c] > 0 ? __builtin_sqrt(A[c][c]) : 0;
                largest = root[c] > largest ? root[c] : largest;
            }
            for (long c = 0; c < k; ++c) {
                x[c] = 0;
                for (long i = 0; i < k; ++i) {
                    G[i][c] = root[c] > 1e-9 * largest ? axes[i][c] / root[c] : 0;
                    x[c] += root[c] * axes[i][c] * rate[i];
                }
            }
            congruent(G, S);
            damp_modes(S, x, modal);
            for (long i = 0; i < k; ++i)
                for (long c = 0; c < k; ++c) force[i] += axes[i][c] * root[c] * modal[c];
        }

        // Jbar = M^-1 J^T Lambda; its transpose in X.
        void consistent_inverse() {
            for (long r = 0; r < k; ++r) solve_lower_transposed(L, n, n, X + r * n);
            for (long i = 0; i < n; ++i) {
                double row[6];
                for (long r = 0; r < k; ++r) row[r] = X[r * n + i];
                for (long r = 0; r < k; ++r) {
                    double total = 0;
                    for (long c = 0; c < k; ++c) total += row[c] * Lambda[c][r];
                    X[r * n + i] = w.out[out::Jbar][i * k + r] = total;
                }
            }
        }

        // Gravity, J^T times the wrench, and N^T M times the accelerations that damp the null space and pull to the
        // posture.
        void torques() {
            double* tau = w.out[out::tau];
            gravity_torques(w, w.in[in::q], tau);
            for (long i = 0; i < base; ++i) tau[i] = 0;
            tau += base;
            for (const Body& body : model.bodies) joint_difference(body, w.in[in::q], w.in[in::posture], z);
            const double *v = w.in[in::v] + base, *stiffness = w.in[in::posture_stiffness];
            double twist[6], lost[6], energy = 0, loss = 0;
            for (long r = 0; r < k; ++r) {
                twist[r] = lost[r] = 0;
                for (long i = 0; i < n; ++i) twist[r] += joints(r)[i] * v[i];
            }
            for (long i = 0; i < n; ++i) {
                null[i] = v[i];
                for (long r = 0; r < k; ++r) null[i] -= X[r * n + i] * twist[r];
            }
            for (long i = 0; i < n; ++i) {
                double momentum = 0, still = 0, pull = 0;
                for (long j = 0; j < n; ++j) {
                    momentum += M(i, j) * v[j];
                    still += M(i, j) * null[j];
                    pull += M(i, j) * stiffness[j] * z[base + j];
                }
                energy += 0.5 * v[i] * momentum;
                loss += settings.null_damping * still * null[i];
                force[i] = pull - settings.null_damping * still;
            }
            for (long r = 0; r < k; ++r)
                for (long i = 0; i < n; ++i) lost[r] += X[r * n + i] * force[i];
            for (long i = 0; i < n; ++i) {
                tau[i] += force[i];
                for (long r = 0; r < k; ++r) tau[i] += joints(r)[i] * (w.out[out::wrench][r] - lost[r]);
            }
            *w.out[out::energy] += energy, *w.out[out::loss] += loss;
        }
    };
};

constexpr KernelEntry entries[] = {
    {"cartesian_impedance", run_each<CartesianImpedance>},
};
extern const KernelList impedance_kernels;
const KernelList impedance_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
