// The triangles of a closed mesh by vertical columns: the triangles above a point determine whether it is inside.
#pragma once

#include <cstdint>
#include <vector>

#include "core/distance_grid.hpp"

namespace kinodyn {

class SolidColumns {
  public:
    SolidColumns() = default;
    // Triangles are nine coordinates each. The columns are those of a grid.
    SolidColumns(const std::vector<float>& corners, const DistanceGrid& grid);

    bool any() const { return !corners_.empty(); }
    // Whether a point within the grid, which must not be on the surface, is inside.
    bool inside(const float* p) const;
    // Indices of the grid cells inside the mesh. The grid marks the cells that triangles pass through.
    std::vector<std::size_t> cells_inside(const DistanceGrid& grid) const;

  private:
    // Calls f(z, sign) where triangles cross the vertical line through x, y; they face up where the sign is positive.
    template <class F>
    void for_crossings(std::size_t column, double x, double y, F&& f) const;

    std::vector<float> corners_;
    int n_[2] = {};
    float inverse_ = 0;
    std::vector<std::int32_t> starts_, triangles_;  // of each column
};

}  // namespace kinodyn
