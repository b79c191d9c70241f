// Bounds of the distance from the centre of each cell of a grid to the nearest point of a cloud. From a centre to a
// point next to it, the distance changes by at most their distance: for most spheres this decides whether they touch
// the cloud.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cell_points.hpp"
#include "core/distance_grid.hpp"

namespace kinodyn {

class CloudBounds {
  public:
    static constexpr int unknown = 255;  // upper bound of cells that are far from all points

    CloudBounds() = default;
    // Points in a grid that has been measured.
    CloudBounds(const CellPoints& points, const DistanceGrid& grid);

    bool any() const { return !words_.empty(); }
    // By cell: the lower bound, and in the upper byte the upper bound, in units of 1 / DistanceGrid::steps of a cell.
    const std::uint16_t* words() const { return words_.data(); }  // two more bytes may be read

  private:
    std::vector<std::uint16_t> words_;
};

}  // namespace kinodyn
