// Spheres of several configurations at once, one per lane, against obstacles.
#pragma once

#include "core/collision.hpp"
#include "kernels/float_pack.hpp"
#include "kernels/surface_checks.hpp"

namespace kinodyn::KINODYN_TARGET {

inline FloatMask box_touches(FloatPack x, FloatPack y, FloatPack z, const float* half, FloatPack r) {
    const FloatPack dx = positive_part(magnitude(x) - half[0]), dy = positive_part(magnitude(y) - half[1]),
                    dz = positive_part(magnitude(z) - half[2]);
    return dx * dx + dy * dy + dz * dz <= r * r;
}

struct UprightBox {
    const BoxObstacle& o;
    FloatMask touches(const LaneSphere& s) const {
        const FloatPack x = s.c.x - o.p[0], y = s.c.y - o.p[1];
        return box_touches(o.R[0] * x + o.R[1] * y, o.R[3] * x + o.R[4] * y, s.c.z - o.p[2], o.half, s.r);
    }
};

struct Box {
    const BoxObstacle& o;
    FloatMask touches(const LaneSphere& s) const {
        const Vec3<FloatPack> d = mat(o.R) * (s.c - vec(o.p));
        return box_touches(d.x, d.y, d.z, o.half, s.r);
    }
};

struct Capsule {
    const RoundObstacle& o;
    FloatMask touches(const LaneSphere& s) const {
        const Vec3<FloatPack> d = s.c - vec(o.p);
        const Vec3<FloatPack> from_segment = d - clamp(dot(d, vec(o.axis)), -o.half, o.half) * vec(o.axis);
        return dot(from_segment, from_segment) <= square(s.r + o.radius);
    }
};

struct Cylinder {
    const RoundObstacle& o;
    FloatMask touches(const LaneSphere& s) const {
        const Vec3<FloatPack> d = s.c - vec(o.p);
        const FloatPack along = dot(d, vec(o.axis));
        const Vec3<FloatPack> from_axis = d - along * vec(o.axis);  // more accurate than by Pythagoras
        const FloatPack beyond = positive_part(magnitude(along) - o.half);
        const FloatPack aside = positive_part(root(dot(from_axis, from_axis)) - o.radius);
        return aside * aside + beyond * beyond <= s.r * s.r;
    }
};

template <class Shape, class Table, class F>
inline void for_kind(const std::vector<int>& near, const Table& table, F&& f) {
    for (const int i : near) f(Shape{table[i]});
}

// Calls f for each of the obstacles that are listed as near.
template <class F>
inline void for_each_obstacle(const Obstacles& all, const NearObstacles& near, F&& f) {
    for_kind<UprightBox>(near.upright_boxes, all.upright_boxes, f);
    for_kind<Box>(near.boxes, all.boxes, f);
    for_kind<Capsule>(near.capsules, all.capsules, f);
    for_kind<Cylinder>(near.cylinders, all.cylinders, f);
    for_kind<SurfaceShape>(near.surfaces, all.surfaces, f);
}

}  // namespace kinodyn::KINODYN_TARGET
