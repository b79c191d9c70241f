// Obstacles whose motion is predicted.
#pragma once

#include "core/collision.hpp"

namespace kinodyn {

struct MovingSphere {
    double p[3], v[3], a[3];  // at time 0: p + v t + a t^2 / 2
    double radius;

    static constexpr auto layout() {
        using S = MovingSphere;
        return named("moving_sphere", field("p", &S::p), field("v", &S::v), field("a", &S::a),
                     field("radius", &S::radius));
    }
};

// Settings of the kernel `curve_free`.
struct CurveQuery {
    const CollisionQuery* query;
    const MovingSphere* spheres;
    long n_spheres;
};

constexpr int curve_coefficients = 6;  // of each coordinate: polynomials up to degree 5

}  // namespace kinodyn
