// What tasks ask of the accelerations a of a robot: rows A a = b, weighted, for one state.
//
// A task measures x(q); it asks for the acceleration of x
//   wanted = acceleration of the target + damping (velocity of the target - velocity) + stiffness (target - x)
// and since the acceleration of x is J a + dJ/dt v, its rows are J a = wanted - dJ/dt v.
#pragma once

#include "kernels/constraints.hpp"
#include "kernels/frames.hpp"
#include "kernels/manifold.hpp"
#include "tasks/tasks.hpp"

namespace kinodyn::KINODYN_TARGET {

// A task as it comes from kinodyn.control: target, then as many numbers as the task has rows of each of: velocity and
// acceleration of the target, stiffness, damping, weights; then what is particular to its kind.
struct ControlTask {
    TaskKind kind;
    int level;
    int frame, reference;  // -1: the world
    int rows, place;       // place: where its numbers begin
    int active;
    static constexpr int integers = 7;
    static ControlTask read(const int* n) { return {static_cast<TaskKind>(n[0]), n[1], n[2], n[3], n[4], n[5], n[6]}; }
    int target_size(const Model& model) const {
        switch (kind) {
            case TaskKind::Pose: return 16;
            case TaskKind::Posture: return model.nq;
            default: return rows;
        }
    }
};

struct Reference {
    const double *target, *velocity, *acceleration, *stiffness, *damping, *weight, *more;
    Reference(const ControlTask& task, const Model& model, const double* numbers) {
        target = numbers + task.place;
        velocity = target + task.target_size(model);
        acceleration = velocity + task.rows;
        stiffness = acceleration + task.rows;
        damping = stiffness + task.rows;
        weight = damping + task.rows;
        more = weight + task.rows;
    }
    // The acceleration that J a should be, of row k.
    double wanted(int k, double error, double rate, double drift) const {
        return acceleration[k] + damping[k] * (velocity[k] - rate) + stiffness[k] * error - drift;
    }
};

// The robot as a whole, about its centre of mass: momentum, and its rate at accelerations of zero.
struct Whole {
    Vec3<double> com;  // from the common point
    Spatial<double> momentum, rate;
};

class AccelerationRows {
  public:
    AccelerationRows(const Model& model, const World<double>& world, const Motion<double>& motion, const Whole& whole,
                     const double* q, const double* v)
        : model_(model), world_(world), motion_(motion), whole_(whole), frames_(model, world), q_(q), v_(v) {}

    // Adds a task's rows to its level. `wanted` takes J a without weights, one number for each of its rows.
    void append(const ControlTask& task, const Reference& r, Objective& level, double* wanted,
                double* difference) const {
        switch (task.kind) {
            case TaskKind::Pose: return pose(task, r, level, wanted);
            case TaskKind::Point: return point(task, r, level, wanted);
            case TaskKind::Com: return com(r, level, wanted);
            case TaskKind::Posture: return posture(r, level, wanted, difference);
            case TaskKind::Momentum: return momentum(r, level, wanted);
            case TaskKind::Gaze: return gaze(task, r, level, wanted);
            case TaskKind::Rows: return rows(task, r, level, wanted);
            case TaskKind::ComLimit: return;  // of positions only
        }
    }

    const Frames& frames() const { return frames_; }

    // Velocity of a frame at the point p, and its acceleration there at joint accelerations of zero, both as seen from
    // the frame `other`, whose axes may turn; in world axes.
    void relative_motion(int frame, int other, const V& p, Spatial<double>& rate, Spatial<double>& drift) const {
        const Spatial<double> a = at_point(motion_.v, frame, p), b = at_point(motion_.v, other, p);
        rate = a - b;
        drift = point_drift(frame, p, a) - point_drift(other, p, b);
        drift.lin -= 2 * cross(b.ang, rate.lin);
        drift.ang -= cross(b.ang, a.ang);
    }

  private:
    Spatial<double> at_point(const Spatial<double>* of, int frame, const V& p) const {
        const int body = frames_.body_of(frame);
        if (body < 0) return {V{0, 0, 0}, V{0, 0, 0}};
        return {of[body].lin + cross(of[body].ang, p), of[body].ang};
    }
    Spatial<double> point_drift(int frame, const V& p, const Spatial<double>& v) const {
        Spatial<double> a = at_point(motion_.bias, frame, p);
        a.lin += cross(v.ang, v.lin);
        return a;
    }

    // Opens rows for those of `count` numbers that have weight; the others get no row.
    static void open(const Reference& r, int count, const double* wanted, Objective& level, double** rows) {
        for (int k = 0; k < count; ++k) {
            rows[k] = nullptr;
            if (r.weight[k] == 0) continue;
            rows[k] = level.A[level.rows];
            clear_row(rows[k], level.A.stride);
            level.b[level.rows++] = r.weight[k] * wanted[k];
        }
    }
    static void put(double* const* rows, const Reference& r, int count, int iv, const double* column) {
        for (int k = 0; k < count; ++k)
            if (rows[k]) rows[k][iv] += r.weight[k] * column[k];
    }

    void pose(const ControlTask& task, const Reference& r, Objective& level, double* wanted) const {
        const Placement<double> f = frames_.place(task.frame, r.more), o = frames_.place(task.reference, nullptr);
        const double* t = r.target;
        const V way = o.p + o.R * V{t[3], t[7], t[11]} - f.p;
        const Mat3<double> R = o.R * Mat3<double>{vec(t), vec(t + 4), vec(t + 8)};
        const V turn = logarithm(quaternion_of(Mat3<double>{f.R.column(0), f.R.column(1), f.R.column(2)} * R));
        Spatial<double> rate, drift;
        relative_motion(task.frame, task.reference, f.p, rate, drift);
        // all of it in the axes of the frame, along which weights and gains are given
        const auto own = [&](const V& a) { return tmul(f.R, a); };
        const auto given = [&](const double* x) { return own(o.R * vec(x)); };
        const Spatial<double> e = {own(way), turn}, w = {own(rate.lin), own(rate.ang)};
        const Spatial<double> d = {own(drift.lin), own(drift.ang)};
        const Spatial<double> v = {given(r.velocity), given(r.velocity + 3)};
        const Spatial<double> a = {given(r.acceleration), given(r.acceleration + 3)};
        for (int k = 0; k < 6; ++k)
            wanted[k] =
                part(a, k) + r.damping[k] * (part(v, k) - part(w, k)) + r.stiffness[k] * part(e, k) - part(d, k);
        double* rows[6];
        open(r, 6, wanted, level, rows);
        const auto put_with = [&](double sign) {
            return [&, sign](int iv, const Spatial<double>& s) {
                const V lin = sign * own(s.lin), ang = sign * own(s.ang);
                const double column[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
                put(rows, r, 6, iv, column);
            };
        };
        frames_.for_columns(task.frame, task.reference, f.p, put_with(1));
        frames_.for_columns(task.reference, task.frame, f.p, put_with(-1));
    }
    static double part(const Spatial<double>& s, int k) {
        const V& a = k < 3 ? s.lin : s.ang;
        return k % 3 == 0 ? a.x : k % 3 == 1 ? a.y : a.z;
    }

    void point(const ControlTask& task, const Reference& r, Objective& level, double* wanted) const {
        const Placement<double> f = frames_.place(task.frame, r.more), o = frames_.place(task.reference, nullptr);
        Spatial<double> rate, drift;
        relative_motion(task.frame, task.reference, f.p, rate, drift);
        double* rows[3];
        three(r, vec(r.target) - tmul(o.R, f.p - o.p), tmul(o.R, rate.lin), tmul(o.R, drift.lin), level, wanted, rows);
        const auto put_with = [&](double sign) {
            return [&, sign](int iv, const Spatial<double>& s) {
                const V lin = sign * tmul(o.R, s.lin);
                const double column[3] = {lin.x, lin.y, lin.z};
                put(rows, r, 3, iv, column);
            };
        };
        frames_.for_columns(task.frame, task.reference, f.p, put_with(1));
        frames_.for_columns(task.reference, task.frame, f.p, put_with(-1));
    }
    static void three(const Reference& r, const V& e, const V& rate, const V& drift, Objective& level, double* wanted,
                      double** rows) {
        wanted[0] = r.wanted(0, e.x, rate.x, drift.x);
        wanted[1] = r.wanted(1, e.y, rate.y, drift.y);
        wanted[2] = r.wanted(2, e.z, rate.z, drift.z);
        open(r, 3, wanted, level, rows);
    }

    void com(const Reference& r, Objective& level, double* wanted) const {
        const double k = model_.inverse_mass;
        const V e = vec(r.target) - whole_.com - world_.origin;
        double* rows[3];
        three(r, e, k * whole_.momentum.lin, k * whole_.rate.lin, level, wanted, rows);
        for (int c = 0; c < model_.ncolumns; ++c) {
            const auto& I = world_.I[model_.column_body[c]];  // of the subtree
            const Spatial<double>& s = world_.S[c];
            const V d = k * (I.mass * s.lin + cross(s.ang, I.h));
            const double column[3] = {d.x, d.y, d.z};
            put(rows, r, 3, model_.column_iv[c], column);
        }
    }

    void posture(const Reference& r, Objective& level, double* wanted, double* difference) const {
        for (const Body& b : model_.bodies) between(b, q_, r.target, difference);
        for (int k = 0; k < model_.nv; ++k) {
            wanted[k] = r.wanted(k, difference[k], v_[k], 0);
            const double w = r.weight[k];
            if (w == 0) continue;
            // several postures in one level: their weighted mean
            const double before = level.scale[k], both = __builtin_sqrt(before * before + w * w);
            level.offset[k] = (before * level.offset[k] + w * w * wanted[k]) / both;
            level.scale[k] = both;
            level.diagonal = true;
        }
    }

    // The target is a momentum, its velocity the rate: `damping` brings the momentum there.
    void momentum(const Reference& r, Objective& level, double* wanted) const {
        for (int k = 0; k < 6; ++k)
            wanted[k] = r.velocity[k] + r.damping[k] * (r.target[k] - part(whole_.momentum, k)) - part(whole_.rate, k);
        double* rows[6];
        open(r, 6, wanted, level, rows);
        for (int c = 0; c < model_.ncolumns; ++c) {
            Spatial<double> F = world_.I[model_.column_body[c]] * world_.S[c];
            F.ang -= cross(whole_.com, F.lin);
            const double column[6] = {F.lin.x, F.lin.y, F.lin.z, F.ang.x, F.ang.y, F.ang.z};
            put(rows, r, 6, model_.column_iv[c], column);
        }
    }

    // The rotation of the frame's axis relative to the line of sight, in two directions across that line. The line
    // from the eye p to the target turns by d x s' / |s| with s = target - p, d = s / |s|; that the frame also rolls
    // about it turns the difference of the two.
    void gaze(const ControlTask& task, const Reference& r, Objective& level, double* wanted) const {
        const Placement<double> f = frames_.place(task.frame, nullptr);
        const V axis = f.R * vec(r.more), sight = vec(r.target) - world_.origin - f.p;
        const double distance = __builtin_sqrt(dot(sight, sight));
        const bool there = distance < 1e-9;  // nothing to look at: the eye is there
        const double k = there ? 0 : 1 / distance, weight = there ? 0 : r.weight[0];
        const V d = there ? axis : k * sight;
        const V turn = cross(axis, d);
        const double cosine = dot(axis, d), sine = __builtin_sqrt(dot(turn, turn)), angle = atan2(sine, cosine);
        const V u = across(d), w = cross(d, u);
        // straight away from the target every way round is as long: take u
        const V e = sine > 1e-9 ? (angle / sine) * turn : cosine < 0 ? angle * u : turn;
        Spatial<double> rate, drift;
        relative_motion(task.frame, -1, f.p, rate, drift);
        const V moving = vec(r.velocity) - rate.lin, line = k * cross(d, moving);
        const V all = r.stiffness[0] * e + r.damping[0] * (line - rate.ang) - drift.ang -
                      dot(d, rate.ang) * cross(d, line) +
                      k * (cross(d, vec(r.acceleration) - drift.lin) - 2 * dot(d, moving) * line);
        double* rows[2] = {level.A[level.rows], level.A[level.rows + 1]};
        wanted[0] = there ? 0 : dot(u, all), wanted[1] = there ? 0 : dot(w, all);
        for (int i = 0; i < 2; ++i) {
            clear_row(rows[i], level.A.stride);
            level.b[level.rows++] = weight * wanted[i];
        }
        frames_.for_columns(task.frame, -1, f.p, [&](int iv, const Spatial<double>& s) {
            const V turning = s.ang + k * cross(d, s.lin);  // moving sideways turns the line of sight
            rows[0][iv] += weight * dot(u, turning);
            rows[1][iv] += weight * dot(w, turning);
        });
    }
    // A unit vector at a right angle to a unit vector.
    static V across(const V& d) {
        const V other = fabs(d.x) < 0.6 ? V{1, 0, 0} : V{0, 1, 0};
        const V u = cross(d, other);
        return (1 / __builtin_sqrt(dot(u, u))) * u;
    }

    // Rows of the user's own: what is missing, then in `more` the Jacobian and dJ/dt v.
    void rows(const ControlTask& task, const Reference& r, Objective& level, double* wanted) const {
        const long n = task.rows, nv = model_.nv;
        const double* drift = r.more + n * nv;
        for (int k = 0; k < n; ++k) {
            const double* J = r.more + k * nv;
            double rate = 0;
            for (long j = 0; j < nv; ++j) rate += J[j] * v_[j];
            wanted[k] = r.wanted(k, r.target[k], rate, drift[k]);
            if (r.weight[k] == 0) continue;
            double* row = level.A[level.rows];
            clear_row(row, level.A.stride);
            for (long j = 0; j < nv; ++j) row[j] = r.weight[k] * J[j];
            level.b[level.rows++] = r.weight[k] * wanted[k];
        }
    }

    const Model& model_;
    const World<double>& world_;
    const Motion<double>& motion_;
    const Whole& whole_;
    Frames frames_;
    const double *q_, *v_;
};

}  // namespace kinodyn::KINODYN_TARGET
