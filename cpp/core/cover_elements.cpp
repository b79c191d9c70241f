#include "core/cover_elements.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_set>

#include "core/morton.hpp"

namespace kinodyn {

namespace {

constexpr double half_diagonal = 0.8660254037844386;  // of a cube of side 1
constexpr double wall_offset = 0.02;                  // of the size of patches, in front of a surface
constexpr double concave_margin = 0.1;                // mean margin above which a surface counts as concave
constexpr double interior_fraction = 0.3;             // radius of an interior cell, as a fraction of its depth

void split(const Triangle& t, double size, std::vector<Triangle>& pieces) {
    const double ab = squared(t.b - t.a), bc = squared(t.c - t.b), ca = squared(t.a - t.c);
    if (std::max({ab, bc, ca}) <= size * size) {
        pieces.push_back(t);
        return;
    }
    // the longest edge first
    const Triangle r = ab >= bc && ab >= ca ? t : bc >= ca ? Triangle{t.b, t.c, t.a} : Triangle{t.c, t.a, t.b};
    const Vec3 middle = 0.5 * (r.a + r.b);
    split({r.a, middle, r.c}, size, pieces);
    split({middle, r.b, r.c}, size, pieces);
}

Vec3 unit_normal(const Triangle& t) {
    const Vec3 normal = cross(t.b - t.a, t.c - t.a);
    const double length = norm(normal);
    return length > 0 ? (1 / length) * normal : Vec3{};
}

// A piece of a face. The points of the layer that are nearest to it are beside the prism below it by no more than a
// fraction of its thickness, or, with normal 0, beside the piece itself.
struct Piece {
    Triangle triangle;
    Vec3 normal;
    double margin_fraction;
    std::uint64_t key;  // of the cube of a grid that its centroid is in
};

std::uint64_t key_of(const Vec3& p, const Vec3& origin, double size) {
    const Vec3 q = (1 / size) * (p - origin);
    const auto coordinate = [](double x) { return static_cast<std::uint64_t>(std::clamp(x, 0.0, 2e6)); };
    return morton_key(coordinate(q.x), coordinate(q.y), coordinate(q.z));
}

std::vector<Piece> pieces_of(const TriangleBvh& surface, const std::vector<Face>& faces, double size) {
    std::vector<Piece> pieces;
    std::vector<Triangle> parts;
    for (const Face& face : faces) {
        parts.clear();
        split(face.triangle, size, parts);
        const Vec3 normal = unit_normal(face.triangle);
        for (const Triangle& part : parts) {
            const Vec3 centroid = (1.0 / 3.0) * (part.a + part.b + part.c);
            // a wall inside the solid, where bodies overlap, has interior on its outer side too
            const bool around = face.bend >= 1 || surface.inside(centroid + wall_offset * size * normal);
            pieces.push_back(
                {part, around ? Vec3{} : normal, around ? 1 : face.bend, key_of(centroid, surface.lower(), size)});
        }
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& p, const Piece& q) {
        return std::pair(p.key, p.margin_fraction) < std::pair(q.key, q.margin_fraction);
    });
    return pieces;
}

void finish(CoverElements& cover, int first, double margin) {
    Vec3 low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
    const int count = static_cast<int>(cover.points.size()) - first;
    for (int k = first; k < first + count; ++k) {
        low = min(low, cover.points[k]);
        high = max(high, cover.points[k]);
    }
    const Vec3 centre = 0.5 * (low + high);
    double radius = 0;
    for (int k = first; k < first + count; ++k) radius = std::max(radius, norm(cover.points[k] - centre));
    cover.elements.push_back({{centre, radius + margin}, first, count, margin});
}

bool is_concave(const std::vector<Piece>& pieces) {
    double sum = 0;
    for (const Piece& piece : pieces) sum += piece.margin_fraction;
    return sum > concave_margin * static_cast<double>(pieces.size());
}

void add_points(const Piece& piece, double layer, CoverElements& cover) {
    for (const Vec3* corner : {&piece.triangle.a, &piece.triangle.b, &piece.triangle.c}) {
        cover.points.push_back(*corner);
        if (squared(piece.normal) > 0) cover.points.push_back(*corner - layer * piece.normal);
    }
}

class Octree {
  public:
    Octree(const TriangleBvh& surface, double size, double layer, double candidate_radius, CoverElements& cover)
        : surface_(surface), size_(size), layer_(layer), candidate_radius_(candidate_radius), cover_(cover) {}

    // `sign` is 0 where the surface passes through the parent, else that of the whole cell: 1 inside. The surface is
    // nearer than `bound`.
    void visit(const Vec3& centre, double side, int sign, double bound = 1e300) {
        const double radius = half_diagonal * side;
        const TriangleBvh::Nearest near = surface_.nearest(centre, bound);
        if (sign == 0 && near.distance > radius) sign = sign_at(centre, near.distance);
        if (sign < 0) return;
        if (radius <= candidate_radius_ && 2 * radius > candidate_radius_) {
            const bool is_inside = sign > 0 || surface_.inside(centre);
            candidates.push_back({centre, radius, is_inside ? near.distance : -near.distance, near.point});
        }
        // all of the cell is in the layer below the surface
        if (near.distance + radius <= layer_) return;
        if (sign > 0 && radius <= std::max(size_, interior_fraction * near.distance)) {
            if (radius > candidate_radius_) candidates.push_back({centre, radius, near.distance, near.point});
            cover_.points.push_back(centre);
            finish(cover_, static_cast<int>(cover_.points.size()) - 1, radius);
            return;
        }
        const double quarter = 0.25 * side;
        for (int k = 0; k < 8; ++k) {
            const Vec3 offset{k & 1 ? quarter : -quarter, k & 2 ? quarter : -quarter, k & 4 ? quarter : -quarter};
            visit(centre + offset, 0.5 * side, sign, (near.distance + 0.5 * radius) * (1 + 1e-9));
        }
    }

    std::vector<Cell> candidates;

  private:
    // 1 inside. Within the ball around the last such point there is no surface, so that the side is the same.
    int sign_at(const Vec3& centre, double distance) {
        const double between = norm(centre - known_.centre);
        if (between >= known_.radius && between >= distance) known_sign_ = surface_.inside(centre) ? 1 : -1;
        known_ = {centre, distance};
        return known_sign_;
    }

    Ball known_{{1e300, 0, 0}, 0};  // none yet
    int known_sign_ = -1;
    const TriangleBvh& surface_;
    double size_, layer_, candidate_radius_;
    CoverElements& cover_;
};

}  // namespace

std::size_t occupied_cubes(const TriangleBvh& surface, const std::vector<Face>& faces, double size) {
    std::unordered_set<std::uint64_t> keys;
    std::vector<Triangle> parts;
    for (const Face& face : faces) {
        parts.clear();
        split(face.triangle, size, parts);
        for (const Triangle& part : parts)
            keys.insert(key_of((1.0 / 3.0) * (part.a + part.b + part.c), surface.lower(), size));
    }
    return keys.size();
}

double add_patches(const TriangleBvh& surface, const std::vector<Face>& faces, double size, double thick, double thin,
                   CoverElements& cover) {
    const std::vector<Piece> pieces = pieces_of(surface, faces, size);
    const double layer = is_concave(pieces) ? thin : thick;
    for (std::size_t k = 0; k < pieces.size();) {
        const int first = static_cast<int>(cover.points.size());
        const std::uint64_t key = pieces[k].key;
        // the largest margin applies to all pieces of a patch, so pieces with very different margins are not combined
        const double largest = pieces[k].margin_fraction + 0.1;
        double share = 0;
        for (; k < pieces.size() && pieces[k].key == key && pieces[k].margin_fraction <= largest; ++k) {
            share = pieces[k].margin_fraction;  // they are in ascending order
            add_points(pieces[k], layer, cover);
        }
        finish(cover, first, share * layer);
    }
    cover.patches = cover.elements.size();
    return layer;
}

std::vector<Cell> add_interior(const TriangleBvh& surface, double size, double layer, double candidate_radius,
                               CoverElements& cover) {
    const Vec3 extent = surface.upper() - surface.lower();
    const double longest = std::max({extent.x, extent.y, extent.z});
    double side = candidate_radius / half_diagonal;
    while (side < longest) side *= 2;
    Octree octree(surface, size, layer, candidate_radius, cover);
    octree.visit(0.5 * (surface.lower() + surface.upper()), side, 0);
    return std::move(octree.candidates);
}

}  // namespace kinodyn
