// A grid of cubic cells, each with a lower bound of its distance to occupied cells. For most spheres a single lookup
// shows that nothing is near.
#pragma once

#include <cstdint>
#include <vector>

namespace kinodyn {

class DistanceGrid {
  public:
    static constexpr int reach = 10;   // cells; larger distances are clamped to it
    static constexpr int steps = 25;   // gaps are stored in units of 1 / steps of a cell, rounded down
    static constexpr int solid = 255;  // gap of a cell inside a closed surface

    DistanceGrid() = default;
    // A grid that covers 0 to `extent` on each axis with `cell` or larger cells.
    DistanceGrid(const float* extent, float cell);

    int n[3];
    float cell, inverse;

    int index(int i, int axis) const { return i < n[axis] ? i : n[axis] - 1; }
    int index_of(float x, int axis) const { return index(static_cast<int>(x * inverse), axis); }
    std::size_t place(int i, int j, int k) const {
        return (static_cast<std::size_t>(k) * n[1] + j) * static_cast<std::size_t>(n[0]) + i;
    }
    void occupy(int i, int j, int k) { gaps_[place(i, j, k)] = 1; }
    bool occupied(int i, int j, int k) const { return gaps_[place(i, j, k)] != 0; }
    // Replaces the occupancy by the gaps.
    void measure();
    void fill(std::size_t place) { gaps_[place] = solid; }
    // Lower bound of the distance from a point in the grid to occupied cells, refined by the neighbours of its cell.
    float clearance(const float* p) const;
    const std::uint8_t* gaps() const { return gaps_.data(); }  // three more bytes may be read

  private:
    void along_z(std::vector<std::uint8_t>& squares) const;
    void along_y(std::vector<std::uint8_t>& squares) const;
    void along_x(std::vector<std::uint8_t>& squares) const;

    std::vector<std::uint8_t> gaps_;
};

// Cell size at which `count` cells fill a box, at least `smallest`.
float cell_size(const float* extent, double count, float smallest);

}  // namespace kinodyn
