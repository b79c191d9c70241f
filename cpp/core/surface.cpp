#include "core/surface.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/triangle_cells.hpp"

namespace kinodyn {

namespace {

constexpr double max_cells = 1 << 19;
constexpr float smallest_cell = 0.015f;       // [m] of meshes
constexpr float smallest_cloud_cell = 0.03f;  // [m]; larger ones suffice, because their bounds are tighter

float largest(const float* v) { return std::max(v[0], std::max(v[1], v[2])); }

}  // namespace

void Surface::set_bounds(const double* points, std::size_t n) {
    double low[3], high[3];
    for (int i = 0; i < 3; ++i) low[i] = high[i] = points[i];
    for (std::size_t k = 0; k < n; ++k)
        for (int i = 0; i < 3; ++i) {
            const double x = points[3 * k + i];
            low[i] = x < low[i] ? x : low[i], high[i] = x > high[i] ? x : high[i];
        }
    for (int i = 0; i < 3; ++i) lower_[i] = low[i], extent_[i] = static_cast<float>(high[i] - low[i]);
    rounding_ = 4 * std::numeric_limits<float>::epsilon() * largest(extent_);
}

std::vector<float> Surface::relative(const double* points, std::size_t n) const {
    std::vector<float> result(3 * n);
    for (std::size_t k = 0; k < n; ++k)
        for (int i = 0; i < 3; ++i) result[3 * k + i] = static_cast<float>(points[3 * k + i] - lower_[i]);
    return result;
}

Surface::Surface(const double* points, std::size_t n) {
    set_bounds(points, n);
    grid_ = DistanceGrid(extent_, cell_size(extent_, max_cells, smallest_cloud_cell));
    cells_ = CellPoints(relative(points, n), grid_);
    cells_.for_cells(grid_, [&](int i, int j, int k, std::uint32_t, std::uint32_t) { grid_.occupy(i, j, k); });
    grid_.measure();
    bounds_ = CloudBounds(cells_, grid_);
}

void Surface::place_points() const {
    if (!is_cloud()) return;
    std::call_once(placed_, [&] {
        const std::size_t n = cells_.size(), blocks = (n + box_fanout - 1) / box_fanout;
        std::vector<float> p(3 * n);
        for (std::size_t k = 0; k < 3 * n; ++k) p[k] = cells_.coordinates(static_cast<int>(k % 3))[k / 3];
        const std::vector<std::int32_t> order = morton_order(p, largest(extent_));
        points_.resize(blocks);
        std::vector<BoxBlock> leaves((blocks + box_fanout - 1) / box_fanout);
        for (std::size_t block = 0; block < blocks; ++block) {
            PointBlock& own = points_[block];
            for (std::size_t k = 0; k < box_fanout; ++k) {
                const float* point = &p[3 * static_cast<std::size_t>(order[std::min(block * box_fanout + k, n - 1)])];
                for (int i = 0; i < 3; ++i) own.p[i][k] = point[i];
            }
            leaves[block / box_fanout].set(static_cast<int>(block % box_fanout), own.p, own.p);
        }
        tree_ = BoxTree(std::move(leaves));
    });
}

Surface::Surface(const double* vertices, const std::int64_t* faces, std::size_t n, bool closed) {
    std::vector<double> given(9 * n);
    for (std::size_t k = 0; k < 3 * n; ++k) std::copy_n(vertices + 3 * faces[k], 3, &given[3 * k]);
    set_bounds(given.data(), 3 * n);
    const std::vector<float> corners = relative(given.data(), 3 * n);
    const float size = cell_size(extent_, max_cells, smallest_cell);
    grid_ = DistanceGrid(extent_, triangle_cell_size(corners, extent_, size));
    occupy_triangles(corners, rounding_, grid_);
    place_triangles(corners);
    if (closed) columns_ = SolidColumns(corners, grid_);
    const std::vector<std::size_t> inside = closed ? columns_.cells_inside(grid_) : std::vector<std::size_t>{};
    grid_.measure();
    for (const std::size_t place : inside) grid_.fill(place);
}

bool Surface::contains(const float* p) const {
    if (!columns_.any()) return false;
    for (int i = 0; i < 3; ++i)
        if (p[i] < 0 || p[i] > extent_[i]) return false;
    const int gap =
        grid_.gaps()[grid_.place(grid_.index_of(p[0], 0), grid_.index_of(p[1], 1), grid_.index_of(p[2], 2))];
    return gap == DistanceGrid::solid || (gap == 0 && columns_.inside(p));
}

void Surface::place_triangles(const std::vector<float>& corners) {
    const std::size_t n = corners.size() / 9, blocks = (n + box_fanout - 1) / box_fanout;
    std::vector<float> centres(3 * n);
    for (std::size_t t = 0; t < n; ++t)
        for (int i = 0; i < 3; ++i) {
            const auto [low, high] = std::minmax({corners[9 * t + i], corners[9 * t + 3 + i], corners[9 * t + 6 + i]});
            centres[3 * t + i] = 0.5f * (low + high);
        }
    const std::vector<std::int32_t> order = morton_order(centres, largest(extent_));
    triangles_.resize(blocks);
    std::vector<BoxBlock> leaves((blocks + box_fanout - 1) / box_fanout);
    for (std::size_t block = 0; block < blocks; ++block) {
        TriangleBlock& own = triangles_[block];
        float low[3][box_fanout], high[3][box_fanout];
        for (std::size_t k = 0; k < box_fanout; ++k) {
            const float* t = &corners[9 * static_cast<std::size_t>(order[std::min(block * box_fanout + k, n - 1)])];
            for (int i = 0; i < 9; ++i) own.corner[i / 3][i % 3][k] = t[i];
            for (int i = 0; i < 3; ++i)
                low[i][k] = std::min({t[i], t[3 + i], t[6 + i]}), high[i][k] = std::max({t[i], t[3 + i], t[6 + i]});
        }
        leaves[block / box_fanout].set(static_cast<int>(block % box_fanout), low, high);
    }
    tree_ = BoxTree(std::move(leaves));
}

}  // namespace kinodyn
