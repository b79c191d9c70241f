// The elements that spheres must contain to cover a solid: patches of its surface with the layer below them, and cells
// of an octree in its interior. Together they contain every point of the solid, so the cover does not rely on sampling.
#pragma once

#include <vector>

#include "core/triangle_bvh.hpp"

namespace kinodyn {

// A ball contains an element if it contains its points, with a margin: the element is within their convex hull.
struct CoverElement {
    Ball bound;
    int first, count;  // points
    double margin;
};

struct CoverElements {
    std::vector<CoverElement> elements;  // patches first; neighbours in the list are near each other
    std::vector<Vec3> points;
    std::size_t patches = 0;
};

struct Cell {
    Vec3 centre;
    double radius;  // half the diagonal
    double depth;   // distance of the centre from the surface, below 0 outside
    Vec3 nearest;   // point of the surface
};

struct Face {
    Triangle triangle;
    // How far, as a fraction of its distance, a point inside that is nearest to this face may be beside the prism below
    // the face: above 0 at concave edges.
    double bend;
};

// Returns the number of cubes of a grid with cells of side `size` in which there are pieces of the surface.
std::size_t occupied_cubes(const TriangleBvh& surface, const std::vector<Face>& faces, double size);

// Adds patches of about `size` with the layer of the solid below them, and returns the thickness of this layer: `thick`
// where the surface is convex, at no cost there, else `thin`.
double add_patches(const TriangleBvh& surface, const std::vector<Face>& faces, double size, double thick, double thin,
                   CoverElements& cover);

// Adds the interior beyond that layer as cells of an octree with radii of at most `size`, larger where the solid is
// thick. Returns cells with radii of about `candidate_radius` whose centres are inside.
std::vector<Cell> add_interior(const TriangleBvh& surface, double size, double layer, double candidate_radius,
                               CoverElements& cover);

}  // namespace kinodyn
