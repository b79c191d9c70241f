#include <algorithm>
#include <cmath>

#include "core/surface.hpp"
#include "core/triangle_bvh.hpp"

namespace kinodyn {

namespace {

Vec3 column(const float (&rows)[3][box_fanout], int k) { return {rows[0][k], rows[1][k], rows[2][k]}; }

double box_distance2(const BoxBlock& block, int k, const Vec3& p) {
    return squared(max(max(column(block.lower, k) - p, p - column(block.upper, k)), {}));
}

Vec3 nearest_of(const PointBlock& block, int k, const Vec3&) { return column(block.p, k); }
Vec3 nearest_of(const TriangleBlock& block, int k, const Vec3& p) {
    return nearest_on({column(block.corner[0], k), column(block.corner[1], k), column(block.corner[2], k)}, p);
}

// Descends into the nearest boxes first.
template <class Block>
class Search {
  public:
    Search(const BoxTree& tree, const std::vector<Block>& elements, const Vec3& p, double bound)
        : best{p, bound * bound}, tree_(tree), elements_(elements), p_(p) {}

    void visit(int level, int block) {
        const BoxBlock& boxes = tree_.block(level, block);
        struct Child {
            double distance2;
            int k;
        };
        Child children[box_fanout];
        int n = 0;
        for (int k = 0; k < box_fanout; ++k) {
            const double distance2 = box_distance2(boxes, k, p_);
            if (distance2 < best.distance) children[n++] = {distance2, block * box_fanout + k};
        }
        std::sort(children, children + n, [](const Child& a, const Child& b) { return a.distance2 < b.distance2; });
        for (int i = 0; i < n && children[i].distance2 < best.distance; ++i) {
            if (level > 0)
                visit(level - 1, children[i].k);
            else
                compare(elements_[static_cast<std::size_t>(children[i].k)]);
        }
    }

    Surface::Nearest best;  // with the square of the distance

  private:
    void compare(const Block& block) {
        for (int k = 0; k < box_fanout; ++k) {
            const Vec3 candidate = nearest_of(block, k, p_);
            const double distance2 = squared(candidate - p_);
            if (distance2 < best.distance) best = {candidate, distance2};
        }
    }

    const BoxTree& tree_;
    const std::vector<Block>& elements_;
    Vec3 p_;
};

}  // namespace

Surface::Nearest Surface::nearest(const Vec3& p, double bound) const {
    const auto search = [&](const auto& elements) {
        Search found(tree(), elements, p, bound);
        found.visit(tree().top(), 0);
        return Nearest{found.best.point, std::sqrt(found.best.distance)};
    };
    return is_cloud() ? search(points()) : search(triangles_);
}

}  // namespace kinodyn
