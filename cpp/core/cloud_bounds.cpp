#include "core/cloud_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace kinodyn {

namespace {

constexpr int reach = 3;  // cells around a point for which the distance is computed; others have the gap of the grid
constexpr int point_reach = 1;  // the same for the upper bound, which is used next to points only
constexpr int width = 2 * reach + 1, padded_width = 8;
static_assert(width <= padded_width && point_reach <= reach);

// Squares of distances in 1 / square_steps of the square of a cell; eight of them are computed at once.
using Square = std::int16_t;
typedef Square EightSquares __attribute__((vector_size(padded_width * sizeof(Square))));
constexpr int square_steps = 64;
constexpr Square far = 4095;
static_assert(3 * (reach + 1) * (reach + 1) * square_steps < far);

// A cell with points: their box and the one nearest to the centre, in units of cells.
struct OccupiedCell {
    int at[3];
    float lower[3], upper[3], point[3];

    OccupiedCell(const int (&cell)[3], const CellPoints& points, std::uint32_t begin, std::uint32_t end, float inverse)
        : at{cell[0], cell[1], cell[2]} {
        for (int i = 0; i < 3; ++i) lower[i] = static_cast<float>(cell[i] + 1), upper[i] = static_cast<float>(cell[i]);
        float nearest = std::numeric_limits<float>::infinity();
        for (std::uint32_t p = begin; p < end; ++p) {
            float x[3], square = 0;
            for (int i = 0; i < 3; ++i) {
                x[i] = points.coordinates(i)[p] * inverse;
                lower[i] = std::min(lower[i], x[i]), upper[i] = std::max(upper[i], x[i]);
                const float d = x[i] - static_cast<float>(at[i]) - 0.5f;
                square += d * d;
            }
            if (square >= nearest) continue;
            nearest = square;
            for (int i = 0; i < 3; ++i) point[i] = x[i];
        }
    }
};

// Squares of the distances of cell centres: to the boxes of points around them, rounded down, and to one point of each
// box, rounded up.
class Squares {
  public:
    explicit Squares(const DistanceGrid& grid)
        : grid_(grid),
          stride_(static_cast<std::size_t>(grid.n[0]) + padded_width),
          used_(static_cast<std::size_t>(grid.n[1]) * static_cast<std::size_t>(grid.n[2]), 0),
          to_box_(stride_ * used_.size(), far),
          to_point_(stride_ * used_.size(), far) {}

    bool used(std::size_t row) const { return used_[row] != 0; }
    const Square* to_box(std::size_t row) const { return &to_box_[row * stride_ + reach]; }
    const Square* to_point(std::size_t row) const { return &to_point_[row * stride_ + reach]; }

    void add(const OccupiedCell& cell) {
        alignas(EightSquares) Square box[3][padded_width], point[3][padded_width];
        for (int i = 0; i < 3; ++i)
            for (int o = 0; o < padded_width; ++o) {
                const float centre = static_cast<float>(cell.at[i] + o - reach) + 0.5f;
                const float gap = std::max(std::max(cell.lower[i] - centre, centre - cell.upper[i]), 0.0f);
                const float apart = centre - cell.point[i];
                box[i][o] = o < width ? static_cast<Square>(square_steps * gap * gap) : far;
                point[i][o] = next_to(o) ? static_cast<Square>(square_steps * apart * apart + 1.0f) : far;
            }
        lower_rows(cell, reach, box, to_box_);
        lower_rows(cell, point_reach, point, to_point_);
    }

  private:
    using Axes = Square[3][padded_width];

    static bool next_to(int offset) { return std::abs(offset - reach) <= point_reach; }

    // Lowers squares in rows up to `rows` away from a cell; `axes` has the squares along each axis.
    void lower_rows(const OccupiedCell& cell, int rows, const Axes& axes, std::vector<Square>& squares) {
        EightSquares along;
        std::memcpy(&along, axes[0], sizeof along);
        const auto first = [&](int axis) { return reach - std::min(rows, cell.at[axis]); };
        const auto last = [&](int axis) { return reach + std::min(rows, grid_.n[axis] - 1 - cell.at[axis]); };
        for (int k = first(2); k <= last(2); ++k)
            for (int j = first(1); j <= last(1); ++j) {
                const auto row =
                    static_cast<std::size_t>(cell.at[2] + k - reach) * static_cast<std::size_t>(grid_.n[1]) +
                    static_cast<std::size_t>(cell.at[1] + j - reach);
                lower_to(&squares[row * stride_ + static_cast<std::size_t>(cell.at[0])],
                         along + static_cast<Square>(axes[1][j] + axes[2][k]));
                used_[row] = 1;
            }
    }

    static void lower_to(Square* row, EightSquares squares) {
        EightSquares now;
        std::memcpy(&now, row, sizeof now);
        now = now < squares ? now : squares;
        std::memcpy(row, &now, sizeof now);
    }

    const DistanceGrid& grid_;
    std::size_t stride_;
    std::vector<char> used_;  // rows
    std::vector<Square> to_box_, to_point_;
};

// Bounds of distances, in units of 1 / DistanceGrid::steps of a cell, by their squares.
struct BoundTables {
    std::uint8_t lower[far + 1], upper[far + 1];

    BoundTables() {
        constexpr float rounding = 0.05f;                              // of float32
        const int beyond = (2 * reach + 1) * DistanceGrid::steps / 2;  // of cells that are farther than `reach` away
        for (int square = 0; square <= far; ++square) {
            const float distance = DistanceGrid::steps * std::sqrt(static_cast<float>(square) / square_steps);
            lower[square] = static_cast<std::uint8_t>(std::clamp(static_cast<int>(distance - rounding), 0, beyond));
            const int above = static_cast<int>(distance + rounding) + 1;
            upper[square] = static_cast<std::uint8_t>(std::min(above, CloudBounds::unknown));
        }
        upper[far] = CloudBounds::unknown;
    }
};

// Lower bound by the gap between a cell and occupied ones, which is 0 for these and their neighbours.
int by_gap(int gap) {
    constexpr int half = DistanceGrid::steps / 2;  // from the face of a cell to its centre, rounded down
    return gap > 0 ? std::min(gap + half, 255) : 0;
}

}  // namespace

CloudBounds::CloudBounds(const CellPoints& points, const DistanceGrid& grid) {
    static const BoundTables tables;
    Squares squares(grid);
    points.for_cells(grid, [&](int i, int j, int k, std::uint32_t begin, std::uint32_t end) {
        squares.add(OccupiedCell({i, j, k}, points, begin, end, grid.inverse));
    });
    const auto nx = static_cast<std::size_t>(grid.n[0]), rows = grid.place(0, 0, grid.n[2]) / nx;
    words_.resize(nx * rows + 1);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::uint8_t* gaps = grid.gaps() + row * nx;
        std::uint16_t* words = &words_[row * nx];
        const Square *to_box = squares.to_box(row), *to_point = squares.to_point(row);
        if (!squares.used(row))
            for (std::size_t i = 0; i < nx; ++i) words[i] = static_cast<std::uint16_t>(by_gap(gaps[i]) | unknown << 8);
        else
            for (std::size_t i = 0; i < nx; ++i)
                words[i] = static_cast<std::uint16_t>(std::max<int>(tables.lower[to_box[i]], by_gap(gaps[i])) |
                                                      tables.upper[to_point[i]] << 8);
    }
}

}  // namespace kinodyn
