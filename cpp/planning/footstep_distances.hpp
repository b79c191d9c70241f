// Costs of footsteps to a goal on level ground without obstacles: the heuristic of the search over terrain.
#pragma once

#include <algorithm>
#include <queue>

#include "planning/footstep_problem.hpp"

namespace kinodyn {

// Where the body is beside a foot (0 left, 1 right).
inline Point2 body_beside(const FootPose& foot, int side, double width) {
    const double aside = (side == 0 ? -0.5 : 0.5) * width;
    return {foot.x - std::sin(foot.yaw) * aside, foot.y + std::cos(foot.yaw) * aside};
}

// The table of `FootstepDistances`, by Dijkstra's algorithm backwards from the goal. `actions` are steps of the left
// foot in the frame of the right one.
inline std::vector<double> footstep_distances(const FootstepLimits& limits, const FootstepCosts& costs,
                                              const std::vector<FootPose>& actions, int n, int yaws, double cell) {
    struct Move {
        int from, di, dj;  // heading of the stance foot, and by how many cells the body moves
        double cost;
    };
    const double turn = full_turn / yaws;
    std::vector<std::vector<Move>> moves(2 * static_cast<std::size_t>(yaws));  // by the foot that lands and its heading
    for (int side = 0; side < 2; ++side)
        for (int k = 0; k < yaws; ++k) {
            const double c = std::cos(k * turn), s = std::sin(k * turn), sign = side == 0 ? 1.0 : -1.0;
            for (const FootPose& action : actions) {
                const FootPose step = {action.x, sign * action.y, sign * action.yaw};
                if (!limits.allow(sign, step.x, step.y, step.yaw)) continue;
                const Point2 from = body_beside({}, 1 - side, limits.width);
                const Point2 to = body_beside(step, side, limits.width);
                const double x = to[0] - from[0], y = to[1] - from[1];
                const double wide = std::abs(std::abs(step.y) - limits.width);
                const int heading = (k + static_cast<int>(std::lround(step.yaw / turn)) + yaws) % yaws;
                std::vector<Move>& own = moves[2 * static_cast<std::size_t>(heading) + static_cast<std::size_t>(side)];
                const Move move = {k, static_cast<int>(std::lround((c * x - s * y) / cell)),
                                   static_cast<int>(std::lround((s * x + c * y) / cell)),
                                   costs.step + costs.length * std::hypot(x, y) + costs.width * wide +
                                       costs.turn * std::abs(step.yaw)};
                const auto same = std::find_if(own.begin(), own.end(), [&](const Move& other) {
                    return other.from == move.from && other.di == move.di && other.dj == move.dj;
                });
                if (same == own.end())
                    own.push_back(move);
                else
                    same->cost = std::min(same->cost, move.cost);
            }
        }
    const auto place = [&](int side, int i, int j, int k) { return FootstepDistances::place(n, yaws, side, i, j, k); };
    std::vector<double> least(place(2, 0, 0, 0), std::numeric_limits<double>::infinity());
    struct Entry {
        double cost;
        int side, i, j, k;
        bool operator<(const Entry& other) const { return cost > other.cost; }
    };
    std::priority_queue<Entry> open;
    for (int side = 0; side < 2; ++side) {
        least[place(side, n / 2, n / 2, 0)] = 0.0;
        open.push({0.0, side, n / 2, n / 2, 0});
    }
    while (!open.empty()) {
        const Entry to = open.top();
        open.pop();
        if (to.cost > least[place(to.side, to.i, to.j, to.k)]) continue;
        for (const Move& move : moves[2 * static_cast<std::size_t>(to.k) + static_cast<std::size_t>(to.side)]) {
            const int i = to.i - move.di, j = to.j - move.dj;
            if (i < 0 || j < 0 || i >= n || j >= n) continue;
            double& before = least[place(1 - to.side, i, j, move.from)];
            if (to.cost + move.cost < before) {
                before = to.cost + move.cost;
                open.push({before, 1 - to.side, i, j, move.from});
            }
        }
    }
    return least;
}

}  // namespace kinodyn
