// Footsteps to a goal by anytime weighted A* over a lattice of foot poses.
//
// A state is the foot that has landed last. Its successors are all poses of the other foot on the lattice within the
// step limits; both feet of the start and of the goal are states off the lattice.
#pragma once

#include <algorithm>
#include <queue>

#include "core/interrupts.hpp"
#include "planning/footstep_distances.hpp"
#include "planning/goal_distances.hpp"
#include "planning/state_table.hpp"

namespace kinodyn {

class FootstepSearch {
  public:
    explicit FootstepSearch(const FootstepProblem& problem) : p_(problem) {
        goal_body_ = {0.0, 0.0};
        for (int side = 0; side < 2; ++side) {
            const Point2 body = beside(p_.goal[side], side);
            goal_body_ = {goal_body_[0] + 0.5 * body[0], goal_body_[1] + 0.5 * body[1]};
        }
        cos0_ = std::cos(p_.start[0].yaw), sin0_ = std::sin(p_.start[0].yaw);
        list_actions();
        if (p_.settings.guided) distances_ = GoalDistances(p_, reach_);
    }

    FootstepPath run() {
        FootstepPath best;
        used_ = 0;
        for (double weight : p_.weights) {
            if (!best.steps.empty() && used_ > p_.settings.effort) break;
            const double limit =
                best.steps.empty() ? p_.settings.max_effort : std::min(p_.settings.effort, p_.settings.max_effort);
            FootstepPath found = search(weight, best.cost, limit);
            found.states = states_.size();
            found.expanded += best.expanded;
            if (!found.steps.empty()) {
                best = found;
            } else {
                best.states = found.states, best.expanded = found.expanded;
                best.exhausted = found.exhausted && best.steps.empty();
                if (found.exhausted && !best.steps.empty()) best.weight = weight;  // nothing cheaper exists
                if (best.steps.empty()) break;
            }
        }
        return best;
    }

  private:
    static constexpr int at_start = -1, near_goal = -2, at_goal = -3;
    struct State {
        int side;
        int i, j, k;  // of the lattice; k is one of the names above off the lattice
        FootPose pose;
        Point2 body = {};
        double h = -1.0;  // not computed yet
        Foothold foothold = {};
        bool known = false;  // whether the foothold has been computed
        double g = 0.0;
        int parent = -1;
        int opened = -1, closed = -1;  // the search in which it was
    };
    struct Action {
        int di, dj, dk;
        double cost;  // on level ground
    };
    struct Open {
        double f, g;
        int state, parent;
        bool known;  // whether g is the cost, or only a lower bound of it
        bool operator<(const Open& other) const { return f > other.f || (f == other.f && g < other.g); }
    };
    using Queue = std::priority_queue<Open>;

    Point2 beside(const FootPose& foot, int side) const { return body_beside(foot, side, p_.limits.width); }

    FootPose lattice(int i, int j, int k) const {
        const FootPose& o = p_.start[0];
        const double c = cos0_, s = sin0_, x = i * p_.settings.spacing, y = j * p_.settings.spacing;
        return {o.x + c * x - s * y, o.y + s * x + c * y, o.yaw + k * turn()};
    }

    double turn() const { return full_turn / p_.settings.yaws; }

    static double wrapped(double angle) { return std::remainder(angle, full_turn); }

    // The actions, rounded to the lattice for each heading of the stance foot and each foot, if the limits allow them.
    void list_actions() {
        const FootstepLimits& l = p_.limits;
        actions_.assign(2 * static_cast<std::size_t>(p_.settings.yaws), {});
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < p_.settings.yaws; ++k) {
                const double c = std::cos(k * turn()), s = std::sin(k * turn()), sign = side == 0 ? 1.0 : -1.0;
                std::vector<Action>& own = actions_[slot(side, k)];
                for (const FootPose& step : p_.actions) {
                    const double u = step.x, v = sign * step.y;
                    const int di = static_cast<int>(std::lround((c * u - s * v) / p_.settings.spacing));
                    const int dj = static_cast<int>(std::lround((s * u + c * v) / p_.settings.spacing));
                    const int dk = static_cast<int>(std::lround(sign * step.yaw / turn()));
                    const double x = (c * di + s * dj) * p_.settings.spacing,
                                 y = (c * dj - s * di) * p_.settings.spacing;
                    const auto same = [&](const Action& a) { return a.di == di && a.dj == dj && a.dk == dk; };
                    if (!l.allow(sign, x, y, dk * turn()) || std::any_of(own.begin(), own.end(), same)) continue;
                    const State from = make_state(1 - side, 0, 0, 0, {}),
                                to = make_state(side, 0, 0, 0, {x, y, dk * turn()});
                    own.push_back({di, dj, dk, cost(from, to)});
                }
            }
        max_turn_ = std::max(std::max(l.outward, l.inward), 1e-6);
        max_move_ = 1e-9, reach_ = 0.0;
        for (double along : {l.forward, l.backward})
            for (double away : {l.min_width, std::min(l.max_width, l.oblique - along), l.max_width}) {
                const double x = std::min(along, l.oblique - away);
                reach_ = std::max(reach_, std::hypot(x, away));
                max_move_ = std::max(max_move_, std::hypot(x, away - l.width));
            }
        max_move_ += 0.5 * l.width * max_turn_;  // the body is beside a foot that turns
    }

    std::size_t slot(int side, int k) const { return 2 * static_cast<std::size_t>(k) + static_cast<std::size_t>(side); }

    // Lower bound of the cost to the goal. A guide knows the costs on level ground, holes, walls and heights, and is a
    // bound only nearly.
    double heuristic(const State& state) const {
        const FootPose& foot = state.pose;
        const double dx = state.body[0] - goal_body_[0], dy = state.body[1] - goal_body_[1];
        const double straight = std::hypot(dx, dy), turned = wrapped(foot.yaw - p_.goal[0].yaw);
        const double bound = p_.costs.step * std::max(straight / max_move_, std::abs(turned) / max_turn_) +
                             p_.costs.length * straight + p_.costs.turn * std::abs(turned);
        if (!p_.settings.guided) return bound;
        const double around = distances_.from(foot.x, foot.y) - p_.limits.width;
        const double c = std::cos(p_.goal[0].yaw), s = std::sin(p_.goal[0].yaw);
        const double level = p_.level.at(state.side, c * dx + s * dy, c * dy - s * dx, turned);
        const double ground = p_.map.at(foot.x, foot.y);
        return (std::isfinite(level) ? std::max(level, bound) : bound) +
               p_.level.per_metre * std::max(around - straight, 0.0) +
               p_.costs.height * (ground > no_ground ? std::abs(ground - distances_.goal_height()) : 0.0);
    }

    int state_at(int side, int i, int j, int k) {
        const std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(i) & 0xffffffu) << 40) |
                                  (static_cast<std::uint64_t>(static_cast<std::uint32_t>(j) & 0xffffffu) << 16) |
                                  (static_cast<std::uint64_t>(k) << 1) | static_cast<std::uint64_t>(side);
        bool fresh = false;
        const int state = index_.find(key, static_cast<int>(states_.size()), fresh);
        if (fresh) states_.push_back(make_state(side, i, j, k, lattice(i, j, k)));
        return state;
    }

    State make_state(int side, int i, int j, int k, const FootPose& pose) const {
        State state{};
        state.side = side, state.i = i, state.j = j, state.k = k, state.pose = pose;
        state.body = beside(pose, side);
        return state;
    }

    double to_goal(State& state) const {
        if (state.h < 0.0) state.h = heuristic(state);
        return state.h;
    }

    const Foothold& foothold(State& state) {
        if (!state.known)
            state.foothold =
                resting_(p_.map, p_.soles[state.side], state.pose.x, state.pose.y, state.pose.yaw, p_.rules);
        state.known = true;
        return state.foothold;
    }

    // `limit`: of all entries used. Entries, not seconds: the path does not depend on the load of the machine.
    FootstepPath search(double weight, double bound, double limit) {
        ++round_;
        if (states_.empty())
            for (int side = 0; side < 2; ++side) {
                // the feet stand here, whatever the map says
                states_.push_back(make_state(side, 0, 0, at_start, p_.start[side]));
                State& start = states_.back();
                start.foothold.status = FootholdStatus::supported, start.foothold.z = p_.start_z[side];
                start.known = true;
                states_.push_back(make_state(side, 0, 0, near_goal, p_.goal[side]));
                states_.push_back(make_state(side, 0, 0, at_goal, p_.goal[side]));
            }
        Queue open;
        for (int side = 0; side < 2; ++side) {
            State& start = states_[static_cast<std::size_t>(3 * side)];
            start.g = 0.0, start.parent = -1, start.opened = round_;
            open.push({weight * to_goal(start), 0.0, 3 * side, -1, true});
        }
        FootstepPath path;
        while (!open.empty()) {
            poll_interrupt();
            const Open top = open.top();
            open.pop();
            State& state = states_[static_cast<std::size_t>(top.state)];
            if (++used_ > limit || states_.size() > static_cast<std::size_t>(p_.settings.max_states)) return path;
            if (state.closed == round_) continue;
            if (!top.known) {
                evaluate(top, weight, bound, open);
                continue;
            }
            if (top.g > state.g) continue;
            state.closed = round_;
            if (state.k == at_goal) return path_to(top.state, weight, path.expanded);
            ++path.expanded;
            expand(top.state, weight, bound, open);
        }
        path.exhausted = true;
        return path;
    }

    // Replace the lower bound of a cost by the cost itself.
    void evaluate(const Open& entry, double weight, double bound, Queue& open) {
        State& next = states_[static_cast<std::size_t>(entry.state)];
        if (foothold(next).status != FootholdStatus::supported) {
            next.closed = round_;
            return;
        }
        const State& stance = states_[static_cast<std::size_t>(entry.parent)];
        const double g = stance.g + cost(stance, next) + ground_cost(stance, next);
        if (g + next.h >= bound || (next.opened == round_ && g >= next.g) || !passable(stance, next)) return;
        next.g = g, next.parent = entry.parent, next.opened = round_;
        open.push({g + weight * next.h, g, entry.state, entry.parent, true});
    }

    void expand(int from, double weight, double bound, Queue& open) {
        const State stance = states_[static_cast<std::size_t>(from)];
        const int side = 1 - stance.side;
        // the first foot at the goal may come from anywhere, the second one only follows it
        const int goal = 3 * side + (stance.k == near_goal ? 2 : 1);
        if (stance.k >= 0) {
            for (const Action& action : actions_[slot(side, stance.k)]) {
                const int k = (stance.k + action.dk + p_.settings.yaws) % p_.settings.yaws;
                const int next = state_at(side, stance.i + action.di, stance.j + action.dj, k);
                relax(from, stance.g + action.cost, next, weight, bound, open);
            }
        } else if (stance.k == at_start) {
            for (int next : neighbours(stance, side))
                relax(from, stance.g + cost(stance, states_[static_cast<std::size_t>(next)]), next, weight, bound,
                      open);
        }
        if (reachable(stance.pose, states_[static_cast<std::size_t>(goal)].pose, side))
            relax(from, stance.g + cost(stance, states_[static_cast<std::size_t>(goal)]), goal, weight, bound, open);
    }

    bool reachable(const FootPose& stance, const FootPose& next, int side) const {
        const double c = std::cos(stance.yaw), s = std::sin(stance.yaw);
        const double dx = next.x - stance.x, dy = next.y - stance.y;
        return p_.limits.allow(side == 0 ? 1.0 : -1.0, c * dx + s * dy, c * dy - s * dx,
                               wrapped(next.yaw - stance.yaw));
    }

    // States of the lattice within the limits of a foot off the lattice.
    std::vector<int> neighbours(const State& stance, int side) {
        const FootPose& o = p_.start[0];
        const double c = std::cos(o.yaw), s = std::sin(o.yaw);
        const double dx = stance.pose.x - o.x, dy = stance.pose.y - o.y;
        const int i0 = static_cast<int>(std::lround((c * dx + s * dy) / p_.settings.spacing));
        const int j0 = static_cast<int>(std::lround((c * dy - s * dx) / p_.settings.spacing));
        const int k0 = static_cast<int>(std::lround(wrapped(stance.pose.yaw - o.yaw) / turn()));
        const int reach = static_cast<int>(std::ceil(reach_ / p_.settings.spacing)) + 1;
        const int turns = static_cast<int>(std::ceil(std::max(p_.limits.outward, p_.limits.inward) / turn())) + 1;
        std::vector<int> found;
        for (int dk = -turns; dk <= turns; ++dk)
            for (int i = i0 - reach; i <= i0 + reach; ++i)
                for (int j = j0 - reach; j <= j0 + reach; ++j) {
                    const int k = ((k0 + dk) % p_.settings.yaws + p_.settings.yaws) % p_.settings.yaws;
                    if (reachable(stance.pose, lattice(i, j, k), side)) found.push_back(state_at(side, i, j, k));
                }
        return found;
    }

    void relax(int from, double g, int to, double weight, double bound, Queue& open) {
        State& next = states_[static_cast<std::size_t>(to)];
        if (next.closed == round_) return;
        if (to_goal(next) == std::numeric_limits<double>::infinity() || g + next.h >= bound ||
            (next.opened == round_ && g >= next.g))
            return;
        open.push({g + weight * next.h, g, to, from, false});
    }

    double cost(const State& stance, const State& next) const {
        const Point2 &a = stance.body, &b = next.body;
        const double dx = next.pose.x - stance.pose.x, dy = next.pose.y - stance.pose.y;
        const double c = std::cos(stance.pose.yaw), s = std::sin(stance.pose.yaw);
        const double widening = std::abs(std::abs(c * dy - s * dx) - p_.limits.width);
        return p_.costs.step + p_.costs.length * std::hypot(b[0] - a[0], b[1] - a[1]) + p_.costs.width * widening +
               p_.costs.turn * std::abs(wrapped(next.pose.yaw - stance.pose.yaw));
    }

    double ground_cost(const State& stance, const State& next) const {
        const Foothold& f = next.foothold;
        return p_.costs.height * std::abs(f.z - stance.foothold.z) + p_.costs.support * (1.0 - f.support) +
               p_.costs.slope * std::hypot(f.gx, f.gy);
    }

    // Heights within reach, and neither body nor swing foot blocked.
    bool passable(const State& stance, const State& next) const {
        const double z0 = stance.foothold.z, z1 = next.foothold.z;
        if (std::abs(z1 - z0) > p_.settings.max_rise) return false;
        if (p_.body.at(next.body[0], next.body[1]) > std::max(z0, z1) + p_.settings.obstacle) return false;
        // the swing foot starts beside the stance foot, or passes there
        const double aside = (next.side == 0 ? 1.0 : -1.0) * p_.limits.width;
        const double x = stance.pose.x - std::sin(stance.pose.yaw) * aside;
        const double y = stance.pose.y + std::cos(stance.pose.yaw) * aside;
        const double top = std::max(z0, z1) + p_.settings.max_rise;
        for (int k = 1; k <= 4; ++k) {
            const double s = 0.25 * k;
            if (p_.swing.at(x + s * (next.pose.x - x), y + s * (next.pose.y - y)) > top) return false;
        }
        return !wall_between(stance.pose, next.pose, top);
    }

    // Whether ground between two feet is higher than legs can straddle.
    bool wall_between(const FootPose& a, const FootPose& b, double top) const {
        const double dx = b.x - a.x, dy = b.y - a.y;
        const int count = static_cast<int>(std::ceil(std::hypot(dx, dy) / p_.map.cell));
        for (int k = 1; k < count; ++k) {
            const double s = static_cast<double>(k) / count;
            if (p_.map.at(a.x + s * dx, a.y + s * dy) > top) return true;
        }
        return false;
    }

    FootstepPath path_to(int last, double weight, std::size_t expanded) const {
        FootstepPath path;
        path.cost = states_[static_cast<std::size_t>(last)].g, path.weight = weight, path.expanded = expanded;
        for (int k = last; states_[static_cast<std::size_t>(k)].parent >= 0;
             k = states_[static_cast<std::size_t>(k)].parent) {
            const State& state = states_[static_cast<std::size_t>(k)];
            path.steps.push_back({state.side, state.pose, state.foothold});
        }
        std::reverse(path.steps.begin(), path.steps.end());
        return path;
    }

    FootstepProblem p_;
    Resting resting_;
    Point2 goal_body_;
    std::vector<std::vector<Action>> actions_;
    double max_move_ = 0.0, max_turn_ = 0.0, reach_ = 0.0;
    double cos0_ = 1.0, sin0_ = 0.0;
    GoalDistances distances_;
    std::vector<State> states_;
    StateTable index_;
    int round_ = 0;
    double used_ = 0.0;  // entries of the queue
};

}  // namespace kinodyn
