// One step of whole-body inverse kinematics: levels of tasks and limits at a configuration, and the motion that solves
// them in order of priority.
//
// Variables    x: a small motion of the robot (nv), a step of length dt
// Objective    for each level in turn, the sum of |W (J x - gain e)|^2 over its tasks, damped
// Constraints  x within the joint bounds, J x <= e of the limits above a level
#pragma once

#include "kernels/row_labels.hpp"
#include "kernels/whole_body.hpp"
#include "limits/acceleration.hpp"
#include "limits/position.hpp"
#include "limits/velocity.hpp"
#include "solver/hierarchy.hpp"
#include "solver/linear_constraints.hpp"
#include "tasks/weighted_rows.hpp"

namespace kinodyn::KINODYN_TARGET {

struct WholeBodySizes {
    long rows = 0, inequalities = 0, largest_task = 0;  // rows: of the largest level
    explicit WholeBodySizes(const WholeBodyPlan& plan) {
        long here = 0;
        for (int k = 0; k < plan.n_tasks; ++k) {
            const TaskEntry& task = plan.tasks[k];
            if (k && task.level != plan.tasks[k - 1].level) here = 0;
            here += task.rows;
            if (here > rows) rows = here;
            if (task.rows > largest_task) largest_task = task.rows;
        }
        inequalities = plan.inequalities();
    }
};

class WholeBodyStep {
  public:
    // Options of a step.
    struct Request {
        double trust = 1;            // trust region, as a fraction of the longest step
        bool required_only = false;  // levels without a required task are left out
        int levels = 0;              // number of levels to consider, from the first
    };

    static long words(const Call& c) {
        const WholeBodySizes sizes(c.as<WholeBodyPlan>());
        const long n = c.model->nv;
        return World<double>::words(*c.model) + Memory::words(sizes.rows, n) + 2 * padded(sizes.rows) + 3 * padded(n) +
               2 * padded(sizes.largest_task) + RowLabels::words(sizes.inequalities) +
               LinearConstraints::words(n, sizes.inequalities) +
               Hierarchy<LinearConstraints>::words(n, sizes.rows, n + sizes.inequalities, sizes.inequalities) +
               2 * padded(twist_words(*c.model));
    }

    explicit WholeBodyStep(Work<double>& work)
        : w(work),
          model(work.model),
          plan(work.call.as<WholeBodyPlan>()),
          n(model.nv),
          settings(*reinterpret_cast<const WholeBodySettings*>(work.in[whole_body_io::Settings])),
          solving(settings.max_steps > 1),
          joints(view_block<JointBounds>(work.in[whole_body_io::Bounds], {model.nq, model.nv})),
          world(World<double>::take(work)),
          q(work.out[whole_body_io::NextConfiguration]),
          warm_start(work.in[whole_body_io::WarmStart]) {
        for (int k = 0; k < plan.n_tasks; ++k)
            Registry::visit_fields(model, plan.tasks[k], w.in[whole_body_io::Tasks], [&](auto type, const auto&) {
                checked_limits |= checks_steps<typename decltype(type)::Class>;
            });
        for (int k = 0; k < model.nq; ++k) q[k] = w.in[whole_body_io::Configuration][k];
    }

    void take(Memory& memory) {
        const WholeBodySizes sizes(plan);
        objective_.A = memory.matrix(sizes.rows, n);
        objective_.b = memory.take(sizes.rows);
        objective_.squared_norm = memory.take(sizes.rows);
        for (double** x : {&objective_.scale, &objective_.offset, &held}) *x = memory.take(n);
        release_joints();
        for (double** x : {&error_, &b_}) *x = memory.take(sizes.largest_task);
        labels_.take(memory, sizes.inequalities);
        constraints.take(memory, n, sizes.inequalities);
        hierarchy.take(memory, n, sizes.rows, n + sizes.inequalities, sizes.inequalities);
        motion_.v = reinterpret_cast<Spatial<double>*>(memory.take(twist_words(model)));
        motion_.bias = reinterpret_cast<Spatial<double>*>(memory.take(twist_words(model)));
    }

    // Computes the motion x of the hierarchy at q.
    void solve(const Request& request) {
        world.place_all(model, q);
        world.gather(model);
        bound_steps(request.trust);
        constraints.start();
        labels_.start(warm_start + n);
        hierarchy.start(n);
        constraints.clamp(hierarchy.x());
        RobotState robot(model, world, q, nullptr);
        robot.cuts = &cuts;
        if (checked_limits && !solving) robot.step_motion = &move_as_before();
        if (solving) robot.reach = far_ahead;
        for (int k = 0; k < plan.n_tasks && plan.tasks[k].level < request.levels;) {
            const TaskEntry& first = plan.tasks[k];
            double square = 0;  // of the weighted error
            bool required = false;
            objective_.rows = 0, objective_.diagonal = false;
            for (long i = 0; i < n; ++i) objective_.scale[i] = objective_.offset[i] = 0;
            for (; k < plan.n_tasks && plan.tasks[k].level == first.level; ++k) {
                required |= plan.tasks[k].required != 0;
                square += append(robot, plan.tasks[k], w.out[whole_body_io::Errors] + 2 * k);
            }
            LevelProgress& progress = levels[first.level];
            progress.now = progress.above = progress.predicted = 0;
            progress.limit = first.inequality;
            if (!request.required_only || required)
                solve_level(first, square, required, first.level + 1 == request.levels);
        }
        labels_.write(w.out[whole_body_io::ActiveBounds] + n);
    }

    void release_joints() {
        for (long k = 0; k < n; ++k) held[k] = 0;
    }

    // Shortens the motion x, and the reduction of residuals that it predicts: residuals are convex.
    void shorten(double share) {
        for (long i = 0; i < n; ++i) hierarchy.x()[i] *= share;
        for (int k = 0; k < plan.levels; ++k) {
            LevelProgress& level = levels[k];
            for (double* after : {&level.above, &level.predicted}) *after = level.now - share * (level.now - *after);
        }
    }

    // Takes over what limits remember of the previous step.
    void remember() {
        const long table = plan.table_size(model.nv);
        cuts.memory = w.out[whole_body_io::ActiveBounds] + table, cuts.first = plan.tasks;
        for (int k = 0; k < plan.n_tasks; ++k) {
            if (plan.tasks[k].memory == 0) continue;
            double* own = cuts.memory_of(plan.tasks[k]);
            NearPairs(model, own, plan.tasks[k].memory)
                .start(w.in[whole_body_io::WarmStart] + table + (own - cuts.memory));
        }
    }

    // Writes the outputs of the step; returns its largest motion.
    double report() {
        double* x = hierarchy.x();
        constraints.clamp(x);
        constexpr double on_bound = 1e-11;  // rad or m
        double* active = w.out[whole_body_io::ActiveBounds];
        double largest = 0;
        for (long k = 0; k < n; ++k) {
            w.out[whole_body_io::StepVelocity][k] = x[k] / settings.dt;
            active[k] = x[k] <= constraints.lower[k] + on_bound ? 1 : x[k] >= constraints.upper[k] - on_bound ? -1 : 0;
            if (fabs(x[k]) > largest) largest = fabs(x[k]);
        }
        return largest;
    }

    Work<double>& w;
    const Model& model;
    const WholeBodyPlan& plan;
    const long n;
    const WholeBodySettings& settings;
    const bool solving;  // solve until convergence, instead of a single step
    const JointBounds joints;
    World<double> world;
    Hierarchy<LinearConstraints> hierarchy;
    LinearConstraints constraints;
    LevelProgress* levels = nullptr;
    double* q;
    const double* warm_start;
    CuttingPlanes cuts;
    double* held = nullptr;       // (n) nonzero for joints that do not move in this step
    bool checked_limits = false;  // whether a limit checks the end of the step

  private:
    static constexpr double far_ahead = 0.3;  // [m] distance up to which the long steps of a solve consider obstacles

    static long twist_words(const Model& model) {
        return static_cast<long>(model.bodies.size() * sizeof(Spatial<double>) / sizeof(double));
    }

    // Bounds of each joint for this step. Where limits contradict each other, velocity limits have priority over
    // acceleration limits and both over position limits: so there is always a feasible step, and a joint beyond its
    // limits returns as fast as allowed.
    void bound_steps(double trust) {
        const double *v = w.in[whole_body_io::Velocity], dt = settings.dt;
        double *lower = constraints.lower, *upper = constraints.upper;
        for (long k = 0; k < n; ++k) {
            const double limit = joints.velocity[k];
            Bounds steps = velocity_steps(limit < unlimited ? trust * limit : limit, dt);
            narrow_steps_by_acceleration(steps, joints.acceleration[k], v[k], dt);
            lower[k] = steps.lower, upper[k] = steps.upper;
        }
        for (const Body& body : model.bodies) {
            if (dofs(body.kind) != 1) continue;
            Bounds steps = {lower[body.iv], upper[body.iv]};
            narrow_steps_by_position(steps, q[body.iq], joints.lower[body.iq], joints.upper[body.iq],
                                     joints.acceleration[body.iv], dt);
            lower[body.iv] = steps.lower, upper[body.iv] = steps.upper;
        }
        for (long k = 0; k < n; ++k)
            if (held[k] != 0) lower[k] = upper[k] = 0;
    }

    // The motion of the bodies at the velocity of the previous step, which predicts the curvature of this step.
    const Motion<double>& move_as_before() {
        const V zero = {0, 0, 0};
        for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i)
            move_body<double>(model, world, i, w.in[whole_body_io::Velocity], nullptr, {zero, zero}, motion_.v,
                              motion_.bias);
        return motion_;
    }

    void solve_level(const TaskEntry& first, double square, bool required, bool last) {
        LevelProgress& progress = levels[first.level];
        const bool limit = first.inequality != 0;
        if (solving) {
            if (progress.unit == 0) progress.unit = 1 / (max_squared_row_norm(objective_, n) + 1e-300);
            progress.now = progress.above = missing(progress, nullptr, limit);
            if (required) progress.above = missing(progress, hierarchy.x(), limit);
        }
        const long row = plan.table_width(model.nv) * (first.level + 1);
        if (limit)
            limit_motion();
        else
            minimise(square, last, warm_start + row, w.out[whole_body_io::ActiveBounds] + row);
        if (solving) progress.predicted = missing(progress, hierarchy.x(), limit);
    }

    // Makes the inequalities hold for all later levels, or violates them as little as the levels above allow.
    void limit_motion() {
        constraints.append(objective_.A, objective_.b, objective_.rows);
        double* active = hierarchy.working_set();
        for (long i = 0; i < constraints.count; ++i) active[i] = 0;
        hierarchy.relax(constraints);
    }

    // Damping grows with the square of the level's error, saturated at 1 m or rad, and is always
    // large enough for a unique solution where the level alone is rank-deficient.
    void minimise(double square, bool last, const double* guess, double* result) {
        const double most = max_squared_row_norm(objective_, n);
        const double damping = 1e-10 * most + settings.damping * (square < most ? square : most) + 1e-200;
        double* active = hierarchy.working_set();
        for (long i = 0; i < n; ++i) active[i] = guess[i];
        labels_.guess(guess + n, active + n);
        hierarchy.minimise(objective_, {damping, damping, 1e-10}, last, constraints, true);
        for (long i = 0; i < n + labels_.count(); ++i) result[i] = active[i];
    }

    // Squared residual of a level after a motion x, which grows only linearly beyond 1 m or rad, so that distant
    // targets do not dominate.
    double missing(const LevelProgress& progress, const double* x, bool limit) const {
        const double square = progress.unit * squared_residual(objective_, x, n, limit);
        return square < 1 ? square : 2 * __builtin_sqrt(square) - 1;
    }

    // Adds a task's rows to the level, and writes the remaining distance and angle; returns the square
    // of its weighted error, without postures, which do not increase the damping.
    double append(const RobotState& robot, const TaskEntry& entry, double* missing) {
        missing[0] = missing[1] = 0;
        const long before = objective_.rows;
        bool counts = false;
        Registry::visit(robot, entry, w.in[whole_body_io::Tasks], [&](const auto& task, const auto& fields) {
            using Task = std::decay_t<decltype(task)>;
            if (fields.switches->enabled == 0) return;
            const int rows = rows_of<Task>(entry, model);
            task.error(error_);
            if (entry.inequality) {
                for (int k = 0; k < rows; ++k)
                    if (-error_[k] > missing[0]) missing[0] = -error_[k];
                bound_step(task, error_, settings.dt);
                const int used = used_rows(task, rows);
                for (int k = 0; k < used; ++k)
                    labels_.add(static_cast<double>(label_of(task, k)) * plan.n_tasks + (&entry - plan.tasks) + 1);
                return add_inequalities(task, used, error_, objective_);
            }
            if (!is_of_motion<Task>) measure_task<Task>(rows, fields.weights, missing);
            const double gain = is_of_motion<Task> ? settings.dt : solving ? 1 : fields.switches->gain;
            for (int k = 0; k < rows; ++k) b_[k] = gain * error_[k];
            add_rows(task, rows, fields.weights, b_, error_, objective_);
            counts = Task::rows >= 0;
        });
        double square = 0;
        for (long i = before; counts && i < objective_.rows; ++i) square += objective_.b[i] * objective_.b[i];
        return square;
    }

    template <class Task>
    void measure_task(int rows, const double* weights, double* missing) const {
        const int distances = Task::distances < 0 ? rows : Task::distances;
        for (int k = 0; k < rows; ++k)
            if (weights[k] != 0) missing[k < distances ? 0 : 1] += error_[k] * error_[k];
        missing[0] = __builtin_sqrt(missing[0]), missing[1] = __builtin_sqrt(missing[1]);
    }

    Objective objective_;
    RowLabels labels_;
    double *error_, *b_;  // of one task
    Motion<double> motion_;
};

}  // namespace kinodyn::KINODYN_TARGET
