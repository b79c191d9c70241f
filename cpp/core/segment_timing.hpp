// Speeds along straight segments that blends connect: the timing law of `trajectory.linear_segments`.
#pragma once

#include <vector>

namespace kinodyn {

// Change of a velocity within limits of acceleration and jerk: the acceleration rises, stays and falls, the same for
// all joints up to a factor. `over_acceleration` and `over_jerk` are the largest quotients, over the joints, of the
// change and the limits.
double transition_time(double over_acceleration, double over_jerk);

// A segment for each unit of path speed: its velocity is the speed times a direction.
struct Segment {
    double length, max_speed;
    double over_acceleration, over_jerk;  // largest quotients of the direction and the limits
};

// A vertex between two segments, and the ends of the path. The blend replaces `reach` of both segments at most.
struct Corner {
    double over_acceleration, over_jerk;  // largest quotients of the change of direction and the limits
    double reach;                         // 0: the motion stops there
};

struct SegmentSpeeds {
    std::vector<double> corners, segments;  // through each blend; the largest on each segment
};

// The path speeds, at rest at both ends; corners.size() == segments.size() + 1.
SegmentSpeeds segment_speeds(const std::vector<Segment>& segments, std::vector<Corner> corners);

}  // namespace kinodyn
