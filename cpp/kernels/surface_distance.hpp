// The distance from a point to a surface of points or triangles, by branch and bound in its tree of boxes.
#pragma once

#include "core/distance.hpp"
#include "kernels/algebra.hpp"

namespace kinodyn::KINODYN_TARGET {

using Point = Vec3<double>;

inline Point point(const float* p) { return {p[0], p[1], p[2]}; }
inline double length(const Point& a) { return __builtin_sqrt(dot(a, a)); }

// The signed distance of a point to a solid [m], negative inside, and its gradient, a unit vector. Distances beyond a
// bound may be given as infinity.
struct SolidDistance {
    double distance;
    Point normal;
};

struct SurfaceSolid {
    const SurfaceObstacle& o;

    SolidDistance at(const Point& c, double bound = HUGE_VAL) const {
        const Point p = local(c);
        const bool inside = contains(p);
        const double limit = inside ? HUGE_VAL : squared_reach(bound + o.radius);
        Nearest nearest = {{0, 0, 0}, limit};
        search(p, nearest);
        if (!(nearest.square < limit)) return {HUGE_VAL, {0, 0, 1}};  // the root of the limit may round below the bound
        const double far = __builtin_sqrt(nearest.square);
        const Point offset = (inside ? -1.0 : 1.0) * (p - nearest.point);
        const Point n = far > 0 && far < HUGE_VAL ? (1 / far) * offset : Point{0, 0, 1};
        return {(inside ? -far : far) - o.radius, tmul(axes(), n)};
    }

    // Second derivative of the distance for a point that moves with velocity v; of triangles, a lower bound.
    double curvature(const Point& c, const Point& v) const {
        if (o.surface->points().empty()) return 0;
        const SolidDistance d = at(c);
        const double far = d.distance + o.radius, along = dot(d.normal, v);
        return far > 0 ? (dot(v, v) - along * along) / far : 0;
    }

  private:
    struct Nearest {
        Point point;
        double square;  // of the distance
    };
    struct Entry {
        int level, block;
        double square;
    };

    Mat3<double> axes() const { return {point(o.bounds.R), point(o.bounds.R + 3), point(o.bounds.R + 6)}; }
    Point local(const Point& c) const { return axes() * (c - point(o.corner)); }
    static double squared_reach(double reach) { return reach > 0 ? reach * reach : 0; }

    bool contains(const Point& p) const {
        const float* extent = o.surface->extent();
        if (!(p.x > 0 && p.y > 0 && p.z > 0 && p.x < extent[0] && p.y < extent[1] && p.z < extent[2])) return false;
        const float single[3] = {static_cast<float>(p.x), static_cast<float>(p.y), static_cast<float>(p.z)};
        return o.surface->contains(single);
    }

    void search(const Point& p, Nearest& nearest) const {
        const BoxTree& tree = o.surface->tree();
        Entry stack[8 * box_fanout];  // at most eight levels: 16^8 elements
        int n = 0;
        stack[n++] = {tree.top(), 0, 0};
        while (n > 0) {
            const Entry from = stack[--n];
            if (from.square >= nearest.square) continue;
            const BoxBlock& block = tree.block(from.level, from.block);
            Entry found[box_fanout];
            int count = 0;
            for (int k = 0; k < box_fanout; ++k) {
                const double square = squared_distance(block, k, p);
                if (!(square < nearest.square)) continue;
                int place = count++;
                for (; place > 0 && found[place - 1].square < square; --place) found[place] = found[place - 1];
                found[place] = {from.level - 1, from.block * box_fanout + k, square};
            }
            if (from.level > 0) {
                for (int k = 0; k < count; ++k) stack[n++] = found[k];
                continue;
            }
            for (int k = count - 1; k >= 0 && found[k].square < nearest.square; --k)
                visit_elements(found[k].block, p, nearest);
        }
    }

    static double squared_distance(const BoxBlock& block, int k, const Point& p) {
        const double x[3] = {p.x, p.y, p.z};
        double square = 0;
        for (int i = 0; i < 3; ++i) {
            const double below = block.lower[i][k] - x[i], above = x[i] - block.upper[i][k];
            const double beyond = below > above ? below : above;
            if (beyond > 0) square += beyond * beyond;
        }
        return square;
    }

    void visit_elements(int block, const Point& p, Nearest& nearest) const {
        const PointBlock* points = o.surface->is_cloud() ? &o.surface->points()[block] : nullptr;
        for (int k = 0; k < box_fanout; ++k) {
            const Point q = points ? element(points->p, k) : on_triangle(block, k, p);
            const double square = dot(p - q, p - q);
            if (square < nearest.square) nearest = {q, square};
        }
    }
    static Point element(const float (*p)[box_fanout], int k) { return {p[0][k], p[1][k], p[2][k]}; }

    // The point of a triangle nearest to p: the projection onto its plane if that is inside, else a point on an edge.
    Point on_triangle(int block, int k, const Point& p) const {
        const auto& corner = o.surface->triangles()[block].corner;
        const Point a = element(corner[0], k), b = element(corner[1], k), c = element(corner[2], k);
        const Point n = cross(b - a, c - a);
        const double square = dot(n, n);
        if (square > 0 && dot(cross(b - a, p - a), n) >= 0 && dot(cross(c - b, p - b), n) >= 0 &&
            dot(cross(a - c, p - c), n) >= 0)
            return p - (dot(p - a, n) / square) * n;
        Point best = on_edge(a, b, p);
        for (const Point& q : {on_edge(b, c, p), on_edge(c, a, p)})
            if (dot(p - q, p - q) < dot(p - best, p - best)) best = q;
        return best;
    }
    static Point on_edge(const Point& a, const Point& b, const Point& p) {
        const Point along = b - a;
        const double square = dot(along, along), t = square > 0 ? dot(p - a, along) / square : 0;
        return a + (t < 0 ? 0.0 : t > 1 ? 1.0 : t) * along;
    }
};

}  // namespace kinodyn::KINODYN_TARGET
