#include "core/distance.hpp"

#include <atomic>
#include <cmath>

namespace kinodyn {

namespace {

double bounding_radius(const BoxObstacle& box) {
    const double x = box.half[0], y = box.half[1], z = box.half[2];
    return std::sqrt(x * x + y * y + z * z);
}

double next_id() {
    static std::atomic<long> last{0};
    return static_cast<double>(++last);
}

}  // namespace

DistanceQuery::DistanceQuery(const Model& robot, const SphereModel& spheres, const Obstacles& obstacles,
                             const std::vector<GroupPair>& pairs_of_groups, const std::vector<char>& checked)
    : pairs(pairs_of_groups), id_(next_id()), robot_(robot), spheres_(spheres), obstacles_(obstacles) {
    gather_children();
    const int n_groups = static_cast<int>(spheres.groups.size());
    constexpr double rounding = 1e-6;  // of float32, as a fraction of the radius
    const auto add = [&](ObstaclePair::Kind kind, const auto& table, auto radius) {
        for (int i = 0; i < static_cast<int>(table.size()); ++i)
            for (int g = 0; g < n_groups; ++g) {
                const auto& o = table[static_cast<std::size_t>(i)];
                if (!checked[static_cast<std::size_t>(o.owner * n_groups + g)]) continue;
                obstacle_pairs.push_back({kind, g, i, o.owner, {o.p[0], o.p[1], o.p[2]}, radius(o) * (1 + rounding)});
            }
    };
    add(ObstaclePair::UprightBox, obstacles.upright_boxes, bounding_radius);
    add(ObstaclePair::Box, obstacles.boxes, bounding_radius);
    add(ObstaclePair::Capsule, obstacles.capsules, [](const RoundObstacle& o) { return double(o.half) + o.radius; });
    add(ObstaclePair::Cylinder, obstacles.cylinders,
        [](const RoundObstacle& o) { return std::hypot(double(o.half), double(o.radius)); });
    for (int i = 0; i < static_cast<int>(obstacles.surfaces.size()); ++i)
        for (int g = 0; g < n_groups; ++g) {
            const SurfaceObstacle& o = obstacles.surfaces[static_cast<std::size_t>(i)];
            if (!checked[static_cast<std::size_t>(o.owner * n_groups + g)]) continue;
            const float* p = o.bounds.p;
            const double radius = (bounding_radius(o.bounds) + o.radius) * (1 + rounding);
            obstacle_pairs.push_back({ObstaclePair::Surface, g, i, o.owner, {p[0], p[1], p[2]}, radius});
        }
}

void DistanceQuery::gather_children() {
    const std::vector<SphereNode>& nodes = spheres_.nodes;
    constexpr float none = -1e18f;
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
        children_of_.push_back(static_cast<int>(children_.size()));
        const SphereNode& node = nodes[static_cast<std::size_t>(i)];
        if (node.next == i + 1) continue;
        Children four = {{}, {}, {}, {none, none, none, none}, {}};
        int n = 0;
        for (int k = i + 1; k < node.next; k = nodes[static_cast<std::size_t>(k)].next, ++n) {
            const SphereNode& child = nodes[static_cast<std::size_t>(k)];
            four.x[n] = child.centre[0], four.y[n] = child.centre[1], four.z[n] = child.centre[2];
            four.r[n] = child.r, four.node[n] = k;
        }
        children_.push_back(four);
    }
}

}  // namespace kinodyn
