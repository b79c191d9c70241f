// Distances along the ground from everywhere to the goal of a footstep search, around holes and walls.
#pragma once

#include <algorithm>
#include <queue>

#include "planning/footstep_problem.hpp"

namespace kinodyn {

// Dijkstra from the goal over coarse cells: hops of at most one step, up and down by at most `max_rise`. The lowest and
// the highest ground in a cell are two nodes.
class GoalDistances {
  public:
    GoalDistances() = default;

    // reach: the longest step from foot to foot [m]
    GoalDistances(const FootstepProblem& problem, double reach) : map_(problem.map) {
        factor_ = std::max(1, static_cast<int>(std::lround(coarse_cell / map_.cell)));
        nx_ = (map_.nx + factor_ - 1) / factor_, ny_ = (map_.ny + factor_ - 1) / factor_;
        list_levels();
        list_hops(reach);
        distance_.assign(level_.size(), infinity);
        add_goal(problem);
        while (!open_.empty()) expand(problem.settings.max_rise);
    }

    // Distance from a foot at x, y [m]; infinite if no path is known.
    double from(double x, double y) const {
        const int cell = cell_at(x, y);
        if (cell < 0) return infinity;
        const std::size_t node = 2 * static_cast<std::size_t>(cell);
        return std::min(distance_[node], distance_[node + 1]);
    }

    double goal_height() const { return goal_height_; }

  private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr double coarse_cell = 0.08;  // [m]
    struct NeighbourStep {
        int i, j;
        double length;
    };
    using Entry = std::pair<double, std::size_t>;

    std::size_t cell(int i, int j) const {
        return static_cast<std::size_t>(i) * static_cast<std::size_t>(ny_) + static_cast<std::size_t>(j);
    }

    int cell_at(double x, double y) const {
        const double i = std::floor((x - map_.x0) / map_.cell + 0.5), j = std::floor((y - map_.y0) / map_.cell + 0.5);
        if (!(i >= 0 && i < map_.nx && j >= 0 && j < map_.ny)) return -1;
        return (static_cast<int>(i) / factor_) * ny_ + static_cast<int>(j) / factor_;
    }

    // The lowest and the highest ground of each cell.
    void list_levels() {
        level_.resize(2 * static_cast<std::size_t>(nx_) * static_cast<std::size_t>(ny_));
        for (std::size_t k = 0; k < level_.size(); ++k) level_[k] = k % 2 == 0 ? infinity : -infinity;
        for (int i = 0; i < map_.nx; ++i)
            for (int j = 0; j < map_.ny; ++j) {
                const double h = map_.heights[static_cast<std::size_t>(i) * static_cast<std::size_t>(map_.ny) +
                                              static_cast<std::size_t>(j)];
                if (h == -infinity) continue;
                double* const range = &level_[2 * cell(i / factor_, j / factor_)];
                range[0] = std::min(range[0], h), range[1] = std::max(range[1], h);
            }
    }

    void list_hops(double reach) {
        const double side = factor_ * map_.cell;
        const int cells = static_cast<int>(std::ceil(reach / side)) + 1;
        for (int i = -cells; i <= cells; ++i)
            for (int j = -cells; j <= cells; ++j)
                if (std::hypot(i, j) * side <= reach + side)
                    neighbour_steps_.push_back({i, j, std::hypot(i, j) * side});
    }

    void add_goal(const FootstepProblem& problem) {
        Resting resting;
        for (int foot = 0; foot < 2; ++foot) {
            const FootPose& pose = problem.goal[foot];
            goal_height_ = resting(map_, problem.soles[foot], pose.x, pose.y, pose.yaw, problem.rules).z;
            const int at = cell_at(pose.x, pose.y);
            if (at < 0) continue;
            const std::size_t first = 2 * static_cast<std::size_t>(at);
            for (std::size_t k = first; k < first + 2; ++k)
                if (std::abs(level_[k] - goal_height_) <= problem.settings.max_rise)
                    distance_[k] = 0.0, open_.push({0.0, k});
        }
    }

    void expand(double max_rise) {
        const auto [distance, node] = open_.top();
        open_.pop();
        if (distance > distance_[node]) return;
        const int i = static_cast<int>(node / 2) / ny_, j = static_cast<int>(node / 2) % ny_;
        for (const NeighbourStep& step : neighbour_steps_) {
            const int a = i + step.i, b = j + step.j;
            if (a < 0 || b < 0 || a >= nx_ || b >= ny_) continue;
            for (std::size_t next = 2 * cell(a, b); next < 2 * cell(a, b) + 2; ++next)
                if (distance + step.length < distance_[next] && std::abs(level_[next] - level_[node]) <= max_rise)
                    distance_[next] = distance + step.length, open_.push({distance_[next], next});
        }
    }

    HeightGrid map_{};
    int factor_ = 1, nx_ = 0, ny_ = 0;
    std::vector<double> level_, distance_;
    std::vector<NeighbourStep> neighbour_steps_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open_;
    double goal_height_ = 0.0;
};

}  // namespace kinodyn
