#include "core/cloud_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace kinodyn {

namespace {

constexpr int reach = 3;  // cells around a point for which the distance is computed; others have the gap of the grid
constexpr int width = 2 * reach + 1, padded_width = 8;
constexpr float infinity = std::numeric_limits<float>::infinity();
static_assert(width < padded_width);

// A cell with points: their box and the one nearest to the centre, in units of cells.
struct OccupiedCell {
    int at[3];
    float lower[3], upper[3], point[3], offset;
};

std::vector<OccupiedCell> occupied_cells(const std::vector<float>& points, const DistanceGrid& grid) {
    std::vector<OccupiedCell> cells;
    std::vector<std::int32_t> number(grid.place(0, 0, grid.n[2]), -1);
    for (std::size_t k = 0; k + 2 < points.size(); k += 3) {
        int at[3];
        float x[3], offset = 0;
        for (int i = 0; i < 3; ++i) {
            at[i] = grid.index_of(points[k + i], i), x[i] = points[k + i] * grid.inverse;
            const float d = x[i] - static_cast<float>(at[i]) - 0.5f;
            offset += d * d;
        }
        std::int32_t& own = number[grid.place(at[0], at[1], at[2])];
        if (own < 0) {
            own = static_cast<std::int32_t>(cells.size());
            cells.push_back({{at[0], at[1], at[2]}, {x[0], x[1], x[2]}, {x[0], x[1], x[2]}, {}, infinity});
        }
        OccupiedCell& cell = cells[static_cast<std::size_t>(own)];
        for (int i = 0; i < 3; ++i) {
            cell.lower[i] = std::min(cell.lower[i], x[i]), cell.upper[i] = std::max(cell.upper[i], x[i]);
            if (offset < cell.offset) cell.point[i] = x[i];
        }
        cell.offset = std::min(cell.offset, offset);
    }
    return cells;
}

// Squares of the distances of cell centres: to the boxes of points around them, and to one point of each box.
class Squares {
  public:
    explicit Squares(const DistanceGrid& grid)
        : grid_(grid),
          stride_(static_cast<std::size_t>(grid.n[0]) + padded_width),
          used_(static_cast<std::size_t>(grid.n[1]) * static_cast<std::size_t>(grid.n[2]), 0),
          to_box_(stride_ * used_.size(), (reach + 0.5f) * (reach + 0.5f)),
          to_point_(stride_ * used_.size(), infinity) {}

    bool used(std::size_t row) const { return used_[row] != 0; }
    const float* to_box(std::size_t row) const { return &to_box_[row * stride_ + reach]; }
    const float* to_point(std::size_t row) const { return &to_point_[row * stride_ + reach]; }

    void add(const OccupiedCell& cell) {
        float box[3][padded_width], point[3][padded_width];
        for (int i = 0; i < 3; ++i)
            for (int o = 0; o < padded_width; ++o) {
                const float centre = static_cast<float>(cell.at[i] + o - reach) + 0.5f;
                const float gap = std::max(std::max(cell.lower[i] - centre, centre - cell.upper[i]), 0.0f);
                box[i][o] = o < width ? gap * gap : infinity;
                point[i][o] = o < width ? (centre - cell.point[i]) * (centre - cell.point[i]) : infinity;
            }
        for (int k = first(cell, 2); k < last(cell, 2); ++k)
            for (int j = first(cell, 1); j < last(cell, 1); ++j) {
                const auto row =
                    static_cast<std::size_t>(cell.at[2] + k - reach) * static_cast<std::size_t>(grid_.n[1]) +
                    static_cast<std::size_t>(cell.at[1] + j - reach);
                const std::size_t begin = row * stride_ + static_cast<std::size_t>(cell.at[0]);
                lower_to(&to_box_[begin], box[0], box[1][j] + box[2][k]);
                lower_to(&to_point_[begin], point[0], point[1][j] + point[2][k]);
                used_[row] = 1;
            }
    }

  private:
    static int first(const OccupiedCell& cell, int axis) { return std::max(reach - cell.at[axis], 0); }
    int last(const OccupiedCell& cell, int axis) const {
        return std::min(width, grid_.n[axis] - cell.at[axis] + reach);
    }
    static void lower_to(float* row, const float* squares, float more) {
        for (int o = 0; o < padded_width; ++o) {
            const float candidate = squares[o] + more;
            row[o] = row[o] < candidate ? row[o] : candidate;
        }
    }

    const DistanceGrid& grid_;
    std::size_t stride_;
    std::vector<char> used_;  // rows
    std::vector<float> to_box_, to_point_;
};

constexpr float rounding = 0.05f;  // of float32, in the units of the bounds

int lower_bound(float square, int gap) {
    constexpr int half = DistanceGrid::steps / 2;  // from the face of a cell to its centre, rounded down
    return std::max(static_cast<int>(DistanceGrid::steps * std::sqrt(square) - rounding), std::min(gap + half, 255));
}

int upper_bound(float square) {
    if (square == infinity) return CloudBounds::unknown;
    return std::min(static_cast<int>(DistanceGrid::steps * std::sqrt(square) + rounding) + 1, CloudBounds::unknown);
}

}  // namespace

CloudBounds::CloudBounds(const std::vector<float>& points, const DistanceGrid& grid) {
    Squares squares(grid);
    for (const OccupiedCell& cell : occupied_cells(points, grid)) squares.add(cell);
    const auto nx = static_cast<std::size_t>(grid.n[0]), rows = grid.place(0, 0, grid.n[2]) / nx;
    words_.resize(nx * rows + 1);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t i = 0; i < nx; ++i) {
            const int gap = grid.gaps()[row * nx + i];
            const int low = squares.used(row) ? lower_bound(squares.to_box(row)[i], gap) : lower_bound(0, gap);
            const int high = squares.used(row) ? upper_bound(squares.to_point(row)[i]) : unknown;
            words_[row * nx + i] = static_cast<std::uint16_t>(low | high << 8);
        }
}

CloudBounds::Verdict CloudBounds::decide(const DistanceGrid& grid, const float* p, float outside, float r) const {
    // In a direction at a right angle to a plane of points the bounds of farther cells are the tighter ones.
    constexpr int far = 2;
    const int at[3] = {grid.index_of(p[0], 0), grid.index_of(p[1], 1), grid.index_of(p[2], 2)};
    const std::size_t stride[3] = {1, static_cast<std::size_t>(grid.n[0]), grid.place(0, 0, 1)};
    const std::size_t here = grid.place(at[0], at[1], at[2]);
    float d[3];
    for (int i = 0; i < 3; ++i) d[i] = p[i] * grid.inverse - static_cast<float>(at[i]) - 0.5f;
    const float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    const float unit = 1.0f / DistanceGrid::steps, limit = r * grid.inverse, aside = outside * grid.inverse;
    const float apart = std::sqrt(std::max(limit * limit - aside * aside, 0.0f)), touching = limit - aside;
    for (int i = 0; i < 3; ++i)
        for (int o = -far; o <= far; ++o) {
            if (o == 0 || at[i] + o < 0 || at[i] + o >= grid.n[i]) continue;
            const auto offset = static_cast<float>(o);
            const float from_centre = std::sqrt(square + offset * (offset - 2 * d[i]));
            const int word = words_[here + static_cast<std::size_t>(o) * stride[i]];
            if (unit * static_cast<float>(word & 255) - from_centre > apart) return Verdict::apart;
            if (word >> 8 != unknown && unit * static_cast<float>(word >> 8) + from_centre <= touching)
                return Verdict::touching;
        }
    return Verdict::undecided;
}

}  // namespace kinodyn
