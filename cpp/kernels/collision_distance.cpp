// Smallest distances between the spheres of a robot, state by state.
//
// Settings: the DistanceQuery, a pointer. Inputs: q, the largest distance [m] of interest.
//
// Outputs of `collision_distance`: the distance, the index of the pair (-1 if none is that close), the two witness
// points (2, 3), the gradient (nv). Output of `pair_distances`: the distance of each pair.
#include "kernels/sphere_distance.hpp"

namespace kinodyn::KINODYN_TARGET {

struct CollisionDistance {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return World<double>::words(*c.model); }

    static void run(Work<double>& w) {
        World<double> world = World<double>::take(w);
        world.place_all(w.model, w.in[0]);
        const SphereDistances distances(*w.call.as<const DistanceQuery*>(), w.model, world);
        const Proximity nearest = distances.nearest(w.in[1][0]);
        *w.out[0] = nearest.distance, *w.out[1] = nearest.pair;
        for (int k = 0; k < 6; ++k) w.out[2][k] = 0;
        for (int k = 0; k < w.model.nv; ++k) w.out[3][k] = 0;
        if (nearest.pair < 0) return;
        const WitnessPoints at = distances.witness_points(nearest);
        write(at.first + world.origin, w.out[2]), write(at.second + world.origin, w.out[2] + 3);
        distances.for_columns(nearest, at, [&](int iv, double d) { w.out[3][iv] += d; });
    }
};

struct PairDistances {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return World<double>::words(*c.model); }

    static void run(Work<double>& w) {
        World<double> world = World<double>::take(w);
        world.place_all(w.model, w.in[0]);
        const DistanceQuery& query = *w.call.as<const DistanceQuery*>();
        const SphereDistances distances(query, w.model, world);
        for (int k = 0; k < query.count(); ++k) w.out[0][k] = w.in[1][0];
        distances.each_within(w.in[1][0], [&](const Proximity& near) { w.out[0][near.pair] = near.distance; });
    }
};

constexpr KernelEntry entries[] = {
    {"collision_distance", run_each<CollisionDistance>},
    {"pair_distances", run_each<PairDistances>},
};
extern const KernelList collision_distance_kernels;
const KernelList collision_distance_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
