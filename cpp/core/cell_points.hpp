// Points of a cloud by the cells of a grid, so that those near a sphere are found without a search: along x the points
// of neighbouring cells follow each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/distance_grid.hpp"

namespace kinodyn {

class CellPoints {
  public:
    static constexpr int padding = 16;  // points that may be read beyond the last one; they are far away

    CellPoints() = default;
    // Points x, y, z in a grid.
    CellPoints(const std::vector<float>& points, const DistanceGrid& grid);

    bool any() const { return !starts_.empty(); }
    // Whether cells have so few points that comparing with all of them takes less time than a tree.
    bool few_per_cell() const { return few_per_cell_; }
    std::size_t size() const { return coordinates_[0].size() - padding; }
    const float* coordinates(int axis) const { return coordinates_[axis].data(); }
    // The points of a cell, by its place in the grid, start here and end where those of the next one start.
    std::uint32_t start(std::size_t place) const { return starts_[place]; }
    // Which of the cells 64 * chunk to 64 * chunk + 63 along x have points, by bits; for j = 0, 1, ... of a plane k.
    const std::uint64_t* occupied(int chunk, int k) const {
        return occupied_.data() + (static_cast<std::size_t>(chunk) * planes_ + static_cast<std::size_t>(k)) * rows_;
    }

    // Calls f(i, j, k, begin, end) for the cells that have points.
    template <class F>
    void for_cells(const DistanceGrid& grid, F&& f) const {
        const int chunks = (grid.n[0] + 63) / 64;
        for (int k = 0; k < grid.n[2]; ++k)
            for (int j = 0; j < grid.n[1]; ++j)
                for (int chunk = 0; chunk < chunks; ++chunk)
                    for (std::uint64_t left = occupied(chunk, k)[j]; left != 0; left &= left - 1) {
                        const int i = 64 * chunk + __builtin_ctzll(left);
                        const std::size_t place = grid.place(i, j, k);
                        f(i, j, k, starts_[place], starts_[place + 1]);
                    }
    }

  private:
    std::vector<float> coordinates_[3];
    std::vector<std::uint32_t> starts_;
    std::vector<std::uint64_t> occupied_;
    std::size_t planes_ = 0, rows_ = 0;
    bool few_per_cell_ = false;
};

}  // namespace kinodyn
