// The pairs of a query that are near to each other, found with what is remembered of a previous configuration.
//
// Distances change by no more than the parts move relative to each other. So a pair that was far apart need not be
// looked at again for many small steps, and of a near pair only the few spheres that were nearest, until others
// may have come nearer than they. Results are those of a search through all spheres at every configuration.
#pragma once

#include "kernels/sphere_distance.hpp"

namespace kinodyn::KINODYN_TARGET {

class NearPairs {
  public:
    // `memory`: as many numbers as DistanceQuery::memory_words() has counted for `words`.
    NearPairs(const Model& model, double* memory, long words)
        : bodies_(static_cast<long>(model.bodies.size())),
          header_(*reinterpret_cast<NearPairsHeader*>(memory)),
          poses_(reinterpret_cast<Placement<double>*>(memory + sizeof(NearPairsHeader) / sizeof(double))),
          near_(reinterpret_cast<NearPair*>(poses_ + bodies_)),
          least_(reinterpret_cast<double*>(near_ + max_near_pairs)),
          capacity_(static_cast<int>(memory + words - least_)) {
        static_assert(sizeof(Placement<double>) == DistanceQuery::pose_words * sizeof(double));
    }

    // Takes over what was remembered.
    void start(const double* before) {
        memcpy(&header_, before, static_cast<std::size_t>(least_ + capacity_ - number(&header_)) * sizeof(double));
    }

    bool knows(const DistanceQuery& query) const { return header_.query == query.id(); }

    // Smallest distance of a pair within its margin, where the memory begins.
    double& floor() { return header_.floor; }

    // Calls f(Proximity) for the nearest spheres of each pair that is nearer than `zone` [m], and remembers the
    // configuration.
    template <class F>
    void each_within(const SphereDistances& at, double zone, F&& f) {
        const DistanceQuery& query = at.query();
        const int listed = query.count() < capacity_ ? query.count() : capacity_;
        const bool is_known = knows(query);
        const GroupMotions motions = is_known ? GroupMotions(at, poses()) : GroupMotions();
        if (!is_known) {
            header_.query = query.id(), header_.count = 0;
            for (int k = 0; k < listed; ++k) least_[k] = -HUGE_VAL;
        }
        NearPair found[max_near_pairs];
        int n = 0, known = 0;
        const auto look_at = [&](int pair) {
            while (known < count() && near_[known].pair < pair) ++known;
            NearPair near = {};
            if (known < count() && static_cast<int>(near_[known].pair) == pair) {
                near = near_[known];
                near.others -= motions.of_pair(query, pair);
            }
            near.pair = pair;
            const Proximity best = nearest(near, at, zone);
            if (best.pair >= 0 && best.distance < zone) f(best);
            if (near.count > 0 && n < max_near_pairs) found[n++] = near;
            return best.distance < near.others ? best.distance : near.others;
        };
        for (int pair = 0; pair < listed; ++pair) {
            least_[pair] -= motions.of_pair(query, pair);
            if (least_[pair] < zone) least_[pair] = look_at(pair);
        }
        for (int pair = listed; pair < query.count(); ++pair) look_at(pair);
        memcpy(static_cast<void*>(near_), found, static_cast<std::size_t>(n) * sizeof(NearPair));
        header_.count = n;
        remember(at.poses());
    }

    // The same for distances smaller than `bound` at another configuration nearby, which is not remembered.
    template <class F>
    void each_within_nearby(const SphereDistances& at, double bound, F&& f) const {
        const DistanceQuery& query = at.query();
        const int listed = query.count() < capacity_ ? query.count() : capacity_;
        const GroupMotions motions(at, poses());
        int known = 0;
        for (int pair = 0; pair < query.count(); ++pair) {
            if (pair < listed && least_[pair] - motions.of_pair(query, pair) >= bound) continue;
            while (known < count() && near_[known].pair < pair) ++known;
            if (known == count() || static_cast<int>(near_[known].pair) != pair) {
                at.nearest_of(pair, bound, f);
                continue;
            }
            const double others = near_[known].others - motions.of_pair(query, pair);
            const Proximity best = nearest_known(near_[known], at);
            if (others < bound && others < best.distance)
                at.nearest_of(pair, bound, f);
            else if (best.distance < bound)
                f(best);
        }
    }

  private:
    // How far the spheres of each group may have moved since the remembered configuration.
    class GroupMotions {
      public:
        GroupMotions() = default;  // at rest
        GroupMotions(const SphereDistances& at, const Poses& before) {
            for (int g = 0; g < at.group_count(); ++g) {
                const double m = at.motion(g, before);
                if (g < most) of_group_[g] = m;
                if (m > largest_) largest_ = m;
            }
        }
        double of(int group) const { return group < most ? of_group_[group] : largest_; }
        double of_pair(const DistanceQuery& query, int pair) const {
            const int n = static_cast<int>(query.pairs.size());
            if (pair >= n) return of(query.obstacle_pairs[pair - n].group);
            return of(query.pairs[pair].a) + of(query.pairs[pair].b);
        }

      private:
        static constexpr int most = 128;
        double of_group_[most] = {}, largest_ = 0;
    };

    static constexpr double farthest = 1e30;  // [m] of no sphere: what is remembered is finite

    static const double* number(const void* p) { return static_cast<const double*>(p); }
    int count() const { return static_cast<int>(header_.count); }
    Poses poses() const { return {poses_, {header_.origin[0], header_.origin[1], header_.origin[2]}}; }

    void remember(const Poses& poses) {
        for (long i = 0; i < bodies_; ++i) poses_[i] = poses.at[i];
        header_.origin[0] = poses.origin.x, header_.origin[1] = poses.origin.y, header_.origin[2] = poses.origin.z;
    }

    // The nearest spheres of a pair, if they are nearer than `zone`: those that are known, or by a search.
    static Proximity nearest(NearPair& near, const SphereDistances& at, double zone) {
        double limit = zone;
        if (near.count > 0) {
            const Proximity best = nearest_known(near, at);
            if (best.distance <= near.others) return best;
            constexpr double rounding = 1e-12;
            if (best.distance + rounding < limit) limit = best.distance + rounding;
        }
        near.count = 0;
        near.others = at.lower_bound(static_cast<int>(near.pair));
        return near.others < limit ? search(near, at, limit) : Proximity{};
    }

    static Proximity nearest_known(const NearPair& near, const SphereDistances& at) {
        Proximity best;
        for (int k = 0; k < static_cast<int>(near.count); ++k) {
            Proximity one = {static_cast<int>(near.pair), static_cast<int>(near.first[k]),
                             static_cast<int>(near.second[k]), 0};
            one.distance = at.distance(one);
            if (one.distance < best.distance) best = one;
        }
        return best;
    }

    // Searches all spheres of a pair up to a distance; returns the nearest.
    static Proximity search(NearPair& near, const SphereDistances& at, double limit) {
        Proximity found[NearPair::most];  // nearest first
        int n = 0;
        double bound = limit, dropped = farthest;
        const double pruned = at.each_below(static_cast<int>(near.pair), bound, [&](const Proximity& one) {
            if (n == NearPair::most && found[n - 1].distance < dropped) dropped = found[n - 1].distance;
            int k = n < NearPair::most ? n++ : n - 1;
            for (; k > 0 && found[k - 1].distance > one.distance; --k) found[k] = found[k - 1];
            found[k] = one;
            bound = found[0].distance;
        });
        near.others = pruned < dropped ? pruned : dropped, near.count = n;
        for (int k = 0; k < n; ++k) near.first[k] = found[k].first, near.second[k] = found[k].second;
        return n > 0 ? found[0] : Proximity{};
    }

    const long bodies_;
    NearPairsHeader& header_;
    Placement<double>* const poses_;
    NearPair* const near_;  // by increasing number of the pair
    double* const least_;   // [m] lower bounds of the distances of pairs
    const int capacity_;
};

}  // namespace kinodyn::KINODYN_TARGET
