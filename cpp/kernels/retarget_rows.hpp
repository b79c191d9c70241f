// Rows that keep links apart, frame by frame of a clip; see ClearanceProblem.
#pragma once

#include "core/retarget.hpp"
#include "kernels/sphere_distance.hpp"

namespace kinodyn::KINODYN_TARGET {

class ClearanceRows {
  public:
    ClearanceRows(const ClearanceProblem& problem, double* memory)
        : p_(problem), model_(*problem.model), pairs_(static_cast<int>(problem.query->pairs.size())) {
        const long bodies = static_cast<long>(model_.bodies.size());
        const auto take = [&](long words) {
            double* start = memory;
            memory += words;
            return start;
        };
        world_.at = reinterpret_cast<Placement<double>*>(take(12 * bodies));
        world_.angles = reinterpret_cast<SinCos<double>*>(take(2 * bodies));
        world_.S = reinterpret_cast<Spatial<double>*>(take(6L * model_.ncolumns));
        world_.I = nullptr;
        q_ = take(model_.nq);
        known_ = reinterpret_cast<Known*>(take(pairs_));
        for (int k = 0; k < pairs_; ++k) known_[k] = {-1, -1};
    }
    static long words(const ClearanceProblem& p) {
        return 14 * static_cast<long>(p.model->bodies.size()) + 6L * p.model->ncolumns + p.model->nq +
               static_cast<long>(p.query->pairs.size());
    }

    void run(long t) {
        for (int k = 0; k < model_.nq; ++k) q_[k] = p_.q[k * p_.padded + t];
        place_columns(model_, q_, world_.angles, world_.at, world_.S, world_.origin, [](int) {});
        const SphereDistances distances(*p_.query, model_, world_);
        const double* level = p_.level + p_.level_stride * t;
        count_ = 0;
        for (int k = 0; k < pairs_; ++k) {
            const double bound = p_.margin + p_.watched + level[k];
            if (!distances.may_be_nearer(k, bound)) continue;
            const Proximity near = nearest(distances, k, bound);
            if (near.pair >= 0) insert({near.distance - level[k], near});
        }
        for (int r = 0; r < p_.rows; ++r) p_.bound[r * p_.padded + t] = retarget_unused;
        for (int r = 0; r < count_; ++r) write(distances, r, t);
    }

  private:
    struct Known {  // nearest spheres of a pair in the frame before: most often, nearly the nearest in the next
        int first, second;
    };
    struct Candidate {
        double lack;  // distance beyond the level of the pair
        Proximity near;
    };
    static constexpr int most = 32;

    Proximity nearest(const SphereDistances& distances, int pair, double bound) {
        Proximity best;
        best.distance = bound;
        if (known_[pair].first >= 0) {
            Proximity before = {pair, known_[pair].first, known_[pair].second, 0};
            before.distance = distances.distance(before);
            if (before.distance < bound) best = before;
        }
        distances.improve(pair, best);
        if (best.pair >= 0) known_[pair] = {best.first, best.second};
        return best;
    }

    // Inserts a candidate in order of lack; of those with the same number only the first stays.
    void insert(const Candidate& candidate) {
        const std::int32_t number = p_.number[candidate.near.pair];
        int end = count_;
        for (int k = 0; k < count_; ++k) {
            if (p_.number[found_[k].near.pair] != number) continue;
            if (found_[k].lack <= candidate.lack) return;
            end = k;
            break;
        }
        if (end == count_) {
            const int size = p_.rows < most ? p_.rows : most;
            if (count_ < size)
                ++count_;
            else if (found_[--end].lack <= candidate.lack)
                return;
        }
        for (; end > 0 && found_[end - 1].lack > candidate.lack; --end) found_[end] = found_[end - 1];
        found_[end] = candidate;
    }

    void write(const SphereDistances& distances, int r, long t) const {
        const auto& [lack, near] = found_[r];
        const int n = static_cast<int>(p_.coordinate.size());
        double* gradient = p_.gradient_of(r, t);
        for (int k = 0; k < n; ++k) gradient[k * retarget_block] = 0;
        distances.for_columns(near, distances.witness_points(near), [&](int iv, double d) {
            const int k = p_.dof_index[static_cast<std::size_t>(iv)];
            if (k >= 0) gradient[k * retarget_block] += d;
        });
        double value = 0;
        for (int k = 0; k < n; ++k)
            if (p_.coordinate[static_cast<std::size_t>(k)] >= 0)
                value += gradient[k * retarget_block] * q_[p_.coordinate[static_cast<std::size_t>(k)]];
        p_.bound[r * p_.padded + t] = p_.margin - lack + value;
    }

    const ClearanceProblem& p_;
    const Model& model_;
    const int pairs_;
    World<double> world_;
    double* q_;
    Known* known_;
    Candidate found_[most];
    int count_ = 0;
};

}  // namespace kinodyn::KINODYN_TARGET
