#include "core/solid_columns.hpp"

#include <algorithm>

namespace kinodyn {

namespace {

// The turn of an edge about the origin of the plane, counted where it crosses the positive x axis. That of the edge
// from b to a is exactly opposite: a line between two triangles crosses one of them.
int edge_turn(const double* a, const double* b) {
    const double side = a[0] * b[1] - b[0] * a[1];
    if (a[1] <= 0) return b[1] > 0 && side > 0 ? 1 : 0;
    return b[1] <= 0 && side < 0 ? -1 : 0;
}

}  // namespace

SolidColumns::SolidColumns(const std::vector<float>& corners, const DistanceGrid& grid)
    : corners_(corners), n_{grid.n[0], grid.n[1]}, inverse_(grid.inverse) {
    starts_.assign(static_cast<std::size_t>(n_[0]) * n_[1] + 1, 0);
    const auto for_columns = [&](auto&& f) {
        for (std::size_t t = 0; t < corners_.size() / 9; ++t) {
            const float* c = &corners_[9 * t];
            int first[2], last[2];
            for (int i = 0; i < 2; ++i) {
                const auto [low, high] = std::minmax({c[i], c[3 + i], c[6 + i]});
                first[i] = grid.index_of(low, i), last[i] = grid.index_of(high, i);
            }
            for (int j = first[1]; j <= last[1]; ++j)
                for (int i = first[0]; i <= last[0]; ++i)
                    f(static_cast<std::size_t>(j) * n_[0] + i, static_cast<std::int32_t>(t));
        }
    };
    for_columns([&](std::size_t column, std::int32_t) { ++starts_[column + 1]; });
    for (std::size_t k = 1; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
    triangles_.resize(static_cast<std::size_t>(starts_.back()));
    std::vector<std::int32_t> next(starts_);
    for_columns([&](std::size_t column, std::int32_t t) { triangles_[next[column]++] = t; });
}

template <class F>
void SolidColumns::for_crossings(std::size_t column, double x, double y, F&& f) const {
    for (std::int32_t k = starts_[column]; k < starts_[column + 1]; ++k) {
        const float* t = &corners_[9 * static_cast<std::size_t>(triangles_[k])];
        const double a[2] = {t[0] - x, t[1] - y}, b[2] = {t[3] - x, t[4] - y}, c[2] = {t[6] - x, t[7] - y};
        const int turn = edge_turn(a, b) + edge_turn(b, c) + edge_turn(c, a);
        if (turn == 0) continue;
        const double wa = b[0] * c[1] - c[0] * b[1], wb = c[0] * a[1] - a[0] * c[1], wc = a[0] * b[1] - b[0] * a[1];
        const double sum = wa + wb + wc;
        f(sum != 0 ? (wa * t[2] + wb * t[5] + wc * t[8]) / sum : static_cast<double>(t[2]), turn);
    }
}

bool SolidColumns::inside(const float* p) const {
    int index[2];
    for (int i = 0; i < 2; ++i) index[i] = std::min(static_cast<int>(p[i] * inverse_), n_[i] - 1);
    int turns = 0, crossings = 0;
    for_crossings(static_cast<std::size_t>(index[1]) * n_[0] + index[0], p[0], p[1], [&](double z, int turn) {
        if (z > p[2]) turns += turn, ++crossings;
    });
    return turns != 0 || crossings % 2 == 1;
}

std::vector<std::size_t> SolidColumns::cells_inside(const DistanceGrid& grid) const {
    std::vector<std::size_t> found;
    std::vector<int> turns(grid.n[2] + 1), crossings(grid.n[2] + 1);
    for (int j = 0; j < grid.n[1]; ++j)
        for (int i = 0; i < grid.n[0]; ++i) {
            std::fill(turns.begin(), turns.end(), 0), std::fill(crossings.begin(), crossings.end(), 0);
            const double x = (i + 0.5) * grid.cell, y = (j + 0.5) * grid.cell;
            for_crossings(static_cast<std::size_t>(j) * n_[0] + i, x, y, [&](double z, int turn) {
                // the cells below: those with centres up to z
                const int below = std::min(std::max(static_cast<int>(z * grid.inverse + 0.5), 0), grid.n[2]);
                turns[below] += turn, ++crossings[below];
            });
            int turn = 0, crossed = 0;
            for (int k = grid.n[2] - 1; k >= 0; --k) {
                turn += turns[k + 1], crossed += crossings[k + 1];
                if ((turn != 0 || crossed % 2 == 1) && !grid.occupied(i, j, k)) found.push_back(grid.place(i, j, k));
            }
        }
    return found;
}

}  // namespace kinodyn
