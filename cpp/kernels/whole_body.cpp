// Whole-body inverse kinematics: the motion that serves tasks in strict order of priority within limits, for one step
// or until the robot comes to rest. One state at a time.
//
// Inputs: 0 configuration, 1 velocity of the step before, 2 settings (dt, damping by the error, most steps, motion that
// counts as rest), 3 lower and 4 upper limits (nq), 5 largest velocity and 6 largest acceleration (nv), 7 bounds that
// held the step before, like output 3, then for each task its target and its settings, in the order of their levels.
// Limits of 1e29 and more are none. call.more: the integers of each task.
//
// Outputs: 0 configuration, 1 velocity, 2 distance and angle missing of each task where the last step began, 3 bounds
// that the motion reaches, and those that hold back each level (levels + 1, nv): 1 lower, -1 upper, 0 none; 4 steps,
// iterations of the active set, 1 if at rest.
#include "kernels/algorithms.hpp"
#include "solver/hierarchy.hpp"
#include "tasks/tasks.hpp"

namespace kinodyn::KINODYN_TARGET {

struct WholeBody {
    static constexpr bool sparse = false;
    static constexpr int first_task = 8;
    static constexpr double endless = 1e29;
    static constexpr int often = 50;       // steps between looks whether the robot is at rest
    static constexpr double wishes = 0.4;  // share of the steps after which wishes must wait

    struct Sizes {
        int tasks = 0;
        long rows = 0, inequalities = 0;
        explicit Sizes(const Call& c) : tasks(c.n_more / Task::integers) {
            long here = 0;
            for (int k = 0; k < tasks; ++k) {
                const Task task = Task::read(c.more + k * Task::integers);
                if (k && task.level != Task::read(c.more + (k - 1) * Task::integers).level) here = 0;
                here += task.rows;
                if (here > rows) rows = here;
                if (task.kind == TaskKind::ComLimit) inequalities += task.rows;
            }
        }
    };

    static long words(const Call& c) {
        const Sizes sizes(c);
        const long n = c.model->nv;
        return World<double>::words(*c.model) + Memory::words(sizes.rows, n) + padded(sizes.rows) + 5 * padded(n) +
               Hierarchy::words(n, sizes.rows, sizes.inequalities) + padded(6 * sizes.tasks) + padded(c.model->nq) +
               lanes;
    }

    static void run(Work<double>& w) {
        Solver solver(w);
        solver.solve();
    }

    // What a level misses, squared: now, and then, after the step; and as they were for the step before.
    struct Progress {
        double now, then, before, promised;
        double unit;  // of weighted errors, as they were at the start
        bool limit;   // counts no less than the level that it precedes
    };

    struct Solver {
        Work<double>& w;
        const Model& model;
        const Sizes sizes;
        const long n;
        World<double> world;
        Hierarchy hierarchy;
        Objective level;
        double *lower, *upper;
        double* difference;  // scratch memory of the tasks
        Progress* levels;
        double* kept;         // the last configuration that was accepted
        double reach = 1;     // share of the longest step that may be trusted
        double share = 0.01;  // what a level counts beside the one above
        const double dt, by_error, rest;
        const int most;
        double* q;
        const double* guess;  // of the bounds that hold each level back
        const int n_levels;

        explicit Solver(Work<double>& work)
            : w(work),
              model(work.model),
              sizes(work.call),
              n(model.nv),
              world(World<double>::take(work)),
              dt(work.in[2][0]),
              by_error(work.in[2][1]),
              rest(work.in[2][3]),
              most(static_cast<int>(work.in[2][2])),
              q(work.out[0]),
              guess(work.in[7]),
              n_levels(1 + Task::read(work.call.more + (sizes.tasks - 1) * Task::integers).level) {
            // aligned for lanes: memory is handed out in whole blocks from here on
            Memory memory = {w.free};
            level.A = memory.matrix(sizes.rows, n);
            level.b = memory.take(sizes.rows);
            for (double** x : {&level.scale, &level.offset, &difference, &lower, &upper}) *x = memory.take(n);
            hierarchy.take(memory, n, sizes.rows, sizes.inequalities);
            levels = reinterpret_cast<Progress*>(memory.take(6 * sizes.tasks));
            kept = memory.take(model.nq);
            for (int k = 0; k < n_levels; ++k) levels[k] = {0, 0, 0, 0, 0, false};
            for (int k = 0; k < model.nq; ++k) q[k] = kept[k] = w.in[0][k];
            for (long k = 0; k < w.call.out[3].size; ++k) w.out[3][k] = 0;
        }

        // One step, or steps until at rest. On the way there each step is judged where the next one begins: the
        // straight line on which it was planned holds only for a short way, near stretched knees above all.
        void solve() {
            int iterations = 0;
            double largest = 0;
            const double longest = w.in[5][0] * dt;
            bool moved = false;
            for (int step = 1;; ++step) {
                const bool required_only = most > 1 && step > wishes * most;
                pursue(required_only);
                iterations += hierarchy.iterations();
                if (moved && !as_promised()) {
                    reach = 0.25 * largest / longest;
                    moved = false;
                    share *= 0.98;
                    for (int k = 0; k < model.nq; ++k) q[k] = kept[k];
                    if (step < most) continue;
                    w.out[4][0] = step, w.out[4][1] = iterations, w.out[4][2] = at_rest(required_only);
                    return;  // with the last step that was good
                }
                if (moved && reach < 1) reach = reach < 0.5 ? 2 * reach : 1;
                largest = report();
                accept();
                w.out[4][0] = step, w.out[4][1] = iterations, w.out[4][2] = 0;
                if (most == 1) return;
                const bool done = step >= most || largest <= rest;
                if (done || step % often == 0) {
                    w.out[4][2] = (largest <= rest && reach == 1) || at_rest(required_only);
                    if (done || w.out[4][2] != 0) return;
                }
                moved = true;
                guess = w.out[3];
            }
        }

        void pursue(bool required_only) {
            place();
            bounds();
            pursue_levels(required_only);
        }

        // Would no level gain by a tiny step from here? This tells rest, short of what is asked for, from being under
        // way.
        bool at_rest(bool required_only) {
            constexpr double tiny = 1e-5, slope = 3e-5, nothing = 1e-16;  // 1e-8 m or rad, squared
            const double before = reach;
            reach = tiny / (w.in[5][0] * dt);
            pursue(required_only);
            reach = before;
            bool still = true;
            for (int k = 0; k < n_levels; ++k)
                still &= levels[k].now - levels[k].then <= slope * tiny * __builtin_sqrt(levels[k].now) + nothing;
            return still;
        }

        // Moves on, and notes what the step promised.
        void accept() {
            for (int k = 0; k < n_levels; ++k) levels[k].before = levels[k].now, levels[k].promised = levels[k].then;
            for (int k = 0; k < model.nq; ++k) kept[k] = q[k];
            for (const Body& b : model.bodies) kinodyn::KINODYN_TARGET::step(b, q, hierarchy.x(), 1, q);
        }

        // Did the step from `kept` do a tenth of what it promised? Levels count a hundred times less than the one
        // above, and less still as steps fail: so a lower one may cost a higher one the little that curvature spoils
        // and the next step makes good, but cannot lead in circles. What a level loses to those above counts at most
        // half of what they gain.
        bool as_promised() const {
            double promised = 0, done = 0, all = 0, count = 1;
            for (int k = 0; k < n_levels; ++k) {
                const Progress& p = levels[k];
                if (k > 0 && !levels[k - 1].limit) count *= share;
                const double gain = p.before - p.promised;
                const double weight = gain < 0 && count * -gain > 0.5 * promised ? 0.5 * promised / -gain : count;
                promised += weight * gain;
                done += weight * (p.before - p.now);
                all += weight * p.before;
            }
            return promised > 1e-14 * all && done >= 0.1 * promised;
        }

        void place() {
            world.place_all(model, q);
            world.gather(model);
        }

        // How far each joint may go in this step. Where wishes contradict each other, the largest velocity comes
        // before the largest acceleration and both before the position: so there is always a way, and a joint beyond
        // its limits comes back as fast as it may.
        void bounds() {
            for (long k = 0; k < n; ++k) {
                const double longest = w.in[5][k] < endless ? reach * w.in[5][k] * dt : HUGE_VAL;
                lower[k] = -longest, upper[k] = longest;
                if (w.in[6][k] < endless) {
                    const double now = w.in[1][k] * dt, change = w.in[6][k] * dt * dt;
                    narrow(k, now - change, now + change);
                }
            }
            for (const Body& b : model.bodies) {
                if (dofs(b.kind) != 1) continue;
                const double below = q[b.iq] - w.in[3][b.iq], above = w.in[4][b.iq] - q[b.iq];
                const double braking = w.in[6][b.iv];
                narrow(b.iv, below < endless ? -safe(below, braking) : -HUGE_VAL,
                       above < endless ? safe(above, braking) : HUGE_VAL);
            }
        }
        void narrow(long k, double low, double high) {
            const double a = lower[k], b = upper[k];
            lower[k] = low < a ? a : low > b ? b : low;
            upper[k] = high > b ? b : high < a ? a : high;
        }
        // The longest step towards a limit at distance `room` after which one can still stop before it, braking by
        // `braking` in each step: speeds v with (v + braking dt / 2)^2 <= 2 braking room, or that end in one step.
        double safe(double room, double braking) const {
            if (!(braking < endless) || room <= braking * dt * dt) return room;
            const double speed = __builtin_sqrt(2 * braking * room) - 0.5 * braking * dt;
            return dt * (speed > braking * dt ? speed : braking * dt);
        }

        void pursue_levels(bool required_only) {
            hierarchy.start(lower, upper);
            const V com = centre(model, world) + world.origin;
            const Rows rows(model, world, com, q, dt, most > 1);
            for (int k = 0; k < sizes.tasks;) {
                const Task first = task(k);
                open_level();
                double far = 0;
                bool required = false;
                for (; k < sizes.tasks && task(k).level == first.level; ++k) {
                    const long before = level.rows;
                    required |= task(k).required != 0;
                    double* error = w.out[2] + 2 * k;
                    rows.append(task(k), w.in[first_task + 2 * k], w.in[first_task + 2 * k + 1], level, error,
                                difference);
                    for (long i = before; i < level.rows; ++i) far += level.b[i] * level.b[i];
                }
                Progress& progress = levels[first.level];
                progress.now = progress.then = 0;
                if (required_only && !required) continue;
                const bool limit = progress.limit = first.kind == TaskKind::ComLimit;
                if (most > 1) {
                    if (progress.unit == 0) progress.unit = 1 / (max_squared_row_norm(level, n) + 1e-300);
                    progress.now = size_of(progress.unit * squared_residual(level, nullptr, n, limit));
                }
                const long row = n * (first.level + 1);
                if (limit)
                    hierarchy.add_inequalities(level.A, level.b, level.rows);
                else
                    hierarchy.minimise(level, by_error, far, k == sizes.tasks, guess + row, w.out[3] + row);
                if (most > 1) progress.then = size_of(progress.unit * squared_residual(level, hierarchy.x(), n, limit));
            }
        }

        // The square of an error, growing no more than in proportion beyond 1 m or rad: what is far off must not
        // outweigh all the rest.
        static double size_of(double square) { return square < 1 ? square : 2 * __builtin_sqrt(square) - 1; }

        Task task(int k) const { return Task::read(w.call.more + k * Task::integers); }
        void open_level() {
            level.rows = 0, level.diagonal = false;
            for (long i = 0; i < n; ++i) level.scale[i] = level.offset[i] = 0;
        }

        // Tells what the step does; returns its largest motion.
        double report() {
            const double* x = hierarchy.x();
            constexpr double on_bound = 1e-11;  // rad or m
            double largest = 0;
            for (long k = 0; k < n; ++k) {
                w.out[1][k] = x[k] / dt;
                w.out[3][k] = x[k] <= lower[k] + on_bound ? 1 : x[k] >= upper[k] - on_bound ? -1 : 0;
                if (fabs(x[k]) > largest) largest = fabs(x[k]);
            }
            return largest;
        }
    };
};

void whole_body(const Call& c, long begin, long end, Fault& f) { run_each<WholeBody>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
