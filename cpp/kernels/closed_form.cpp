// Closed-form inverse kinematics of six joints: all eight branches, verified by forward kinematics and refined.
//
// The geometries and their solutions by the subproblems of Paden and Kahan are those of `kinodyn.ik.analytic`, which
// recognises them. Degenerate targets, at which a joint is free or two branches may coincide, are reported and left to
// it.
#include "kernels/closed_form.hpp"

#include "kernels/closed_form_refinement.hpp"

namespace kinodyn::KINODYN_TARGET {

struct ClosedForm {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return ClosedFormTarget::words(*c.model); }

    // Relative to the size of the arm, then to the squared coefficients, as in `subproblems.py`.
    static constexpr double free_joint = 1e-10, double_root = 1e-12, nearly_aligned = 1e-4;
    static constexpr double nearly_free = 1e-4;  // of a joint whose angle decides whether the others reach the target
    static constexpr double residual_tolerance = 1e-9;  // of solutions

    using V = Vec3<double>;
    struct Angle {
        double c, s;
        Angle inverse() const { return {c, -s}; }
    };
    struct Line {
        Mat3<double> frame;
        V point;

        explicit Line(const double* x) : frame(mat(x)), point(vec(x + 9)) {}
        V w() const { return frame.column(2); }
        double along(const V& v) const { return dot(w(), v); }
        V turn(const Angle& a, const V& v) const {
            const V u = tmul(frame, v);
            return frame * V{a.c * u.x - a.s * u.y, a.s * u.x + a.c * u.y, u.z};
        }
        V turn_point(const Angle& a, const V& p) const { return turn(a, p - point) + point; }
    };

    static void run(Work<double>& w) { Solver(w).run(); }

    struct Solver {
        Work<double>& w;
        const ClosedFormPlan& plan;
        const Line axes[6];
        Mat3<double> R;
        V t;
        bool regular = true;      // no branch that reaches the target is degenerate,
        bool all_regular = true;  // nor one that does not
        bool reached = true;      // by the branch under way so far
        BranchAngles found[6];

        explicit Solver(Work<double>& work)
            : w(work),
              plan(*reinterpret_cast<const ClosedFormPlan*>(work.in[closed_form_input::plan])),
              axes{Line(plan.axes[0]), Line(plan.axes[1]), Line(plan.axes[2]),
                   Line(plan.axes[3]), Line(plan.axes[4]), Line(plan.axes[5])} {}

        void run() {
            goal();
            plan.parallel != 0 ? parallel() : wrist();
            for (int k = 0; k < w.call.n_out; ++k) memset(w.out[k], 0, sizeof(double) * w.call.out[k].size);
            if (regular) write();  // otherwise angles may be NaN
            *w.out[closed_form_output::regular] = regular;
        }

        // The motion of the frame from its pose at zero, and its inverse for a chain that is read from the tool.
        void goal() {
            const double *T = w.in[closed_form_input::target], *Z = plan.T_zero_inverse;
            const Mat3<double> target = {vec(T), vec(T + 4), vec(T + 8)}, zero = {vec(Z), vec(Z + 4), vec(Z + 8)};
            R = target * zero;
            t = target * V{Z[3], Z[7], Z[11]} + V{T[3], T[7], T[11]};
            if (plan.given_first != 0 || plan.given_last != 0) without_given_joint();
            if (plan.reversed == 0) return;
            t = -tmul(R, t);
            R = {R.column(0), R.column(1), R.column(2)};
        }
        // The motion that the other six joints have to make.
        void without_given_joint() {
            const Line axis(plan.given_axis);
            const SinCos<double> value = sincos(w.in[closed_form_input::rest][static_cast<int>(plan.given_index)]);
            const Angle back = {value.cos, -value.sin};
            const V x = axis.turn(back, {1, 0, 0}), y = axis.turn(back, {0, 1, 0}), z = axis.turn(back, {0, 0, 1});
            const Mat3<double> turn = {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}};
            const V shift = axis.point - turn * axis.point;
            if (plan.given_first != 0) {
                t = turn * t + shift;
                R = turn * R;
            } else {
                t = R * shift + t;
                R = R * turn;
            }
        }
        V move(const V& p) const { return R * p + t; }
        void require(bool not_degenerate) {
            all_regular &= not_degenerate;
            regular &= !reached || not_degenerate;
        }

        // a cos q + b sin q = k: two solutions; where there is none, the nearest angle, twice. Returns whether there
        // is.
        bool roots(double a, double b, double k, double scale, Angle (&q)[2]) {
            const double square = a * a + b * b, discriminant = square - k * k;
            require(square > free_joint * scale * free_joint * scale && fabs(discriminant) > double_root * square);
            const double root = discriminant > 0 ? __builtin_sqrt(discriminant) : 0, inverse = 1 / square;
            const double c = a * k, s = b * k;
            q[0] = {(c - b * root) * inverse, (s + a * root) * inverse};
            q[1] = {(c + b * root) * inverse, (s - a * root) * inverse};
            return reached && discriminant > 0;
        }
        // v about the axis until its component along u is k.
        bool level(const Line& axis, const V& v, const V& u, double k, double scale, Angle (&q)[2]) {
            const V x = tmul(axis.frame, v), a = tmul(axis.frame, u);
            return roots(a.x * x.x + a.y * x.y, a.y * x.x - a.x * x.y, k - x.z * a.z, scale, q);
        }
        // u about the axis onto the direction of v.
        Angle aim(const Line& axis, const V& u, const V& v, double scale) {
            const V a = tmul(axis.frame, u), b = tmul(axis.frame, v);
            return aim_plane(a.x, a.y, b.x, b.y, scale);
        }
        Angle aim_plane(double ux, double uy, double vx, double vy, double scale) {
            const double bound = free_joint * scale * free_joint * scale;
            require(ux * ux + uy * uy > bound && vx * vx + vy * vy > bound);
            const double c = ux * vx + uy * vy, s = ux * vy - uy * vx, inverse = 1 / __builtin_sqrt(c * c + s * s);
            return {c * inverse, s * inverse};
        }
        // Two parallel links move p to the goal, in their plane.
        bool two_links(const V& p, const V& to, Angle (&first)[2], Angle (&second)[2]) {
            const Line one(plan.links[0]), two(plan.links[1]);
            const V l = tmul(one.frame, two.point - one.point), x = tmul(one.frame, p - two.point),
                    u = tmul(one.frame, to - one.point);
            const double half = 0.5 * (u.x * u.x + u.y * u.y - l.x * l.x - l.y * l.y - x.x * x.x - x.y * x.y);
            Angle q[2];
            reached = roots(l.x * x.x + l.y * x.y, l.y * x.x - l.x * x.y, half, plan.size * plan.size, q);
            for (int i = 0; i < 2; ++i) {
                const double rx = l.x + q[i].c * x.x - q[i].s * x.y, ry = l.y + q[i].s * x.x + q[i].c * x.y;
                first[i] = aim_plane(rx, ry, u.x, u.y, plan.size);
                second[i] = {q[i].c, plan.signs[0] * q[i].s};
            }
            return reached;
        }
        // Joint 1 until the goal has the height of p along the parallel axes.
        bool height(const Line& first, const V& p, const V& to, Angle (&q)[2]) {
            const V u = Line(plan.links[0]).w();
            return level(first, u, to - first.point, dot(p - first.point, u), plan.size, q);
        }

        // The arm's three joints move p to c; branches 0 to 3, the first subproblem's in the last bit.
        void arm(const V& p, const V& c, Angle (&q)[4][3], bool (&reaches)[4]) {
            const Line one(plan.arm[0]), two(plan.arm[1]), three(plan.arm[2]);
            Angle first[2], others[2], more[2];
            if (plan.arm_parallel != 0) {
                const bool near = height(one, p, c, first);
                for (int i = 0; i < 2; ++i) {
                    reached = near;
                    const bool all = two_links(p, one.turn_point(first[i].inverse(), c), others, more);
                    reaches[i] = reaches[2 + i] = all;
                    for (int j = 0; j < 2; ++j)
                        q[2 * j + i][0] = first[i], q[2 * j + i][1] = others[j], q[2 * j + i][2] = more[j];
                }
                return;
            }
            const V o = vec(plan.arm_centre), goal = c - o, r = p - three.point, from = o - three.point;
            const bool near = level(three, r, from, 0.5 * (dot(r, r) + dot(from, from) - dot(goal, goal)),
                                    plan.size * plan.size, first);
            for (int i = 0; i < 2; ++i) {
                const V m = three.turn_point(first[i], p) - o;
                reached = near;
                reached = reaches[i] = reaches[2 + i] = level(two, m, one.w(), one.along(goal), plan.size, others);
                for (int j = 0; j < 2; ++j) {
                    Angle(&branch)[3] = q[2 * j + i];
                    branch[0] = aim(one, two.turn(others[j], m), goal, plan.size);
                    branch[1] = others[j], branch[2] = first[i];
                }
            }
        }

        // Axes 4, 5, 6 intersect: the arm positions their centre, they set the orientation.
        void wrist() {
            const V centre = vec(plan.centre), to = move(centre);
            const bool backwards = plan.arm_backwards != 0;
            const Line &four = axes[3], &five = axes[4], &six = axes[5];
            Angle q[4][3];
            bool reaches[4];
            backwards ? arm(to, centre, q, reaches) : arm(centre, to, q, reaches);
            for (int i = 0; i < 4; ++i) {
                reached = reaches[i];
                if (backwards) {
                    const Angle last = q[i][0];
                    q[i][0] = q[i][2], q[i][2] = last;
                }
                V ahead = R * six.w(), behind = four.w();
                for (int k = 0; k < 3; ++k) ahead = axes[k].turn(q[i][k].inverse(), ahead);
                for (int k = 2; k >= 0; --k) behind = axes[k].turn(q[i][k], behind);
                behind = tmul(R, behind);
                const V across = tmul(four.frame, ahead);
                const bool aligned = across.x * across.x + across.y * across.y < nearly_aligned * nearly_aligned;
                Angle bend[2];
                reached = level(five, six.w(), four.w(), four.along(ahead), 1.0, bend);
                for (int j = 0; j < 2; ++j) {
                    const Angle fourth = aim(four, five.turn(bend[j], six.w()), ahead, 1.0);
                    Angle sixth = aim(six, behind, five.turn(bend[j].inverse(), four.w()), 1.0);
                    if (aligned) sixth = remaining({q[i][0], q[i][1], q[i][2], fourth, bend[j]});
                    keep(4 * j + i, {q[i][0], q[i][1], q[i][2], fourth, bend[j], sixth});
                }
            }
        }

        // Joint 6 from the others: it compensates for joint 4, which loses precision where their axes are nearly
        // aligned.
        Angle remaining(const Angle (&others)[5]) const {
            V heading = R * axes[5].frame.column(0);
            for (int k = 0; k < 5; ++k) heading = axes[k].turn(others[k].inverse(), heading);
            const V a = tmul(axes[5].frame, heading);
            return {a.x, a.y};
        }

        // Axes 2, 3, 4 are parallel: joints 1, 5, 6 from invariants of rotations about them, then three links.
        void parallel() {
            const Line &one = axes[0], &five = axes[4], &six = axes[5], third(plan.links[2]);
            const V u = third.w(), centre = vec(plan.centre);
            Angle first[2], bend[2], second[2], elbow[2];
            const bool near = height(one, centre, move(centre), first);
            for (int i = 0; i < 2; ++i) {
                reached = near;
                const V behind = tmul(R, one.turn(first[i], u)), across = tmul(six.frame, behind);
                regular &= across.x * across.x + across.y * across.y > nearly_free * nearly_free;
                const bool bends = level(five, six.w(), u, six.along(behind), 1.0, bend);
                for (int j = 0; j < 2; ++j) {
                    reached = bends;
                    const Angle back = bend[j].inverse(), last = aim(six, behind, five.turn(back, u), 1.0);
                    const V point = six.turn_point(last.inverse(), five.turn_point(back, third.point));
                    const V heading = six.turn(last.inverse(), five.turn(back, third.frame.column(0)));
                    const V to = one.turn_point(first[i].inverse(), move(point));
                    const V total = tmul(third.frame, one.turn(first[i].inverse(), R * heading));
                    two_links(third.point, to, second, elbow);
                    for (int k = 0; k < 2; ++k) {
                        const Angle e = {elbow[k].c, plan.signs[0] * elbow[k].s};
                        const Angle inner = {second[k].c * e.c - second[k].s * e.s,
                                             second[k].s * e.c + second[k].c * e.s};
                        const Angle rest = {total.x * inner.c + total.y * inner.s,
                                            total.y * inner.c - total.x * inner.s};
                        const Angle fourth = {rest.c, plan.signs[1] * rest.s};
                        keep(4 * k + 2 * j + i, {first[i], second[k], elbow[k], fourth, bend[j], last});
                    }
                }
            }
        }

        void keep(int b, const Angle (&branch)[6]) {
            for (int k = 0; k < 6; ++k) {
                BranchAngles& joint = found[plan.reversed != 0 ? 5 - k : k];
                joint.cos[b] = branch[k].c, joint.sin[b] = branch[k].s;
            }
        }

        void write() {
            ClosedFormTarget target(w);
            target.write(found);
            for (int b = 0; b < closed_form_branches; ++b) {
                double& residual = w.out[closed_form_output::residual][b];
                if (!(residual > target.refine_above && residual < plan.refine_below)) continue;
                residual = target.refine(w.out[closed_form_output::q] + b * w.model.nq,
                                         w.out[closed_form_output::outside] + 6 * b, residual);
                regular &= all_regular || residual > residual_tolerance;  // a solution may be degenerate after all
            }
        }
    };
};

constexpr KernelEntry entries[] = {
    {"closed_form", run_each<ClosedForm>},
};
extern const KernelList closed_form_kernels;
const KernelList closed_form_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
