// Error, Jacobian, drift or labels of one task or limit, state by state.
//
// Inputs: 0 q, 1 v, 2 the numbers of the task. Settings: TaskRowsPlan. The output has the rows of the task; for the
// Jacobian nv columns.
#include "tasks/registry.hpp"

namespace kinodyn::KINODYN_TARGET {

struct TaskRows {
    static constexpr bool sparse = false;

    static long words(const Call& c) {
        const long bodies = static_cast<long>(c.model->bodies.size());
        return World<double>::words(*c.model) + 18 * bodies + 2 * c.out[0].size + c.model->nv;
    }

    static void run(Work<double>& w) {
        const Model& model = w.model;
        const TaskRowsPlan& plan = w.call.as<TaskRowsPlan>();
        const TaskEntry& entry = *plan.entry;
        const TaskOutput output = plan.output;
        World<double> world = World<double>::take(w);
        world.place_all(model, w.in[0]);
        const long bodies = static_cast<long>(model.bodies.size());
        const Motion<double> motion = {w.take_as<Spatial<double>>(bodies), w.take_as<Spatial<double>>(bodies)};
        auto* force = w.take_as<Spatial<double>>(bodies);
        Spatial<double> momentum = {};
        const bool moves = output == TaskOutput::Drift || output == TaskOutput::BrakingLabels;
        if (moves) move_bodies(model, world, w.in[1], {0, 0, 0}, motion, force, momentum);
        world.gather(model);
        RobotState state(model, world, w.in[0], w.in[1]);
        if (moves) {
            const V com = state.com - world.origin;
            Spatial<double> sum = {{0, 0, 0}, {0, 0, 0}};
            for (long i = 0; i < bodies; ++i) sum += force[i];
            state.motion = &motion, state.momentum = about(com, momentum), state.momentum_rate = about(com, sum);
        }
        state.brakes = output == TaskOutput::BrakingLabels;
        Registry::visit(state, entry, w.in[2],
                        [&](const auto& task, const auto&) { write_output(w, entry, output, task); });
    }

    template <class Task>
    static void write_output(Work<double>& w, const TaskEntry& entry, TaskOutput output, const Task& task) {
        double* out = w.out[0];
        const int rows = rows_of<Task>(entry, w.model);
        if (output == TaskOutput::Error) return task.error(out);
        if (output == TaskOutput::Jacobian) {
            for (long k = 0; k < w.call.out[0].size; ++k) out[k] = 0;
            return write_jacobian(task, rows, w.model.nv, out, w.take(w.model.nv));
        }
        if (output == TaskOutput::Labels || output == TaskOutput::BrakingLabels) return write_labels(task, rows, out);
        double *rate = w.take(rows), *error = w.take(rows);
        if constexpr (Task::rows < 0)
            task.error(error), task.motion(error, rate, out);
        else
            task.motion(rate, out);
        for (int k = 0; k < rows; ++k) out[k] = -out[k];
    }

    template <class Task>
    static void write_labels(const Task&, int rows, double* out) {
        for (int k = 0; k < rows; ++k) out[k] = k;
    }
    static void write_labels(const CollisionLimit& limit, int, double* out) { limit.labels(out); }

    template <class Task>
    static void write_jacobian(const Task& task, int rows, long nv, double* J, double*) {
        task.columns([&](int iv, const auto& column) {
            for (int k = 0; k < rows; ++k) J[k * nv + iv] += column[k];
        });
    }
    static void write_jacobian(const RowsTask& task, int rows, long nv, double* J, double*) {
        for (int k = 0; k < rows; ++k)
            for (long j = 0; j < nv; ++j) J[k * nv + j] = task.jacobian_row(k)[j];
    }
    static void write_jacobian(const PostureTask& task, int, long nv, double* J, double* error) {
        task.error(error);
        task.for_joints(
            error, [&](int k) { J[k * nv + k] = 1; },
            [&](int k, int n, const PostureTask::Joint& joint) {
                double rows[36];
                joint.write_rows(rows);
                for (int i = 0; i < n; ++i)
                    for (int j = 0; j < n; ++j) J[(k + i) * nv + k + j] = rows[i * n + j];
            });
    }
};

constexpr KernelEntry entries[] = {
    {"task_rows", run_each<TaskRows>},
};
extern const KernelList task_rows_kernels;
const KernelList task_rows_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
