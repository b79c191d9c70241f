// Collision checks of many independent configurations. If a pair of links, or a link and the
// obstacles, are close in a few lanes only, these configurations are queued until they fill a pack: spheres
// are then always compared in full packs.
#pragma once

#include "kernels/aligned_memory.hpp"
#include "kernels/sphere_checks.hpp"

namespace kinodyn::KINODYN_TARGET {

// Poses of bodies in queued configurations.
struct WaitingPoses {
    static constexpr int words = 12;
    float pose[words][2 * float_lanes];
    long state[2 * float_lanes];
    int size;

    void add(const Placement<FloatPack>& poses, unsigned lanes, long first_state) {
        const float* from = reinterpret_cast<const float*>(&poses);
        for (; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            for (int k = 0; k < words; ++k) pose[k][size] = from[k * float_lanes + lane];
            state[size++] = first_state + lane;
        }
    }

    void load(Placement<FloatPack>& poses) const {
        FloatPack* to = reinterpret_cast<FloatPack*>(&poses);
        for (int k = 0; k < words; ++k) memcpy(to + k, pose[k], sizeof(FloatPack));
    }

    // Removes the first pack.
    void drop() {
        const int left = size > float_lanes ? size - float_lanes : 0;
        for (int k = 0; k < words; ++k) memcpy(pose[k], pose[k] + float_lanes, sizeof(FloatPack));
        for (int i = 0; i < left; ++i) state[i] = state[i + float_lanes];
        size = left;
    }
};

class BatchChecker : private SphereChecker {
  public:
    static long bytes(const CollisionQuery& query) {
        return own_bytes(query) +
               static_cast<long>(sizeof(WaitingPoses) * (query.unit_pairs.size() + query.spheres().units.size()));
    }

    // `memory` must be aligned to 64 bytes; `free` gets 1 or 0 for each state.
    BatchChecker(const CollisionQuery& query, char* memory, double* free) : SphereChecker(query, memory), free_(free) {
        near_pairs_ = reinterpret_cast<WaitingPoses*>(memory + own_bytes(query));
        near_units_ = near_pairs_ + query.unit_pairs.size();
        for (int k = 0; k < n_pairs(); ++k) near_pairs_[k].size = 0;
        for (int u = 0; u < n_units(); ++u) near_units_[u].size = 0;
    }

    // Checks a pack of configurations that starts at `state`; some of the checks are deferred.
    void add(const FloatPack* q, long state, unsigned alive) {
        margins_ = {};
        alive_ = alive, any_ = false, hit_ = 0;
        place(q);
        for (int k = 0; k < n_pairs() && !done(); ++k) decide_by_table(k, q);
        for (unsigned lanes = alive; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            free_[state + lane] = hit_ >> lane & 1 ? 0.0 : 1.0;
        }
        alive_ &= ~hit_, hit_ = 0;
        for (int k = 0; k < n_pairs(); ++k) add_near_pairs(k, q, state);
        for (const int u : query_.checked_units) add_near_unit(u, state);
        for (int k = 0; k < n_pairs(); ++k)
            while (near_pairs_[k].size >= float_lanes) check_pack(k);
        for (const int u : query_.checked_units)
            while (near_units_[u].size >= float_lanes) check_unit_pack(u);
    }

    void finish() {
        for (int k = 0; k < n_pairs(); ++k)
            if (near_pairs_[k].size > 0) check_pack(k);
        for (const int u : query_.checked_units)
            if (near_units_[u].size > 0) check_unit_pack(u);
        resolve_all();
    }

  private:
    static long own_bytes(const CollisionQuery& query) { return aligned(SphereChecker::bytes(query)); }

    void decide_by_table(int k, const FloatPack* q) {
        const UnitPair& pair = query_.unit_pairs[k];
        if (pair.table) hit_ |= touching(clearance(*pair.table, q) <= ClearanceTable::colliding);
    }

    void add_near_pairs(int k, const FloatPack* q, long state) {
        const UnitPair& pair = query_.unit_pairs[k];
        unsigned near = touching(overlap(bounding_[pair.a], bounding_[pair.b]));
        if (near && pair.table) near &= bits(clearance(*pair.table, q) <= 0.0f);
        const auto& units = query_.spheres().units;
        if (near) near_pairs_[k].add(relative(units[pair.a].body, units[pair.b].body), near, state);
    }

    void add_near_unit(int u, long state) {
        unsigned near = 0;
        for_each_obstacle(query_.obstacles(), query_.unit_near[u],
                          [&](const auto& obstacle) { near |= touching(obstacle.touches(bounding_[u])); });
        if (near) near_units_[u].add(placements_[query_.spheres().units[u].body], near, state);
    }

    void check_pack(int k) {
        WaitingPoses& waiting = near_pairs_[k];
        start(waiting);
        Placement<FloatPack> T;
        waiting.load(T);
        const UnitPair& pair = query_.unit_pairs[k];
        for (int i = pair.begin; i < pair.end && !done(); ++i)
            if (const unsigned unresolved = check_pair(i, T, 0.0f)) defer(i, waiting, unresolved);
        report(waiting);
    }

    // Solids are compared last, where nothing else collides.
    void defer(int pair, const WaitingPoses& waiting, unsigned lanes) {
        for (; lanes; lanes &= lanes - 1) {
            const int lane = __builtin_ctz(lanes);
            if (n_deferred_ == max_deferred) resolve_all();
            Deferred& later = deferred_[n_deferred_++];
            later.pair = pair, later.state = waiting.state[lane];
            for (int k = 0; k < WaitingPoses::words; ++k) later.pose[k] = waiting.pose[k][lane];
        }
    }

    void resolve_all() {
        for (int i = 0; i < n_deferred_; ++i) {
            const Deferred& pending = deferred_[i];
            if (free_[pending.state] != 0 && query_.solids_touch(pending.pair, pending.pose, 0.0f))
                free_[pending.state] = 0.0;
        }
        n_deferred_ = 0;
    }

    void check_unit_pack(int u) {
        WaitingPoses& waiting = near_units_[u];
        start(waiting);
        const SphereUnit& unit = query_.spheres().units[u];
        const Placement<FloatPack> own = placements_[unit.body];
        waiting.load(placements_[unit.body]);
        if (!done()) check_groups(unit, 0.0f);
        resolve_surfaces();
        placements_[unit.body] = own;
        report(waiting);
    }

    void start(const WaitingPoses& waiting) {
        alive_ = hit_ = 0;
        for (int i = 0; i < waiting.size && i < float_lanes; ++i)
            alive_ |= (free_[waiting.state[i]] != 0 ? 1u : 0u) << i;
    }

    void report(WaitingPoses& waiting) {
        for (unsigned lanes = hit_; lanes; lanes &= lanes - 1) free_[waiting.state[__builtin_ctz(lanes)]] = 0.0;
        waiting.drop();
    }

    struct Deferred {
        int pair;
        long state;
        float pose[WaitingPoses::words];
    };
    static constexpr int max_deferred = 512;

    double* free_;
    WaitingPoses *near_pairs_, *near_units_;
    Deferred deferred_[max_deferred];
    int n_deferred_ = 0;
};

}  // namespace kinodyn::KINODYN_TARGET
