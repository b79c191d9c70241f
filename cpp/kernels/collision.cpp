// Collision checks of batches of configurations and motions on the spheres of a robot.
//
// Settings: pointer to the CollisionQuery. Inputs: q for `collision_free`; for `motion_free` q0, q1, resolution
// [m]. Output: 1 if free, else 0.
#include "kernels/batch_checks.hpp"
#include "kernels/motion_checks.hpp"

namespace kinodyn::KINODYN_TARGET {

namespace {

// Loads configurations into lanes; the last one fills the remaining lanes. Returns false if there is a fault.
bool load_lanes(const CollisionQuery& query, const Call& call, long state, int rows, FloatPack* q, Fault& fault) {
    const Input& input = call.in[0];
    float* lanes = reinterpret_cast<float*>(q);
    double faults = 0;
    for (int i = 0; i < float_lanes; ++i) {
        const double* row = input.row(state + (i < rows ? i : rows - 1));
        for (int j = 0; j < input.size; ++j) {
            faults += row[j] - row[j];  // NaN if any is not finite
            lanes[j * float_lanes + i] = query.reduced(j, row[j]);
        }
    }
    if (faults == 0 && call.model->quaternions.empty()) return true;
    for (int i = 0; i < rows; ++i)
        if (find_fault(call, state + i, fault)) return false;
    return true;
}

unsigned lanes_of(int rows) { return rows == float_lanes ? all_lanes : (1u << rows) - 1; }

void collision_free(const Call& call, long begin, long end, Fault& fault) {
    const CollisionQuery& query = *call.as<const CollisionQuery*>();
    const long bytes = aligned(BatchChecker::bytes(query));
    char* memory =
        thread_scratch(static_cast<std::size_t>(bytes) + sizeof(FloatPack) * static_cast<std::size_t>(call.in[0].size));
    BatchChecker checker(query, memory, call.out[0].row(0));
    FloatPack* q = reinterpret_cast<FloatPack*>(memory + bytes);
    for (long state = begin; state < end; state += float_lanes) {
        const int rows = end - state < float_lanes ? static_cast<int>(end - state) : float_lanes;
        if (!load_lanes(query, call, state, rows, q, fault)) return;
        checker.add(q, state, lanes_of(rows));
    }
    checker.finish();
}

void touching(const Call& call, long begin, long end, Fault& fault) {
    const CollisionQuery& query = *call.as<const CollisionQuery*>();
    const long bytes = aligned(SphereChecker::bytes(query));
    char* memory =
        thread_scratch(static_cast<std::size_t>(bytes) + sizeof(FloatPack) * static_cast<std::size_t>(call.in[0].size));
    SphereChecker checker(query, memory);
    FloatPack* q = reinterpret_cast<FloatPack*>(memory + bytes);
    const long n_groups = static_cast<long>(query.spheres().groups.size());
    for (long state = begin; state < end; state += float_lanes) {
        const int rows = end - state < float_lanes ? static_cast<int>(end - state) : float_lanes;
        if (!load_lanes(query, call, state, rows, q, fault)) return;
        for (int k = 0; k < 2; ++k)
            memset(call.out[k].row(state), 0, sizeof(double) * static_cast<std::size_t>(rows * call.out[k].size));
        const auto mark = [&](int output, long place, unsigned hit) {
            for (int i = 0; i < rows; ++i)
                if (hit >> i & 1) call.out[output].row(state + i)[place] = 1.0;
        };
        checker.all_touching(
            q, lanes_of(rows), [&](int owner, int g, unsigned hit) { mark(0, owner * n_groups + g, hit); },
            [&](int pair, unsigned hit) { mark(1, pair, hit); });
    }
}

void motion_free(const Call& call, long begin, long end, Fault& fault) {
    const CollisionQuery& query = *call.as<const CollisionQuery*>();
    const int n = static_cast<int>(query.moving_dofs.size()), nv = query.robot().nv;
    const long bytes = aligned(MotionChecker::bytes(query));
    char* memory = thread_scratch(static_cast<std::size_t>(bytes) + sizeof(double) * static_cast<std::size_t>(nv) +
                                  2 * sizeof(float) * static_cast<std::size_t>(n));
    MotionChecker checker(query, memory);
    double* tangent = reinterpret_cast<double*>(memory + bytes);
    float *q0 = reinterpret_cast<float*>(tangent + nv), *v = q0 + n;
    for (long state = begin; state < end; ++state) {
        if (find_fault(call, state, fault)) return;
        const double* row[3];
        for (int k = 0; k < 3; ++k) row[k] = call.in[k].row(state);
        for (int k = 0; k < n; ++k) {
            const int iq = query.moving_dofs[k].iq;
            q0[k] = query.reduced(iq, row[0][iq]), v[k] = static_cast<float>(row[1][iq] - row[0][iq]);
        }
        for (int i : query.moving_manifold_bodies) joint_difference(query.robot().bodies[i], row[0], row[1], tangent);
        if (!query.moving_manifold_bodies.empty()) checker.set_geodesic(row[0], tangent);
        *call.out[0].row(state) = checker.free_throughout(q0, v, static_cast<float>(row[2][0])) ? 1.0 : 0.0;
    }
}

}  // namespace

constexpr KernelEntry entries[] = {
    {"collision_free", collision_free}, {"motion_free", motion_free}, {"touching", touching}};
extern const KernelList collision_kernels;
const KernelList collision_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
