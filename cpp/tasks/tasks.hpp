// What whole-body tasks ask of a small motion x of the robot: rows A x = b, weighted, for one state.
#pragma once

#include "kernels/frames.hpp"
#include "kernels/manifold.hpp"
#include "solver/objective.hpp"

namespace kinodyn::KINODYN_TARGET {

// The order is that of kinodyn.tasks. Numbers of each task: its target, then its settings.
enum class TaskKind : int {
    Pose,      // target: pose (16); settings: weights 6 along the frame's axes, gain, point in the frame 3
    Point,     // target: position (3); settings: weights 3 along the reference's axes, gain, point in the frame 3
    Com,       // target: position (3); settings: weights 3, gain
    Posture,   // target: configuration (nq); settings: weights nv, gain
    Momentum,  // target: momentum about the centre of mass (6); settings: weights 6
    Gaze,      // target: position (3); settings: weight, gain, axis in the frame 3
    Rows,      // target: errors (rows); settings: Jacobian (rows, nv), gain
    ComLimit,  // target: rows of a, b with a c <= b for the centre of mass c (rows, 4)
};

struct Task {
    TaskKind kind;
    int level;
    int frame, reference;  // -1: the world
    int rows;              // at most
    int required;          // 0: a wish, which may wait until what is required is met
    static constexpr int integers = 6;
    static Task read(const int* n) { return {static_cast<TaskKind>(n[0]), n[1], n[2], n[3], n[4], n[5]}; }
};

// The robot where it is, and what tasks want of it there.
class Rows {
  public:
    Rows(const Model& model, const World<double>& world, const V& com, const double* q, double dt, bool full)
        : model_(model), world_(world), frames_(model, world), com_(com), q_(q), dt_(dt), full_(full) {}

    // Adds a task's rows to its level; `error` takes the distance and the angle that are missing, `difference` is
    // scratch memory of nv numbers.
    void append(const Task& task, const double* target, const double* settings, Objective& level, double* error,
                double* difference) const {
        error[0] = error[1] = 0;
        switch (task.kind) {
            case TaskKind::Pose: return pose(task, target, settings, level, error);
            case TaskKind::Point: return point(task, target, settings, level, error);
            case TaskKind::Com: return com(target, settings, level, error);
            case TaskKind::Posture: return posture(target, settings, level, error, difference);
            case TaskKind::Momentum: return momentum(target, settings, level);
            case TaskKind::Gaze: return gaze(task, target, settings, level, error);
            case TaskKind::Rows: return rows(task, target, settings, level, error);
            case TaskKind::ComLimit: return com_limit(task, target, level, error);
        }
    }

  private:
    double gain_of(double setting) const { return full_ ? 1 : setting; }

    // Starts new rows, all zero, and returns the first.
    static double* open(Objective& level, long count) {
        double* first = level.A[level.rows];
        memset(first, 0, sizeof(double) * static_cast<std::size_t>(count * level.A.stride));
        return first;
    }

    void pose(const Task& task, const double* target, const double* settings, Objective& level, double* error) const {
        const double *weight = settings, gain = gain_of(settings[6]);
        const Placement<double> f = frames_.place(task.frame, settings + 7), r = frames_.place(task.reference, nullptr);
        const V p = r.p + r.R * V{target[3], target[7], target[11]};
        const Mat3<double> R = r.R * Mat3<double>{vec(target), vec(target + 4), vec(target + 8)};
        const V w = logarithm(quaternion_of(transposed(f.R) * R));
        const V v = unsweep(tmul(f.R, p - f.p), w);
        const double e[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
        const LogarithmRate rate({v, w});
        double* rows[6];
        long count = 0;
        double* first = open(level, 6);
        double square[2] = {0, 0};
        for (int k = 0; k < 6; ++k) {
            rows[k] = nullptr;
            if (weight[k] == 0) continue;
            rows[k] = first + count * level.A.stride;
            level.b[level.rows + count++] = weight[k] * gain * e[k];
            square[k / 3] += e[k] * e[k];
        }
        level.rows += count;
        error[0] = __builtin_sqrt(square[0]), error[1] = __builtin_sqrt(square[1]);
        const auto put = [&](double sign) {
            return [&, sign](int iv, const Spatial<double>& s) {
                const Spatial<double> c = rate({tmul(f.R, s.lin), tmul(f.R, s.ang)});
                const double column[6] = {c.lin.x, c.lin.y, c.lin.z, c.ang.x, c.ang.y, c.ang.z};
                for (int k = 0; k < 6; ++k)
                    if (rows[k]) rows[k][iv] += sign * weight[k] * column[k];
            };
        };
        frames_.for_columns(task.frame, task.reference, f.p, put(1));
        frames_.for_columns(task.reference, task.frame, f.p, put(-1));
    }

    void point(const Task& task, const double* target, const double* settings, Objective& level, double* error) const {
        const double *weight = settings, gain = gain_of(settings[3]);
        const Placement<double> f = frames_.place(task.frame, settings + 4), r = frames_.place(task.reference, nullptr);
        const V d = vec(target) - tmul(r.R, f.p - r.p);
        double* rows[3];
        open_three(weight, gain, d, level, rows, error);
        const auto put = [&](double sign) {
            return [&, sign](int iv, const Spatial<double>& s) { add_three(rows, weight, sign, iv, tmul(r.R, s.lin)); };
        };
        frames_.for_columns(task.frame, task.reference, f.p, put(1));
        frames_.for_columns(task.reference, task.frame, f.p, put(-1));
    }

    void com(const double* target, const double* settings, Objective& level, double* error) const {
        double* rows[3];
        open_three(settings, gain_of(settings[3]), vec(target) - com_, level, rows, error);
        for_com_columns([&](int iv, const V& d) { add_three(rows, settings, 1, iv, d); });
    }

    // Three rows, as far as they have weight.
    static void open_three(const double* weight, double gain, const V& d, Objective& level, double** rows,
                           double* error) {
        double* first = open(level, 3);
        const double e[3] = {d.x, d.y, d.z};
        long count = 0;
        double square = 0;
        for (int k = 0; k < 3; ++k) {
            rows[k] = nullptr;
            if (weight[k] == 0) continue;
            rows[k] = first + count * level.A.stride;
            level.b[level.rows + count++] = weight[k] * gain * e[k];
            square += e[k] * e[k];
        }
        level.rows += count;
        error[0] = __builtin_sqrt(square);
    }
    static void add_three(double** rows, const double* weight, double sign, int iv, const V& d) {
        if (rows[0]) rows[0][iv] += sign * weight[0] * d.x;
        if (rows[1]) rows[1][iv] += sign * weight[1] * d.y;
        if (rows[2]) rows[2][iv] += sign * weight[2] * d.z;
    }

    // Calls f(v index, rate of the centre of mass). World::I holds subtrees.
    template <class F>
    void for_com_columns(F&& f) const {
        for (int c = 0; c < model_.ncolumns; ++c) {
            const auto& I = world_.I[model_.column_body[c]];
            const Spatial<double>& s = world_.S[c];
            f(model_.column_iv[c], model_.inverse_mass * (I.mass * s.lin + cross(s.ang, I.h)));
        }
    }

    void posture(const double* target, const double* settings, Objective& level, double* error,
                 double* difference) const {
        const double gain = gain_of(settings[model_.nv]);
        for (const Body& b : model_.bodies) between(b, q_, target, difference);
        double square = 0;
        for (int k = 0; k < model_.nv; ++k) {
            // several postures in one level: their weighted mean
            const double w = settings[k], before = level.scale[k], both = __builtin_sqrt(before * before + w * w);
            if (w == 0) continue;
            level.offset[k] = (before * level.offset[k] + w * w * gain * difference[k]) / both;
            level.scale[k] = both;
            square += difference[k] * difference[k];
            level.diagonal = true;
        }
        error[1] = __builtin_sqrt(square);
    }

    void momentum(const double* target, const double* weight, Objective& level) const {
        double* first = open(level, 6);
        double* rows[6];
        long count = 0;
        for (int k = 0; k < 6; ++k) {
            rows[k] = nullptr;
            if (weight[k] == 0) continue;
            rows[k] = first + count * level.A.stride;
            level.b[level.rows + count++] = weight[k] * target[k] * dt_;
        }
        level.rows += count;
        const V centre = com_ - world_.origin;
        for (int c = 0; c < model_.ncolumns; ++c) {
            Spatial<double> F = world_.I[model_.column_body[c]] * world_.S[c];
            F.ang -= cross(centre, F.lin);
            const double column[6] = {F.lin.x, F.lin.y, F.lin.z, F.ang.x, F.ang.y, F.ang.z};
            for (int k = 0; k < 6; ++k)
                if (rows[k]) rows[k][model_.column_iv[c]] += weight[k] * column[k];
        }
    }

    // Turns the frame until its axis points at the target: two rows, the rotation about the line of sight is free.
    void gaze(const Task& task, const double* target, const double* settings, Objective& level, double* error) const {
        const double weight = settings[0], gain = gain_of(settings[1]);
        const Placement<double> f = frames_.place(task.frame, nullptr);
        const V axis = f.R * vec(settings + 2), sight = vec(target) - world_.origin - f.p;
        const double distance = __builtin_sqrt(dot(sight, sight));
        if (distance < 1e-9) return;  // nothing to look at: the eye is there
        const V d = (1 / distance) * sight;
        const double cosine = dot(axis, d);
        const V turn = cross(axis, d);
        const double sine = __builtin_sqrt(dot(turn, turn)), angle = atan2(sine, cosine);
        const V u = across(d), w = cross(d, u);
        // straight away from the target every way round is as long: take u
        const V e = sine > 1e-9 ? (angle / sine) * turn : cosine < 0 ? angle * u : turn;
        double* first = open(level, 2);
        double *row_u = first, *row_w = first + level.A.stride;
        level.b[level.rows] = weight * gain * dot(u, e);
        level.b[level.rows + 1] = weight * gain * dot(w, e);
        level.rows += 2;
        error[1] = angle;
        frames_.for_columns(task.frame, -1, f.p, [&](int iv, const Spatial<double>& s) {
            const V rate = s.ang + (1 / distance) * cross(d, s.lin);  // moving sideways turns the line of sight
            row_u[iv] += weight * dot(u, rate);
            row_w[iv] += weight * dot(w, rate);
        });
    }
    // A unit vector at a right angle to a unit vector.
    static V across(const V& d) {
        const V other = fabs(d.x) < 0.6 ? V{1, 0, 0} : V{0, 1, 0};
        const V u = cross(d, other);
        return (1 / __builtin_sqrt(dot(u, u))) * u;
    }

    void rows(const Task& task, const double* target, const double* settings, Objective& level, double* error) const {
        const double gain = gain_of(settings[task.rows * model_.nv]);
        open(level, task.rows);
        double square = 0;
        for (int k = 0; k < task.rows; ++k) {
            memcpy(level.A[level.rows + k], settings + k * model_.nv,
                   sizeof(double) * static_cast<std::size_t>(model_.nv));
            level.b[level.rows + k] = gain * target[k];
            square += target[k] * target[k];
        }
        level.rows += task.rows;
        error[0] = __builtin_sqrt(square);
    }

    // Inequalities: rows x <= b.
    void com_limit(const Task& task, const double* target, Objective& level, double* error) const {
        open(level, task.rows);
        for (int k = 0; k < task.rows; ++k) {
            const V a = vec(target + 4 * k);
            const double room = target[4 * k + 3] - dot(a, com_);
            level.b[level.rows + k] = room;
            if (-room > error[0]) error[0] = -room;
        }
        for_com_columns([&](int iv, const V& d) {
            for (int k = 0; k < task.rows; ++k) level.A[level.rows + k][iv] += dot(vec(target + 4 * k), d);
        });
        level.rows += task.rows;
    }

    static Mat3<double> transposed(const Mat3<double>& R) { return {R.column(0), R.column(1), R.column(2)}; }

    const Model& model_;
    const World<double>& world_;
    Frames frames_;
    V com_;
    const double* q_;
    double dt_;
    bool full_;  // ask for the whole error, whatever the gain
};

}  // namespace kinodyn::KINODYN_TARGET
