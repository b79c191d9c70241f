// Spheres that cover a solid: every point of its surface and of its interior, with a bound on how far they reach
// beyond it.
#pragma once

#include <vector>

#include "core/cover_elements.hpp"

namespace kinodyn {

// Distances from the boundary of the union of the spheres to the solid [m].
struct Overshoot {
    double median = 0, p95 = 0, max = 0;
};

// Smallest resolution, as a fraction of the square root of the area: it bounds the work.
constexpr double least_fit_resolution = 0.02;

// Spheres that cover the solid inside `surface`, which has the triangles of `faces`. No point of them is farther
// outside of it than `resolution` [m], or the smallest resolution if that is more, or what bounds the number of spheres
// of long thin parts.
std::vector<Ball> fit_spheres(const TriangleBvh& surface, const std::vector<Face>& faces, double resolution);

// The bound of `fit_spheres` on how far spheres are outside of the solid [m].
double fit_bound(const TriangleBvh& surface, const std::vector<Face>& faces, double resolution);

Overshoot measure_overshoot(const TriangleBvh& surface, const std::vector<Ball>& spheres);

}  // namespace kinodyn
