// Poses of bodies of one state, along the paths to frames: lanes hold the rows of homogeneous matrices, so that one
// product of lanes does the work of four.
#pragma once

#include <type_traits>

#include "kernels/placement.hpp"
#include "kernels/shuffle.hpp"

namespace kinodyn::KINODYN_TARGET {

typedef double FourRows __attribute__((vector_size(32)));

// The columns of a homogeneous matrix. Its memory must be aligned to 32 bytes.
struct RowPose {
    Vec3<FourRows> R;
    FourRows p;

    operator Placement<double>() const { return {{row(0), row(1), row(2)}, {p[0], p[1], p[2]}}; }

  private:
    Vec3<double> row(int i) const { return {R.x[i], R.y[i], R.z[i]}; }
};
constexpr RowPose world_rows = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}, {0, 0, 0, 1}};

// How kernels of paths keep the poses of bodies.
template <class T>
using PathPose = std::conditional_t<std::is_same_v<T, double>, RowPose, Placement<T>>;

template <int axis>
inline Vec3<FourRows> turned(const Vec3<FourRows>& rows, const AxisRotation<axis, double>& R) {
    return AxisRotation<axis, FourRows>{R.c + FourRows{}, R.s + FourRows{}}.down(rows);
}
template <class A>
inline Vec3<FourRows> turned(const Vec3<FourRows>& rows, const FullRotation<A, double>& R) {
    return tmul(R.R, rows);
}

template <class T, class J>
inline void place(const J& joint, const RowPose* parent, RowPose& result) {
    const RowPose& from = parent ? *parent : world_rows;
    result.p = from.p + dot(from.R, joint.p());
    result.R = turned(from.R, joint.R);
}

inline RowPose place_frame(const FixedFrame& frame, const RowPose* bodies) {
    const RowPose& b = frame.body < 0 ? world_rows : bodies[frame.body];
    return {frame.aligned ? b.R : tmul(mat(frame.R), b.R), b.p + dot(b.R, vec(frame.p))};
}

// As a 4 x 4 matrix, row by row.
inline void store_pose(double* out, const RowPose& f) {
    const FourRows xy_even = shuffled<0, 4, 2, 6>(f.R.x, f.R.y), xy_odd = shuffled<1, 5, 3, 7>(f.R.x, f.R.y),
                   zp_even = shuffled<0, 4, 2, 6>(f.R.z, f.p), zp_odd = shuffled<1, 5, 3, 7>(f.R.z, f.p);
    const FourRows rows[4] = {shuffled<0, 1, 4, 5>(xy_even, zp_even), shuffled<0, 1, 4, 5>(xy_odd, zp_odd),
                              shuffled<2, 3, 6, 7>(xy_even, zp_even), shuffled<2, 3, 6, 7>(xy_odd, zp_odd)};
    memcpy(out, rows, sizeof rows);
}

}  // namespace kinodyn::KINODYN_TARGET
