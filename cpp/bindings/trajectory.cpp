// Timing laws of trajectories.

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/functions.hpp"
#include "core/segment_timing.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

nb::object as_vector(const std::vector<double>& values) { return as_array(values, {values.size()}); }

// Rows of `segments`: length, largest speed, quotients of the direction with acceleration and jerk limits. Rows of
// `corners`: quotients of the change of direction, reach. Returns the speeds at the corners and on the segments.
nb::tuple speeds(const Rows& segments, const Rows& corners) {
    if (segments.shape(1) != 4 || corners.shape(1) != 3 || segments.shape(0) == 0 ||
        corners.shape(0) != segments.shape(0) + 1)
        raise_input_error("segments are rows of 4 numbers, corners rows of 3, one more");
    std::vector<Segment> own(segments.shape(0));
    for (std::size_t i = 0; i < own.size(); ++i)
        own[i] = {segments(i, 0), segments(i, 1), segments(i, 2), segments(i, 3)};
    std::vector<Corner> between(corners.shape(0));
    for (std::size_t i = 0; i < between.size(); ++i) between[i] = {corners(i, 0), corners(i, 1), corners(i, 2)};
    const SegmentSpeeds found = segment_speeds(own, between);
    return nb::make_tuple(as_vector(found.corners), as_vector(found.segments));
}

}  // namespace

void bind_trajectory(nb::module_& m) { m.def("segment_speeds", &speeds); }

}  // namespace kinodyn
