// A closed surface of small squares around any triangles: the cubes of a grid that they pass through or enclose. It
// takes the place of meshes on which searches are slow, such as thousands of long thin triangles at one vertex.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/triangle_bvh.hpp"

namespace kinodyn {

struct VoxelHull {
    std::vector<Vec3> vertices;
    std::vector<std::array<std::int64_t, 3>> faces;  // counter-clockwise seen from outside
    double cell;  // [m] side of the cubes: the hull reaches beyond what is enclosed by no more than their diagonal
};

// `cell` [m] is the smallest side of the cubes. It is larger where the grid, the cubes that triangles pass through or
// the surface would be too many.
VoxelHull voxel_hull(const std::vector<Triangle>& triangles, double cell);

}  // namespace kinodyn
