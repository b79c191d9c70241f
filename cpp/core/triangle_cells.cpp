#include "core/triangle_cells.hpp"

#include <algorithm>
#include <cmath>

namespace kinodyn {

namespace {

constexpr double max_references = 4e6;  // of triangles in cells

// Cells that a triangle with corners from `low` to `high` may reach, along one axis.
double cells_along(float low, float high, float inverse) { return std::floor((high - low) * inverse) + 2; }

// The cells that a triangle (nine coordinates) passes through: those of its box that its plane cuts.
class Rasteriser {
  public:
    Rasteriser(DistanceGrid& grid, float rounding) : grid_(grid), rounding_(rounding) {}

    void add(const float* t) {
        for (int i = 0; i < 3; ++i) {
            low_[i] = std::min({t[i], t[3 + i], t[6 + i]}), high_[i] = std::max({t[i], t[3 + i], t[6 + i]});
            first_[i] = grid_.index_of(std::max(low_[i] - rounding_, 0.0f), i);
            last_[i] = grid_.index_of(high_[i] + rounding_, i);
        }
        set_plane(t);
        for (int j = first_[1]; j <= last_[1]; ++j)
            for (int i = first_[0]; i <= last_[0]; ++i) add_column(i, j);
    }

  private:
    void set_plane(const float* t) {
        double a[3], b[3];
        for (int i = 0; i < 3; ++i) a[i] = t[3 + i] - t[i], b[i] = t[6 + i] - t[i];
        normal_[0] = a[1] * b[2] - a[2] * b[1];
        normal_[1] = a[2] * b[0] - a[0] * b[2];
        normal_[2] = a[0] * b[1] - a[1] * b[0];
        offset_ = normal_[0] * t[0] + normal_[1] * t[1] + normal_[2] * t[2];
    }

    // Where the plane is within a column: normal_z * z is within `width` of `along`.
    void add_column(int i, int j) {
        const double half = 0.5 * grid_.cell, x = (i + 0.5) * grid_.cell, y = (j + 0.5) * grid_.cell;
        const double along = offset_ - normal_[0] * x - normal_[1] * y;
        const double width = (std::fabs(normal_[0]) + std::fabs(normal_[1])) * (half + rounding_);
        const double slope = std::fabs(normal_[2]), top = high_[2], bottom = low_[2];
        double from = bottom, to = top;
        if (slope * (top - bottom) > 2 * width) {  // flat enough to leave out cells
            const double z0 = (along - width) / normal_[2], z1 = (along + width) / normal_[2];
            from = std::max(from, std::min(z0, z1)), to = std::min(to, std::max(z0, z1));
            if (from > to + 2 * rounding_) return;
        } else if (std::fabs(along - normal_[2] * 0.5 * (top + bottom)) >
                   width + slope * (0.5 * (top - bottom) + rounding_)) {
            return;
        }
        const int k0 = grid_.index_of(std::max(static_cast<float>(from) - rounding_, 0.0f), 2);
        const int k1 = grid_.index_of(std::max(static_cast<float>(to) + rounding_, 0.0f), 2);
        for (int k = k0; k <= k1; ++k) grid_.occupy(i, j, k);
    }

    DistanceGrid& grid_;
    float rounding_, low_[3], high_[3];
    int first_[3], last_[3];
    double normal_[3], offset_;
};

}  // namespace

float triangle_cell_size(const std::vector<float>& corners, const float* extent, float size) {
    const float longest = std::max(extent[0], std::max(extent[1], extent[2]));
    for (; size < longest; size *= 1.5f) {
        double references = 0;
        for (std::size_t t = 0; t < corners.size() && references <= max_references; t += 9) {
            double cells = 1;
            for (int i = 0; i < 3; ++i) {
                const auto [low, high] = std::minmax({corners[t + i], corners[t + 3 + i], corners[t + 6 + i]});
                cells *= cells_along(low, high, 1 / size);
            }
            references += cells;
        }
        if (references <= max_references) break;
    }
    return size;
}

void occupy_triangles(const std::vector<float>& corners, float rounding, DistanceGrid& grid) {
    Rasteriser rasteriser(grid, rounding);
    for (std::size_t t = 0; t < corners.size(); t += 9) rasteriser.add(&corners[t]);
}

}  // namespace kinodyn
