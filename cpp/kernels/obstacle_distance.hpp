// Distances from a point to the obstacles of a world. To add a kind, write a class with `at` and `curvature`, and list
// it in `visit_obstacle`.
#pragma once

#include "kernels/surface_distance.hpp"

namespace kinodyn::KINODYN_TARGET {

// A unit vector normal to another one.
inline Point across(const Point& a) {
    const Point other = fabs(a.x) < 0.6 ? Point{1, 0, 0} : Point{0, 1, 0};
    const Point d = cross(a, other);
    return (1 / length(d)) * d;
}

struct BoxSolid {
    const BoxObstacle& o;

    SolidDistance at(const Point& c, double = HUGE_VAL) const {
        const Parts parts = parts_at(c);
        double n[3] = {0, 0, 0};
        if (parts.outside > 0) {
            for (int k = 0; k < 3; ++k)
                n[k] = parts.beyond[k] > 0 ? parts.side[k] * parts.beyond[k] / parts.outside : 0;
            return {parts.outside, in_world(n)};
        }
        int nearest = 0;
        for (int k = 1; k < 3; ++k)
            if (parts.beyond[k] > parts.beyond[nearest]) nearest = k;
        n[nearest] = parts.side[nearest];
        return {parts.beyond[nearest], in_world(n)};
    }

    // Second derivative of the distance for a point that moves with velocity v.
    double curvature(const Point& c, const Point& v) const {
        const Parts parts = parts_at(c);
        if (!(parts.outside > 0)) return 0;
        const double along[3] = {dot(axis(0), v), dot(axis(1), v), dot(axis(2), v)};
        double square = 0, normal = 0;
        for (int k = 0; k < 3; ++k)
            if (parts.beyond[k] > 0) {
                square += along[k] * along[k];
                normal += along[k] * parts.side[k] * parts.beyond[k] / parts.outside;
            }
        return (square - normal * normal) / parts.outside;
    }

  private:
    struct Parts {
        double beyond[3], side[3], outside;  // distance beyond the faces, their sides; distance if outside the box
    };
    Point axis(int k) const { return point(o.R + 3 * k); }
    Parts parts_at(const Point& c) const {
        const Point d = c - point(o.p);
        Parts parts{};
        double square = 0;
        for (int k = 0; k < 3; ++k) {
            const double x = dot(axis(k), d);
            parts.side[k] = x < 0 ? -1 : 1, parts.beyond[k] = fabs(x) - o.half[k];
            if (parts.beyond[k] > 0) square += parts.beyond[k] * parts.beyond[k];
        }
        parts.outside = __builtin_sqrt(square);
        return parts;
    }
    Point in_world(const double* n) const { return n[0] * axis(0) + n[1] * axis(1) + n[2] * axis(2); }
};

struct CapsuleSolid {
    const RoundObstacle& o;

    SolidDistance at(const Point& c, double = HUGE_VAL) const {
        const Point offset = from_segment(c);
        const double far = length(offset);
        return {far - o.radius, far > 0 ? (1 / far) * offset : across(point(o.axis))};
    }

    double curvature(const Point& c, const Point& v) const {
        const Point offset = from_segment(c), axis = point(o.axis);
        const double square = dot(offset, offset), normal = dot(offset, v), along = dot(axis, v);
        if (!(square > 0)) return 0;
        const bool beside = fabs(dot(c - point(o.p), axis)) < o.half;
        return (dot(v, v) - normal * normal / square - (beside ? along * along : 0)) / __builtin_sqrt(square);
    }

  private:
    Point from_segment(const Point& c) const {
        const Point d = c - point(o.p), axis = point(o.axis);
        const double along = dot(d, axis), half = o.half;
        return d - (along < -half ? -half : along > half ? half : along) * axis;
    }
};

struct CylinderSolid {
    const RoundObstacle& o;

    SolidDistance at(const Point& c, double = HUGE_VAL) const {
        const Parts p = parts_at(c);
        if (p.aside > 0 && p.beyond > 0) {
            const double far = __builtin_sqrt(p.aside * p.aside + p.beyond * p.beyond);
            return {far, (p.aside / far) * p.radial + (p.beyond / far) * p.axial};
        }
        return p.aside > p.beyond ? SolidDistance{p.aside, p.radial} : SolidDistance{p.beyond, p.axial};
    }

    double curvature(const Point& c, const Point& v) const {
        const Parts p = parts_at(c);
        const double radial = dot(p.radial, v), axial = dot(p.axial, v);
        const double around = p.from_axis > 0 ? (dot(v, v) - radial * radial - axial * axial) / p.from_axis : 0;
        if (!(p.aside > 0 && p.beyond > 0)) return p.aside > p.beyond ? around : 0;
        const double far = __builtin_sqrt(p.aside * p.aside + p.beyond * p.beyond);
        const double across_normal = (p.aside * axial - p.beyond * radial) / far;
        return across_normal * across_normal / far + p.aside / far * around;
    }

  private:
    struct Parts {
        double from_axis, aside, beyond;  // beyond the side and beyond the ends
        Point radial, axial;              // unit vectors outwards
    };
    Parts parts_at(const Point& c) const {
        const Point d = c - point(o.p), axis = point(o.axis);
        const double along = dot(d, axis);
        const Point offset = d - along * axis;
        const double far = length(offset);
        return {far, far - o.radius, fabs(along) - o.half, far > 0 ? (1 / far) * offset : across(axis),
                (along < 0 ? -1.0 : 1.0) * axis};
    }
};

// Calls f with the solid of a pair.
template <class F>
inline auto visit_obstacle(const Obstacles& all, const DistanceQuery::ObstaclePair& pair, F&& f) {
    switch (pair.kind) {
        case DistanceQuery::ObstaclePair::UprightBox: return f(BoxSolid{all.upright_boxes[pair.index]});
        case DistanceQuery::ObstaclePair::Box: return f(BoxSolid{all.boxes[pair.index]});
        case DistanceQuery::ObstaclePair::Capsule: return f(CapsuleSolid{all.capsules[pair.index]});
        case DistanceQuery::ObstaclePair::Cylinder: return f(CylinderSolid{all.cylinders[pair.index]});
        default: return f(SurfaceSolid{all.surfaces[pair.index]});
    }
}

}  // namespace kinodyn::KINODYN_TARGET
