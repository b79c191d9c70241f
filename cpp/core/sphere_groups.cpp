#include "core/sphere_groups.hpp"

#include <numeric>

namespace kinodyn {

namespace {

// The smallest ball around two.
Ball joined(const Ball& a, const Ball& b) {
    const Vec3 offset = b.centre - a.centre;
    const double distance = norm(offset);
    if (distance + b.radius <= a.radius) return a;
    if (distance + a.radius <= b.radius) return b;
    const double radius = 0.5 * (distance + a.radius + b.radius);
    return {a.centre + ((radius - a.radius) / distance) * offset, radius};
}

std::vector<Ball> members(const std::vector<Ball>& balls, const std::vector<int>& group, int number) {
    std::vector<Ball> found;
    for (std::size_t k = 0; k < balls.size(); ++k)
        if (group[k] == number) found.push_back(balls[k]);
    return found;
}

// Joins the two groups whose common ball is smallest until `count` are left.
std::vector<int> agglomerate(const std::vector<Ball>& balls, int count) {
    const int n = static_cast<int>(balls.size());
    std::vector<int> group(n), best(n, -1);
    std::vector<double> cost(n, 1e300);
    std::vector<Ball> around = balls;
    std::vector<bool> alive(n, true);
    std::iota(group.begin(), group.end(), 0);
    const auto find_partner = [&](int i) {
        cost[i] = 1e300, best[i] = -1;
        for (int k = 0; k < n; ++k) {
            if (k == i || !alive[k]) continue;
            const double radius = joined(around[i], around[k]).radius;
            if (radius < cost[i]) cost[i] = radius, best[i] = k;
        }
    };
    for (int i = 0; i < n; ++i) find_partner(i);
    for (int left = n; left > count; --left) {
        const int i = static_cast<int>(std::min_element(cost.begin(), cost.end()) - cost.begin());
        const int j = best[i];
        around[i] = joined(around[i], around[j]);
        alive[j] = false, cost[j] = 1e300;
        for (int& g : group)
            if (g == j) g = i;
        for (int k = 0; k < n; ++k)
            if (alive[k] && (k == i || best[k] == i || best[k] == j)) find_partner(k);
    }
    return group;
}

// Numbers the groups from 0 without gaps.
int renumber(std::vector<int>& group) {
    std::vector<int> number(group.size(), -1);
    int count = 0;
    for (int& g : group) {
        if (number[g] < 0) number[g] = count++;
        g = number[g];
    }
    return count;
}

}  // namespace

// M. Badoiu, K. Clarkson 2003: steps of falling size towards the farthest ball; the radius then contains all.
Ball enclosing_ball(const std::vector<Ball>& balls) {
    Ball ball = balls.front();
    const auto farthest = [&](const Vec3& centre) {
        std::size_t found = 0;
        double reach = -1;
        for (std::size_t k = 0; k < balls.size(); ++k) {
            const double distance = norm(balls[k].centre - centre) + balls[k].radius;
            if (distance > reach) reach = distance, found = k;
        }
        return std::make_pair(found, reach);
    };
    Vec3 centre{};
    for (const Ball& each : balls) centre = centre + (1.0 / static_cast<double>(balls.size())) * each.centre;
    ball = {centre, farthest(centre).second};
    for (int step = 1; step <= 200; ++step) {
        const auto [k, reach] = farthest(centre);
        if (reach < ball.radius) ball = {centre, reach};
        const Vec3 offset = balls[k].centre - centre;
        const double distance = norm(offset);
        if (distance == 0) break;
        // the step is towards the far side of the farthest ball, not its centre
        centre = centre + (1.0 / (step + 1) * (distance + balls[k].radius) / distance * 0.5) * offset;
    }
    return ball;
}

SphereGroups group_spheres(const std::vector<Ball>& balls, int count) {
    SphereGroups groups;
    groups.group = agglomerate(balls, std::max(count, 1));
    const int number = renumber(groups.group);
    for (int g = 0; g < number; ++g) groups.coarse.push_back(enclosing_ball(members(balls, groups.group, g)));
    return groups;
}

}  // namespace kinodyn
