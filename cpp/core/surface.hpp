// Surfaces for checks against the spheres of a robot: point clouds or triangle meshes.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/box_tree.hpp"
#include "core/cell_points.hpp"
#include "core/cloud_bounds.hpp"
#include "core/distance_grid.hpp"
#include "core/solid_columns.hpp"
#include "core/vec3.hpp"

namespace kinodyn {

struct alignas(64) PointBlock {
    float p[3][box_fanout];
};
struct alignas(64) TriangleBlock {
    float corner[3][3][box_fanout];  // corner, axis
};

// Elements in blocks of sixteen (the last one is repeated), a box tree over the blocks, and a distance grid. The blocks
// and the tree of a cloud are built when they are first needed: most checks find its points by the cells of the grid.
// Coordinates are relative to `lower`, so that a surface far from its origin loses no digits.
class Surface {
  public:
    // Points x, y, z; n > 0.
    Surface(const double* points, std::size_t n);
    // Triangles with corners in `vertices` (x, y, z). With `closed`, the interior belongs to the solid.
    Surface(const double* vertices, const std::int64_t* faces, std::size_t n, bool closed);

    bool is_cloud() const { return cells_.any(); }
    const CellPoints& cells() const { return cells_; }  // of a cloud
    const std::vector<PointBlock>& points() const { return place_points(), points_; }
    const std::vector<TriangleBlock>& triangles() const { return triangles_; }
    const BoxTree& tree() const { return place_points(), tree_; }
    const DistanceGrid& grid() const { return grid_; }
    const CloudBounds& bounds() const { return bounds_; }  // of points
    const double* lower() const { return lower_; }
    const float* extent() const { return extent_; }
    float rounding() const { return rounding_; }  // [m] of coordinates

    // Whether a point, which must not be on the surface, is inside. Always false if the surface is not closed.
    bool contains(const float* p) const;

    // The point of the surface nearest to p, relative to `lower` as p is, and its distance; `bound` if it is farther.
    struct Nearest {
        Vec3 point;
        double distance;
    };
    Nearest nearest(const Vec3& p, double bound = 1e300) const;

  private:
    void set_bounds(const double* points, std::size_t n);
    std::vector<float> relative(const double* points, std::size_t n) const;
    void place_triangles(const std::vector<float>& corners);
    void place_points() const;  // of a cloud, once

    double lower_[3];
    float extent_[3], rounding_;
    mutable std::once_flag placed_;
    mutable std::vector<PointBlock> points_;
    std::vector<TriangleBlock> triangles_;
    mutable BoxTree tree_;
    CellPoints cells_;
    DistanceGrid grid_;
    CloudBounds bounds_;
    SolidColumns columns_;  // of closed surfaces
};

}  // namespace kinodyn
