// Vector-Jacobian products of steps on the configuration manifold, one state at a time.
//
// With the left Jacobian J of SO(3), a rotation by w + dw is one by w, then one by J(w)^T dw in the axes to which w
// leads (T. D. Barfoot, State Estimation for Robotics, 2017, section 7.1.5).
#include "kernels/batch.hpp"
#include "kernels/coordinate_gradient.hpp"
#include "kernels/manifold.hpp"

namespace kinodyn::KINODYN_TARGET {

// J(w) = 1 + a [w] + b [w]^2 and its inverse 1 - [w] / 2 + c [w]^2: the coefficients and their derivatives by |w|^2, by
// series where the closed forms would lose digits.
struct Coefficients {
    double a, b, c, da, db, dc;

    explicit Coefficients(const V& w) {
        const double x = dot(w, w), t = __builtin_sqrt(x);
        if (x < 0.25) {
            constexpr double c5 = 691.0 / 1307674368000, c6 = 1.0 / 74724249600;  // Bernoulli numbers / (2 n)!
            a = 1.0 / 2 - x / 24 * (1 - x / 30 * (1 - x / 56 * (1 - x / 90 * (1 - x / 132))));
            b = 1.0 / 6 - x / 120 * (1 - x / 42 * (1 - x / 72 * (1 - x / 110 * (1 - x / 156))));
            c = 1.0 / 12 +
                x * (1.0 / 720 + x * (1.0 / 30240 + x * (1.0 / 1209600 + x * (1.0 / 47900160 + x * (c5 + x * c6)))));
            da = -1.0 / 24 + x / 360 * (1 - x * 3 / 112 * (1 - x * 4 / 270 * (1 - x * 5 / 528 * (1 - x * 6 / 910))));
            db = -1.0 / 120 + x / 2520 * (1 - x * 3 / 144 * (1 - x * 4 / 330 * (1 - x * 5 / 624 * (1 - x * 6 / 1050))));
            dc = 1.0 / 720 + x * (2.0 / 30240 + x * (3.0 / 1209600 + x * (4.0 / 47900160 + x * (5 * c5 + x * 6 * c6))));
        } else {
            const double s = sin(t), k = 1 - cos(t), h = 0.5 * t / tan(0.5 * t);
            a = k / x, b = (t - s) / (x * t), c = (1 - h) / x;
            da = (t * s - 2 * k) / (2 * x * x);
            db = (t * k - 3 * (t - s)) / (2 * x * x * t);
            dc = (h + x / (2 * k) - 2) / (2 * x * x);
        }
    }
};

// Gradients of g . f with f = d + a w x d + b w x (w x d), with respect to d and w.
struct PolynomialGradient {
    V by_d, by_w;

    PolynomialGradient(const V& g, const V& d, const V& w, double a, double b, double da, double db) {
        const V s = cross(w, d), r = cross(w, s);
        const V by_s = a * g + b * cross(g, w);
        by_d = g + cross(by_s, w);
        by_w = b * cross(s, g) + cross(d, by_s) + 2 * (da * dot(g, s) + db * dot(g, r)) * w;
    }
};

// From the gradient with respect to a unit quaternion to that with respect to a rotation vector in its axes.
inline V gradient_of_turn(const double* u, const double* g) {
    return 0.5 * product(conjugate(load_quaternion(u)), load_quaternion(g)).u;
}

// Inputs: 0 q; 1 v; 2 the gradient with respect to integrate(q, v). Outputs: gradients with respect to q and v.
struct IntegrateVjp {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return c.model->nq; }
    static void run(Work<double>& w) {
        double* moved = w.take(w.model.nq);
        for (const Body& b : w.model.bodies) {
            integrate_joint(b, w.in[0], w.in[1], 1, moved);
            const double *x = w.in[0] + b.iq, *u = w.in[1] + b.iv, *g = w.in[2] + b.iq;
            double *by_q = w.out[0] + b.iq, *by_v = w.out[1] + b.iv;
            if (b.kind == Kind::Free)
                joint(x, u, g, moved + b.iq, by_q, by_v);
            else if (b.kind == Kind::Ball)
                turn(x, vec(u), gradient_of_turn(moved + b.iq, g), {{0, 0, 0}, {0, 0, 0}}, by_q, by_v);
            else
                *by_q = *by_v = *g;
        }
    }

  private:
    // Further gradients: in the axes of x, and with respect to r.
    struct Gradients {
        V by_x, by_r;
    };
    // A quaternion x turned by the vector r; `after` is the gradient in the axes of the result.
    static void turn(const double* x, const V& r, const V& after, Gradients more, double* by_x, double* by_r) {
        const Quaternion e = exponential(r);
        const double q[4] = {e.u.x, e.u.y, e.u.z, e.s};
        gradient_of_quaternion(x, more.by_x + rotation(q) * after, by_x);
        write(more.by_r + left_jacobian_times(after, r), by_r);
    }
    // p + R J(ang) lin; R and ang also give the new orientation.
    static void joint(const double* x, const double* u, const double* g, const double* moved, double* by_x,
                      double* by_u) {
        const V lin = vec(u), ang = vec(u + 3), force = tmul(rotation(x + 3), vec(g));
        const Coefficients k(ang);
        const PolynomialGradient step(force, lin, ang, k.a, k.b, k.da, k.db);
        write(vec(g), by_x), write(step.by_d, by_u);
        const V arm = left_jacobian_times(lin, ang);
        turn(x + 3, ang, gradient_of_turn(moved + 3, g + 3), {cross(arm, force), step.by_w}, by_x + 3, by_u + 3);
    }
};

// Inputs: 0 q0; 1 q1; 2 the gradient with respect to difference(q0, q1). Outputs: gradients with respect to q0 and q1.
struct DifferenceVjp {
    static constexpr bool sparse = false;
    static long words(const Call&) { return 0; }
    static void run(Work<double>& w) {
        for (const Body& b : w.model.bodies) {
            const double *x = w.in[0] + b.iq, *y = w.in[1] + b.iq, *g = w.in[2] + b.iv;
            double *by_x = w.out[0] + b.iq, *by_y = w.out[1] + b.iq;
            if (b.kind == Kind::Free)
                joint(x, y, g, by_x, by_y);
            else if (b.kind == Kind::Ball)
                turn(x, y, turn_between(x, y), vec(g), {0, 0, 0}, by_x, by_y);
            else
                *by_x = -*g, *by_y = *g;
        }
    }

  private:
    static V turn_between(const double* x, const double* y) {
        return logarithm(product(conjugate(load_quaternion(x)), load_quaternion(y)));
    }
    // The rotation vector r from x to y; `before` is a further gradient in the axes of x.
    static void turn(const double* x, const double* y, const V& r, const V& g, const V& before, double* by_x,
                     double* by_y) {
        gradient_of_quaternion(x, before - inverse_left_jacobian_times(g, -r), by_x);
        gradient_of_quaternion(y, inverse_left_jacobian_times(g, r), by_y);
    }
    // J(r)^-1 d with d = R^T (y - x)
    static void joint(const double* x, const double* y, const double* g, double* by_x, double* by_y) {
        const Mat3<double> R = rotation(x + 3);
        const V d = tmul(R, vec(y) - vec(x)), r = turn_between(x + 3, y + 3);
        const Coefficients k(r);
        const PolynomialGradient step(vec(g), d, r, -0.5, k.c, 0, k.dc);
        const V force = R * step.by_d;
        write(-force, by_x), write(force, by_y);
        turn(x + 3, y + 3, r, vec(g + 3) + step.by_w, cross(step.by_d, d), by_x + 3, by_y + 3);
    }
};

constexpr KernelEntry entries[] = {
    {"integrate_vjp", run_each<IntegrateVjp>},
    {"difference_vjp", run_each<DifferenceVjp>},
};
extern const KernelList manifold_vjp_kernels;
const KernelList manifold_vjp_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
