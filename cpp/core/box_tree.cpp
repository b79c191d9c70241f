#include "core/box_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/morton.hpp"

namespace kinodyn {

namespace {

constexpr int bits = 11;  // of each axis

// Sorts by the bits from `shift` on, as many as three axes have.
void radix_sort(std::vector<std::uint64_t>& keys, int shift) {
    std::vector<std::uint64_t> other(keys.size());
    for (int pass = 0; pass < 3; ++pass, shift += bits) {
        std::uint32_t starts[(1 << bits) + 1] = {};
        for (const std::uint64_t key : keys) ++starts[(key >> shift & ((1 << bits) - 1)) + 1];
        for (int i = 0; i < 1 << bits; ++i) starts[i + 1] += starts[i];
        for (const std::uint64_t key : keys) other[starts[key >> shift & ((1 << bits) - 1)]++] = key;
        keys.swap(other);
    }
}

}  // namespace

BoxBlock::BoxBlock() {
    std::fill(lower[0], lower[0] + 3 * box_fanout, std::numeric_limits<float>::infinity());
    std::fill(upper[0], upper[0] + 3 * box_fanout, -std::numeric_limits<float>::infinity());
}

void BoxBlock::set(int box, const float (&from)[3][box_fanout], const float (&to)[3][box_fanout]) {
    for (int i = 0; i < 3; ++i) {
        float low = from[i][0], high = to[i][0];
        for (int k = 1; k < box_fanout; ++k) {
            low = from[i][k] < low ? from[i][k] : low;
            high = to[i][k] > high ? to[i][k] : high;
        }
        lower[i][box] = low, upper[i][box] = high;
    }
}

BoxTree::BoxTree(std::vector<BoxBlock> leaves) : blocks_(std::move(leaves)), starts_{0} {
    for (std::size_t begin = 0; blocks_.size() - begin > 1;) {
        const std::size_t end = blocks_.size();
        blocks_.resize(end + (end - begin + box_fanout - 1) / box_fanout);
        for (std::size_t k = 0; k < end - begin; ++k) {
            const BoxBlock& below = blocks_[begin + k];
            blocks_[end + k / box_fanout].set(static_cast<int>(k % box_fanout), below.lower, below.upper);
        }
        starts_.push_back(static_cast<int>(end));
        begin = end;
    }
}

std::vector<std::int32_t> morton_order(const std::vector<float>& points, float extent) {
    const std::size_t n = points.size() / 3;
    constexpr int index_bits = 64 - 3 * bits;
    constexpr int last = (1 << bits) - 1;
    const float scale = extent > 0 ? static_cast<float>(last) / extent : 0.0f;
    std::vector<std::uint64_t> keys(n);
    for (std::size_t k = 0; k < n; ++k) {
        const auto cell = [&](std::size_t i) {
            return static_cast<std::uint64_t>(std::min(static_cast<int>(points[3 * k + i] * scale), last));
        };
        keys[k] = morton_key(cell(0), cell(1), cell(2)) << index_bits | k;
    }
    radix_sort(keys, index_bits);
    std::vector<std::int32_t> order(n);
    for (std::size_t k = 0; k < n; ++k)
        order[k] = static_cast<std::int32_t>(keys[k] & ((std::uint64_t{1} << index_bits) - 1));
    return order;
}

}  // namespace kinodyn
