// Inverse dynamics as a quadratic program: the accelerations and contact forces that best achieve the tasks within
// the limits of contacts, motors and joints, and the corresponding torques. One state at a time.
//
// Variables    x = (a, f): accelerations (nv) and forces along the constrained directions of contacts, f in units of
//              several robot weights; torques follow, tau = M a + h - J^T f
// Objective    sum of |W (J a - desired)|^2 over tasks, and small weights on a and on f - (desired f); in one level, or
//              in strict order of levels. desired = d2e/dt2 at zero a + damping de/dt + stiffness e, with signs such
//              that J a = desired makes the error e an oscillator with that stiffness and damping
// Constraints  tau = 0 without a motor; J a as required by contacts; tau within limits; f in cones, its normal part
//              between a minimum and a maximum; a such that position and velocity limits stay reachable; J a <= h of
//              limits with rows, h from their viable bound
//
// If constraints are infeasible, forces and torques stay within limits, bounds on a are violated as little as possible,
// and then contacts are violated as little as possible.
//
// Inputs: q, v, IdQpSettings, JointBounds, blocks of all tasks and of all contacts, active constraints of the previous
// tick.
//
// Outputs: a, forces, tau, constraints that are active in each level, and those that were active while bounds and
// contacts were relaxed (levels + 2, constraints): 1 at their lower, -1 at their upper bounds; the residual of each
// task's desired acceleration, the violation of each constraint, the violation of the contacts' desired
// accelerations; for each joint the limit (JointLimit) behind the bound nearest to its acceleration; IdQpInfo.
#include "kernels/id_qp.hpp"

#include "kernels/id_qp_contacts.hpp"
#include "limits/control_limits.hpp"
#include "limits/joint_accelerations.hpp"
#include "solver/hierarchy.hpp"
#include "tasks/weighted_rows.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace io = id_qp_io;

struct InverseDynamicsQP {
    static constexpr bool sparse = false;

    static const IdQpPlan& plan_of(const Call& c) { return c.as<IdQpPlan>(); }

    struct Sizes {
        long nv, rows = 0, limit_rows = 0, largest_task = 0, forces = 0, constraints, n;
        Sizes(const IdQpPlan& plan, const Model& model) : nv(model.nv) {
            for (int k = 0; k < plan.n_tasks; ++k) {
                (plan.tasks[k].inequality ? limit_rows : rows) += plan.tasks[k].rows;
                if (plan.tasks[k].rows > largest_task) largest_task = plan.tasks[k].rows;
            }
            constraints = 2 * nv + limit_rows;
            for (int k = 0; k < plan.n_contacts; ++k) {
                forces += plan.contacts[k].directions;
                if (plan.contacts[k].touches) constraints += plan.contacts[k].cone_rows + 1;
            }
            n = nv + forces;
        }
        long largest_level() const { return rows > forces + 6 ? rows : forces + 6; }
    };

    static long words(const Call& c) {
        const IdQpPlan& plan = plan_of(c);
        const Sizes s(plan, *c.model);
        const long bodies = static_cast<long>(c.model->bodies.size());
        return World<double>::words(*c.model) + 18 * bodies + s.nv * s.nv + s.nv + lanes + Memory::words(s.rows, s.n) +
               ContactSet::words(plan.n_contacts, s.forces, s.n) + Memory::words(s.nv, s.n) + padded(s.rows) +
               padded(s.nv) + JointAccelerations::words(s.nv) + 2 * padded(plan.levels * padded(s.n)) +
               4 * padded(s.largest_task) + ControlLimits::words(s.nv, s.n, s.limit_rows, s.constraints) +
               padded(plan.levels * objective_words) +
               Hierarchy<ControlLimits>::words(s.n, s.largest_level(), s.constraints, s.nv + s.limit_rows);
    }
    static constexpr long objective_words = (sizeof(Objective) + sizeof(double) - 1) / sizeof(double);

    static void run(Work<double>& w) {
        Solver solver(w);
        solver.solve();
    }

    struct Solver {
        Work<double>& w;
        const Model& model;
        const IdQpPlan& plan;
        const Sizes sizes;
        const long nv;
        const IdQpSettings& settings;
        const JointBounds joints;
        const double *q, *v;
        World<double> world;
        Motion<double> motion;
        Spatial<double>* force;  // on each body at zero acceleration
        double *M, *h;
        Matrix A, base;  // rows of tasks; rows of unactuated joints
        double *b, *base_desired, *scales, *offsets;
        double *error, *rate, *bias, *task_desired;  // of one task
        Objective* objectives;                       // one for each level
        ContactSet contacts;
        JointAccelerations accelerations;
        ControlLimits limits;
        Hierarchy<ControlLimits> hierarchy;
        long n = 0, n_base = 0;
        bool relaxed = false, unmet = false;

        explicit Solver(Work<double>& work)
            : w(work),
              model(work.model),
              plan(plan_of(work.call)),
              sizes(plan, work.model),
              nv(model.nv),
              settings(*reinterpret_cast<const IdQpSettings*>(work.in[io::Settings])),
              joints(view_block<JointBounds>(work.in[io::Bounds], {model.nq, model.nv})),
              q(work.in[io::Configuration]),
              v(work.in[io::Velocity]),
              world(World<double>::take(work)) {
            const long bodies = static_cast<long>(model.bodies.size());
            motion = {w.take_as<Spatial<double>>(bodies), w.take_as<Spatial<double>>(bodies)};
            force = w.take_as<Spatial<double>>(bodies);
            M = w.take(nv * nv), h = w.take(nv);
            Memory memory = {w.free};
            A = memory.matrix(sizes.rows, sizes.n);
            contacts.take(memory, plan.n_contacts, sizes.forces, sizes.n);
            base = memory.matrix(nv, sizes.n);
            b = memory.take(sizes.rows);
            base_desired = memory.take(nv);
            for (double** x : {&scales, &offsets}) *x = memory.take(plan.levels * padded(sizes.n));
            for (double** x : {&error, &rate, &bias, &task_desired}) *x = memory.take(sizes.largest_task);
            accelerations.take(memory, nv);
            limits.take(memory, nv, sizes.n, sizes.limit_rows, sizes.constraints);
            objectives = reinterpret_cast<Objective*>(memory.take(plan.levels * objective_words));
            hierarchy.take(memory, sizes.n, sizes.largest_level(), sizes.constraints, nv + sizes.limit_rows);
        }

        void solve() {
            const RobotState state = move();
            contacts.place(plan, w.in[io::Contacts], state, 2 * nv + sizes.limit_rows);
            n = nv + contacts.rows;
            relate_torques();
            bound(state);
            add_tasks(state);
            if (!solve_all_at_once()) solve_relaxed();
            report(state);
        }

        // Motion of all bodies, mass matrix and bias in one pass.
        RobotState move() {
            const V gravity = vec(model.gravity);
            Spatial<double> momentum, sum = {{0, 0, 0}, {0, 0, 0}};
            world.place_all(model, q);
            move_bodies(model, world, v, gravity, motion, force, momentum);
            for (long k = 0; k < nv; ++k) h[k] = model.damping[k] * v[k];
            for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
                const Body& body = model.bodies[i];
                for (int c = body.column; c < body.column + dofs(body.kind); ++c)
                    h[model.column_iv[c]] += dot(world.S[c], force[i]);
                (body.parent >= 0 ? force[body.parent] : sum) += force[i];
            }
            for (long k = 0; k < nv * nv; ++k) M[k] = 0;
            world.mass_matrix(model, M);  // gathers the inertias of subtrees
            RobotState state(model, world, q, v);
            const V com = state.com - world.origin;
            state.motion = &motion, state.brakes = true;
            state.momentum = about(com, momentum);
            state.momentum_rate = about(com, sum);
            state.momentum_rate.lin += model.total_mass * gravity;
            return state;
        }

        // Torques as functions of x, and those that must be zero.
        void relate_torques() {
            const double shrink = 1 / model.total_mass;
            n_base = 0;
            for (long i = 0; i < nv; ++i) {
                double* row = limits.torque[i];
                clear_row(row, limits.torque.stride);
                memcpy(row, M + i * nv, sizeof(double) * static_cast<std::size_t>(nv));
                for (long k = 0; k < contacts.rows; ++k) row[nv + k] = -contacts.scale[k] * contacts.J[k][i];
            }
            limits.h = h;
            for (const Body& body : model.bodies) {
                if (body.kind != Kind::Free) continue;
                for (int k = body.iv; k < body.iv + 6; ++k) {
                    for (long j = 0; j < base.stride; j += lanes)
                        store(base[n_base] + j, shrink * load(limits.torque[k] + j));
                    base_desired[n_base++] = -shrink * h[k];
                }
            }
        }

        void bound(const RobotState& state) {
            limits.begin(n, contacts.cones, contacts.n_cones, joints.effort);
            accelerations.compute(model, joints, q, v, M, settings.dt);
            for (long k = 0; k < nv; ++k) limits.bound_acceleration(k, accelerations.bounds(k));
            for (const Body& body : model.bodies)
                for (int k = 0; body.kind == Kind::Free && k < 6; ++k) limits.no_torque_limit(body.iv + k);
            limits.limits.rows = 0;
            for (int k = 0; k < plan.n_tasks; ++k)
                if (plan.tasks[k].inequality) bound_rows(state, plan.tasks[k]);
            contacts.bound(limits);
            limits.apply();
        }
        // The margin e of a limit must not decrease faster than it can be stopped: -d2e/dt2 = J a - bias <= viable.
        void bound_rows(const RobotState& state, const TaskEntry& entry) {
            Registry::visit(state, entry, w.in[io::Tasks], [&](const auto& limit, const auto& fields) {
                const int rows = rows_of<std::decay_t<decltype(limit)>>(entry, model);
                if (fields.switches->enabled == 0) {
                    for (int k = 0; k < rows; ++k) open_row(limits.limits, HUGE_VAL);
                    return;
                }
                measure(limit);
                const Braking braking = {fields.switches->braking, fields.switches->braking};
                for (int k = 0; k < rows; ++k) bias[k] += viable(error[k], -rate[k], braking, settings.dt);
                add_inequalities(limit, rows, bias, limits.limits);
            });
        }

        // Error of a task, its rate, and its second derivative at accelerations of zero.
        template <class Task>
        void measure(const Task& task) {
            task.error(error);
            if constexpr (Task::rows < 0)
                task.motion(error, rate, bias);
            else
                task.motion(rate, bias);
        }

        // Objectives of the levels. The last one also regularises accelerations and tracks the desired forces.
        void add_tasks(const RobotState& state) {
            long row = 0;
            double* out = w.out[io::TaskResiduals];
            for (int k = 0, level = 0; level < plan.levels; ++level) {
                Objective& objective = objectives[level];
                const long place = level * padded(sizes.n);
                objective = {{A[row], A.rows, A.columns, A.stride}, b + row, 0, scales + place, offsets + place, false};
                clear_row(objective.scale, padded(sizes.n));
                clear_row(objective.offset, padded(sizes.n));
                for (; k < plan.n_tasks && plan.tasks[k].level == level && !plan.tasks[k].inequality; ++k) {
                    add_task(state, plan.tasks[k], objective, out);
                    out += plan.tasks[k].rows;
                }
                row += objective.rows;
            }
            regularise(objectives[plan.levels - 1]);
        }
        // `out` takes the desired J a, without weights.
        void add_task(const RobotState& state, const TaskEntry& entry, Objective& objective, double* out) {
            Registry::visit(state, entry, w.in[io::Tasks], [&](const auto& task, const auto& fields) {
                using Task = std::decay_t<decltype(task)>;
                const int rows = rows_of<Task>(entry, model);
                if (fields.switches->enabled == 0) {
                    for (int k = 0; k < rows; ++k) out[k] = 0;
                    return;
                }
                measure(task);
                for (int k = 0; k < rows; ++k) {
                    const double stiffness = is_of_motion<Task> ? 0 : fields.stiffness[k];
                    out[k] = bias[k] + fields.damping[k] * rate[k] + stiffness * error[k];
                }
                add_rows(task, rows, fields.weights, out, error, objective);
            });
        }
        void regularise(Objective& last) {
            const double weight = settings.acceleration_weight;
            last.diagonal = true;
            for (long k = 0; k < nv; ++k) {
                const double before = last.scale[k], both = __builtin_sqrt(before * before + weight * weight);
                last.offset[k] *= before / both, last.scale[k] = both;
            }
            contacts.regularise(last, nv, settings.force_weight);
        }

        double damping() const { return settings.acceleration_weight * settings.acceleration_weight; }

        // The common case: contacts and limits are feasible.
        bool solve_all_at_once() {
            constexpr double rank_tolerance = 1e-4;
            hierarchy.start(n);
            hierarchy.add_equalities(contacts.J, contacts.desired, contacts.rows, rank_tolerance);
            hierarchy.add_equalities(base, base_desired, n_base, 1e-12);
            for (long i = 0; i < w.call.out[io::Active].size; ++i) w.out[io::Active][i] = 0;
            return solve_levels(false);
        }
        bool solve_levels(bool best_effort) {
            bool met = true;
            for (int k = 0; k < plan.levels && (met || best_effort); ++k) {
                // if the first level is feasible, all are
                met &= minimise(objectives[k], k + 1 == plan.levels, k, best_effort || k > 0) || k > 0;
            }
            return met;
        }
        bool minimise(const Objective& objective, bool last, int place, bool best_effort) {
            constexpr double null_space_factor = 100;  // for motion that helps a level only through constraints
            begin_working_set(place);
            // the last level has weights on all variables
            const LevelSettings level = {last ? 0 : damping(), null_space_factor * damping(), 1e-6};
            const bool met = hierarchy.minimise(objective, level, last, limits, best_effort);
            end_working_set(place);
            return met;
        }
        void begin_working_set(int place) {
            const double* guess = w.in[io::WarmStart] + place * limits.count;
            for (long i = 0; i < limits.count; ++i) hierarchy.working_set()[i] = guess[i];
        }
        void end_working_set(int place) {
            double* active = w.out[io::Active] + place * limits.count;
            for (long i = 0; i < limits.count; ++i) active[i] = hierarchy.working_set()[i];
        }

        // Infeasible limits: force and torque limits are always feasible; then joints violate the bounds
        // of their accelerations as little as possible, then contacts are violated as little as possible. A foot slips
        // rather than a joint hitting its stop.
        void solve_relaxed() {
            relaxed = true;
            hierarchy.start(n);
            hierarchy.add_equalities(base, base_desired, n_base, 1e-12);
            begin_working_set(plan.levels);
            hierarchy.relax(limits);
            end_working_set(plan.levels);
            const Objective stay = {contacts.J, contacts.desired, contacts.rows, nullptr, nullptr, false};
            minimise(stay, false, plan.levels + 1, true);
            limits.widen();
            unmet = !solve_levels(true);
        }

        void report(const RobotState& state) {
            const double* x = hierarchy.x();
            for (long k = 0; k < nv; ++k) w.out[io::Acceleration][k] = x[k];
            write_torques(x);
            contacts.write(state, x, w.out[io::Forces], w.out[io::ContactResiduals]);
            limits.excess(x, contacts.unit, w.out[io::Excess]);
            for (long k = 0; k < nv; ++k) w.out[io::JointLimits][k] = accelerations.limit_of(k, x[k]);
            write_residuals(x);
            *reinterpret_cast<IdQpInfo*>(w.out[io::Info]) = {static_cast<double>(hierarchy.iterations()),
                                                             static_cast<double>(relaxed), static_cast<double>(unmet)};
        }
        void write_torques(const double* x) {
            double* tau = w.out[io::Torque];
            for (long k = 0; k < nv; ++k) {
                tau[k] = dot(limits.torque[k], x, 0, padded(n)) + h[k];
                const double most = joints.effort[k];
                if (most < unlimited) tau[k] = tau[k] > most ? most : tau[k] < -most ? -most : tau[k];
            }
            for (const Body& body : model.bodies)
                for (int k = 0; body.kind == Kind::Free && k < 6; ++k) tau[body.iv + k] = 0;
        }
        // Residuals of the tasks; the output holds the desired J a.
        void write_residuals(const double* x) {
            const double* row = A.data;
            double* out = w.out[io::TaskResiduals];
            for (int k = 0; k < plan.n_tasks && !plan.tasks[k].inequality; ++k) {
                const TaskEntry& entry = plan.tasks[k];
                Registry::visit_fields(model, entry, w.in[io::Tasks], [&](auto type, const auto& fields) {
                    if (fields.switches->enabled != 0) subtract_motion(type, fields.weights, entry.rows, x, row, out);
                });
                out += entry.rows;
            }
        }
        // Subtracts J a from `out`; `row` iterates over the weighted rows of J that add_rows wrote.
        template <class Task>
        void subtract_motion(Type<Task>, const double* weights, int rows, const double* x, const double*& row,
                             double* out) {
            const auto subtract_row = [&](int k) {
                out[k] = weights[k] != 0 ? out[k] - dot(row, x, 0, padded(nv)) / weights[k] : 0;
                if (weights[k] != 0) row += A.stride;
            };
            if constexpr (Task::rows >= 0) {
                for (int k = 0; k < rows; ++k) subtract_row(k);
            } else {
                PostureTask::for_joints(
                    model, [&](int k) { out[k] = weights[k] != 0 ? out[k] - x[k] : 0; },
                    [&](int first, int count) {
                        for (int k = first; k < first + count; ++k) subtract_row(k);
                    });
            }
        }
    };
};

constexpr KernelEntry entries[] = {
    {"id_qp", run_each<InverseDynamicsQP>},
};
extern const KernelList id_qp_kernels;
const KernelList id_qp_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
