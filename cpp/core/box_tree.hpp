// A tree of boxes around elements such as points or triangles, sixteen to a node, so that one query tests sixteen boxes
// at once. Elements are sorted along a Morton curve, which takes linear time.
#pragma once

#include <cstdint>
#include <vector>

namespace kinodyn {

constexpr int box_fanout = 16;

struct alignas(64) BoxBlock {
    float lower[3][box_fanout], upper[3][box_fanout];  // unused boxes are empty: lower = inf, upper = -inf

    BoxBlock();
    // Makes a box contain sixteen boxes.
    void set(int box, const float (&from)[3][box_fanout], const float (&to)[3][box_fanout]);
};

// The box j of block b on level k > 0 is around block 16 b + j of level k - 1; on level 0, around that block of
// elements. The last level is one block.
class BoxTree {
  public:
    BoxTree() = default;
    explicit BoxTree(std::vector<BoxBlock> leaves);

    int top() const { return static_cast<int>(starts_.size()) - 1; }
    const BoxBlock& block(int level, int k) const { return blocks_[starts_[level] + k]; }

  private:
    std::vector<BoxBlock> blocks_;
    std::vector<int> starts_;  // of each level
};

// The order of points x, y, z along a Morton curve of 2048 cells on each axis; all coordinates are from 0 to `extent`.
std::vector<std::int32_t> morton_order(const std::vector<float>& points, float extent);

}  // namespace kinodyn
