// Continuous checks of a motion whose time runs from 0 to 1, by bisection.
#pragma once

#include "kernels/aligned_memory.hpp"
#include "kernels/sphere_checks.hpp"

namespace kinodyn::KINODYN_TARGET {

// An interval is free if the spheres, inflated by how far they can move within it, are free at its centre; otherwise it
// is divided, until the spheres move less than a resolution.
class IntervalChecker {
  public:
    // Is the whole motion free? It begins with `parts` intervals. `widest` [m] bounds how far anything moves in all of
    // it. collisions_within(s, half, lanes) returns the lanes that collide somewhere within `half` of the time s,
    // collisions_at(s, lanes) those that collide at s.
    template <class Within, class At>
    bool free_throughout(int parts, float widest, float resolution, Within&& collisions_within, At&& collisions_at) {
        size_ = 0;
        push_parts(0.5f, 0.5f, parts);
        while (size_ > 0) {
            FloatPack s = 0.0f, half = 0.0f;
            const int n = size_ < float_lanes ? size_ : float_lanes;
            for (int i = 0; i < n; ++i) s.v[i] = stack_[--size_].centre, half.v[i] = stack_[size_].half;
            const unsigned used = n == float_lanes ? all_lanes : (1u << n) - 1;
            const unsigned undecided = collisions_within(s, half, used);
            if (undecided == 0) continue;
            if (collisions_at(s, undecided)) return false;
            for (int i = 0; i < n; ++i) {
                if (!(undecided >> i & 1)) continue;
                if (half[i] * widest < resolution || size_ + 2 > max_intervals) return false;
                push_parts(s[i], half[i], 2);
            }
        }
        return true;
    }

    static constexpr int max_parts = 256;

  private:
    struct Interval {
        float centre, half;
    };
    static constexpr int max_intervals = 1024;

    void push_parts(float centre, float half, int n) {
        const float part = half / static_cast<float>(n);
        for (int i = 0; i < n; ++i) stack_[size_++] = {centre - half + part * static_cast<float>(2 * i + 1), part};
    }

    Interval stack_[max_intervals];
    int size_ = 0;
};

// Upper bounds of how far the spheres of units, and of pairs relative to each other, move in the whole motion [m].
struct SphereWidths {
    float *units, *pairs;

    static long bytes(const CollisionQuery& query) {
        return AlignedMemory::bytes<float>(static_cast<long>(query.spheres().units.size())) +
               AlignedMemory::bytes<float>(static_cast<long>(query.unit_pairs.size()));
    }
    SphereWidths(const CollisionQuery& query, AlignedMemory& memory)
        : units(memory.take<float>(static_cast<long>(query.spheres().units.size()))),
          pairs(memory.take<float>(static_cast<long>(query.unit_pairs.size()))) {}

    // bound(sweep) bounds the motion from the largest motion by each degree of freedom. Returns the largest bound.
    template <class Bound>
    float set(const CollisionQuery& query, Bound&& bound) {
        float widest = 0;
        const auto widen = [&](float width) { return widest = width > widest ? width : widest, width; };
        for (int u : query.checked_units) units[u] = widen(bound(query.unit_sweep(u)));
        for (int k = 0; k < static_cast<int>(query.unit_pairs.size()); ++k)
            pairs[k] = widen(bound(query.unit_pair_sweep(k)));
        return widest;
    }
};

}  // namespace kinodyn::KINODYN_TARGET
