#include "core/voxel_hull.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/interrupts.hpp"

namespace kinodyn {

namespace {

constexpr double max_cells = 8e6;    // of the grid
constexpr double max_columns = 2e7;  // of cells, over all triangles
constexpr std::size_t max_squares = 40'000;
constexpr double growth = 1.25;  // of cells that are too small

// A part of a triangle: cut by two planes along each of two axes, it has up to seven corners.
constexpr int max_corners = 8;
struct Polygon {
    std::array<Vec3, 2 * max_corners> corner;  // a cut at most doubles them
    int count = 0;
};

// The part of a polygon where `sign` times a coordinate is at least `sign` times `bound`.
Polygon cut(const Polygon& polygon, int axis, double bound, double sign) {
    if (polygon.count > max_corners) return polygon;  // not convex, by rounding: the whole contains the part
    Polygon part;
    for (int k = 0; k < polygon.count; ++k) {
        const Vec3 &a = polygon.corner[k], &b = polygon.corner[(k + 1) % polygon.count];
        const double from = sign * (a[axis] - bound), to = sign * (b[axis] - bound);
        if (from >= 0) part.corner[part.count++] = a;
        if ((from < 0) == (to < 0)) continue;
        Vec3 crossing = a + (from / (from - to)) * (b - a);
        crossing[axis] = bound;
        part.corner[part.count++] = crossing;
    }
    return part;
}

class VoxelGrid {
  public:
    // Cells are numbered from 1 on each axis; those around them are empty.
    VoxelGrid(const Vec3& lower, const Vec3& upper, double cell) : lower_(lower), cell_(cell) {
        for (int i = 0; i < 3; ++i) n_[i] = static_cast<int>((upper[i] - lower[i]) / cell) + 3;
        marks_.assign(static_cast<std::size_t>(n_[0]) * n_[1] * n_[2], unknown);
    }

    void add(const Triangle& t) {
        Polygon polygon;
        for (const Vec3* corner : {&t.a, &t.b, &t.c})
            polygon.corner[polygon.count++] = (1 / cell_) * (*corner - lower_) + Vec3{1, 1, 1};
        for_slabs(polygon, 0, [&](int i, const Polygon& slab) {
            for_slabs(slab, 1, [&](int j, const Polygon& column) {
                const auto [first, last] = range(column, 2);
                std::fill_n(&marks_[place(i, j, first)], last - first + 1, surface);
            });
        });
    }

    // Marks the cells that can be reached from the border of the grid without passing through the surface.
    void flood() {
        std::vector<std::size_t> open = {0};
        marks_[0] = outside;
        const std::size_t step[3] = {static_cast<std::size_t>(n_[1]) * n_[2], static_cast<std::size_t>(n_[2]), 1};
        while (!open.empty()) {
            const std::size_t from = open.back();
            open.pop_back();
            for (int i = 0; i < 3; ++i) {
                const std::size_t index = from / step[i] % static_cast<std::size_t>(n_[i]);
                if (index > 0) reach(from - step[i], open);
                if (index + 1 < static_cast<std::size_t>(n_[i])) reach(from + step[i], open);
            }
        }
    }

    // Calls f(cell, axis, side) for each side of a cell, 0 or 1, beyond which is the outside.
    template <class F>
    void for_sides(F&& f) const {
        for (int i = 1; i + 1 < n_[0]; ++i)
            for (int j = 1; j + 1 < n_[1]; ++j)
                for (int k = 1; k + 1 < n_[2]; ++k) {
                    if (marks_[place(i, j, k)] == outside) continue;
                    for (int axis = 0; axis < 3; ++axis)
                        for (int side = 0; side < 2; ++side) {
                            std::array<int, 3> next = {i, j, k};
                            next[axis] += side ? 1 : -1;
                            if (marks_[place(next[0], next[1], next[2])] == outside)
                                f(std::array<int, 3>{i, j, k}, axis, side);
                        }
                }
    }

    Vec3 corner(const std::array<int, 3>& c) const { return lower_ + cell_ * Vec3{c[0] - 1.0, c[1] - 1.0, c[2] - 1.0}; }
    std::uint64_t key(const std::array<int, 3>& c) const {
        return (static_cast<std::uint64_t>(c[0]) * (n_[1] + 1) + c[1]) * (n_[2] + 1) + c[2];
    }

  private:
    enum : std::uint8_t { unknown, surface, outside };

    std::size_t place(int i, int j, int k) const {
        return (static_cast<std::size_t>(i) * n_[1] + j) * static_cast<std::size_t>(n_[2]) + k;
    }
    void reach(std::size_t cell, std::vector<std::size_t>& open) {
        if (marks_[cell] != unknown) return;
        marks_[cell] = outside;
        open.push_back(cell);
    }
    std::pair<int, int> range(const Polygon& polygon, int axis) const {
        double low = 1e300, high = -1e300;
        for (int k = 0; k < polygon.count; ++k)
            low = std::min(low, polygon.corner[k][axis]), high = std::max(high, polygon.corner[k][axis]);
        const auto index = [&](double x) { return static_cast<int>(std::clamp(x, 1.0, n_[axis] - 2.0)); };
        return {index(low), index(high)};
    }
    // Calls f(index, part) for the parts of a polygon in the slabs of cells along an axis.
    template <class F>
    void for_slabs(Polygon rest, int axis, F&& f) const {
        const auto [first, last] = range(rest, axis);
        for (int k = first; k < last; ++k) {
            f(k, cut(rest, axis, k + 1.0, -1));
            rest = cut(rest, axis, k + 1.0, 1);
        }
        f(last, rest);
    }

    Vec3 lower_;
    double cell_;
    int n_[3];
    std::vector<std::uint8_t> marks_;
};

struct Box {
    Vec3 lower{1e300, 1e300, 1e300}, upper{-1e300, -1e300, -1e300};
    void add(const Triangle& t) {
        for (const Vec3* corner : {&t.a, &t.b, &t.c}) lower = min(lower, *corner), upper = max(upper, *corner);
    }
    Vec3 extent() const { return upper - lower; }
};

double cells_along(double length, double cell) { return std::floor(length / cell) + 3; }

// The columns of cells that the boxes of all triangles pass through, up to a little more than the largest number.
double column_count(const std::vector<Triangle>& triangles, double cell) {
    double count = 0;
    for (const Triangle& t : triangles) {
        if (count > max_columns) break;
        Box box;
        box.add(t);
        const Vec3 edge = box.extent(), normal = cross(t.b - t.a, t.c - t.a);
        count += 1 + (edge.x + edge.y) / cell + 0.5 * std::fabs(normal.z) / (cell * cell);
    }
    return count;
}

double fitting_cell(const std::vector<Triangle>& triangles, const Vec3& extent, double cell) {
    while (cells_along(extent.x, cell) * cells_along(extent.y, cell) * cells_along(extent.z, cell) > max_cells)
        cell *= growth;
    while (column_count(triangles, cell) > max_columns && cell < norm(extent)) cell *= growth;
    return cell;
}

VoxelHull hull_of(const VoxelGrid& grid, double cell) {
    VoxelHull hull{{}, {}, cell};
    std::unordered_map<std::uint64_t, std::int64_t> number;
    const auto vertex = [&](const std::array<int, 3>& corner) {
        const auto [place, added] =
            number.try_emplace(grid.key(corner), static_cast<std::int64_t>(hull.vertices.size()));
        if (added) hull.vertices.push_back(grid.corner(corner));
        return place->second;
    };
    grid.for_sides([&](const std::array<int, 3>& at, int axis, int side) {
        std::array<std::int64_t, 4> square;
        for (int k = 0; k < 4; ++k) {
            std::array<int, 3> corner = at;
            corner[axis] += side;
            corner[(axis + 1) % 3] += k == 1 || k == 2;
            corner[(axis + 2) % 3] += k >= 2;
            square[side ? k : 3 - k] = vertex(corner);
        }
        hull.faces.push_back({square[0], square[1], square[2]});
        hull.faces.push_back({square[0], square[2], square[3]});
    });
    return hull;
}

}  // namespace

VoxelHull voxel_hull(const std::vector<Triangle>& triangles, double cell) {
    Box all;
    for (const Triangle& t : triangles) all.add(t);
    for (;; cell *= growth) {
        cell = fitting_cell(triangles, all.extent(), cell);
        VoxelGrid grid(all.lower, all.upper, cell);
        for (const Triangle& t : triangles) poll_interrupt(), grid.add(t);
        grid.flood();
        std::size_t squares = 0;
        grid.for_sides([&](const std::array<int, 3>&, int, int) { ++squares; });
        if (squares <= max_squares) return hull_of(grid, cell);
    }
}

}  // namespace kinodyn
