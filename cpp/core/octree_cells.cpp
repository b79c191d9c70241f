#include "core/octree_cells.hpp"

namespace kinodyn {

namespace {

constexpr double half_diagonal = 0.8660254037844386;  // of a cube of side 1
constexpr double interior_share = 0.3;                // radius of an interior leaf, as a share of its depth

class Builder {
  public:
    Builder(const TriangleBvh& surface, double surface_radius, double candidate_radius)
        : surface_(surface), surface_radius_(surface_radius), candidate_radius_(candidate_radius) {}

    // `sign` is 0 where the surface passes through the parent, else that of the whole cell: 1 inside.
    void visit(const Vec3& centre, double side, int sign) {
        const double radius = half_diagonal * side;
        const TriangleBvh::Nearest near = surface_.nearest(centre);
        const bool clear = near.distance > radius;
        if (sign == 0 && clear) sign = surface_.inside(centre) ? 1 : -1;
        if (sign < 0) return;
        const bool is_leaf = radius <= surface_radius_ || (sign > 0 && radius <= interior_share * near.distance);
        const bool is_candidate = radius <= candidate_radius_ && 2 * radius > candidate_radius_;
        // the sign at a cell that the surface passes through is needed for candidates only
        const int side_of = sign != 0 ? sign : is_candidate ? (surface_.inside(centre) ? 1 : -1) : 0;
        const Cell cell{centre, radius, side_of * near.distance, near.point};
        if (is_candidate || (is_leaf && radius > candidate_radius_)) cells.candidates.push_back(cell);
        if (is_leaf) {
            cells.leaves.push_back(cell);
            return;
        }
        const double quarter = 0.25 * side;
        for (int k = 0; k < 8; ++k) {
            const Vec3 offset{k & 1 ? quarter : -quarter, k & 2 ? quarter : -quarter, k & 4 ? quarter : -quarter};
            visit(centre + offset, 0.5 * side, sign);
        }
    }

    OctreeCells cells;

  private:
    const TriangleBvh& surface_;
    double surface_radius_, candidate_radius_;
};

}  // namespace

OctreeCells octree_cells(const TriangleBvh& surface, double surface_radius, double candidate_radius) {
    const Vec3 extent = surface.upper() - surface.lower();
    // a side whose halves end exactly at the smallest size, so that none is smaller than needed
    double side = surface_radius / half_diagonal;
    const double longest = std::max({extent.x, extent.y, extent.z});
    while (side < longest) side *= 2;
    Builder builder(surface, surface_radius * (1 + 1e-9), candidate_radius);
    builder.visit(0.5 * (surface.lower() + surface.upper()), side, 0);
    return std::move(builder.cells);
}

}  // namespace kinodyn
