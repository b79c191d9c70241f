#include "core/rigid_transform.hpp"

#include <algorithm>
#include <cmath>

namespace kinodyn {

namespace {

void axis_rotation(int axis, double angle, double* R) {
    const double c = std::cos(angle), s = std::sin(angle);
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    std::fill(R, R + 9, 0.0);
    R[3 * axis + axis] = 1, R[3 * i + i] = R[3 * j + j] = c, R[3 * i + j] = -s, R[3 * j + i] = s;
}

void quaternion_rotation(const double* q, double* R) {
    const double x = q[0], y = q[1], z = q[2], w = q[3], s = 2 / (x * x + y * y + z * z + w * w);
    const double all[9] = {1 - s * (y * y + z * z), s * (x * y - z * w),     s * (x * z + y * w),
                           s * (x * y + z * w),     1 - s * (x * x + z * z), s * (y * z - x * w),
                           s * (x * z - y * w),     s * (y * z + x * w),     1 - s * (x * x + y * y)};
    std::copy(all, all + 9, R);
}

}  // namespace

void multiply(const double* A, const double* B, double* C) {
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}

void add_rotated(const double* R, const double* v, double* p) {
    for (int i = 0; i < 3; ++i) p[i] += R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
}

Transform joint_transform(const Body& b, const double* q) {
    Transform joint;
    double rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, slide[3] = {0, 0, 0};
    const double position = b.kind < Kind::Ball ? b.scale * q[b.iq] + b.offset : 0.0;
    if (b.kind <= Kind::RevoluteAny) axis_rotation(std::min(static_cast<int>(b.kind), 2), position, rotation);
    if (b.kind == Kind::Prismatic)
        for (int i = 0; i < 3; ++i) slide[i] = position * b.axis[i];
    if (b.kind == Kind::Ball) quaternion_rotation(q + b.iq, rotation);
    if (b.kind == Kind::Free) quaternion_rotation(q + b.iq + 3, rotation), std::copy(q + b.iq, q + b.iq + 3, slide);
    std::copy(b.p, b.p + 3, joint.p);
    add_rotated(b.R, slide, joint.p);
    multiply(b.R, rotation, joint.R);
    return joint;
}

Transform compose(const Transform& first, const Transform& second) {
    Transform result = first;
    multiply(first.R, second.R, result.R);
    add_rotated(first.R, second.p, result.p);
    return result;
}

Transform relative(const Transform& from, const Transform& to) {
    Transform inverse;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) inverse.R[3 * i + k] = from.R[3 * k + i];
    const double back[3] = {-from.p[0], -from.p[1], -from.p[2]};
    add_rotated(inverse.R, back, inverse.p);
    return compose(inverse, to);
}

}  // namespace kinodyn
