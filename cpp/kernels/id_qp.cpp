// Inverse dynamics as a quadratic programme: the accelerations and contact forces that serve tasks best, within what
// contacts, motors and joints can do, and the torques that bring them about. One state at a time.
//
// Variables    x = (a, f): accelerations (nv) and forces along the directions that supports keep, f in units of
//              some weights of the robot; torques follow, tau = M a + h - J^T f
// Objective    sum of |W (A a - b)|^2 over tasks, and little weights on a and on f - (wished f); in one level, or in
//              strict order of levels
// Constraints  tau = 0 where nothing drives; J a as contacts need it; tau within limits; f in cones, its normal part
//              between a least and a largest; a such that position and velocity limits stay reachable
//
// If they contradict each other, forces and torques are kept, then bounds on a are exceeded as little as can be, then
// contacts move as little as can be.
//
// Inputs: 0 q, 1 v, 2 settings (dt, weight of a, weight of f), 3 lower and 4 upper limits (nq), 5 largest velocity,
// 6 largest acceleration, 7 braking and 8 largest torque (nv), 9 numbers of tasks, 10 numbers of supports, 11 what held
// the step before, like output 3. Limits of 1e29 and more are none. call.more: tasks, supports, levels, constraints,
// then the integers of each task and of each support.
//
// Outputs: 0 a, 1 forces, 2 tau, 3 constraints that hold each level back, and those that held bounds and contacts back
// where these had to give way (levels + 2, constraints): 1 at their lower, -1 at their upper bounds, 4 what each task
// misses of the acceleration that it asks for, 5 what each constraint is beyond its limit, 6 what each row of the
// supports moves beyond what it should, 7 iterations, 1 if something gave way, 1 if something could not be met.
#include "kernels/algorithms.hpp"
#include "limits/control_limits.hpp"
#include "solver/stack.hpp"

namespace kinodyn::KINODYN_TARGET {

struct InverseDynamics {
    static constexpr bool sparse = false;
    static constexpr double endless = 1e29;
    static constexpr double large = 30;  // forces are counted in so many weights: small numbers, cheap beside motion

    struct Sizes {
        int tasks, supports, levels;
        long constraints, nv, rows = 0, forces = 0, n;
        const int *first_task, *first_support;
        explicit Sizes(const Call& c)
            : tasks(c.more[0]), supports(c.more[1]), levels(c.more[2]), constraints(c.more[3]), nv(c.model->nv) {
            first_task = c.more + 4, first_support = first_task + tasks * ControlTask::integers;
            for (int k = 0; k < tasks; ++k)
                if (task(k).kind != TaskKind::Posture) rows += task(k).rows;
            for (int k = 0; k < supports; ++k) forces += support(k).rows();
            n = nv + forces;
        }
        ControlTask task(int k) const { return ControlTask::read(first_task + k * ControlTask::integers); }
        Support support(int k) const { return Support::read(first_support + k * Support::integers); }
        long largest_level() const { return rows > forces + 6 ? rows : forces + 6; }
    };

    static long words(const Call& c) {
        const Sizes s(c);
        const long bodies = static_cast<long>(c.model->bodies.size());
        return World<double>::words(*c.model) + 18 * bodies + s.nv * s.nv + s.nv + lanes + Memory::words(s.rows, s.n) +
               Memory::words(s.forces, s.n) + Memory::words(s.nv, s.n) + padded(s.rows) + 3 * padded(s.forces) +
               padded(s.nv) + 2 * padded(s.levels * padded(s.n)) + 2 * padded(s.n) +
               ControlLimits::words(s.nv, s.n, s.constraints) + padded(ControlLimits::Cone::words * s.supports) +
               padded(s.levels * objective_words) +
               Stack<ControlLimits>::words(s.n, s.largest_level(), s.constraints, s.nv);
    }
    static constexpr long objective_words = (sizeof(Objective) + sizeof(double) - 1) / sizeof(double);

    static void run(Work<double>& w) {
        Solver solver(w);
        solver.solve();
    }

    struct Solver {
        Work<double>& w;
        const Model& model;
        const Sizes sizes;
        const long nv;
        World<double> world;
        Motion<double> motion;
        Spatial<double>* force;  // on each body at zero acceleration
        Whole whole;
        double *M, *h;
        Matrix A, J, base;  // rows of tasks; of supports; of what nothing drives
        double *b, *wanted, *scale, *f, *base_wanted, *difference, *scales, *offsets;
        int* columns;           // of J that are not zero
        Objective* objectives;  // one for each level
        ControlLimits limits;
        ControlLimits::Cone* cones;
        Stack<ControlLimits> stack;
        long n = 0, m = 0, n_base = 0, n_columns = 0, n_cones = 0;
        double unit = 1;  // of forces
        bool gave_way = false, unmet = false;

        explicit Solver(Work<double>& work)
            : w(work), model(work.model), sizes(work.call), nv(model.nv), world(World<double>::take(work)) {
            const long bodies = static_cast<long>(model.bodies.size());
            motion = {w.take_as<Spatial<double>>(bodies), w.take_as<Spatial<double>>(bodies)};
            force = w.take_as<Spatial<double>>(bodies);
            M = w.take(nv * nv), h = w.take(nv);
            Memory memory = {w.free};
            A = memory.matrix(sizes.rows, sizes.n);
            J = memory.matrix(sizes.forces, sizes.n);
            base = memory.matrix(nv, sizes.n);
            b = memory.take(sizes.rows);
            for (double** x : {&wanted, &scale, &f}) *x = memory.take(sizes.forces);
            base_wanted = memory.take(nv);
            for (double** x : {&scales, &offsets}) *x = memory.take(sizes.levels * padded(sizes.n));
            difference = memory.take(sizes.n);
            columns = reinterpret_cast<int*>(memory.take(sizes.n));
            limits.take(memory, nv, sizes.n, sizes.constraints);
            cones = reinterpret_cast<ControlLimits::Cone*>(memory.take(ControlLimits::Cone::words * sizes.supports));
            objectives = reinterpret_cast<Objective*>(memory.take(sizes.levels * objective_words));
            stack.take(memory, sizes.n, sizes.largest_level(), sizes.constraints, nv);
        }

        void solve() {
            move();
            const AccelerationRows rows(model, world, motion, whole, w.in[0], w.in[1]);
            hold(rows);
            drive();
            bound();
            ask(rows);
            if (!all_at_once()) step_by_step();
            report(rows);
        }

        // Motion of all bodies, mass matrix and bias in one pass.
        void move() {
            const double *g = model.gravity, *v = w.in[1];
            const V zero = {0, 0, 0};
            const int bodies = static_cast<int>(model.bodies.size());
            world.place_all(model, w.in[0]);
            Spatial<double> momentum = {zero, zero}, sum = {zero, zero};
            for (int i = 0; i < bodies; ++i) {
                move_body<double>(model, world, i, v, nullptr, {zero, zero}, motion.v, motion.bias);
                const Spatial<double> own = world.I[i] * motion.v[i];
                const Spatial<double> a = {motion.bias[i].lin - vec(g), motion.bias[i].ang};
                force[i] = world.I[i] * a + cross_force(motion.v[i], own);
                momentum += own;
            }
            for (long k = 0; k < nv; ++k) h[k] = model.damping[k] * v[k];
            for (int i = bodies - 1; i >= 0; --i) {
                const Body& body = model.bodies[i];
                for (int c = body.column; c < body.column + dofs(body.kind); ++c)
                    h[model.column_iv[c]] += dot(world.S[c], force[i]);
                (body.parent >= 0 ? force[body.parent] : sum) += force[i];
            }
            for (long k = 0; k < nv * nv; ++k) M[k] = 0;
            world.mass_matrix(model, M);  // gathers the inertias of subtrees
            whole.com = centre(model, world);
            whole.momentum = {momentum.lin, momentum.ang - cross(whole.com, momentum.lin)};
            whole.rate = {sum.lin + model.total_mass * vec(g), sum.ang - cross(whole.com, sum.lin)};
        }

        SupportNumbers numbers_of(const Support& s) const { return {w.in[10] + s.place}; }

        // Rows of the supports that are active, and their cones.
        void hold(const AccelerationRows& rows) {
            unit = large * model.total_mass * 9.81;
            m = n_cones = 0;
            long constraint = 2 * nv;
            for (int k = 0; k < sizes.supports; ++k) {
                const Support s = sizes.support(k);
                const SupportNumbers x = numbers_of(s);
                if (s.active) {
                    const SupportAt at(s, x, rows);
                    at.write(J, wanted, m);
                    at.wished(f + m);
                    for (int d = 0, i = 0; d < 6; ++d)
                        if (s.mask >> d & 1) scale[m + i++] = d < 3 ? unit : unit * x.length();
                    if (s.touches) cones[n_cones++] = {nv + m, constraint, s.cone, s.rows(), x.cone()};
                    m += s.rows();
                }
                constraint += s.constraints();
            }
            n = nv + m;
            n_columns = 0;
            for (int j = 0; j < nv; ++j) {
                bool used = false;
                for (long i = 0; i < m; ++i) used |= J[i][j] != 0;
                if (used) columns[n_columns++] = j;
            }
        }

        // Torques as functions of x, and those that must be zero.
        void drive() {
            const double shrink = 1 / model.total_mass;
            n_base = 0;
            for (long i = 0; i < nv; ++i) {
                double* row = limits.torque[i];
                clear_row(row, limits.torque.stride);
                memcpy(row, M + i * nv, sizeof(double) * static_cast<std::size_t>(nv));
                for (long k = 0; k < m; ++k) row[nv + k] = -scale[k] * J[k][i];
            }
            limits.h = h;
            for (const Body& body : model.bodies) {
                if (body.kind != Kind::Free) continue;
                for (int k = body.iv; k < body.iv + 6; ++k) {
                    for (long j = 0; j < base.stride; j += lanes)
                        store(base[n_base] + j, shrink * load(limits.torque[k] + j));
                    base_wanted[n_base++] = -shrink * h[k];
                }
            }
        }

        void bound() {
            limits.begin(n, cones, n_cones, w.in[8], endless);
            const double dt = w.in[2][0], *v = w.in[1];
            for (long k = 0; k < nv; ++k) {
                Bounds bounds = {-HUGE_VAL, HUGE_VAL};
                const double most = w.in[6][k] < endless ? w.in[6][k] : HUGE_VAL, fastest = w.in[5][k];
                bounds.narrow(-most, most);
                if (fastest < endless) {
                    // braking counts as the largest change only where a joint is too fast already
                    const double brake = w.in[7][k], low = (-fastest - v[k]) / dt, high = (fastest - v[k]) / dt;
                    bounds.narrow(low < brake ? low : brake, high > -brake ? high : -brake);
                }
                limits.bound_acceleration(k, bounds);
            }
            for (const Body& body : model.bodies) {
                if (body.kind == Kind::Free)
                    for (int k = body.iv; k < body.iv + 6; ++k) limits.no_torque_limit(k);
                if (dofs(body.kind) == 1) bound_position(body, dt);
            }
            for (int k = 0, c = 0; k < sizes.supports; ++k) {
                const Support s = sizes.support(k);
                const SupportNumbers x = numbers_of(s);
                if (s.active && s.touches) limits.bound_force(cones[c++], x.minimum() / unit, x.maximum() / unit);
            }
            limits.with_accelerations(true);
        }
        void bound_position(const Body& body, double dt) {
            const double q = w.in[0][body.iq], v = w.in[1][body.iv], brake = w.in[7][body.iv];
            const double below = q - w.in[3][body.iq], above = w.in[4][body.iq] - q;
            Bounds bounds = limits.bounds_of(body.iv);
            bounds.narrow(below < endless ? -viable(below, -v, brake, dt) : -HUGE_VAL,
                          above < endless ? viable(above, v, brake, dt) : HUGE_VAL);
            limits.bound_acceleration(body.iv, bounds);
        }

        // What the levels ask for. The last one also asks for small accelerations and for the wished forces.
        void ask(const AccelerationRows& rows) {
            long row = 0, told = 0;
            for (int k = 0, level = 0; level < sizes.levels; ++level) {
                Objective& objective = objectives[level];
                const long place = level * padded(sizes.n);
                objective = {{A[row], A.rows, A.columns, A.stride}, b + row, 0, scales + place, offsets + place, false};
                clear_row(objective.scale, padded(sizes.n));
                clear_row(objective.offset, padded(sizes.n));
                for (; k < sizes.tasks && sizes.task(k).level == level; ++k) {
                    const ControlTask task = sizes.task(k);
                    double* out = w.out[4] + told;
                    for (int i = 0; i < task.rows; ++i) out[i] = 0;
                    told += task.rows;
                    if (task.active) rows.append(task, Reference(task, model, w.in[9]), objective, out, difference);
                }
                row += objective.rows;
            }
            Objective& last = objectives[sizes.levels - 1];
            last.diagonal = true;
            const double weight = w.in[2][1];
            for (long k = 0; k < nv; ++k) {
                const double before = last.scale[k], both = __builtin_sqrt(before * before + weight * weight);
                last.offset[k] *= before / both, last.scale[k] = both;
            }
            long i = 0;
            for (int k = 0; k < sizes.supports; ++k) {
                const Support s = sizes.support(k);
                for (int j = 0; s.active && j < s.rows(); ++j, ++i) {
                    last.scale[nv + i] = large * w.in[2][2] * numbers_of(s).weight();
                    last.offset[nv + i] = last.scale[nv + i] * f[i] / scale[i];
                }
            }
        }

        double damping() const { return w.in[2][1] * w.in[2][1]; }

        // As it almost always goes: contacts hold, and there is room within the limits.
        bool all_at_once() {
            constexpr double rank_tolerance = 1e-4;
            stack.start(n, J, wanted, m, columns, n_columns, rank_tolerance);
            stack.add_equalities(base, base_wanted, n_base, 1e-12);
            for (long i = 0; i < w.call.out[3].size; ++i) w.out[3][i] = 0;
            return levels(false);
        }
        bool levels(bool best_effort) {
            bool met = true;
            for (int k = 0; k < sizes.levels && (met || best_effort); ++k) {
                const long place = k * limits.count;
                // once there is an answer to the first level, there is one to all
                met &= stack.minimise(objectives[k], damping(), k + 1 == sizes.levels, limits, w.in[11] + place,
                                      w.out[3] + place, best_effort || k > 0) ||
                       k > 0;
            }
            return met;
        }

        // Limits that contradict each other: forces and torques always have an answer, then joints exceed the bounds
        // of their accelerations as little as can be, then contacts come as near as they can. So a foot is let go of
        // rather than a joint rammed into its end.
        void step_by_step() {
            gave_way = true;
            const long first = sizes.levels * limits.count, second = first + limits.count;
            stack.start(n, base, base_wanted, 0, columns, 0, 0);
            stack.add_equalities(base, base_wanted, n_base, 1e-12);
            stack.relax(limits, w.in[11] + first, w.out[3] + first);
            const Objective contacts = {J, wanted, m, nullptr, nullptr, false};
            stack.minimise(contacts, damping(), false, limits, w.in[11] + second, w.out[3] + second, true);
            limits.widen();
            unmet = !levels(true);
        }

        void report(const AccelerationRows& rows) {
            const double* x = stack.x();
            for (long k = 0; k < nv; ++k) w.out[0][k] = x[k];
            torques(x);
            forces(rows, x);
            limits.excess(x, unit, w.out[5]);
            missing(x);
            w.out[7][0] = stack.iterations(), w.out[7][1] = gave_way, w.out[7][2] = unmet;
        }
        void torques(const double* x) {
            double* tau = w.out[2];
            for (long k = 0; k < nv; ++k) {
                tau[k] = dot(limits.torque[k], x, 0, padded(n)) + h[k];
                const double most = w.in[8][k];
                if (most < endless) tau[k] = tau[k] > most ? most : tau[k] < -most ? -most : tau[k];
            }
            for (const Body& body : model.bodies)
                for (int k = 0; body.kind == Kind::Free && k < 6; ++k) tau[body.iv + k] = 0;
        }
        // In newtons, and what the rows move beyond what they should.
        void forces(const AccelerationRows& rows, const double* x) {
            long i = 0, told = 0;
            for (int k = 0; k < sizes.supports; ++k) {
                const Support s = sizes.support(k);
                const int count = s.rows();
                for (int j = 0; j < count; ++j) w.out[1][told + j] = w.out[6][told + j] = 0;
                if (s.active) {
                    double own[6];
                    for (int j = 0; j < count; ++j) {
                        own[j] = scale[i + j] * x[nv + i + j];
                        w.out[6][told + j] = dot(J[i + j], x, 0, padded(nv)) - wanted[i + j];
                    }
                    SupportAt(s, numbers_of(s), rows).tell(own, w.out[1] + told);
                    i += count;
                }
                told += count;
            }
        }
        // What tasks miss: out[4] holds what they want of J a.
        void missing(const double* x) {
            const double* row = A.data;
            double* out = w.out[4];
            for (int k = 0; k < sizes.tasks; ++k) {
                const ControlTask task = sizes.task(k);
                const Reference r(task, model, w.in[9]);
                for (int i = 0; i < task.rows; ++i, ++out) {
                    const double weight = r.weight[task.kind == TaskKind::Gaze ? 0 : i];
                    const bool third = task.kind == TaskKind::Gaze && i == 2;
                    if (!task.active || weight == 0 || third) {
                        *out = 0;
                    } else if (task.kind == TaskKind::Posture) {
                        *out -= x[i];
                    } else {
                        *out -= dot(row, x, 0, padded(nv)) / weight;
                        row += A.stride;
                    }
                }
            }
        }
    };
};

void id_qp(const Call& c, long begin, long end, Fault& f) { run_each<InverseDynamics>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
