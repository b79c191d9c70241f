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
#include "algorithms.hpp"
#include "tasks.hpp"

namespace kinodyn::KINODYN_TARGET {

struct WholeBody {
    static constexpr bool sparse = false;
    static constexpr int first_task = 8;
    static constexpr double endless = 1e29;
    static constexpr double wishes = 0.6;  // share of the steps after which wishes must wait

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
               Hierarchy::words(n, sizes.rows, sizes.inequalities) + padded(4 * sizes.tasks) + padded(c.model->nq) +
               lanes;
    }

    static void run(Work<double>& w) {
        Solver solver(w);
        solver.solve();
    }

    // Squares of what a level misses: now, and then, after the step; and as they were for the step before.
    struct Progress {
        double now, then, before, promised;
    };

    struct Solver {
        Work<double>& w;
        const Model& model;
        const Sizes sizes;
        const long n;
        World<double> world;
        Hierarchy hierarchy;
        Level level;
        double *lower, *upper;
        Progress* levels;
        double* kept;      // the last configuration that was accepted
        double reach = 1;  // share of the longest step that may be trusted
        int n_levels = 0;
        const double dt, by_error, rest;
        const int most;
        double* q;
        const double* guess;  // of the bounds that hold each level back

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
              guess(work.in[7]) {
            // aligned for lanes: memory is handed out in whole blocks from here on
            Memory memory = {w.free};
            level.A = memory.matrix(sizes.rows, n);
            level.b = memory.take(sizes.rows);
            for (double** x : {&level.scale, &level.offset, &level.way, &lower, &upper}) *x = memory.take(n);
            hierarchy.take(memory, n, sizes.rows, sizes.inequalities);
            levels = reinterpret_cast<Progress*>(memory.take(4 * sizes.tasks));
            kept = memory.take(model.nq);
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
                place();
                bounds();
                pursue_levels(most > 1 && step > wishes * most);
                iterations += hierarchy.iterations();
                if (moved && !as_promised() && step < most) {
                    reach = 0.25 * largest / longest;
                    moved = false;
                    for (int k = 0; k < model.nq; ++k) q[k] = kept[k];
                    continue;
                }
                if (moved && reach < 1) reach = reach < 0.5 ? 2 * reach : 1;
                largest = report();
                const bool calm = largest <= rest;
                w.out[4][0] = step, w.out[4][1] = iterations, w.out[4][2] = calm;
                accept();
                if (step >= most || calm) return;
                moved = true;
                guess = w.out[3];
            }
        }

        // Moves on, and notes what the step promised.
        void accept() {
            for (int k = 0; k < n_levels; ++k) levels[k].before = levels[k].now, levels[k].promised = levels[k].then;
            for (int k = 0; k < model.nq; ++k) kept[k] = q[k];
            for (const Body& b : model.bodies) kinodyn::KINODYN_TARGET::step(b, q, hierarchy.x(), 1, q);
        }

        // Did the step from `kept` do a tenth of what it promised? Levels count a hundred times less than the one
        // above: so a lower one may cost a higher one the little that curvature spoils and the next step makes good,
        // but cannot lead in circles. What a level loses to those above counts at most half of what they gain.
        bool as_promised() const {
            double promised = 0, done = 0, all = 0, share = 1;
            for (int k = 0; k < n_levels; ++k, share *= 0.01) {
                const Progress& p = levels[k];
                const double gain = p.before - p.promised;
                const double weight = gain < 0 && share * -gain > 0.5 * promised ? 0.5 * promised / -gain : share;
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
            n_levels = 0;
            for (int k = 0; k < sizes.tasks;) {
                const Task first = task(k);
                open_level();
                double far = 0;
                bool required = false;
                for (; k < sizes.tasks && task(k).level == first.level; ++k) {
                    const long before = level.rows;
                    required |= task(k).required != 0;
                    double* error = w.out[2] + 2 * k;
                    rows.append(task(k), w.in[first_task + 2 * k], w.in[first_task + 2 * k + 1], level, error);
                    for (long i = before; i < level.rows; ++i) far += level.b[i] * level.b[i];
                }
                if (required_only && !required) continue;
                Progress& progress = levels[n_levels];
                ++n_levels;
                const bool limit = first.kind == TaskKind::ComLimit;
                if (most > 1) progress.now = hierarchy.missing(level, limit, false);
                if (limit)
                    hierarchy.bound(level.A, level.b, level.rows);
                else
                    hierarchy.pursue(level, by_error * far, k == sizes.tasks, guess + n * n_levels,
                                     w.out[3] + n * n_levels);
                if (most > 1) progress.then = hierarchy.missing(level, limit, true);
            }
        }
        Task task(int k) const { return Task::read(w.call.more + k * Task::integers); }
        void open_level() {
            level.rows = 0;
            for (long i = 0; i < n; ++i) level.scale[i] = level.offset[i] = 0;
        }

        // Tells what the step does; returns its largest motion.
        double report() {
            const double* x = hierarchy.x();
            double largest = 0;
            for (long k = 0; k < n; ++k) {
                w.out[1][k] = x[k] / dt;
                w.out[3][k] = x[k] <= lower[k] ? 1 : x[k] >= upper[k] ? -1 : 0;
                if (fabs(x[k]) > largest) largest = fabs(x[k]);
            }
            return largest;
        }
    };
};

void whole_body(const Call& c, long begin, long end, Fault& f) { run_each<WholeBody>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
