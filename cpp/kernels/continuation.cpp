// Inverse kinematics of six joints of any geometry by continuation: solutions for one complex pose are followed to
// another one (A. P. Morgan, A. J. Sommese, "Coefficient-parameter polynomial continuation", 1989; C. Wampler, A.
// Morgan, "Solving the 6R inverse position problem using a generic-case solution methodology", 1991).
//
// A joint angle q is a complex number, held as z = exp(i q): cosine and sine are rational in z, and any z but 0 is an
// angle. The pose moves on a straight line in its quaternion, of any norm, and its position; as the ends are complex,
// the line avoids singularities with probability one. Each lane follows one path with its own step length: a
// fourth-order Runge-Kutta step of dq/ds = J^-1 dT/ds, then Newton corrections.
//
// A joint may be given: its z then moves on a line as well, and the other six follow.
#include "kernels/continuation.hpp"

#include "kernels/batch.hpp"
#include "kernels/complex.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Continuation {
    static constexpr bool sparse = false;
    static long words(const Call&) { return 0; }

    template <class T>
    static void run(Work<T>& w) {
        Tracker<T>(w).run();
    }

    static constexpr int max_joints = 7;
    static constexpr double converged =
        1e-7;  // a second correction below this [rad]; above the rounding errors for z of 1e4

    // Where the path is at s: pose and its derivative, and those of the given joint.
    template <class T>
    struct PathPoint {
        Mat3<Complex<T>> R;
        Vec3<Complex<T>> p, velocity, angular;
        Complex<T> z, rate;
    };

    template <class T>
    struct Tracker {
        using L = Lanes<T>;
        using C = Complex<T>;
        using V = Vec3<C>;

        Work<T>& w;
        const ContinuationSettings& settings;
        const int n, given;
        C z[max_joints];
        C J[7][6];  // columns of the six joints, then the right-hand side

        explicit Tracker(Work<T>& work)
            : w(work),
              settings(work.call.template as<ContinuationSettings>()),
              n(settings.joints),
              given(settings.given) {}

        static C number(const T* x, int k) { return {x[2 * k], x[2 * k + 1]}; }
        static V triple(const T* x, int k) { return {number(x, k), number(x, k + 1), number(x, k + 2)}; }

        void run() {
            for (int i = 0; i < n; ++i) z[i] = number(w.in[continuation_input::start], i);
            T s = 0.0, h = 0.02, failed = 0.0, last = 1.0;
            for (int k = 0; k < settings.max_steps; ++k) {
                const T open = L::one_if_less(s, 1.0) * (1.0 - failed);
                if (L::all_zero(open)) break;
                T left = 1.0 - s;
                const T ends = 1.0 - L::one_if_less(h, left);
                h = L::select(ends, left, h);
                const T next = L::select(ends, T(1.0), s + h);
                C before[max_joints];
                for (int i = 0; i < n; ++i) before[i] = z[i];
                predict(s, h);
                const T first = correct(next);
                const T second = correct(next);
                const T accepted = open * L::one_if_less(first, settings.tolerance) * L::one_if_less(second, converged);
                for (int i = 0; i < n; ++i) z[i] = select(accepted, z[i], before[i]);
                s = L::select(accepted, next, s);
                last = L::select(accepted, second, last);
                // the correction grows with the fifth power of the step; two square roots are near enough to the fifth
                const T ratio = L::select(L::one_if_less(first, 1e300), settings.tolerance / (first + 1e-300), T(1e-3));
                const T factor = L::smaller(T(2.0), L::larger(T(0.2), 0.7 * L::root(L::root(ratio))));
                h = L::select(open, L::select(accepted, factor, L::smaller(factor, T(0.5))) * h, h);
                failed = L::select(open, L::one_if_less(h, T(1e-9)), failed);
                failed = L::select(open, L::larger(failed, at_infinity()), failed);
            }
            finish(s, last);
        }

        // A solution that leaves for infinity belongs to no real one.
        T at_infinity() const {
            T far = 0.0;
            for (int i = 0; i < n; ++i) {
                const T size = norm(z[i]);
                far = L::larger(far, L::larger(L::one_if_less(1e10, size), L::one_if_less(size, 1e-10)));
            }
            return far;
        }

        // Newton's method at the end, until corrections are rounding errors.
        void finish(T s, T last) {
            const T reached = 1.0 - L::one_if_less(s, 1.0);
            for (int k = 0; k < 3; ++k) {
                C before[max_joints];
                for (int i = 0; i < n; ++i) before[i] = z[i];
                const T size = correct(1.0);
                const T better = reached * L::one_if_less(size, last + 1e-12);
                for (int i = 0; i < n; ++i) z[i] = select(better, z[i], before[i]);
                last = L::select(better, size, last);
            }
            for (int i = 0; i < n; ++i) {
                w.out[continuation_output::z][2 * i] = z[i].re;
                w.out[continuation_output::z][2 * i + 1] = z[i].im;
            }
            *w.out[continuation_output::left] = 1.0 - s;
            *w.out[continuation_output::error] = last;
        }

        PathPoint<T> at(T s) const {
            const T *from = w.in[continuation_input::from], *to = w.in[continuation_input::to];
            C Q[4], D[4];
            for (int i = 0; i < 4; ++i) D[i] = number(to, i) - number(from, i), Q[i] = number(from, i) + s * D[i];
            const V u = {Q[1], Q[2], Q[3]}, du = {D[1], D[2], D[3]};
            const C k = inverse(Q[0] * Q[0] + dot(u, u)), k2 = k + k;
            PathPoint<T> point;
            const C one(1.0);
            point.R = {
                {one - k2 * (u.y * u.y + u.z * u.z), k2 * (u.x * u.y - Q[0] * u.z), k2 * (u.x * u.z + Q[0] * u.y)},
                {k2 * (u.x * u.y + Q[0] * u.z), one - k2 * (u.x * u.x + u.z * u.z), k2 * (u.y * u.z - Q[0] * u.x)},
                {k2 * (u.x * u.z - Q[0] * u.y), k2 * (u.y * u.z + Q[0] * u.x), one - k2 * (u.x * u.x + u.y * u.y)}};
            // twice the vector part of Q' Q^-1
            point.angular = k2 * (Q[0] * du - D[0] * u - cross(du, u));
            point.velocity = triple(to, 4) - triple(from, 4);
            point.p = triple(from, 4) + s * point.velocity;
            if (given >= 0) {
                const C first = number(w.in[continuation_input::start], given), change = number(to, 7) - first;
                point.z = first + s * change;
                point.rate = -times_i(change * inverse(point.z));  // dq/ds of z = exp(i q)
            }
            return point;
        }

        // z at s + h, by the Runge-Kutta method for the angles.
        void predict(T s, T h) {
            C k[4][max_joints], start[max_joints];
            for (int i = 0; i < n; ++i) start[i] = z[i];
            const T half = 0.5 * h;
            rates(s, k[0]);
            turn(start, half, k[0]);
            rates(s + half, k[1]);
            turn(start, half, k[1]);
            rates(s + half, k[2]);
            turn(start, h, k[2]);
            rates(s + h, k[3]);
            for (int i = 0; i < n; ++i) k[0][i] += k[3][i] + T(2.0) * (k[1][i] + k[2][i]);
            turn(start, (1.0 / 6.0) * h, k[0]);
        }

        // z = start exp(i h rate), the exponential by a Pade approximant.
        void turn(const C* start, T h, const C* rate) {
            for (int i = 0; i < n; ++i) {
                const C x = times_i(h * rate[i]), even = C(12.0) + x * x, odd = T(6.0) * x;
                z[i] = start[i] * (even + odd) * inverse(even - odd);
            }
        }

        void rates(T s, C* rate) {
            const PathPoint<T> point = at(s);
            if (given >= 0) z[given] = point.z;
            kinematics();
            write_side(point.velocity, point.angular);
            if (given >= 0)
                for (int r = 0; r < 6; ++r) J[6][r] -= point.rate * extra[r];
            solve(rate);
            if (given >= 0) rate[given] = point.rate;
        }

        // One Newton step at s; returns its size.
        T correct(T s) {
            const PathPoint<T> point = at(s);
            if (given >= 0) z[given] = point.z;
            kinematics();
            const V turn_error = cross(R.column(0), point.R.column(0)) + cross(R.column(1), point.R.column(1)) +
                                 cross(R.column(2), point.R.column(2));
            write_side(point.p - p, C(0.5) * turn_error);
            C step[max_joints];
            solve(step);
            if (given >= 0) step[given] = C(0.0);
            C start[max_joints];
            T square = 0.0;
            for (int i = 0; i < n; ++i) start[i] = z[i], square += norm(step[i]);
            turn(start, 1.0, step);
            return L::root(square);
        }

        // Pose of the last frame and the columns of J: twists at its origin.
        Mat3<C> R;
        V p;
        C extra[6];  // column of the given joint
        void kinematics() {
            const T* link = w.in[continuation_input::links];
            V axis[max_joints], origin[max_joints];
            const C one(1.0), zero(0.0);
            R = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
            p = {zero, zero, zero};
            for (int i = 0; i < n; ++i, link += 12) {
                p += R * Vec3<T>{link[9], link[10], link[11]};
                const Mat3<T> fixed = {
                    {link[0], link[1], link[2]}, {link[3], link[4], link[5]}, {link[6], link[7], link[8]}};
                R = R * fixed;
                axis[i] = R.column(2), origin[i] = p;
                const C back = inverse(z[i]), cosine = T(0.5) * (z[i] + back), sine = -times_i(T(0.5) * (z[i] - back));
                turn_row(R.x, cosine, sine), turn_row(R.y, cosine, sine), turn_row(R.z, cosine, sine);
            }
            for (int i = 0, column = 0; i < n; ++i) {
                const V arm = cross(axis[i], p - origin[i]);
                C* to = i == given ? extra : J[column++];
                write(arm, to), write(axis[i], to + 3);
            }
        }
        static void turn_row(V& row, const C& cosine, const C& sine) {
            const C x = row.x;
            row.x = x * cosine + row.y * sine, row.y = row.y * cosine - x * sine;
        }
        void write_side(const V& linear, const V& angular) { write(linear, J[6]), write(angular, J[6] + 3); }

        // J x = right-hand side by the modified Gram-Schmidt method, which needs no pivots that differ between lanes.
        void solve(C* x) {
            C upper[6][7];
            for (int k = 0; k < 6; ++k) {
                T square = 0.0;
                for (int r = 0; r < 6; ++r) square += norm(J[k][r]);
                const T length = 1.0 / L::root(L::larger(square, T(1e-280)));
                for (int r = 0; r < 6; ++r) J[k][r] = length * J[k][r];
                upper[k][k] = length;  // the inverse of the diagonal
                for (int j = k + 1; j < 7; ++j) {
                    C sum(0.0);
                    for (int r = 0; r < 6; ++r) sum += conjugate(J[k][r]) * J[j][r];
                    upper[k][j] = sum;
                    for (int r = 0; r < 6; ++r) J[j][r] -= sum * J[k][r];
                }
            }
            C found[6];
            for (int k = 5; k >= 0; --k) {
                C sum = upper[k][6];
                for (int j = k + 1; j < 6; ++j) sum -= upper[k][j] * found[j];
                found[k] = upper[k][k] * sum;
            }
            for (int i = 0, k = 0; i < n; ++i)
                if (i != given) x[i] = found[k++];
        }
    };
};

constexpr KernelEntry entries[] = {
    {"continuation", run<Continuation>},
};
extern const KernelList continuation_kernels;
const KernelList continuation_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
