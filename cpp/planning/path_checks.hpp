// Continuous checks of the edges of a path: each lane has an interval of an edge.
#pragma once

#include "kernels/aligned_memory.hpp"
#include "kernels/sphere_checks.hpp"
#include "planning/problem.hpp"

namespace kinodyn::KINODYN_TARGET {

// An interval of an edge is free if the spheres, inflated by how far they can move within it, are free at its centre;
// otherwise it is divided. Lanes are filled with intervals of several edges.
class PathChecker {
  public:
    static long bytes(const CollisionQuery& query) {
        const long packs = query.robot().nq + n_dofs(query) + n_units(query) + n_pairs(query);
        return aligned(SphereChecker::bytes(query)) + static_cast<long>(sizeof(FloatPack)) * packs;
    }

    // `memory` must be aligned to 64 bytes.
    PathChecker(const CollisionQuery& query, char* memory) : query_(query), checker_(query, memory) {
        q_ = reinterpret_cast<FloatPack*>(memory + aligned(SphereChecker::bytes(query)));
        speed_ = q_ + query.robot().nq, unit_width_ = speed_ + n_dofs(query);
        pair_width_ = unit_width_ + n_units(query);
        for (int i = 0; i < query.robot().nq; ++i) q_[i] = static_cast<float>(query.q[i]);
    }

    // An edge of a path (n, dofs) that is not free throughout, or was not checked before `end`; -1 if there is none.
    // Edges marked in `skip` are left out. Intervals are divided until the spheres move less than `resolution` [m].
    int blocked_edge(const float* path, int n, const char* skip, float resolution, double end) {
        size_ = 0;
        for (int next = 0;;) {
            for (; next + 1 < n && size_ < float_lanes; ++next)
                if (!skip[next]) push_edge(path, next);
            if (size_ == 0) return -1;
            Interval taken[float_lanes];
            const int used = size_ < float_lanes ? size_ : float_lanes;
            for (int i = 0; i < used; ++i) taken[i] = stack_[--size_];
            if (steady_time() > end) return taken[0].edge;
            const unsigned undecided = collisions(path, taken, used);
            const int hit = undecided ? colliding(taken, used, undecided) : -1;
            if (hit >= 0) return taken[hit].edge;
            for (unsigned left = undecided; left != 0; left &= left - 1) {
                const Interval& own = taken[__builtin_ctz(left)];
                if (own.width < resolution || size_ + 2 > max_intervals) return own.edge;
                push_parts(own, 2);
            }
        }
    }

    long packs = 0;  // checked so far

  private:
    struct Interval {
        float centre, half;
        float width;  // upper bound of the motion of the spheres between its centre and its ends [m]
        int edge;
    };
    static constexpr int max_intervals = 1024, max_parts = 256;
    static constexpr float first_width = 0.025f;   // [m] of the intervals that are checked first
    static constexpr float centre_width = 0.004f;  // [m] of intervals that are likely to collide

    static long n_dofs(const CollisionQuery& query) { return static_cast<long>(query.moving_dofs.size()); }
    static long n_units(const CollisionQuery& query) { return static_cast<long>(query.spheres().units.size()); }
    static long n_pairs(const CollisionQuery& query) { return static_cast<long>(query.unit_pairs.size()); }

    void push_parts(const Interval& whole, int n) {
        const float part = whole.half / static_cast<float>(n);
        for (int i = 0; i < n; ++i)
            stack_[size_++] = {whole.centre - whole.half + part * static_cast<float>(2 * i + 1), part,
                               whole.width / static_cast<float>(n), whole.edge};
    }

    void push_edge(const float* path, int edge) {
        const long dim = n_dofs(query_);
        const float* from = path + edge * dim;
        const auto motion = [&](const float* sweep) {
            float sum = 0;
            for (long k = 0; k < dim; ++k)
                sum += __builtin_fabsf(from[dim + k] - from[k]) * sweep[query_.moving_dofs[k].iv];
            return sum;
        };
        float widest = 0;
        const auto widen = [&](float width) { widest = width > widest ? width : widest; };
        for (int u : query_.checked_units) widen(0.5f * motion(query_.unit_sweep(u)));
        for (int k = 0; k < n_pairs(query_); ++k) widen(0.5f * motion(query_.unit_pair_sweep(k)));
        const float parts = widest / first_width;
        push_parts({0.5f, 0.5f, widest, edge}, parts < max_parts ? 1 + static_cast<int>(parts) : max_parts);
    }

    // Lanes of intervals that are not known to be free.
    unsigned collisions(const float* path, const Interval* taken, int used) {
        const long dim = n_dofs(query_);
        for (long k = 0; k < dim; ++k) {
            FloatPack q, speed;
            for (int i = 0; i < float_lanes; ++i) {
                const Interval& own = taken[i < used ? i : 0];
                const float from = path[own.edge * dim + k], v = path[(own.edge + 1) * dim + k] - from;
                q.v[i] = from + own.centre * v, speed.v[i] = own.half * __builtin_fabsf(v);
            }
            q_[query_.moving_dofs[k].iq] = q, speed_[k] = speed;
        }
        for (int u : query_.checked_units) unit_width_[u] = width(query_.unit_sweep(u));
        for (int k = 0; k < n_pairs(query_); ++k) pair_width_[k] = width(query_.unit_pair_sweep(k));
        ++packs;
        const unsigned lanes_used = used == float_lanes ? all_lanes : (1u << used) - 1;
        return checker_.collisions(q_, lanes_used, false, {nullptr, nullptr, 0.0f, unit_width_, pair_width_});
    }

    FloatPack width(const float* sweep) const {
        FloatPack sum = 0.0f;
        for (long k = 0; k < n_dofs(query_); ++k) sum += speed_[k] * sweep[query_.moving_dofs[k].iv];
        return sum;
    }

    // A lane of `undecided` that collides at the centre of its interval, of those that are likely to; -1 if none does.
    int colliding(const Interval* taken, int used, unsigned undecided) {
        unsigned likely = 0;
        for (int i = 0; i < used; ++i) likely |= (taken[i].width < centre_width ? 1u : 0u) << i;
        likely &= undecided;
        if (likely == 0) return -1;
        ++packs;
        const unsigned hit = checker_.collisions(q_, likely, true, {});
        return hit == 0 ? -1 : __builtin_ctz(hit);
    }

    const CollisionQuery& query_;
    SphereChecker checker_;
    FloatPack *q_, *speed_, *unit_width_, *pair_width_;
    Interval stack_[max_intervals];
    int size_ = 0;
};

}  // namespace kinodyn::KINODYN_TARGET
