// A search for footsteps over a map of heights: what it is given and what it finds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.hpp"
#include "planning/footholds.hpp"

namespace kinodyn {

struct FootstepLimits {
    double forward, backward, min_width, width, max_width, oblique, outward, inward, toe, heel;

    // Whether the foot on `side` (+1 left, -1 right) may land at x, y, turn in the frame of the other foot.
    bool allow(double side, double x, double y, double turn) const {
        const double away = side * y, out = side * turn, eps = 1e-9;
        const double room = (out > 0 ? heel : toe) * std::abs(std::sin(out));
        return x <= forward + eps && -x <= backward + eps && away >= min_width + room - eps &&
               away <= max_width + eps && std::abs(x) + away <= oblique + eps && out <= outward + eps &&
               -out <= inward + eps;
    }

    static constexpr auto layout() {
        using L = FootstepLimits;
        return named("step_limits", field("forward", &L::forward), field("backward", &L::backward),
                     field("min_width", &L::min_width), field("width", &L::width), field("max_width", &L::max_width),
                     field("oblique", &L::oblique), field("outward", &L::outward), field("inward", &L::inward),
                     field("toe", &L::toe), field("heel", &L::heel));
    }
};

// Of a step, and per metre of length, width and height, fraction of the sole, slope and radian.
struct FootstepCosts {
    double step, length, width, height, support, slope, turn;

    static constexpr auto layout() {
        using C = FootstepCosts;
        return named("step_costs", field("step", &C::step), field("length", &C::length), field("width", &C::width),
                     field("height", &C::height), field("support", &C::support), field("slope", &C::slope),
                     field("turn", &C::turn));
    }
};

struct FootstepSettings {
    double max_rise;          // [m] between consecutive feet
    double obstacle;          // [m] above the feet that the body passes
    double spacing;           // of the lattice [m]
    double effort;            // entries of the queue for searches after the first that found a path
    double max_effort;        // for all
    double level_cell;        // [m] of the costs on level ground
    double per_metre;         // cost of the fastest walk on level ground
    std::int32_t yaws;        // of the lattice in a full turn
    std::int32_t max_states;  // that are stored
    std::int32_t guided;      // whether the heuristic knows the terrain; if not, the last weight 1 gives an optimum

    static constexpr auto layout() {
        using S = FootstepSettings;
        return named("footstep_search", field("max_rise", &S::max_rise), field("obstacle", &S::obstacle),
                     field("spacing", &S::spacing), field("effort", &S::effort), field("max_effort", &S::max_effort),
                     field("level_cell", &S::level_cell), field("per_metre", &S::per_metre), field("yaws", &S::yaws),
                     field("max_states", &S::max_states), field("guided", &S::guided));
    }
};

struct FootPose {
    double x = 0.0, y = 0.0, yaw = 0.0;
};

constexpr double full_turn = 2.0 * 3.14159265358979323846;

// Least costs from poses of the body around a goal, by the foot that has landed last. Cells are `cell` wide, headings
// divide a full turn; the goal is in the middle. Farther away the straight distance to the edge of the table is added.
struct FootstepDistances {
    const double* costs;  // (2, n, n, yaws)
    int n, yaws;
    double cell;
    double per_metre;  // of the fastest walk

    static std::size_t place(int n, int yaws, int side, int i, int j, int k) {
        return ((static_cast<std::size_t>(side) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)) *
                    static_cast<std::size_t>(n) +
                static_cast<std::size_t>(j)) *
                   static_cast<std::size_t>(yaws) +
               static_cast<std::size_t>(k);
    }

    // x, y, yaw of the body in the frame of the goal.
    double at(int side, double x, double y, double yaw) const {
        const double middle = 0.5 * (n - 1), edge = middle * cell, far = std::max(std::abs(x), std::abs(y));
        const double scale = far > edge ? edge / far : 1.0, beyond = (1.0 - scale) * std::hypot(x, y);
        const int i = std::clamp(static_cast<int>(std::lround(middle + scale * x / cell)), 0, n - 1);
        const int j = std::clamp(static_cast<int>(std::lround(middle + scale * y / cell)), 0, n - 1);
        const double turned = yaw / full_turn * yaws, below = std::floor(turned), part = turned - below;
        const int k = ((static_cast<int>(below) % yaws) + yaws) % yaws;
        const double a = costs[place(n, yaws, side, i, j, k)], b = costs[place(n, yaws, side, i, j, (k + 1) % yaws)];
        const double between = std::isfinite(a) && std::isfinite(b) ? (1.0 - part) * a + part * b : std::min(a, b);
        return between + per_metre * beyond;
    }
};

struct FootstepProblem {
    HeightGrid map;    // where the feet stand
    HeightGrid body;   // largest height around the body
    HeightGrid swing;  // largest height around a foot
    Sole soles[2];     // left, right
    FootholdRules rules;
    FootstepLimits limits;
    FootstepCosts costs;
    FootstepSettings settings;
    std::vector<FootPose> actions;  // steps of the left foot in the frame of the right one, before rounding
    FootPose start[2], goal[2];
    double start_z[2];
    std::vector<double> weights;  // of the heuristic, one search after the other
    FootstepDistances level;      // costs on level ground, of a guided search
};

struct FoundStep {
    int side;
    FootPose pose;
    Foothold foothold;
};

// A footstep as Python sees it: pose and height of the sole, its rise along x and y, and side: 0 left, 1 right.
struct FootstepRecord {
    double x, y, yaw, z, gx, gy;
    std::int32_t side;

    static constexpr auto layout() {
        using F = FootstepRecord;
        return named("footstep", field("x", &F::x), field("y", &F::y), field("yaw", &F::yaw), field("z", &F::z),
                     field("gx", &F::gx), field("gy", &F::gy), field("side", &F::side));
    }
};

struct FootstepPath {
    std::vector<FoundStep> steps;
    double cost = std::numeric_limits<double>::infinity();
    double weight = 0.0;  // with which this path was found
    std::size_t states = 0, expanded = 0;
    bool exhausted = false;  // all that can be reached has been visited
};

}  // namespace kinodyn
