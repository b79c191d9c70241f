// The cells of an octree that together contain a solid. A sphere that contains a cell covers every point in it, so
// spheres that contain all cells cover the solid, not only sampled points.
#pragma once

#include <vector>

#include "core/triangle_bvh.hpp"

namespace kinodyn {

struct Cell {
    Vec3 centre;
    double radius;  // half the diagonal
    double depth;   // signed distance of the centre from the surface, above 0 inside
    Vec3 nearest;   // point of the surface
};

struct OctreeCells {
    std::vector<Cell> leaves;      // in the order of the tree, so that neighbours are near each other in the list
    std::vector<Cell> candidates;  // cells of a coarser size, centres that are inside or near the surface
};

// Leaves at the surface have radii of at most `surface_radius`; inside, where the solid is thick, they are larger.
// Candidates have radii of about `candidate_radius`.
OctreeCells octree_cells(const TriangleBvh& surface, double surface_radius, double candidate_radius);

}  // namespace kinodyn
