// The cells of a grid that triangles pass through. Triangles are nine coordinates each, from 0 on.
#pragma once

#include <vector>

#include "core/distance_grid.hpp"

namespace kinodyn {

// Cells of `size` or so much larger that the boxes of all triangles together contain a bounded number of them.
float triangle_cell_size(const std::vector<float>& corners, const float* extent, float size);

void occupy_triangles(const std::vector<float>& corners, float rounding, DistanceGrid& grid);

}  // namespace kinodyn
