// Smallest distances between the spheres of a robot, state by state.
//
// Settings: the DistanceQuery, a pointer. Inputs: q, the largest distance [m] of interest.
//
// Outputs of `collision_distance`: the distance, the index of the pair (-1 if none is that close), the two witness
// points (2, 3), the gradient (nv). Output of `pair_distances`: the distance of each pair. Outputs of `nearest_pairs`,
// nearest first: distances (k), indices of pairs (k; -1 where fewer are within the largest distance), gradients (k,
// nv).
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

struct NearestPairs {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return World<double>::words(*c.model); }

    static void run(Work<double>& w) {
        constexpr int most = 64;
        const int size = w.call.out[0].size < most ? w.call.out[0].size : most, nv = w.model.nv;
        World<double> world = World<double>::take(w);
        world.place_all(w.model, w.in[0]);
        const SphereDistances distances(*w.call.as<const DistanceQuery*>(), w.model, world);
        Proximity nearest[most];
        int count = 0;
        distances.each_within(w.in[1][0], [&](const Proximity& near) {
            int k = count < size ? count++ : size - 1;
            if (k == size - 1 && nearest[k].pair >= 0 && nearest[k].distance <= near.distance) return;
            for (; k > 0 && nearest[k - 1].distance > near.distance; --k) nearest[k] = nearest[k - 1];
            nearest[k] = near;
        });
        for (long k = 0; k < static_cast<long>(w.call.out[0].size) * nv; ++k) w.out[2][k] = 0;
        for (int k = 0; k < w.call.out[0].size; ++k) {
            w.out[0][k] = k < count ? nearest[k].distance : w.in[1][0];
            w.out[1][k] = k < count ? nearest[k].pair : -1;
            if (k >= count) continue;
            double* gradient = w.out[2] + static_cast<long>(k) * nv;
            distances.for_columns(nearest[k], distances.witness_points(nearest[k]),
                                  [&](int iv, double d) { gradient[iv] += d; });
        }
    }
};

constexpr KernelEntry entries[] = {
    {"nearest_pairs", run_each<NearestPairs>},
    {"collision_distance", run_each<CollisionDistance>},
    {"pair_distances", run_each<PairDistances>},
};
extern const KernelList collision_distance_kernels;
const KernelList collision_distance_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
