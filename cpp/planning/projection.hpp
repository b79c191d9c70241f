// Projection of configurations onto constraints: least-norm Gauss-Newton steps within the joint limits, with damping
// proportional to the cost (Levenberg-Marquardt).
#pragma once

#include "kernels/frames.hpp"
#include "kernels/manifold.hpp"
#include "planning/constrained_problem.hpp"
#include "solver/cholesky.hpp"

namespace kinodyn::KINODYN_TARGET {

class Projection {
  public:
    static constexpr double converged = 0.1;  // largest violation at vertices, as a fraction of the tolerances

    static long words(const ConstraintTable& t) {
        const long n = padded(t.model.nv), rows = t.max_rows;
        return World<double>::words(t.model) + Memory::words(rows, n) + Memory::words(rows, rows) + 2 * n +
               2 * padded(rows) + padded(t.model.nq) + padded(Words::of<Row>(rows)) + 16 * lanes;
    }

    Projection(const ConstraintTable& table, double* memory) : t_(table), model_(table.model), m_{memory} {
        const long bodies = static_cast<long>(model_.bodies.size());
        world_ = {take_as<Placement<double>>(bodies), take_as<RigidInertia<double>>(bodies),
                  take_as<Spatial<double>>(model_.ncolumns), take_as<SinCos<double>>(bodies), V{0, 0, 0}};
        J_ = m_.matrix(t_.max_rows, model_.nv);
        A_ = m_.matrix(t_.max_rows, t_.max_rows);
        step_ = m_.take(model_.nv), gradient_ = m_.take(model_.nv);
        y_ = m_.take(t_.max_rows), was_violated_ = m_.take(t_.max_rows);
        moved_ = m_.take(model_.nq);
        rows_ = take_as<Row>(t_.max_rows);
    }

    // The largest violation of a constraint at q, relative to its tolerances.
    double excess(const double* q) {
        place(q);
        double worst = 0;
        for (const PathConstraint& c : t_.constraints) {
            const Excess e = excess_of(c);
            worst = larger(worst, larger(e.distance / c.position_tolerance, e.angle / c.orientation_tolerance));
        }
        return worst;
    }

    struct Excess {
        double distance, angle;  // [m], [rad]
    };
    // Violation of one constraint at the configuration that was placed last.
    Excess excess_of(const PathConstraint& c) const {
        if (c.kind == ConstraintKind::Com) return {larger(0, dot(vec(c.axis), com_) - c.offset), 0};
        const Relative r = relative(c);
        const V out = outside(c, r.x);
        const double distance = __builtin_sqrt(dot(out, out));
        if (c.rotation_bound != RotationBound::Angle) {
            const V over = beyond_angles(c, r.turn);
            return {distance, larger(larger(fabs(over.x), fabs(over.y)), fabs(over.z))};
        }
        const double turn = __builtin_sqrt(dot(r.turn, r.turn));
        return {distance, turn > c.angle ? turn - c.angle : 0};
    }

    void place(const double* q) {
        world_.place_all(model_, q);
        if (!t_.has_com) return;
        world_.gather(model_);
        com_ = centre(model_, world_) + world_.origin;
    }

    // Projects q onto the constraints. Returns whether it converged, within the joint limits.
    bool project(double* q, int max_iterations) {
        for (long i = 0; i < t_.max_rows; ++i) was_violated_[i] = 0;
        double best = __builtin_inf();
        for (int k = 0, stalled = 0;; ++k) {
            const double left = excess(q);
            if (left <= converged) return within_bounds(q);
            stalled = left < 0.95 * best ? 0 : stalled + 1;
            if (left < best) best = left;
            if (k == max_iterations || stalled == max_stalled) return false;
            find_rows();
            if (!newton_step(q)) return false;
        }
    }

  private:
    // One scalar equation: motion along `u`, of a point or of the axes of a frame, shall reduce `error` to zero.
    struct Row {
        V u;
        double error;
        bool turns;
    };
    struct Words {
        template <class Element>
        static long of(long n) {
            return static_cast<long>((sizeof(Element) * static_cast<std::size_t>(n) + 7) / 8);
        }
    };
    struct Relative {
        Placement<double> region;
        V p;     // of the point, from the common point
        V x;     // the same in the region
        V turn;  // rotation vector from the region to the frame, or of the axis, in the axes of the region
    };

    template <class Element>
    Element* take_as(long n) {
        return reinterpret_cast<Element*>(m_.take(Words::of<Element>(n)));
    }
    static double larger(double a, double b) { return a > b ? a : b; }
    static double beyond(double x, double low, double high) { return x < low ? x - low : x > high ? x - high : 0; }
    static V outside(const PathConstraint& c, const V& x) {
        const V box = {beyond(x.x, c.lower[0], c.upper[0]), beyond(x.y, c.lower[1], c.upper[1]),
                       beyond(x.z, c.lower[2], c.upper[2])};
        if (c.region_shape == RegionShape::Box) return box;
        const bool sphere = c.region_shape == RegionShape::Sphere;
        const double r = __builtin_sqrt(x.x * x.x + x.y * x.y + (sphere ? x.z * x.z : 0));
        const double rest = r > c.radius ? 1 - c.radius / r : 0;
        return {rest * x.x, rest * x.y, sphere ? rest * x.z : box.z};
    }
    static V beyond_angles(const PathConstraint& c, const V& turn) {
        return {beyond(turn.x, -c.angles[0], c.angles[0]), beyond(turn.y, -c.angles[1], c.angles[1]),
                beyond(turn.z, -c.angles[2], c.angles[2])};
    }
    // Angles a, b, c of the rotation Rx(a) Ry(b) Rz(c).
    static V euler_xyz(const Mat3<double>& R) {
        const V x = R.column(0), y = R.column(1), z = R.column(2);
        return {atan2(-z.y, z.z), atan2(z.x, __builtin_sqrt(x.x * x.x + y.x * y.x)), atan2(-y.x, x.x)};
    }
    // Gradient of number k of the rotation with respect to turns in the axes of the region.
    static V rotation_gradient(RotationBound bound, const V& turn, int k) {
        if (bound == RotationBound::RotationVector)
            return inverse_left_jacobian_times(k == 0 ? V{1, 0, 0} : k == 1 ? V{0, 1, 0} : V{0, 0, 1}, -1.0 * turn);
        const double sa = sin(turn.x), ca = cos(turn.x), cb = larger(cos(turn.y), 1e-3), tb = sin(turn.y) / cb;
        return k == 0 ? V{1, sa * tb, -ca * tb} : k == 1 ? V{0, ca, sa} : V{0, -sa / cb, ca / cb};
    }

    Relative relative(const PathConstraint& c) const {
        const Frames frames(model_, world_);
        const Placement<double> f = frames.place(c.frame, c.point);
        Relative r;
        r.region = frames.place(c.reference, c.region_p);
        if (c.reference < 0) r.region.p += vec(c.region_p);
        r.region.R = r.region.R * mat(c.region_R);
        r.p = f.p;
        r.x = tmul(r.region.R, f.p - r.region.p);
        r.turn = {0, 0, 0};
        const bool by_numbers = c.rotation_bound != RotationBound::Angle;
        if (c.angle == __builtin_inf() && !by_numbers) return r;
        const Mat3<double> back = {r.region.R.column(0), r.region.R.column(1), r.region.R.column(2)};
        if (c.rotation_bound == RotationBound::EulerXyz) {
            r.turn = euler_xyz(back * f.R);
            return r;
        }
        r.turn = c.axis_only ? tilt(back * (f.R * vec(c.axis))) : logarithm(quaternion_of(back * f.R));
        return r;
    }

    // Rotation vector from z to a unit vector.
    static V tilt(const V& a) {
        const double sine = __builtin_sqrt(a.x * a.x + a.y * a.y);
        if (sine < 1e-12) return a.z > 0 ? V{0, 0, 0} : V{3.141592653589793, 0, 0};
        const double k = atan2(sine, a.z) / sine;
        return {-k * a.y, k * a.x, 0};
    }

    // Rows of equalities, and of inequalities that are violated now or were before in this projection.
    void find_rows() {
        n_rows_ = 0;
        long slot = 0;
        for (const PathConstraint& c : t_.constraints) {
            first_row_ = n_rows_;
            if (c.kind == ConstraintKind::Com) {
                const double error = c.offset - dot(vec(c.axis), com_);
                add_row(slot++, false, error < 0, {vec(c.axis), error, false});
                write_com_row(c);
                continue;
            }
            const Relative r = relative(c);
            const V out = outside(c, r.x);
            const double turn = __builtin_sqrt(dot(r.turn, r.turn));
            const double rest = turn > c.angle ? 1 - c.angle / turn : 0;
            for (int k = 0; k < 3; ++k) {
                const bool equality = c.lower[k] == c.upper[k];
                add_row(slot++, equality, component(out, k) != 0, {r.region.R.column(k), -component(out, k), false});
            }
            const V over = beyond_angles(c, r.turn);
            for (int k = 0; k < 3 && c.rotation_bound != RotationBound::Angle; ++k)
                add_row(slot++, c.angles[k] == 0, component(over, k) != 0,
                        {r.region.R * rotation_gradient(c.rotation_bound, r.turn, k), -component(over, k), true});
            for (int k = 0; k < 3 && c.rotation_bound == RotationBound::Angle; ++k) {
                const bool counts = c.angle != __builtin_inf() && !(c.axis_only && k == 2);
                add_row(slot++, counts && c.angle == 0, counts && rest > 0,
                        {r.region.R.column(k), -rest * component(r.turn, k), true});
            }
            write_pose_rows(c, r.p);
        }
    }
    static double component(const V& a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }

    void add_row(long slot, bool equality, bool violated, const Row& row) {
        if (violated) was_violated_[slot] = 1;
        if (equality || was_violated_[slot] != 0) rows_[n_rows_++] = row;
    }

    void write_pose_rows(const PathConstraint& c, const V& p) {
        for (long i = first_row_; i < n_rows_; ++i) clear_row(J_[i], J_.stride);
        Frames(model_, world_).for_relative_columns(c.frame, c.reference, p, [&](int iv, const Spatial<double>& s) {
            for (long i = first_row_; i < n_rows_; ++i) J_[i][iv] += dot(rows_[i].u, rows_[i].turns ? s.ang : s.lin);
        });
    }

    void write_com_row(const PathConstraint& c) {
        if (n_rows_ == first_row_) return;
        double* row = J_[first_row_];
        clear_row(row, J_.stride);
        for (int i = 0; i < model_.ncolumns; ++i) {
            const auto& I = world_.I[model_.column_body[i]];
            const Spatial<double>& s = world_.S[i];
            row[model_.column_iv[i]] += model_.inverse_mass * dot(vec(c.axis), I.mass * s.lin + cross(s.ang, I.h));
        }
    }

    // Clears the columns of joints that do not move, or that are at a limit and would move beyond it.
    void fix_columns(const double* q) {
        for (long j = 0; j < J_.stride; ++j) gradient_[j] = 0;
        for (long i = 0; i < n_rows_; ++i) add(rows_[i].error, J_[i], gradient_, 0, J_.stride);
        for (int j = 0; j < model_.nv; ++j) step_[j] = t_.free[j];
        for (const ConstraintTable::Dof& d : t_.dofs) {
            const bool below = q[d.iq] <= t_.lower[d.iq] + 1e-12 && gradient_[d.iv] < 0;
            const bool above = q[d.iq] >= t_.upper[d.iq] - 1e-12 && gradient_[d.iv] > 0;
            if (below || above) step_[d.iv] = 0;
        }
        for (int j = 0; j < model_.nv; ++j)
            if (step_[j] == 0)
                for (long i = 0; i < n_rows_; ++i) J_[i][j] = 0;
    }

    bool newton_step(double* q) {
        fix_columns(q);
        double cost = 0;
        for (long i = 0; i < n_rows_; ++i) {
            cost += 0.5 * rows_[i].error * rows_[i].error;
            for (long j = 0; j <= i; ++j) A_[i][j] = dot(J_[i], J_[j], 0, J_.stride);
        }
        for (long i = 0; i < n_rows_; ++i) A_[i][i] += 1e-9 + damping * cost;
        if (!solve()) return false;
        for (long j = 0; j < J_.stride; ++j) step_[j] = 0;
        for (long i = 0; i < n_rows_; ++i) add(y_[i], J_[i], step_, 0, J_.stride);
        double longest = 0;
        for (int j = 0; j < model_.nv; ++j) longest = larger(longest, fabs(step_[j]));
        move(q, longest > max_step ? max_step / longest : 1);
        return true;
    }

    // Solves A y = errors; false if A is not positive definite.
    bool solve() {
        bool definite = true;
        cholesky(
            A_.data, n_rows_, A_.stride, [&](long i, long j) { return A_[i][j]; },
            [&](long, double d) {
                definite = definite && d > 0;
                return definite ? d : 1;
            });
        for (long i = 0; i < n_rows_; ++i) y_[i] = rows_[i].error;
        cholesky_solve(A_.data, n_rows_, A_.stride, y_);
        return definite;
    }

    void move(double* q, double scale) {
        for (const ConstraintTable::Dof& d : t_.dofs) {
            const double x = q[d.iq] + scale * step_[d.iv], low = t_.lower[d.iq], high = t_.upper[d.iq];
            q[d.iq] = x < low ? low : x > high ? high : x;
        }
        for (int i : t_.manifold_bodies) {
            const Body& body = model_.bodies[i];
            integrate_joint(body, q, step_, scale, moved_);
            for (int k = body.iq; k < body.iq + coordinates(body.kind); ++k) q[k] = moved_[k];
        }
    }

    // Joints with one coordinate are always within; the translations of free joints are bounded too.
    bool within_bounds(const double* q) const {
        for (int i : t_.manifold_bodies) {
            const Body& body = model_.bodies[i];
            if (body.kind != Kind::Free) continue;
            for (int k = body.iq; k < body.iq + 3; ++k)
                if (!(q[k] >= t_.lower[k] && q[k] <= t_.upper[k])) return false;
        }
        return true;
    }

    static constexpr double damping = 1e-2, max_step = 0.5;
    static constexpr int max_stalled = 8;  // iterations without progress

    const ConstraintTable& t_;
    const Model& model_;
    Memory m_;
    World<double> world_;
    V com_;
    Matrix J_, A_;
    double *step_, *gradient_, *y_, *was_violated_, *moved_;
    Row* rows_;
    long n_rows_ = 0, first_row_ = 0;
};

}  // namespace kinodyn::KINODYN_TARGET
