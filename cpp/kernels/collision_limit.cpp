// The rows of a CollisionLimit, compiled once for all kernels with limits. There is no kernel in this file.
#include "limits/collision.hpp"

namespace kinodyn::KINODYN_TARGET {

void CollisionLimit::find_rows(const TaskEntry& entry) {
    for (int k = 0; state_.cuts && k < state_.cuts->count; ++k) {
        const CuttingPlanes::Cut& cut = state_.cuts->cuts[k];
        if (cut.limit != &entry) continue;
        Proximity near = cut.spheres;
        near.distance = distances_.distance(near);
        add(near, cut.tightening);
    }
    const int n_cuts = used_;
    const double zone = parameters_.margin + parameters_.slow_down + state_.reach;
    const auto consider = [&](const Proximity& near) {
        if (distances_.first_body(near) == distances_.second_body(near)) return;
        for (int k = 0; k < n_cuts; ++k)
            if (near_[k].first == near.first && near_[k].second == near.second && near_[k].pair == near.pair) return;
        add(near, 0);
    };
    if (double* memory = state_.cuts ? state_.cuts->memory_of(entry) : nullptr) {
        NearPairs pairs(state_.model, memory, entry.memory);
        const bool begins = !pairs.knows(query_);
        pairs.each_within(distances_, zone, consider);
        if (begins) pairs.floor() = least_within();
        return;
    }
    if (!state_.brakes) return distances_.each_within(zone, consider);
    for (int pair = 0; pair < query_.count(); ++pair) add_critical(pair, zone + stopping_distance(pair));
}

extern const KernelList collision_limit_kernels;
const KernelList collision_limit_kernels = {};

}  // namespace kinodyn::KINODYN_TARGET
