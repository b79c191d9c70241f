// Residuals of configurations with respect to frame targets: forward kinematics alone, independent of any
// solver.
//
// Inputs and outputs: ik.hpp; directions without weight do not count. `error` is the largest distance and angle over
// the frames, `success` is 1 if these and the limits are within tolerance, `cost` the weighted sum of squares that the
// solver minimises.
#include "kernels/ik.hpp"
#include "kernels/placement.hpp"

namespace kinodyn::KINODYN_TARGET {

struct IkResidual {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 14 * static_cast<long>(c.model->bodies.size()); }

    static void run(Work<double>& w) {
        auto* at = w.take_as<Placement<double>>(static_cast<long>(w.model.bodies.size()));
        const double* q = w.in[ik_input::q];
        for (int k = 0; k < w.call.bodies.size; ++k) {
            const Body& body = w.model.bodies[w.call.bodies[k]];
            SinCos<double> angle;
            joint_angle(body, q, angle);
            place(body, parent_of(at, body), q, angle, at[w.call.bodies[k]]);
        }
        const IkTolerances& tolerance = w.call.as<IkTolerances>();
        const double *lower = w.in[ik_input::lower], *upper = w.in[ik_input::upper];
        double violation = 0, cost = 0, *worst = w.out[ik_residual_output::error];
        for (int k = 0; k < w.model.nq; ++k) violation = larger(violation, larger(lower[k] - q[k], q[k] - upper[k]));
        worst[0] = worst[1] = 0;
        for (int k = 0; k < w.call.frames.size; ++k) {
            const Placement<double> found = place_frame(w.model.frames[w.call.frames[k]], at);
            const double *target = w.in[ik_input::first_target + k],
                         *weight = w.in[ik_input::first_target + w.call.frames.size + k];
            store_pose(w.out[ik_residual_output::poses] + 16 * k, found);
            const Vec3<double> d = Vec3<double>{target[3], target[7], target[11]} - found.p;
            const Vec3<double> r = rotation_vector(from(found.R, target));
            worst[0] = larger(worst[0], length(counted(d, weight)));
            worst[1] = larger(worst[1], length(counted(r, weight + 3)));
            const double angle = length(r), chord = angle > 1e-6 ? 2 * sin(0.5 * angle) / angle : 1;
            const Vec3<double> e = weighted(d, weight), f = chord * weighted(r, weight + 3);
            cost += dot(e, e) + dot(f, f);
        }
        *w.out[ik_residual_output::success] =
            worst[0] <= tolerance.position && worst[1] <= tolerance.orientation && violation <= tolerance.limits;
        *w.out[ik_residual_output::cost] = cost;
    }

    static double larger(double a, double b) { return a > b ? a : b; }
    static double length(const Vec3<double>& a) { return __builtin_sqrt(dot(a, a)); }
    static Vec3<double> counted(const Vec3<double>& a, const double* weight) {
        return {weight[0] > 0 ? a.x : 0, weight[1] > 0 ? a.y : 0, weight[2] > 0 ? a.z : 0};
    }
    static Vec3<double> weighted(const Vec3<double>& a, const double* weight) {
        return {weight[0] * a.x, weight[1] * a.y, weight[2] * a.z};
    }
    // The rotation that takes R to that of the target pose.
    static Mat3<double> from(const Mat3<double>& R, const double* target) {
        const Vec3<double> x = vec(target), y = vec(target + 4), z = vec(target + 8);
        return {{dot(x, R.x), dot(x, R.y), dot(x, R.z)},
                {dot(y, R.x), dot(y, R.y), dot(y, R.z)},
                {dot(z, R.x), dot(z, R.y), dot(z, R.z)}};
    }
    static Vec3<double> rotation_vector(const Mat3<double>& E) {
        const Vec3<double> s = 0.5 * Vec3<double>{E.z.y - E.y.z, E.x.z - E.z.x, E.y.x - E.x.y};
        const double sine = length(s), cosine = 0.5 * (E.x.x + E.y.y + E.z.z - 1), angle = atan2(sine, cosine);
        if (sine > 1e-6) return (angle / sine) * s;
        if (cosine > 0) return s;
        // near half a turn E + 1 is twice axis axis^T: its longest column gives the axis most accurately
        const Mat3<double> twice = {{E.x.x + 1, E.x.y, E.x.z}, {E.y.x, E.y.y + 1, E.y.z}, {E.z.x, E.z.y, E.z.z + 1}};
        Vec3<double> axis = twice.x;
        if (dot(twice.y, twice.y) > dot(axis, axis)) axis = twice.y;
        if (dot(twice.z, twice.z) > dot(axis, axis)) axis = twice.z;
        return (angle / length(axis)) * axis;
    }
};

constexpr KernelEntry entries[] = {
    {"ik_residual", run_each<IkResidual>},
};
extern const KernelList ik_residual_kernels;
const KernelList ik_residual_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
