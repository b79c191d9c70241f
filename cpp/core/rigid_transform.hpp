// Rigid transforms in double precision, for one-time computations.
#pragma once

#include "core/model.hpp"
#include "core/vec3.hpp"

namespace kinodyn {

struct Transform {
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // row major
    double p[3] = {0, 0, 0};
};

void multiply(const double* A, const double* B, double* C);          // C = A B, matrices (3, 3)
void add_rotated(const double* R, const double* v, double* p);       // p += R v
Transform compose(const Transform& first, const Transform& second);  // first * second
Transform relative(const Transform& from, const Transform& to);      // inverse(from) * to
Transform joint_transform(const Body& body, const double* q);        // body to parent

inline Vec3 moved(const Transform& T, const Vec3& v) {
    return {T.R[0] * v.x + T.R[1] * v.y + T.R[2] * v.z + T.p[0], T.R[3] * v.x + T.R[4] * v.y + T.R[5] * v.z + T.p[1],
            T.R[6] * v.x + T.R[7] * v.y + T.R[8] * v.z + T.p[2]};
}

}  // namespace kinodyn
