// Spheres that cover a solid: every point of its surface and of its interior, with a bound on how far they reach
// beyond it.
#pragma once

#include <vector>

#include "core/triangle_bvh.hpp"

namespace kinodyn {

// Distances from the boundary of the union of the spheres to the solid [m].
struct Overshoot {
    double median = 0, p95 = 0, max = 0;
};

struct SphereFit {
    std::vector<Ball> spheres;
    double resolution = 0;  // the bound that was kept: larger than asked for where the solid is large
};

// Spheres that cover the solid inside `surface`, no point of them farther than `resolution` [m] outside of it.
SphereFit fit_spheres(const TriangleBvh& surface, double resolution);

Overshoot measure_overshoot(const TriangleBvh& surface, const std::vector<Ball>& spheres);

}  // namespace kinodyn
