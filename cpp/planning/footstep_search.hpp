// Footsteps to a goal by anytime weighted A* over a lattice of foot poses.
//
// A state is the foot that has landed last. Its successors are all poses of the other foot on the lattice within the
// step limits; both feet of the start and of the goal are states off the lattice.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <queue>

#include "planning/footholds.hpp"

namespace kinodyn {

struct FootstepLimits {
    double forward, backward, narrowest, width, widest, oblique, outward, inward, toe, heel;

    // Whether the foot on `side` (+1 left, -1 right) may land at x, y, turn in the frame of the other foot.
    bool allow(double side, double x, double y, double turn) const {
        const double away = side * y, out = side * turn, eps = 1e-9;
        const double room = (out > 0 ? heel : toe) * std::abs(std::sin(out));
        return x <= forward + eps && -x <= backward + eps && away >= narrowest + room - eps && away <= widest + eps &&
               std::abs(x) + away <= oblique + eps && out <= outward + eps && -out <= inward + eps;
    }
};

struct FootstepCosts {
    double step, length, width, height, support, slope, turn;
};

struct FootPose {
    double x = 0.0, y = 0.0, yaw = 0.0;
};

struct FootstepProblem {
    HeightGrid map;    // where the feet stand
    HeightGrid body;   // largest height around the body
    HeightGrid swing;  // largest height around a foot
    Sole soles[2];     // left, right
    FootholdRules rules;
    FootstepLimits limits;
    FootstepCosts costs;
    double max_rise;                // [m] between consecutive feet
    double obstacle;                // [m] above the feet that the body passes
    double spacing;                 // of the lattice [m]
    int yaws;                       // of the lattice in a full turn
    std::vector<FootPose> actions;  // steps of the left foot in the frame of the right one, before rounding
    FootPose start[2], goal[2];
    double start_z[2];
    std::vector<double> weights;  // of the heuristic, one search after the other
    bool guided;                  // whether the heuristic knows the terrain; if not, the last weight 1 gives an optimum
    double seconds;               // for searches after the first that found a path
    double max_seconds;           // for all
    std::size_t max_states;
};

struct FoundStep {
    int side;
    FootPose pose;
    Foothold foothold;
};

struct FootstepPath {
    std::vector<FoundStep> steps;
    double cost = std::numeric_limits<double>::infinity();
    double weight = 0.0;  // with which this path was found
    std::size_t states = 0, expanded = 0;
    bool exhausted = false;  // all that can be reached has been visited
};

// Numbers of states by the key of their pose: a hash table with linear probing.
class StateTable {
  public:
    // The value of a key; `fresh` says that it has been added, with the value `next`.
    int find(std::uint64_t key, int next, bool& fresh) {
        if (2 * (count_ + 1) > keys_.size()) grow();
        const std::size_t place = probe(key);
        fresh = values_[place] < 0;
        if (fresh) keys_[place] = key, values_[place] = next, ++count_;
        return values_[place];
    }

  private:
    std::size_t probe(std::uint64_t key) const {
        std::size_t place = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> shift_);
        while (values_[place] >= 0 && keys_[place] != key) place = (place + 1) & (keys_.size() - 1);
        return place;
    }

    void grow() {
        const std::vector<std::uint64_t> keys = std::move(keys_);
        const std::vector<int> values = std::move(values_);
        --shift_;
        keys_.assign(std::size_t{1} << (64 - shift_), 0);
        values_.assign(keys_.size(), -1);
        for (std::size_t k = 0; k < keys.size(); ++k)
            if (values[k] >= 0) {
                const std::size_t place = probe(keys[k]);
                keys_[place] = keys[k], values_[place] = values[k];
            }
    }

    int shift_ = 50;  // of a hash; a table of twice the size uses one bit more
    std::size_t count_ = 0;
    std::vector<std::uint64_t> keys_;
    std::vector<int> values_;
};

class FootstepSearch {
  public:
    explicit FootstepSearch(const FootstepProblem& problem) : p_(problem) {
        for (Sole& sole : p_.soles) {
            std::vector<Point2> centred = sole.inner;
            for (Point2& point : centred) point = {point[0] - sole.centre[0], point[1] - sole.centre[1]};
            surround(centred, sole.first);
        }
        goal_body_ = {0.0, 0.0};
        for (int side = 0; side < 2; ++side) {
            const Point2 body = beside(p_.goal[side], side);
            goal_body_ = {goal_body_[0] + 0.5 * body[0], goal_body_[1] + 0.5 * body[1]};
        }
        cos0_ = std::cos(p_.start[0].yaw), sin0_ = std::sin(p_.start[0].yaw);
        list_actions();
        if (p_.guided) spread_from_goal();
    }

    FootstepPath run() {
        const auto begin = std::chrono::steady_clock::now();
        FootstepPath best;
        for (double weight : p_.weights) {
            const double used = since(begin);
            if (!best.steps.empty() && used > p_.seconds) break;
            const double limit = best.steps.empty() ? p_.max_seconds : std::min(p_.seconds, p_.max_seconds);
            FootstepPath found = search(weight, best.cost, limit - used);
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
        bool known = false;  // whether the foothold has been looked at
        double g = 0.0;
        int parent = -1;
        int opened = -1, closed = -1;  // the search that did
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

    static double since(std::chrono::steady_clock::time_point begin) {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }

    Point2 beside(const FootPose& foot, int side) const {
        const double aside = (side == 0 ? -0.5 : 0.5) * p_.limits.width;
        return {foot.x - std::sin(foot.yaw) * aside, foot.y + std::cos(foot.yaw) * aside};
    }

    FootPose lattice(int i, int j, int k) const {
        const FootPose& o = p_.start[0];
        const double c = cos0_, s = sin0_, x = i * p_.spacing, y = j * p_.spacing;
        return {o.x + c * x - s * y, o.y + s * x + c * y, o.yaw + k * turn()};
    }

    double turn() const { return 2.0 * 3.14159265358979323846 / p_.yaws; }

    static double wrapped(double angle) { return std::remainder(angle, 2.0 * 3.14159265358979323846); }

    // The actions, rounded to the lattice for each heading of the stance foot and each foot, if the limits allow them.
    void list_actions() {
        const FootstepLimits& l = p_.limits;
        actions_.assign(2 * static_cast<std::size_t>(p_.yaws), {});
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < p_.yaws; ++k) {
                const double c = std::cos(k * turn()), s = std::sin(k * turn()), sign = side == 0 ? 1.0 : -1.0;
                std::vector<Action>& own = actions_[slot(side, k)];
                for (const FootPose& step : p_.actions) {
                    const double u = step.x, v = sign * step.y;
                    const int di = static_cast<int>(std::lround((c * u - s * v) / p_.spacing));
                    const int dj = static_cast<int>(std::lround((s * u + c * v) / p_.spacing));
                    const int dk = static_cast<int>(std::lround(sign * step.yaw / turn()));
                    const double x = (c * di + s * dj) * p_.spacing, y = (c * dj - s * di) * p_.spacing;
                    const auto same = [&](const Action& a) { return a.di == di && a.dj == dj && a.dk == dk; };
                    if (!l.allow(sign, x, y, dk * turn()) || std::any_of(own.begin(), own.end(), same)) continue;
                    const State from = made(1 - side, 0, 0, 0, {}), to = made(side, 0, 0, 0, {x, y, dk * turn()});
                    own.push_back({di, dj, dk, cost(from, to)});
                }
            }
        max_turn_ = std::max(std::max(l.outward, l.inward), 1e-6);
        max_move_ = 1e-9, reach_ = 0.0;
        for (double along : {l.forward, l.backward})
            for (double away : {l.narrowest, std::min(l.widest, l.oblique - along), l.widest}) {
                const double x = std::min(along, l.oblique - away);
                reach_ = std::max(reach_, std::hypot(x, away));
                max_move_ = std::max(max_move_, std::hypot(x, away - l.width));
            }
        max_move_ += 0.5 * l.width * max_turn_;  // the body is beside a foot that turns
    }

    std::size_t slot(int side, int k) const { return 2 * static_cast<std::size_t>(k) + static_cast<std::size_t>(side); }

    // Dijkstra from the goal over coarse cells: hops of at most one step, up and down by at most `max_rise`. The lowest
    // and the highest ground in a cell are two places.
    void spread_from_goal() {
        const HeightGrid& m = p_.map;
        factor_ = std::max(1, static_cast<int>(std::lround(0.08 / m.cell)));
        cx_ = (m.nx + factor_ - 1) / factor_, cy_ = (m.ny + factor_ - 1) / factor_;
        const std::size_t count = 2 * static_cast<std::size_t>(cx_) * static_cast<std::size_t>(cy_);
        const double infinity = std::numeric_limits<double>::infinity();
        std::vector<double> level(count);
        for (std::size_t k = 0; k < count; ++k) level[k] = k % 2 == 0 ? infinity : -infinity;
        for (int i = 0; i < m.nx; ++i)
            for (int j = 0; j < m.ny; ++j) {
                const double h = m.heights[static_cast<std::size_t>(i) * static_cast<std::size_t>(m.ny) +
                                           static_cast<std::size_t>(j)];
                if (h == -infinity) continue;
                double* const range = &level[2 * coarse(i / factor_, j / factor_)];
                range[0] = std::min(range[0], h), range[1] = std::max(range[1], h);
            }
        spread_.assign(count, infinity);
        const double side = factor_ * m.cell;
        const int reach = static_cast<int>(std::ceil(reach_ / side)) + 1;
        struct Hop {
            int i, j;
            double length;
        };
        std::vector<Hop> hops;
        for (int i = -reach; i <= reach; ++i)
            for (int j = -reach; j <= reach; ++j)
                if (std::hypot(i, j) * side <= reach_ + side) hops.push_back({i, j, std::hypot(i, j) * side});
        using Entry = std::pair<double, std::size_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
        for (int foot = 0; foot < 2; ++foot) {
            const int cell = coarse_of(p_.goal[foot].x, p_.goal[foot].y);
            const Foothold goal =
                resting_(m, p_.soles[foot], p_.goal[foot].x, p_.goal[foot].y, p_.goal[foot].yaw, p_.rules);
            goal_z_ = goal.z;
            if (cell < 0) continue;
            const std::size_t first = 2 * static_cast<std::size_t>(cell);
            for (std::size_t k = first; k < first + 2; ++k)
                if (std::abs(level[k] - goal.z) <= p_.max_rise) spread_[k] = 0.0, open.push({0.0, k});
        }
        while (!open.empty()) {
            const auto [far, place] = open.top();
            open.pop();
            if (far > spread_[place]) continue;
            const int i = static_cast<int>(place / 2) / cy_, j = static_cast<int>(place / 2) % cy_;
            for (const Hop& hop : hops) {
                const int a = i + hop.i, b = j + hop.j;
                if (a < 0 || b < 0 || a >= cx_ || b >= cy_) continue;
                for (std::size_t n = 2 * coarse(a, b); n < 2 * coarse(a, b) + 2; ++n)
                    if (far + hop.length < spread_[n] && std::abs(level[n] - level[place]) <= p_.max_rise)
                        spread_[n] = far + hop.length, open.push({spread_[n], n});
            }
        }
    }

    std::size_t coarse(int i, int j) const {
        return static_cast<std::size_t>(i) * static_cast<std::size_t>(cy_) + static_cast<std::size_t>(j);
    }

    int coarse_of(double x, double y) const {
        const HeightGrid& m = p_.map;
        const double i = std::floor((x - m.x0) / m.cell + 0.5), j = std::floor((y - m.y0) / m.cell + 0.5);
        if (!(i >= 0 && i < m.nx && j >= 0 && j < m.ny)) return -1;
        return (static_cast<int>(i) / factor_) * cy_ + static_cast<int>(j) / factor_;
    }

    // Lower bound of the cost to the goal; with a guide it knows holes and walls, and is a bound only nearly.
    double heuristic(const FootPose& foot, const Point2& body) const {
        const double straight = std::hypot(body[0] - goal_body_[0], body[1] - goal_body_[1]);
        double far = straight, rise = 0.0;
        if (p_.guided) {
            const int cell = coarse_of(foot.x, foot.y);
            const std::size_t place = 2 * static_cast<std::size_t>(std::max(cell, 0));
            const double around =
                cell < 0 ? std::numeric_limits<double>::infinity() : std::min(spread_[place], spread_[place + 1]);
            far = std::max(straight, around - p_.limits.width);
            const double ground = p_.map.at(foot.x, foot.y);
            if (ground > no_ground) rise = std::abs(ground - goal_z_);
        }
        const double turned = std::abs(wrapped(foot.yaw - p_.goal[0].yaw));
        return p_.costs.step * std::max(far / max_move_, turned / max_turn_) + p_.costs.length * far +
               p_.costs.turn * turned + p_.costs.height * rise;
    }

    int state_at(int side, int i, int j, int k) {
        const std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(i) & 0xffffffu) << 40) |
                                  (static_cast<std::uint64_t>(static_cast<std::uint32_t>(j) & 0xffffffu) << 16) |
                                  (static_cast<std::uint64_t>(k) << 1) | static_cast<std::uint64_t>(side);
        bool fresh = false;
        const int state = index_.find(key, static_cast<int>(states_.size()), fresh);
        if (fresh) states_.push_back(made(side, i, j, k, lattice(i, j, k)));
        return state;
    }

    State made(int side, int i, int j, int k, const FootPose& pose) const {
        State state{};
        state.side = side, state.i = i, state.j = j, state.k = k, state.pose = pose;
        state.body = beside(pose, side);
        return state;
    }

    double to_goal(State& state) const {
        if (state.h < 0.0) state.h = heuristic(state.pose, state.body);
        return state.h;
    }

    const Foothold& look(State& state) {
        if (!state.known)
            state.foothold =
                resting_(p_.map, p_.soles[state.side], state.pose.x, state.pose.y, state.pose.yaw, p_.rules);
        state.known = true;
        return state.foothold;
    }

    FootstepPath search(double weight, double bound, double seconds) {
        const auto begin = std::chrono::steady_clock::now();
        ++turn_;
        if (states_.empty())
            for (int side = 0; side < 2; ++side) {
                // the feet stand here, whatever the map says
                states_.push_back(made(side, 0, 0, at_start, p_.start[side]));
                State& start = states_.back();
                start.foothold.status = FootholdStatus::supported, start.foothold.z = p_.start_z[side];
                start.known = true;
                states_.push_back(made(side, 0, 0, near_goal, p_.goal[side]));
                states_.push_back(made(side, 0, 0, at_goal, p_.goal[side]));
            }
        Queue open;
        for (int side = 0; side < 2; ++side) {
            State& start = states_[static_cast<std::size_t>(3 * side)];
            start.g = 0.0, start.parent = -1, start.opened = turn_;
            open.push({weight * to_goal(start), 0.0, 3 * side, -1, true});
        }
        FootstepPath path;
        for (std::size_t popped = 1; !open.empty(); ++popped) {
            const Open top = open.top();
            open.pop();
            State& state = states_[static_cast<std::size_t>(top.state)];
            if (popped % 256 == 0 && (since(begin) > seconds || states_.size() > p_.max_states)) return path;
            if (state.closed == turn_) continue;
            if (!top.known) {
                settle(top, weight, bound, open);
                continue;
            }
            if (top.g > state.g) continue;
            state.closed = turn_;
            if (state.k == at_goal) return traced(top.state, weight, path.expanded);
            ++path.expanded;
            expand(top.state, weight, bound, open);
        }
        path.exhausted = true;
        return path;
    }

    // Replace the lower bound of a cost by the cost itself.
    void settle(const Open& entry, double weight, double bound, Queue& open) {
        State& next = states_[static_cast<std::size_t>(entry.state)];
        if (look(next).status != FootholdStatus::supported) {
            next.closed = turn_;
            return;
        }
        const State& stance = states_[static_cast<std::size_t>(entry.parent)];
        const double g = stance.g + cost(stance, next) + ground_cost(stance, next);
        if (g + next.h >= bound || (next.opened == turn_ && g >= next.g) || !passable(stance, next)) return;
        next.g = g, next.parent = entry.parent, next.opened = turn_;
        open.push({g + weight * next.h, g, entry.state, entry.parent, true});
    }

    void expand(int from, double weight, double bound, Queue& open) {
        const State stance = states_[static_cast<std::size_t>(from)];
        const int side = 1 - stance.side;
        // the first foot at the goal may come from anywhere, the second one only follows it
        const int goal = 3 * side + (stance.k == near_goal ? 2 : 1);
        if (stance.k >= 0) {
            for (const Action& action : actions_[slot(side, stance.k)]) {
                const int k = (stance.k + action.dk + p_.yaws) % p_.yaws;
                const int next = state_at(side, stance.i + action.di, stance.j + action.dj, k);
                relax(from, stance.g + action.cost, next, weight, bound, open);
            }
        } else if (stance.k == at_start) {
            for (int next : near(stance, side))
                relax(from, stance.g + cost(stance, states_[static_cast<std::size_t>(next)]), next, weight, bound,
                      open);
        }
        if (within(stance.pose, states_[static_cast<std::size_t>(goal)].pose, side))
            relax(from, stance.g + cost(stance, states_[static_cast<std::size_t>(goal)]), goal, weight, bound, open);
    }

    bool within(const FootPose& stance, const FootPose& next, int side) const {
        const double c = std::cos(stance.yaw), s = std::sin(stance.yaw);
        const double dx = next.x - stance.x, dy = next.y - stance.y;
        return p_.limits.allow(side == 0 ? 1.0 : -1.0, c * dx + s * dy, c * dy - s * dx,
                               wrapped(next.yaw - stance.yaw));
    }

    // States of the lattice within the limits of a foot off the lattice.
    std::vector<int> near(const State& stance, int side) {
        const FootPose& o = p_.start[0];
        const double c = std::cos(o.yaw), s = std::sin(o.yaw);
        const double dx = stance.pose.x - o.x, dy = stance.pose.y - o.y;
        const int i0 = static_cast<int>(std::lround((c * dx + s * dy) / p_.spacing));
        const int j0 = static_cast<int>(std::lround((c * dy - s * dx) / p_.spacing));
        const int k0 = static_cast<int>(std::lround(wrapped(stance.pose.yaw - o.yaw) / turn()));
        const int reach = static_cast<int>(std::ceil(reach_ / p_.spacing)) + 1;
        const int turns = static_cast<int>(std::ceil(std::max(p_.limits.outward, p_.limits.inward) / turn())) + 1;
        std::vector<int> found;
        for (int dk = -turns; dk <= turns; ++dk)
            for (int i = i0 - reach; i <= i0 + reach; ++i)
                for (int j = j0 - reach; j <= j0 + reach; ++j) {
                    const int k = ((k0 + dk) % p_.yaws + p_.yaws) % p_.yaws;
                    if (within(stance.pose, lattice(i, j, k), side)) found.push_back(state_at(side, i, j, k));
                }
        return found;
    }

    void relax(int from, double g, int to, double weight, double bound, Queue& open) {
        State& next = states_[static_cast<std::size_t>(to)];
        if (next.closed == turn_) return;
        if (to_goal(next) == std::numeric_limits<double>::infinity() || g + next.h >= bound ||
            (next.opened == turn_ && g >= next.g))
            return;
        open.push({g + weight * next.h, g, to, from, false});
    }

    double cost(const State& stance, const State& next) const {
        const Point2 &a = stance.body, &b = next.body;
        const double dx = next.pose.x - stance.pose.x, dy = next.pose.y - stance.pose.y;
        const double c = std::cos(stance.pose.yaw), s = std::sin(stance.pose.yaw);
        const double wide = std::abs(std::abs(c * dy - s * dx) - p_.limits.width);
        return p_.costs.step + p_.costs.length * std::hypot(b[0] - a[0], b[1] - a[1]) + p_.costs.width * wide +
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
        if (std::abs(z1 - z0) > p_.max_rise) return false;
        if (p_.body.at(next.body[0], next.body[1]) > std::max(z0, z1) + p_.obstacle) return false;
        // the swing foot starts beside the stance foot, or passes there
        const double aside = (next.side == 0 ? 1.0 : -1.0) * p_.limits.width;
        const double x = stance.pose.x - std::sin(stance.pose.yaw) * aside;
        const double y = stance.pose.y + std::cos(stance.pose.yaw) * aside;
        const double top = std::max(z0, z1) + p_.max_rise;
        for (int k = 1; k <= 4; ++k) {
            const double s = 0.25 * k;
            if (p_.swing.at(x + s * (next.pose.x - x), y + s * (next.pose.y - y)) > top) return false;
        }
        return true;
    }

    FootstepPath traced(int last, double weight, std::size_t expanded) const {
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
    double cos0_ = 1.0, sin0_ = 0.0, goal_z_ = 0.0;
    int factor_ = 1, cx_ = 0, cy_ = 0;
    std::vector<double> spread_;
    std::vector<State> states_;
    StateTable index_;
    int turn_ = 0;
};

}  // namespace kinodyn
