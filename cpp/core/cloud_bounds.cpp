#include "core/cloud_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace kinodyn {

namespace {

constexpr int reach = 3;  // cells around a point for which the distance is computed; others have the gap of the grid
constexpr int width = 2 * reach + 1, padded_width = 8;
static_assert(width <= padded_width);

// Squares of distances in 1 / square_steps of the square of a cell; eight of them are computed at once.
using Square = std::int16_t;
typedef Square EightSquares __attribute__((vector_size(padded_width * sizeof(Square))));
constexpr int square_steps = 64;
constexpr Square far = 4095;
static_assert(3 * (reach + 1) * (reach + 1) * square_steps < far);

// A cell with points: their box and the one nearest to the centre, in units of cells.
struct OccupiedCell {
    int at[3];
    float lower[3], upper[3], point[3], offset = std::numeric_limits<float>::infinity();

    explicit OccupiedCell(const int* cell) {
        for (int i = 0; i < 3; ++i)
            at[i] = cell[i], lower[i] = static_cast<float>(cell[i] + 1), upper[i] = static_cast<float>(cell[i]);
    }
    void add(const float* p, float inverse) {
        float x[3], square = 0;
        for (int i = 0; i < 3; ++i) {
            x[i] = p[i] * inverse;
            lower[i] = std::min(lower[i], x[i]), upper[i] = std::max(upper[i], x[i]);
            const float d = x[i] - static_cast<float>(at[i]) - 0.5f;
            square += d * d;
        }
        if (square >= offset) return;
        offset = square;
        for (int i = 0; i < 3; ++i) point[i] = x[i];
    }
};

// Calls f(OccupiedCell) in the order of the grid, so that neighbours follow each other: a counting sort.
template <class F>
void for_occupied_cells(const std::vector<float>& points, const DistanceGrid& grid, F&& f) {
    const std::size_t n = points.size() / 3;
    const auto cell_of = [&](std::size_t k, int* at) {
        for (int i = 0; i < 3; ++i) at[i] = grid.index_of(points[3 * k + static_cast<std::size_t>(i)], i);
        return grid.place(at[0], at[1], at[2]);
    };
    int at[3];
    std::vector<std::uint32_t> next(grid.place(0, 0, grid.n[2]) + 1, 0), place(n), order(n);
    for (std::size_t k = 0; k < n; ++k) ++next[(place[k] = static_cast<std::uint32_t>(cell_of(k, at))) + 1];
    for (std::size_t p = 1; p < next.size(); ++p) next[p] += next[p - 1];
    for (std::size_t k = 0; k < n; ++k) order[next[place[k]]++] = static_cast<std::uint32_t>(k);
    for (std::size_t k = 0; k < n;) {
        const std::uint32_t own = place[order[k]];
        cell_of(order[k], at);
        OccupiedCell cell(at);
        for (; k < n && place[order[k]] == own; ++k) cell.add(&points[3 * order[k]], grid.inverse);
        f(cell);
    }
}

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
                point[i][o] = o < width ? static_cast<Square>(square_steps * apart * apart + 1.0f) : far;
            }
        EightSquares along_box, along_point;
        std::memcpy(&along_box, box[0], sizeof along_box);
        std::memcpy(&along_point, point[0], sizeof along_point);
        for (int k = first(cell, 2); k < last(cell, 2); ++k)
            for (int j = first(cell, 1); j < last(cell, 1); ++j) {
                const auto row =
                    static_cast<std::size_t>(cell.at[2] + k - reach) * static_cast<std::size_t>(grid_.n[1]) +
                    static_cast<std::size_t>(cell.at[1] + j - reach);
                const std::size_t begin = row * stride_ + static_cast<std::size_t>(cell.at[0]);
                lower_to(&to_box_[begin], along_box + static_cast<Square>(box[1][j] + box[2][k]));
                lower_to(&to_point_[begin], along_point + static_cast<Square>(point[1][j] + point[2][k]));
                used_[row] = 1;
            }
    }

  private:
    static int first(const OccupiedCell& cell, int axis) { return std::max(reach - cell.at[axis], 0); }
    int last(const OccupiedCell& cell, int axis) const {
        return std::min(width, grid_.n[axis] - cell.at[axis] + reach);
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

CloudBounds::CloudBounds(const std::vector<float>& points, const DistanceGrid& grid) {
    static const BoundTables tables;
    Squares squares(grid);
    for_occupied_cells(points, grid, [&](const OccupiedCell& cell) { squares.add(cell); });
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
