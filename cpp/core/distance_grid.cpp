#include "core/distance_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kinodyn {

namespace {

using Square = std::uint8_t;
constexpr Square far = 255;  // sums do not exceed it
static_assert(DistanceGrid::reach * DistanceGrid::reach < far && DistanceGrid::reach * DistanceGrid::steps < 255);

// Square of the gap between two cells on one axis.
Square gap_square(int offset) {
    const int gap = std::max(std::abs(offset) - 1, 0);
    return static_cast<Square>(gap * gap);
}

void lower_to(Square* row, const Square* other, Square more, int n) {
    const Square largest = static_cast<Square>(far - more);
    for (int i = 0; i < n; ++i) {
        const Square candidate = static_cast<Square>((other[i] < largest ? other[i] : largest) + more);
        row[i] = row[i] < candidate ? row[i] : candidate;
    }
}

}  // namespace

float cell_size(const float* extent, double count, float smallest) {
    double size = smallest;
    // a flat box has fewer cells along its short sides than a cube of the same volume
    for (int attempt = 0; attempt < 64; ++attempt, size *= 1.1) {
        double cells = 1;
        for (int i = 0; i < 3; ++i) cells *= std::floor(extent[i] / size) + 1;
        if (cells <= count) break;
        size = std::max(size, std::cbrt(cells / count) * size / 1.3);
    }
    return static_cast<float>(size);
}

DistanceGrid::DistanceGrid(const float* extent, float size) : cell(size), inverse(1 / size) {
    for (int i = 0; i < 3; ++i) n[i] = static_cast<int>(extent[i] * inverse) + 1;
    gaps_.assign(place(0, 0, n[2]) + 3, 0);
}

// How many cells away the nearest occupied one is, along z.
void DistanceGrid::along_z(std::vector<Square>& squares) const {
    const std::size_t plane = place(0, 0, 1);
    for (std::size_t p = 0; p < squares.size(); ++p) squares[p] = gaps_[p] ? 0 : far;
    for (std::size_t k = 1; k < static_cast<std::size_t>(n[2]); ++k)
        lower_to(&squares[k * plane], &squares[(k - 1) * plane], 1, static_cast<int>(plane));
    for (std::size_t k = static_cast<std::size_t>(n[2]) - 1; k-- > 0;)
        lower_to(&squares[k * plane], &squares[(k + 1) * plane], 1, static_cast<int>(plane));
    for (Square& s : squares) {
        const Square gap = s > 1 ? static_cast<Square>(s - 1) : Square{0};
        s = gap > reach ? far : static_cast<Square>(gap * gap);
    }
}

void DistanceGrid::along_y(std::vector<Square>& squares) const {
    const std::size_t row = static_cast<std::size_t>(n[0]), plane = place(0, 0, 1);
    std::vector<Square> before(plane);
    std::vector<char> used(static_cast<std::size_t>(n[1]));
    for (int k = 0; k < n[2]; ++k) {
        Square* const now = &squares[place(0, 0, k)];
        std::copy(now, now + plane, before.begin());
        for (std::size_t j = 0; j < used.size(); ++j)
            used[j] = *std::min_element(&before[j * row], &before[j * row] + row) < far;
        for (int j = 0; j < n[1]; ++j)
            for (int from = std::max(j - reach, 0); from <= std::min(j + reach, n[1] - 1); ++from)
                if (used[from] && from != j)
                    lower_to(now + place(0, j, 0), &before[place(0, from, 0)], gap_square(from - j), n[0]);
    }
}

void DistanceGrid::along_x(std::vector<Square>& squares) const {
    const std::size_t row = static_cast<std::size_t>(n[0]);
    std::vector<Square> padded(row + 2 * reach, far);
    for (std::size_t start = 0; start < squares.size(); start += row) {
        Square* const now = &squares[start];
        if (*std::min_element(now, now + row) >= far) continue;
        std::copy(now, now + row, padded.begin() + reach);
        for (int offset = 1; offset <= reach; ++offset) {
            lower_to(now, &padded[reach - offset], gap_square(offset), n[0]);
            lower_to(now, &padded[reach + offset], gap_square(offset), n[0]);
        }
    }
}

void DistanceGrid::measure() {
    std::vector<Square> squares(gaps_.size() - 3);
    along_z(squares);
    along_y(squares);
    along_x(squares);
    std::uint8_t gap_of[reach * reach + 1];
    for (int s = 0; s <= reach * reach; ++s) gap_of[s] = static_cast<std::uint8_t>(steps * std::sqrt(s));
    for (std::size_t p = 0; p < squares.size(); ++p) gaps_[p] = gap_of[std::min<int>(squares[p], reach * reach)];
}

float DistanceGrid::clearance(const float* p) const {
    const int at[3] = {index_of(p[0], 0), index_of(p[1], 1), index_of(p[2], 2)};
    const std::uint8_t* const here = &gaps_[place(at[0], at[1], at[2])];
    const std::ptrdiff_t stride[3] = {1, n[0], static_cast<std::ptrdiff_t>(place(0, 0, 1))};
    constexpr float unit = 1.0f / steps;
    float most = unit * static_cast<float>(*here);
    for (int i = 0; i < 3; ++i) {
        const float below = p[i] * inverse - static_cast<float>(at[i]);  // from the face, in cells
        if (at[i] > 0 && here[-stride[i]] != solid)
            most = std::max(most, unit * static_cast<float>(here[-stride[i]]) - below);
        if (at[i] < n[i] - 1 && here[stride[i]] != solid)
            most = std::max(most, unit * static_cast<float>(here[stride[i]]) - (1 - below));
    }
    return most * cell;
}

}  // namespace kinodyn
