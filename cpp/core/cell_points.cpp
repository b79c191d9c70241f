#include "core/cell_points.hpp"

namespace kinodyn {

namespace {

constexpr float far_away = 1e18f;          // its square is finite
constexpr std::uint64_t few_points = 100;  // in the cell of a point, on average over the points

}  // namespace

// A counting sort.
CellPoints::CellPoints(const std::vector<float>& points, const DistanceGrid& grid)
    : planes_(static_cast<std::size_t>(grid.n[2])), rows_(static_cast<std::size_t>(grid.n[1])) {
    const std::size_t n = points.size() / 3;
    starts_.assign(grid.place(0, 0, grid.n[2]) + 1, 0);
    occupied_.assign(static_cast<std::size_t>((grid.n[0] + 63) / 64) * planes_ * rows_, 0);
    std::vector<std::uint32_t> place(n);
    std::uint32_t* const next = starts_.data() + 1;  // where the next point of each cell goes
    for (std::size_t p = 0; p < n; ++p) {
        const int i = grid.index_of(points[3 * p], 0), j = grid.index_of(points[3 * p + 1], 1),
                  k = grid.index_of(points[3 * p + 2], 2);
        place[p] = static_cast<std::uint32_t>(grid.place(i, j, k));
        ++next[place[p]];
        const std::size_t row = (static_cast<std::size_t>(i / 64) * planes_ + static_cast<std::size_t>(k)) * rows_;
        occupied_[row + static_cast<std::size_t>(j)] |= std::uint64_t{1} << (i % 64);
    }
    std::uint32_t sum = 0;
    std::uint64_t squares = 0;
    for (std::size_t c = 0; c + 1 < starts_.size(); ++c) {
        const std::uint32_t count = next[c];
        next[c] = sum;
        sum += count;
        squares += std::uint64_t{count} * count;
    }
    few_per_cell_ = squares < few_points * n;
    for (std::vector<float>& axis : coordinates_) axis.resize(n + padding, far_away);
    for (std::size_t p = 0; p < n; ++p) {
        const std::size_t to = next[place[p]]++;
        for (std::size_t i = 0; i < 3; ++i) coordinates_[i][to] = points[3 * p + i];
    }
}

}  // namespace kinodyn
