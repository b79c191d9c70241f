// Footholds: the plane on which a flat sole rests on a height map, and how much of the sole it supports.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/layout.hpp"

namespace kinodyn {

// Height map of square cells; the centre of the first one is at (x0, y0). Minus infinity where there is no ground.
struct HeightGrid {
    const double* heights;
    int nx, ny;
    double cell, x0, y0;

    double at(double x, double y) const {
        const double i = std::floor((x - x0) / cell + 0.5), j = std::floor((y - y0) / cell + 0.5);
        if (!(i >= 0 && i < nx && j >= 0 && j < ny)) return -std::numeric_limits<double>::infinity();
        return heights[static_cast<std::size_t>(i) * static_cast<std::size_t>(ny) + static_cast<std::size_t>(j)];
    }
};

using Point2 = std::array<double, 2>;

// Points of a sole in its frame: those that may bear load, and those around it that must be free.
struct Sole {
    std::vector<Point2> inner, outer;
    Point2 centre;                  // where the load acts
    std::array<int, 3> first = {};  // inner points whose triangle contains the centre
};

// Where the cells of a grid are.
struct GridRecord {
    double cell, x0, y0;

    static constexpr auto layout() {
        using G = GridRecord;
        return named("height_grid", field("cell", &G::cell), field("x0", &G::x0), field("y0", &G::y0));
    }
};

struct FootholdRules {
    double tolerance;    // [m] below the sole within which the ground bears it
    double clearance;    // [m] above the sole that points around it may reach
    double max_slope;    // rise over run
    double min_support;  // fraction of the inner points

    static constexpr auto layout() {
        using R = FootholdRules;
        return named("foothold_rules", field("tolerance", &R::tolerance), field("clearance", &R::clearance),
                     field("max_slope", &R::max_slope), field("min_support", &R::min_support));
    }
};

enum class FootholdStatus : std::int32_t { supported, no_ground, too_steep, too_little, blocked };
constexpr auto codes_of(FootholdStatus) {
    using S = FootholdStatus;
    return codes("foothold_status", code("supported", S::supported), code("no_ground", S::no_ground),
                 code("too_steep", S::too_steep), code("too_little", S::too_little), code("blocked", S::blocked));
}

// The sole is at height z at its origin, and rises by (gx, gy) along x and y.
struct Foothold {
    double z = 0.0, gx = 0.0, gy = 0.0, support = 0.0;
    FootholdStatus status = FootholdStatus::no_ground;

    static constexpr auto layout() {
        using F = Foothold;
        return named("foothold", field("z", &F::z), field("gx", &F::gx), field("gy", &F::gy),
                     field("support", &F::support), field("status", &F::status));
    }
};

constexpr double no_ground = -1e3;  // [m] takes the place of minus infinity, so that differences are finite

inline double area(const Point2& a, const Point2& b, const Point2& c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// Least barycentric coordinate of the origin in a triangle; negative outside, -1 without area.
inline double inside(const Point2& a, const Point2& b, const Point2& c) {
    const double whole = area(a, b, c);
    if (std::abs(whole) < 1e-12) return -1.0;
    const Point2 o = {0.0, 0.0};
    const double u = area(o, b, c) / whole, v = area(a, o, c) / whole;
    return std::min(std::min(u, v), 1.0 - u - v);
}

// Three points around the origin, as far apart as possible; false if there are none.
inline bool surround(const std::vector<Point2>& points, std::array<int, 3>& found) {
    const int n = static_cast<int>(points.size());
    double best = 0.0;
    for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j)
            for (int k = j + 1; k < n; ++k) {
                const double size = std::abs(area(points[i], points[j], points[k]));
                if (size > best && inside(points[i], points[j], points[k]) > 1e-9) best = size, found = {i, j, k};
            }
    return best > 0.0;
}

inline Sole make_sole(std::vector<Point2> inner, std::vector<Point2> outer, const Point2& centre) {
    Sole sole{std::move(inner), std::move(outer), centre, {}};
    std::vector<Point2> centred = sole.inner;
    for (Point2& point : centred) point = {point[0] - centre[0], point[1] - centre[1]};
    surround(centred, sole.first);
    return sole;
}

// Heights under the points of a sole, and the plane on which it rests.
class Resting {
  public:
    Foothold operator()(const HeightGrid& grid, const Sole& sole, double x, double y, double yaw,
                        const FootholdRules& rules) {
        const double c = std::cos(yaw), s = std::sin(yaw);
        const double ox = x + c * sole.centre[0] - s * sole.centre[1];
        const double oy = y + s * sole.centre[0] + c * sole.centre[1];
        place(sole.inner, sole.centre, c, s, points_);
        heights_.resize(points_.size());
        for (std::size_t k = 0; k < points_.size(); ++k) {
            const double h = grid.at(ox + points_[k][0], oy + points_[k][1]);
            heights_[k] = h > no_ground ? h : no_ground;
        }
        Foothold result;
        std::array<int, 3> face = sole.first;
        descend(face);
        for (int k : face)
            if (heights_[static_cast<std::size_t>(k)] <= no_ground) return result;
        result.z = a_ + b_ * (x - ox) + c_ * (y - oy);
        result.gx = b_, result.gy = c_;
        if (std::hypot(b_, c_) > rules.max_slope) {
            result.status = FootholdStatus::too_steep;
            return result;
        }
        std::size_t bearing = 0;
        for (std::size_t k = 0; k < points_.size(); ++k)
            bearing += plane(points_[k]) - heights_[k] <= rules.tolerance ? 1u : 0u;
        result.support = static_cast<double>(bearing) / static_cast<double>(points_.size());
        if (result.support < rules.min_support) {
            result.status = FootholdStatus::too_little;
            return result;
        }
        place(sole.outer, sole.centre, c, s, around_);
        result.status = FootholdStatus::supported;
        for (const Point2& p : around_)
            if (grid.at(ox + p[0], oy + p[1]) - plane(p) > rules.clearance) result.status = FootholdStatus::blocked;
        return result;
    }

  private:
    static void place(const std::vector<Point2>& from, const Point2& centre, double c, double s,
                      std::vector<Point2>& to) {
        to.resize(from.size());
        for (std::size_t k = 0; k < from.size(); ++k) {
            const double u = from[k][0] - centre[0], v = from[k][1] - centre[1];
            to[k] = {c * u - s * v, s * u + c * v};
        }
    }

    double plane(const Point2& p) const { return a_ + b_ * p[0] + c_ * p[1]; }

    // Finds the face of the upper convex hull above the load: of all planes above the ground, the lowest there. As in
    // the simplex method, a point above the plane replaces a corner of the triangle such that it still contains the
    // load; the height of the plane at the load increases every time.
    void descend(std::array<int, 3>& face) {
        for (std::size_t turn = 0; turn < 4 * points_.size(); ++turn) {
            fit(face);
            int highest = -1;
            double most = 1e-9;
            for (std::size_t k = 0; k < points_.size(); ++k) {
                const double above = heights_[k] - plane(points_[k]);
                if (above > most) most = above, highest = static_cast<int>(k);
            }
            if (highest < 0) return;
            double best = -1.0;
            std::array<int, 3> next = face;
            for (std::size_t corner = 0; corner < 3; ++corner) {
                std::array<int, 3> other = face;
                other[corner] = highest;
                const double within = inside(at(other[0]), at(other[1]), at(other[2]));
                if (within > best) best = within, next = other;
            }
            face = next;
        }
    }

    const Point2& at(int k) const { return points_[static_cast<std::size_t>(k)]; }

    void fit(const std::array<int, 3>& face) {
        const Point2 &p = at(face[0]), &q = at(face[1]), &r = at(face[2]);
        const double whole = area(p, q, r);
        const double h = heights_[static_cast<std::size_t>(face[0])];
        const double u = heights_[static_cast<std::size_t>(face[1])] - h;
        const double v = heights_[static_cast<std::size_t>(face[2])] - h;
        b_ = (u * (r[1] - p[1]) - v * (q[1] - p[1])) / whole;
        c_ = (v * (q[0] - p[0]) - u * (r[0] - p[0])) / whole;
        a_ = h - b_ * p[0] - c_ * p[1];
    }

    std::vector<Point2> points_, around_;
    std::vector<double> heights_;
    double a_ = 0.0, b_ = 0.0, c_ = 0.0;
};

}  // namespace kinodyn
