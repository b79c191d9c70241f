#include "core/segment_timing.hpp"

#include <algorithm>
#include <cmath>

namespace kinodyn {

namespace {

// The largest x in [low, high] with f(x) <= bound, for an increasing f with f(low) <= bound.
template <class F>
double largest(F&& f, double low, double high, double bound) {
    if (high <= low || f(high) <= bound) return std::max(low, high);
    for (int i = 0; i < 60 && high - low > 1e-12 * high; ++i) {
        const double middle = 0.5 * (low + high);
        (f(middle) <= bound ? low : high) = middle;
    }
    return low;
}

// Distance that a blend at a given speed extends into both segments.
double reach(const Corner& corner, double speed) {
    return 0.5 * speed * transition_time(speed * corner.over_acceleration, speed * corner.over_jerk);
}

// Distance travelled while the speed changes.
double ramp(const Segment& segment, double from, double to) {
    const double change = std::fabs(to - from);
    return 0.5 * (from + to) * transition_time(change * segment.over_acceleration, change * segment.over_jerk);
}

// Blends at both ends of a segment share its length: none takes more than it can use, nor more than half where both
// could use more.
void share(double length, Corner& a, Corner& b) {
    if (a.reach + b.reach <= length) return;
    if (a.reach <= 0.5 * length)
        b.reach = length - a.reach;
    else if (b.reach <= 0.5 * length)
        a.reach = length - b.reach;
    else
        a.reach = b.reach = 0.5 * length;
}

// The largest speed at the far end of a segment that is reachable from the speed at its near end.
double reachable(const Segment& segment, const Corner& near, double near_speed, const Corner& far, double far_speed) {
    const double left = segment.length - reach(near, near_speed);
    const auto used = [&](double speed) { return ramp(segment, near_speed, speed) + reach(far, speed); };
    return far_speed > near_speed ? largest(used, near_speed, far_speed, left) : far_speed;
}

}  // namespace

double transition_time(double over_acceleration, double over_jerk) {
    const double a = over_acceleration, j = over_jerk;
    return a * a > j ? a + j / a : 2.0 * std::sqrt(j);
}

SegmentSpeeds segment_speeds(const std::vector<Segment>& segments, std::vector<Corner> corners) {
    const std::size_t n = segments.size();
    SegmentSpeeds speeds{std::vector<double>(n + 1, 0.0), std::vector<double>(n, 0.0)};
    std::vector<double>& w = speeds.corners;
    corners.front().reach = corners.back().reach = 0.0;
    for (std::size_t i = 1; i < n; ++i) {
        w[i] = std::min(segments[i - 1].max_speed, segments[i].max_speed);
        corners[i].reach = std::min(corners[i].reach, reach(corners[i], w[i]));
    }
    for (std::size_t i = 0; i < n; ++i) share(segments[i].length, corners[i], corners[i + 1]);
    const auto stops = [&](std::size_t i) { return corners[i].reach <= 0.0 && corners[i].over_jerk > 0.0; };
    for (std::size_t i = 1; i < n; ++i) {
        const auto own_reach = [&](double speed) { return reach(corners[i], speed); };
        w[i] = stops(i) ? 0.0 : largest(own_reach, 0.0, w[i], corners[i].reach);
    }
    for (std::size_t i = 0; i + 1 < n; ++i)
        w[i + 1] = reachable(segments[i], corners[i], w[i], corners[i + 1], w[i + 1]);
    for (std::size_t i = n; i-- > 1;) w[i] = reachable(segments[i], corners[i + 1], w[i + 1], corners[i], w[i]);
    for (std::size_t i = 0; i < n; ++i) {
        const Segment& own = segments[i];
        const double left = own.length - reach(corners[i], w[i]) - reach(corners[i + 1], w[i + 1]);
        const auto ramps = [&](double speed) { return ramp(own, w[i], speed) + ramp(own, speed, w[i + 1]); };
        speeds.segments[i] = largest(ramps, std::max(w[i], w[i + 1]), own.max_speed, left);
    }
    return speeds;
}

}  // namespace kinodyn
