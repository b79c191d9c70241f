// Checks of straight motions in joint space: at a resolution, and continuously.
#pragma once

#include "kernels/interval_checks.hpp"
#include "kernels/manifold.hpp"

namespace kinodyn::KINODYN_TARGET {

// Checks motions q(s) = q0 + s v, s from 0 to 1, of the moving joints with one coordinate. Ball and free joints
// are fixed, or move along geodesics.
class MotionChecker {
  public:
    static long bytes(const CollisionQuery& query) {
        return aligned(SphereChecker::bytes(query)) + AlignedMemory::bytes<FloatPack>(query.robot().nq) +
               SphereWidths::bytes(query) + AlignedMemory::bytes<float>(query.robot().nv);
    }

    // `memory` must be aligned to 64 bytes.
    MotionChecker(const CollisionQuery& query, char* memory)
        : query_(query),
          checker_(query, memory),
          n_dofs_(static_cast<int>(query.moving_dofs.size())),
          memory_{memory + aligned(SphereChecker::bytes(query))},
          q_(memory_.take<FloatPack>(query.robot().nq)),
          widest_(memory_.take<float>(n_dofs_)),
          widths_(query, memory_) {
        for (int i = 0; i < query.robot().nq; ++i) q_[i] = static_cast<float>(query.q[i]);
        for (int k = 0; k < n_dofs_; ++k) widest_[k] = widest_sweep(query.moving_dofs[k].iv);
    }

    // Sets the motion of ball and free joints for the following checks: a configuration and a tangent vector, or null.
    void set_geodesic(const double* q0, const double* v) { geodesic_q0_ = q0, geodesic_v_ = v; }

    // Is the motion free at `n` equidistant points, the last of them its end? The lanes are spread over the whole
    // motion so that a collision anywhere is found early.
    bool free_at(const float* q0, const float* v, int n) {
        const int packs = (n + float_lanes - 1) / float_lanes;
        const FloatPack spread = lane_numbers() * static_cast<float>(packs) + 1.0f;
        const float step = 1.0f / static_cast<float>(packs * float_lanes);
        for (int k = 0; k < packs; ++k) {
            // from the end of each section backwards: the end of the motion is checked first
            const FloatPack s = step * (spread + static_cast<float>(packs - 1 - k));
            if (collisions(q0, v, s, all_lanes, true, {})) return false;
        }
        return true;
    }

    // The same with enough points that the spheres move at most `step` [m] between them.
    bool free_at_resolution(const float* q0, const float* v, float step) {
        float points = 0;
        for (int k = 0; k < n_dofs_; ++k) points += __builtin_fabsf(v[k]) * widest_[k];
        points /= step;
        return free_at(q0, v, points < max_points ? 1 + static_cast<int>(points) : max_points);
    }

    // Is the motion free everywhere, until the spheres of an interval move less than `resolution` [m]?
    bool free_throughout(const float* q0, const float* v, float resolution) {
        const float widest = bound_widths(v), parts = widest / first_width;
        return intervals_.free_throughout(
            parts < IntervalChecker::max_parts ? 1 + static_cast<int>(parts) : IntervalChecker::max_parts, widest,
            resolution,
            [&](FloatPack s, FloatPack half, unsigned lanes_used) {
                return collisions(q0, v, s, lanes_used, false, {widths_.units, widths_.pairs, half});
            },
            [&](FloatPack s, unsigned lanes_used) { return collisions(q0, v, s, lanes_used, true, {}); });
    }

    // Lanes that collide at q(s).
    unsigned collisions(const float* q0, const float* v, FloatPack s, unsigned lanes_used, bool any,
                        const SphereChecker::Margins& margins) {
        for (int k = 0; k < n_dofs_; ++k) q_[query_.moving_dofs[k].iq] = s * v[k] + q0[k];
        if (geodesic_v_) place_geodesic(s);
        ++packs;
        return checker_.collisions(q_, lanes_used, any, margins);
    }

    long packs = 0;  // checked so far

  private:
    static constexpr float first_width = 0.05f;  // [m] motion of the spheres in the intervals that are checked first
    static constexpr int max_points = 1 << 20;

    void place_geodesic(FloatPack s) {
        double q[7];
        for (int i : query_.moving_manifold_bodies) {
            Body b = query_.robot().bodies[i];
            const double *from = geodesic_q0_ + b.iq, *v = geodesic_v_ + b.iv;
            const int iq = b.iq;
            b.iq = b.iv = 0;
            for (int lane = 0; lane < float_lanes; ++lane) {
                integrate_joint(b, from, v, static_cast<double>(s[lane]), q);
                for (int k = 0; k < coordinates(b.kind); ++k) q_[iq + k].v[lane] = static_cast<float>(q[k]);
            }
        }
    }

    // Maximum motion of any unit per unit of a coordinate.
    float widest_sweep(int iv) const {
        float widest = 0;
        for (int u : query_.checked_units)
            if (query_.unit_sweep(u)[iv] > widest) widest = query_.unit_sweep(u)[iv];
        return widest;
    }

    // Upper bounds of the total motion of units and pairs. Returns the largest.
    float bound_widths(const float* v) {
        const auto bound = [&](const float* sweep) {
            float sum = 0;
            for (int k = 0; k < n_dofs_; ++k) sum += __builtin_fabsf(v[k]) * sweep[query_.moving_dofs[k].iv];
            if (!geodesic_v_) return sum;
            for (int i : query_.moving_manifold_bodies) {
                const Body& b = query_.robot().bodies[i];
                for (int k = b.iv; k < b.iv + dofs(b.kind); ++k)
                    sum += static_cast<float>(fabs(geodesic_v_[k])) * sweep[k];
            }
            return sum;
        };
        return widths_.set(query_, bound);
    }

    const CollisionQuery& query_;
    SphereChecker checker_;
    int n_dofs_;
    const double *geodesic_q0_ = nullptr, *geodesic_v_ = nullptr;
    AlignedMemory memory_;  // for the arrays below
    FloatPack* q_;
    float* widest_;
    SphereWidths widths_;
    IntervalChecker intervals_;
};

}  // namespace kinodyn::KINODYN_TARGET
