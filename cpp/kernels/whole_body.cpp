// Whole-body inverse kinematics: the motion that serves tasks in strict order of priority within limits, for one step
// or step by step until the robot is at rest. One state at a time.
//
// Variables    x: a small motion of the robot (nv), a step of length dt
// Objective    for each level in turn, the sum of |W (J x - gain e)|^2 over its tasks, damped
// Constraints  x within the joint bounds, J x <= e of the limits above a level
//
// Inputs: q, velocity of the step before, WholeBodySettings, JointBounds, blocks of all tasks, active bounds of the
// step before, and, to continue a solve that pauses, its SolveProgress.
//
// Outputs: q, velocity, distance and angle missing of each task where the last step began, bounds that the motion
// reaches and those that are active in each level (levels + 1, nv): 1 lower, -1 upper, 0 none; WholeBodyInfo, and the
// SolveProgress of a solve that pauses.
#include "kernels/whole_body.hpp"

#include "limits/acceleration.hpp"
#include "limits/position.hpp"
#include "limits/velocity.hpp"
#include "solver/hierarchy.hpp"
#include "solver/linear_constraints.hpp"
#include "tasks/weighted_rows.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace io = whole_body_io;

struct WholeBody {
    static constexpr bool sparse = false;
    static constexpr int check_interval = 50;      // steps between tests whether the robot is at rest
    static constexpr double far_ahead = 0.3;       // [m] distance at which the long steps of a solve see obstacles
    static constexpr double optional_share = 0.4;  // share of the steps after which only required levels count

    static const WholeBodyPlan& plan_of(const Call& c) { return c.as<WholeBodyPlan>(); }

    struct Sizes {
        long rows = 0, inequalities = 0, largest_task = 0;  // rows: of the largest level
        explicit Sizes(const WholeBodyPlan& plan) {
            long here = 0;
            for (int k = 0; k < plan.n_tasks; ++k) {
                const TaskEntry& task = plan.tasks[k];
                if (k && task.level != plan.tasks[k - 1].level) here = 0;
                here += task.rows;
                if (here > rows) rows = here;
                if (task.rows > largest_task) largest_task = task.rows;
                if (task.inequality) inequalities += task.rows;
            }
        }
    };

    static long words(const Call& c) {
        const WholeBodyPlan& plan = plan_of(c);
        const Sizes sizes(plan);
        const long n = c.model->nv;
        return World<double>::words(*c.model) + Memory::words(sizes.rows, n) + 2 * padded(sizes.rows) + 2 * padded(n) +
               2 * padded(sizes.largest_task) + LinearConstraints::words(n, sizes.inequalities) +
               Hierarchy<LinearConstraints>::words(n, sizes.rows, n + sizes.inequalities, sizes.inequalities) +
               padded(block_size<SolveProgress>({plan.levels, c.model->nq})) + padded(c.model->nq) +
               padded(pose_words(*c.model)) + 2 * padded(twist_words(*c.model)) + lanes;
    }

    static long pose_words(const Model& model) {
        return static_cast<long>(model.bodies.size() * sizeof(Placement<double>) / sizeof(double));
    }

    static long twist_words(const Model& model) {
        return static_cast<long>(model.bodies.size() * sizeof(Spatial<double>) / sizeof(double));
    }

    static void run(Work<double>& w) {
        Solver solver(w);
        solver.solve();
    }

    struct Solver {
        Work<double>& w;
        const Model& model;
        const WholeBodyPlan& plan;
        const Sizes sizes;
        const long n;
        const WholeBodySettings& settings;
        const double dt;
        const int max_steps;
        const JointBounds joints;
        World<double> world;
        Hierarchy<LinearConstraints> hierarchy;
        LinearConstraints constraints;
        Objective objective;
        double *lower, *upper;  // of x
        double *error, *b;      // of one task
        SolveState* state;
        LevelProgress* levels;
        double* accepted;
        double *q, *next;
        Placement<double>* before;
        Motion<double> motion;
        StepCuts cuts;
        bool checked_limits = false;
        const double* warm_start;

        explicit Solver(Work<double>& work)
            : w(work),
              model(work.model),
              plan(plan_of(work.call)),
              sizes(plan),
              n(model.nv),
              settings(*reinterpret_cast<const WholeBodySettings*>(work.in[io::Settings])),
              dt(settings.dt),
              max_steps(static_cast<int>(settings.max_steps)),
              joints(view_block<JointBounds>(work.in[io::Bounds], {model.nq, model.nv})),
              world(World<double>::take(work)),
              q(work.out[io::NextConfiguration]),
              warm_start(work.in[io::WarmStart]) {
            // aligned for lanes: memory is handed out in whole blocks from here on
            Memory memory = {w.free};
            objective.A = memory.matrix(sizes.rows, n);
            objective.b = memory.take(sizes.rows);
            objective.squared_norm = memory.take(sizes.rows);
            for (double** x : {&objective.scale, &objective.offset}) *x = memory.take(n);
            for (double** x : {&error, &b}) *x = memory.take(sizes.largest_task);
            constraints.take(memory, n, sizes.inequalities);
            lower = constraints.lower, upper = constraints.upper;
            hierarchy.take(memory, n, sizes.rows, n + sizes.inequalities, sizes.inequalities);
            place_progress(memory);
            next = memory.take(model.nq);
            before = reinterpret_cast<Placement<double>*>(memory.take(pose_words(model)));
            motion.v = reinterpret_cast<Spatial<double>*>(memory.take(twist_words(model)));
            motion.bias = reinterpret_cast<Spatial<double>*>(memory.take(twist_words(model)));
            for (int k = 0; k < plan.n_tasks; ++k)
                Registry::visit_fields(model, plan.tasks[k], w.in[io::Tasks], [&](auto type, const auto&) {
                    checked_limits |= checks_steps<typename decltype(type)::Class>;
                });
            for (int k = 0; k < model.nq; ++k) q[k] = w.in[io::Configuration][k];
            // a solve that pauses may return without a new step
            for (long k = 0; k < n; ++k) w.out[io::StepVelocity][k] = 0;
            for (long k = 0; k < w.call.out[io::ActiveBounds].size; ++k) w.out[io::ActiveBounds][k] = 0;
        }

        // Takes up a solve that paused, or starts anew.
        void place_progress(Memory& memory) {
            const SolveProgressSizes size = {plan.levels, model.nq};
            const bool pauses = w.call.n_out == io::n_outputs;
            double* numbers = pauses ? w.out[io::Progress] : memory.take(block_size<SolveProgress>(size));
            const SolveProgress view = view_block<SolveProgress>(numbers, size);
            state = const_cast<SolveState*>(view.state);
            levels = reinterpret_cast<LevelProgress*>(const_cast<double*>(view.levels));
            accepted = const_cast<double*>(view.accepted);
            if (pauses) {
                for (long k = 0; k < w.call.out[io::Progress].size; ++k) numbers[k] = w.in[io::ProgressBefore][k];
                if (state->steps > 0) return;
            }
            *state = {};
            state->trust = 1, state->level_share = 0.01;
            for (int k = 0; k < plan.levels; ++k) levels[k] = {};
            for (int k = 0; k < model.nq; ++k) accepted[k] = w.in[io::Configuration][k];
        }

        void solve() {
            if (state->done == 0) {
                do iterate();
                while (state->done == 0 && settings.pausing == 0);
            } else {
                for (long k = 0; k < w.call.out[io::Errors].size; ++k) w.out[io::Errors][k] = 0;
            }
            *reinterpret_cast<WholeBodyInfo*>(w.out[io::Info]) = {state->steps, state->iterations, state->at_rest,
                                                                  state->done};
        }

        // One step. In a solve each step is judged where the next one begins: the linear model by which it was planned
        // holds for a short distance only, near stretched knees above all.
        void iterate() {
            if (state->judging != 0) {
                state->judging = 0;
                state->at_rest = at_rest();
                state->done = state->last != 0 || state->at_rest != 0;
                if (state->done != 0) return;
            }
            state->steps += 1;
            cuts.count = 0;
            solve_levels();
            state->iterations += hierarchy.iterations();
            if (max_steps == 1 && checked_limits) keep_limits();
            if (state->moved != 0 && !as_predicted()) return reject();
            if (state->moved != 0 && state->trust < 1) state->trust = state->trust < 0.5 ? 2 * state->trust : 1;
            state->largest = report();
            accept();
            if (max_steps == 1) {
                state->done = 1;
                return;
            }
            state->moved = 1;
            warm_start = w.out[io::ActiveBounds];
            const bool last = state->steps >= max_steps || state->largest <= settings.rest;
            if (!last && static_cast<long>(state->steps) % check_interval != 0) return;
            state->last = last;
            if (state->largest <= settings.rest && state->trust == 1)
                state->at_rest = state->done = 1;
            else
                state->judging = 1;
        }

        // Solves a step again while it leads where its limits forbid, with what was not known of them before. A step
        // that still does so is shortened, as far as the bounds of the joints allow.
        void keep_limits() {
            constexpr int attempts = 4, halvings = 8;
            for (int k = 0; k < attempts; ++k) {
                if (!leads_too_far()) return;
                if (k + 1 == attempts) break;
                warm_start = w.out[io::ActiveBounds];
                solve_levels();
                state->iterations += hierarchy.iterations();
            }
            for (int k = 0; k < halvings; ++k) {
                const double share = k + 1 < halvings ? 0.5 : 0;
                for (long i = 0; i < n; ++i) hierarchy.x()[i] *= share;
                place_bodies(q);
                if (!leads_too_far()) return;
            }
        }
        // Poses alone.
        void place_bodies(const double* at) {
            joint_angles(model, at, world.angles);
            for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i) {
                const Body& body = model.bodies[i];
                place(body, parent_of(world.at, body), at, world.angles[i], world.at[i]);
                if (i == 0) world.origin = world.at[0].p;
                if (body.parent < 0) world.at[i].p -= world.origin;
            }
        }
        bool leads_too_far() {
            // the robot is at q
            const Poses poses_before = {before, world.origin};
            for (std::size_t i = 0; i < model.bodies.size(); ++i) before[i] = world.at[i];
            constraints.clamp(hierarchy.x());
            for (int k = 0; k < model.nq; ++k) next[k] = q[k];
            for (const Body& body : model.bodies) integrate_joint(body, q, hierarchy.x(), 1, next);
            bool any = false;
            for (int k = 0; k < plan.n_tasks; ++k)
                Registry::visit_fields(model, plan.tasks[k], w.in[io::Tasks], [&](auto type, const auto& fields) {
                    using Task = typename decltype(type)::Class;
                    if constexpr (checks_steps<Task>) {
                        place_bodies(next);
                        const auto place_before = [&] { place_bodies(q); };
                        any |= Task::add_cuts(model, plan.tasks[k], fields, world, poses_before, place_before, cuts);
                    }
                });
            return any;
        }

        // Returns to where the step began, and trusts shorter ones only.
        void reject() {
            const double longest = joints.velocity[0] * dt;
            state->trust = 0.25 * state->largest / longest;
            state->moved = 0;
            state->level_share *= 0.98;
            for (int k = 0; k < model.nq; ++k) q[k] = accepted[k];
            if (state->steps >= max_steps) state->judging = state->last = 1;
        }

        // Moves on, and notes what the step is predicted to do.
        void accept() {
            for (int k = 0; k < plan.levels; ++k)
                levels[k].before = levels[k].now, levels[k].predicted_before = levels[k].predicted;
            for (int k = 0; k < model.nq; ++k) accepted[k] = q[k];
            // from `accepted`, not in place: mimic joints share a coordinate with the joint that they follow
            for (const Body& body : model.bodies) integrate_joint(body, accepted, hierarchy.x(), 1, q);
        }

        // Would no level gain by a tiny step from here? This tells rest, short of what is asked for, from motion.
        bool at_rest() {
            constexpr double tiny = 1e-5, slope = 6e-5, nothing = 1e-16;  // 1e-8 m or rad, squared
            const double before = state->trust;
            state->trust = tiny / (joints.velocity[0] * dt);
            solve_levels();
            state->trust = before;
            bool still = true;
            for (int k = 0; k < plan.levels; ++k)
                still &=
                    levels[k].above - levels[k].predicted <= slope * tiny * __builtin_sqrt(levels[k].now) + nothing;
            return still;
        }

        // Did the step from `accepted` do a tenth of what was predicted? Levels count a hundred times less than the one
        // above, and less still as steps fail: so a lower one may cost a higher one the little that curvature spoils
        // and the next step makes good, but cannot lead in circles. What a level loses to those above counts at most
        // half of what they gain.
        bool as_predicted() const {
            double predicted = 0, achieved = 0, all = 0, count = 1;
            for (int k = 0; k < plan.levels; ++k) {
                const LevelProgress& p = levels[k];
                if (k > 0 && levels[k - 1].limit == 0) count *= state->level_share;
                const double gain = p.before - p.predicted_before;
                const double weight = gain < 0 && count * -gain > 0.5 * predicted ? 0.5 * predicted / -gain : count;
                predicted += weight * gain;
                achieved += weight * (p.before - p.now);
                all += weight * p.before;
            }
            return predicted > 1e-14 * all && achieved >= 0.1 * predicted;
        }

        // How far each joint may go in this step. Where limits contradict each other, the largest velocity comes before
        // the largest acceleration and both before the position: so there is always a step, and a joint beyond its
        // limits comes back as fast as it may.
        void bound_steps() {
            const double* v = w.in[io::Velocity];
            for (long k = 0; k < n; ++k) {
                const double limit = joints.velocity[k];
                Bounds steps = velocity_steps(limit < unlimited ? state->trust * limit : limit, dt);
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
        }

        // The motion of the bodies at the velocity of the step before, which tells the curvature of this step.
        const Motion<double>& move_as_before() {
            const V zero = {0, 0, 0};
            for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i)
                move_body<double>(model, world, i, w.in[io::Velocity], nullptr, {zero, zero}, motion.v, motion.bias);
            return motion;
        }

        void solve_levels() {
            world.place_all(model, q);
            world.gather(model);
            bound_steps();
            constraints.start();
            hierarchy.start(n);
            constraints.clamp(hierarchy.x());
            RobotState robot(model, world, q, nullptr);
            robot.cuts = &cuts;
            if (checked_limits && max_steps == 1) robot.step_motion = &move_as_before();
            if (max_steps > 1) robot.reach = far_ahead;
            const bool required_only = max_steps > 1 && state->steps > optional_share * max_steps;
            for (int k = 0; k < plan.n_tasks;) {
                const TaskEntry& first = plan.tasks[k];
                double square = 0;  // of the weighted error
                bool required = false;
                objective.rows = 0, objective.diagonal = false;
                for (long i = 0; i < n; ++i) objective.scale[i] = objective.offset[i] = 0;
                for (; k < plan.n_tasks && plan.tasks[k].level == first.level; ++k) {
                    required |= plan.tasks[k].required != 0;
                    square += append(robot, plan.tasks[k], w.out[io::Errors] + 2 * k);
                }
                LevelProgress& progress = levels[first.level];
                progress.now = progress.above = progress.predicted = 0;
                progress.limit = first.inequality;
                if (!required_only || required) solve_level(first, square, required, k == plan.n_tasks);
            }
        }

        void solve_level(const TaskEntry& first, double square, bool required, bool last) {
            LevelProgress& progress = levels[first.level];
            const bool limit = first.inequality != 0;
            if (max_steps > 1) {
                if (progress.unit == 0) progress.unit = 1 / (max_squared_row_norm(objective, n) + 1e-300);
                progress.now = size_of(progress.unit * squared_residual(objective, nullptr, n, limit));
                progress.above = progress.now;
                if (required)
                    progress.above = size_of(progress.unit * squared_residual(objective, hierarchy.x(), n, limit));
            }
            const long row = n * (first.level + 1);
            if (limit)
                limit_motion();
            else
                minimise(square, last, warm_start + row, w.out[io::ActiveBounds] + row);
            if (max_steps > 1)
                progress.predicted = size_of(progress.unit * squared_residual(objective, hierarchy.x(), n, limit));
        }

        // Inequalities hold from now on, or are violated as little as the levels above allow.
        void limit_motion() {
            constraints.append(objective.A, objective.b, objective.rows);
            double* active = hierarchy.working_set();
            for (long i = 0; i < constraints.count; ++i) active[i] = 0;
            hierarchy.relax(constraints);
        }

        // Damping grows with the square of the level's error, as if no error were above 1 m or rad, and is always
        // enough to have a best answer where the level alone leaves a choice.
        void minimise(double square, bool last, const double* guess, double* result) {
            const double most = max_squared_row_norm(objective, n);
            const double damping = 1e-10 * most + settings.damping * (square < most ? square : most) + 1e-200;
            double* active = hierarchy.working_set();
            for (long i = 0; i < n; ++i) active[i] = guess[i];  // rows of limits: as in the level above
            hierarchy.minimise(objective, {damping, damping, 1e-10}, last, constraints, true);
            for (long i = 0; i < n; ++i) result[i] = active[i];
        }

        // The square of an error, growing no more than in proportion beyond 1 m or rad: what is far off must not
        // outweigh all the rest.
        static double size_of(double square) { return square < 1 ? square : 2 * __builtin_sqrt(square) - 1; }

        // Adds a task's rows to the level, and writes the distance and the angle that are missing; returns the square
        // of its weighted error, that of postures left out: joints have no error that is far.
        double append(const RobotState& robot, const TaskEntry& entry, double* missing) {
            missing[0] = missing[1] = 0;
            const long before = objective.rows;
            bool counts = false;
            Registry::visit(robot, entry, w.in[io::Tasks], [&](const auto& task, const auto& fields) {
                using Task = std::decay_t<decltype(task)>;
                if (fields.switches->enabled == 0) return;
                const int rows = rows_of<Task>(entry, model);
                task.error(error);
                if (entry.inequality) {
                    for (int k = 0; k < rows; ++k)
                        if (-error[k] > missing[0]) missing[0] = -error[k];
                    bound_step(task, error, dt);
                    return add_inequalities(task, used_rows(task, rows), error, objective);
                }
                if (!is_of_motion<Task>) measure<Task>(rows, fields.weights, missing);
                const double gain = is_of_motion<Task> ? dt : max_steps > 1 ? 1 : fields.switches->gain;
                for (int k = 0; k < rows; ++k) b[k] = gain * error[k];
                add_rows(task, rows, fields.weights, b, error, objective);
                counts = Task::rows >= 0;
            });
            double square = 0;
            for (long i = before; counts && i < objective.rows; ++i) square += objective.b[i] * objective.b[i];
            return square;
        }

        template <class Task>
        void measure(int rows, const double* weights, double* missing) const {
            const int distances = Task::distances < 0 ? rows : Task::distances;
            for (int k = 0; k < rows; ++k)
                if (weights[k] != 0) missing[k < distances ? 0 : 1] += error[k] * error[k];
            missing[0] = __builtin_sqrt(missing[0]), missing[1] = __builtin_sqrt(missing[1]);
        }

        // Tells what the step does; returns its largest motion.
        double report() {
            double* x = hierarchy.x();
            constraints.clamp(x);
            constexpr double on_bound = 1e-11;  // rad or m
            double largest = 0;
            for (long k = 0; k < n; ++k) {
                w.out[io::StepVelocity][k] = x[k] / dt;
                w.out[io::ActiveBounds][k] = x[k] <= lower[k] + on_bound ? 1 : x[k] >= upper[k] - on_bound ? -1 : 0;
                if (fabs(x[k]) > largest) largest = fabs(x[k]);
            }
            return largest;
        }
    };
};

constexpr KernelEntry entries[] = {
    {"whole_body", run_each<WholeBody>},
};
extern const KernelList whole_body_kernels;
const KernelList whole_body_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
