// Rows that keep links apart in the frames of a clip; see ClearanceProblem.
#pragma once

#include "kernels/pack_distance.hpp"
#include "kernels/retarget_lanes.hpp"

namespace kinodyn::KINODYN_TARGET {

// Frames are in lanes, of float32.
class ClearanceRows {
  public:
    ClearanceRows(const ClearanceProblem& problem, FloatPack* memory)
        : p_(problem),
          model_(*problem.rounded_model),
          pairs_(static_cast<int>(problem.query->pairs.size())),
          distances_(*problem.query, memory) {
        const long bodies = static_cast<long>(model_.bodies.size());
        memory += PackDistances::words(*problem.query);
        const auto take = [&](long words) {
            FloatPack* start = memory;
            memory += words;
            return start;
        };
        at_ = reinterpret_cast<Placement<FloatPack>*>(take(12 * bodies));
        angles_ = reinterpret_cast<SinCos<FloatPack>*>(take(2 * bodies));
        S_ = reinterpret_cast<Spatial<FloatPack>*>(take(6L * model_.ncolumns));
        q_ = take(model_.nq);
        known_ = reinterpret_cast<Known*>(take(pairs_));
        for (int k = 0; k < pairs_; ++k) known_[k] = {-1, -1};
        least_ = take(pairs_);
        highest_ = reinterpret_cast<double*>(take(pairs_));
        unit_pair_ = reinterpret_cast<int*>(take(pairs_));
        unit_pairs_ = reinterpret_cast<UnitBound*>(take(packs<UnitBound>(pairs_)));
        unit_table_ = reinterpret_cast<int*>(take(packs<int>(table_size(p_))));
        find_levels();
        find_unit_pairs();
    }
    static long words(const ClearanceProblem& p) {
        return PackDistances::words(*p.query) + 14 * static_cast<long>(p.model->bodies.size()) +
               6L * p.model->ncolumns + p.model->nq + 4 * static_cast<long>(p.query->pairs.size()) +
               packs<UnitBound>(static_cast<long>(p.query->pairs.size())) + packs<int>(table_size(p));
    }

    // Frames at `frames`, one for each lane; the first `count` are written.
    void run(const std::int64_t* frames, int count) {
        for (int k = 0; k < model_.nq; ++k)
            for (int i = 0; i < float_lanes; ++i) {
                const double q = p_.q[k * p_.padded + frames[i < count ? i : 0]];
                q_[k].v[i] = static_cast<float>(q);
            }
        place_columns(model_, q_, angles_, at_, S_, origin_, [](int) {});
        distances_.place(at_, origin_);
        for (int i = 0; i < float_lanes; ++i) count_[i] = 0;
        for (int k = 0; k < pairs_; ++k) least_[p_.number[k]] = p_.margin + p_.watched;
        for (int k = 0; k < n_unit_pairs_; ++k) {
            UnitBound& pair = unit_pairs_[k];
            pair.near =
                pair.count == 1 || distances_.units_may_be_nearer(pair.a, pair.b, pair.level + p_.margin + p_.watched);
        }
        for (int k = 0; k < pairs_; ++k) {
            if (!unit_pairs_[unit_pair_[k]].near) continue;
            if (!distances_.may_be_nearer(k, highest_[k] + least_[p_.number[k]])) continue;
            const FloatPack level = level_of(k, frames, count), bound = level + least_[p_.number[k]];
            if (distances_.may_be_nearer(k, bound)) measure(k, level, bound, count);
        }
        for (int i = 0; i < count; ++i) {
            for (int r = 0; r < p_.rows; ++r) p_.bound[r * p_.padded + frames[i]] = retarget_unused;
            for (int r = 0; r < count_[i]; ++r) write(i, r, frames[i]);
        }
    }

  private:
    struct Known {  // nearest spheres of a pair in frames before: most often, nearly the nearest in the next
        int first, second;
    };
    struct Candidate {
        double lack;  // distance beyond the level of the pair
        int pair, first, second;
    };
    struct UnitBound {  // pairs of the same two units: one test instead of several where they are far apart
        int a, b, count;
        bool near;
        double level;  // highest of any pair in any frame
    };
    static constexpr int most = 32;
    static constexpr double deep = 0.03;  // [m] of overlap from which the direction is that between the links

    // Packs that hold `count` objects.
    template <class Object>
    static long packs(long count) {
        return (count * static_cast<long>(sizeof(Object)) + static_cast<long>(sizeof(FloatPack)) - 1) /
               static_cast<long>(sizeof(FloatPack));
    }
    static long table_size(const ClearanceProblem& p) {
        const long units = static_cast<long>(p.query->spheres().units.size());
        return units * units;
    }
    void find_levels() {
        for (int k = 0; k < pairs_; ++k) highest_[k] = p_.level[k];
        if (p_.level_stride == 0) return;
        for (long f = 0; f < p_.count; ++f)
            for (int k = 0; k < pairs_; ++k) {
                const double level = p_.level[p_.level_stride * p_.frames[f] + k];
                highest_[k] = level > highest_[k] ? level : highest_[k];
            }
    }
    void find_unit_pairs() {
        const SphereModel& spheres = p_.query->spheres();
        for (std::size_t k = 0; k < spheres.units.size() * spheres.units.size(); ++k) unit_table_[k] = -1;
        for (int k = 0; k < pairs_; ++k) {
            const auto [group_a, group_b] = p_.query->pairs[static_cast<std::size_t>(k)];
            const int a = spheres.unit_of(group_a), b = spheres.unit_of(group_b);
            int& number = unit_table_[static_cast<std::size_t>(a) * spheres.units.size() + b];
            if (number < 0) {
                number = n_unit_pairs_++;
                unit_pairs_[number] = {a, b, 0, false, highest_[k]};
            }
            UnitBound& pair = unit_pairs_[number];
            unit_pair_[k] = number, ++pair.count;
            pair.level = highest_[k] > pair.level ? highest_[k] : pair.level;
        }
    }

    FloatPack level_of(int pair, const std::int64_t* frames, int count) const {
        if (p_.level_stride == 0) return p_.level[pair];
        FloatPack level;
        for (int i = 0; i < float_lanes; ++i)
            level.v[i] = static_cast<float>(p_.level[p_.level_stride * frames[i < count ? i : 0] + pair]);
        return level;
    }

    void measure(int pair, const FloatPack& level, const FloatPack& bound, int count) {
        NearestSpheres best;
        best.distance = bound;
        best.first = best.second = FloatMask{} - 1;
        distances_.improve(pair, known_[pair].first, known_[pair].second, best);
        for (int i = 0; i < count; ++i) {
            if (best.first[i] < 0) continue;
            known_[pair] = {best.first[i], best.second[i]};
            insert(i, {best.distance[i] - level[i], pair, best.first[i], best.second[i]});
        }
        least_[p_.number[pair]] = best.distance - level;
    }

    // Inserts a candidate of a lane in order of lack; of those with the same number only the first stays.
    void insert(int lane, const Candidate& candidate) {
        Candidate* const found = found_[lane];
        const std::int32_t number = p_.number[candidate.pair];
        int end = count_[lane];
        for (int k = 0; k < count_[lane]; ++k) {
            if (p_.number[found[k].pair] != number) continue;
            if (found[k].lack <= candidate.lack) return;
            end = k;
            break;
        }
        if (end == count_[lane]) {
            const int size = p_.rows < most ? p_.rows : most;
            if (count_[lane] < size)
                ++count_[lane];
            else if (end == 0 || found[--end].lack <= candidate.lack)
                return;
        }
        for (; end > 0 && found[end - 1].lack > candidate.lack; --end) found[end] = found[end - 1];
        found[end] = candidate;
    }

    void write(int lane, int r, long t) const {
        const Candidate& of = found_[lane][r];
        const int n = static_cast<int>(p_.coordinate.size());
        float* gradient = p_.gradient_of(r, t);
        for (int k = 0; k < n; ++k) gradient[k * retarget_block] = 0;
        for_columns(of, lane, [&](int iv, double d) {
            const int k = p_.dof_index[static_cast<std::size_t>(iv)];
            if (k >= 0) gradient[k * retarget_block] += static_cast<float>(d);
        });
        double value = 0;
        for (int k = 0; k < n; ++k)
            if (p_.coordinate[static_cast<std::size_t>(k)] >= 0)
                value += double(gradient[k * retarget_block]) * q_[p_.coordinate[static_cast<std::size_t>(k)]][lane];
        p_.bound[r * p_.padded + t] = p_.margin - of.lack + value;
    }

    // Calls f(v index, derivative of the distance) for each column that moves one body of a pair and not the other.
    template <class F>
    void for_columns(const Candidate& of, int lane, F&& f) const {
        const auto [group_a, group_b] = p_.query->pairs[static_cast<std::size_t>(of.pair)];
        const auto& groups = p_.query->spheres().groups;
        const int a = groups[group_a].body, b = groups[group_b].body;
        const Vec3<double> first = distances_.centre(group_a, of.first, lane),
                           second = distances_.centre(group_b, of.second, lane), offset = first - second;
        const double far = __builtin_sqrt(dot(offset, offset));
        const Vec3<double> nearest = far > 0 ? (1 / far) * offset : Vec3<double>{0, 0, 1};
        const Vec3<double> normal = separating(nearest, distances_.between(group_a, group_b, lane), -of.lack / deep);
        int common = a, other = b;
        while (common != other) {
            int& later = common > other ? common : other;
            later = model_.bodies[later].parent;
        }
        const auto add = [&](int body, const Vec3<double>& along, const Vec3<double>& centre) {
            const Vec3<double> moment = cross(centre, along);
            for (int i = body; i != common; i = model_.bodies[i].parent)
                for (int c = model_.bodies[i].column; c < model_.bodies[i].column + dofs(model_.bodies[i].kind); ++c)
                    f(model_.column_iv[c],
                      dot(in_lane(S_[c].lin, lane), along) + dot(in_lane(S_[c].ang, lane), moment));
        };
        add(a, normal, first);
        add(b, -normal, second);
    }
    // Direction in which two links separate. That of their nearest spheres turns at random where links overlap deeply;
    // there, it is replaced by that between the links.
    static Vec3<double> separating(const Vec3<double>& nearest, const Vec3<double>& between, double depth) {
        const double share = depth < 0 ? 0 : depth > 1 ? 1 : depth, size = __builtin_sqrt(dot(between, between));
        if (share == 0 || size == 0) return nearest;
        const Vec3<double> sum = (1 - share) * nearest + (share / size) * between;
        const double length = __builtin_sqrt(dot(sum, sum));
        return length > 0.1 ? (1 / length) * sum : nearest;
    }
    static Vec3<double> in_lane(const Vec3<FloatPack>& v, int lane) { return {v.x[lane], v.y[lane], v.z[lane]}; }

    const ClearanceProblem& p_;
    const ModelOf<float>& model_;
    const int pairs_;
    PackDistances distances_;
    Placement<FloatPack>* at_;
    SinCos<FloatPack>* angles_;
    Spatial<FloatPack>* S_;
    Vec3<FloatPack> origin_;
    FloatPack* q_;
    Known* known_;
    FloatPack* least_;  // by number: lack of the pair found so far, beyond which others are of no interest
    double* highest_;   // level of a pair in any of the frames
    int* unit_pair_;    // of each pair
    int* unit_table_;   // (units, units): number of a pair of units, -1 for none
    UnitBound* unit_pairs_;
    int n_unit_pairs_ = 0;
    Candidate found_[float_lanes][most];
    int count_[float_lanes];
};

}  // namespace kinodyn::KINODYN_TARGET
