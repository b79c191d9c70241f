// How far configurations are from bringing frames to their targets: forward kinematics by itself, no word of a solver.
//
// Inputs: 0 configuration, 1 lower and 2 upper limits (nq), 3 what is allowed (from the target in metres and in
// radians, and beyond limits), then for each frame in call.more its target pose (16) and, after all of those, its
// weights (6): directions without weight do not count. call.list: the bodies on the way. Outputs: 0 largest distance
// and angle over the frames, 1 whether they and the limits are kept as allowed, 1 or 0, 2 the sum of weighted squares
// that the solver makes small, 3 the poses of the frames.
#include "kernels/algorithms.hpp"
#include "kernels/placement.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Misfit {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 14 * static_cast<long>(c.model->bodies.size()); }

    static void run(Work<double>& w) {
        auto* at = w.take_as<Placement<double>>(static_cast<long>(w.model.bodies.size()));
        const double* q = w.in[0];
        for (int k = 0; k < w.call.n_list; ++k) {
            const Body& body = w.model.bodies[w.call.list[k]];
            SinCos<double> angle;
            turn(body, q, angle);
            place(body, parent_of(at, body), q, angle, at[w.call.list[k]]);
        }
        double beyond = 0, cost = 0, *worst = w.out[0];
        const double* allowed = w.in[3];
        for (int k = 0; k < w.model.nq; ++k) beyond = larger(beyond, larger(w.in[1][k] - q[k], q[k] - w.in[2][k]));
        worst[0] = worst[1] = 0;
        for (int k = 0; k < w.call.n_more; ++k) {
            const Placement<double> found = place_frame(w.model.frames[w.call.more[k]], at);
            const double *target = w.in[4 + k], *weight = w.in[4 + w.call.n_more + k];
            store_pose(w.out[3] + 16 * k, found);
            const Vec3<double> d = Vec3<double>{target[3], target[7], target[11]} - found.p;
            const Vec3<double> r = rotation_vector(from(found.R, target));
            worst[0] = larger(worst[0], length(counted(d, weight)));
            worst[1] = larger(worst[1], length(counted(r, weight + 3)));
            const double angle = length(r), chord = angle > 1e-6 ? 2 * sin(0.5 * angle) / angle : 1;
            const Vec3<double> e = weighted(d, weight), f = chord * weighted(r, weight + 3);
            cost += dot(e, e) + dot(f, f);
        }
        w.out[1][0] = worst[0] <= allowed[0] && worst[1] <= allowed[1] && beyond <= allowed[2];
        w.out[2][0] = cost;
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
        // about half a turn: E + 1 is twice the axis times itself, and its longest column shows the axis best
        const Mat3<double> twice = {{E.x.x + 1, E.x.y, E.x.z}, {E.y.x, E.y.y + 1, E.y.z}, {E.z.x, E.z.y, E.z.z + 1}};
        Vec3<double> axis = twice.x;
        if (dot(twice.y, twice.y) > dot(axis, axis)) axis = twice.y;
        if (dot(twice.z, twice.z) > dot(axis, axis)) axis = twice.z;
        return (angle / length(axis)) * axis;
    }
};

void ik_residual(const Call& c, long begin, long end, Fault& f) { run_each<Misfit>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
