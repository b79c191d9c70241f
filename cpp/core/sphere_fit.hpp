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

// Spheres that cover the solid inside `surface`, which has the triangles of `faces`. No point of them is farther
// outside of it than `resolution` [m], or 1/50 of the square root of its area if that is more.
std::vector<Ball> fit_spheres(const TriangleBvh& surface, const std::vector<Face>& faces, double resolution);

Overshoot measure_overshoot(const TriangleBvh& surface, const std::vector<Ball>& spheres);

}  // namespace kinodyn
