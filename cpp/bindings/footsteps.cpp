// Footholds on a map of heights, and the search of footsteps over it. Python has checked all arguments.
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "bindings/functions.hpp"
#include "planning/footstep_search.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Row = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// place: cell, x and y of the centre of the first cell.
HeightGrid grid_of(const Table& heights, const Row& place) {
    return {heights.data(), static_cast<int>(heights.shape(0)), static_cast<int>(heights.shape(1)), place(0), place(1),
            place(2)};
}

std::vector<Point2> points_of(const Table& rows) {
    std::vector<Point2> points(rows.shape(0));
    for (std::size_t k = 0; k < points.size(); ++k) points[k] = {rows(k, 0), rows(k, 1)};
    return points;
}

FootholdRules rules_of(const Row& values) { return {values(0), values(1), values(2), values(3)}; }

nb::object table(std::vector<double>&& values, std::size_t columns) {
    const std::size_t rows = values.size() / columns;
    auto* const memory = new std::vector<double>(std::move(values));
    const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double>(memory->data(), {rows, columns}, owner));
}

void append(std::vector<double>& rows, const Foothold& f) {
    rows.insert(rows.end(), {f.z, f.gx, f.gy, f.support, static_cast<double>(f.status)});
}

// Rows of z, rise along x and y, support, status for poses x, y, yaw.
nb::object footholds(const Table& heights, const Row& place, const Table& inner, const Table& outer, const Row& centre,
                     const Row& rules, const Table& poses) {
    std::vector<double> rows;
    {
        nb::gil_scoped_release release;
        const HeightGrid grid = grid_of(heights, place);
        Sole sole{points_of(inner), points_of(outer), {centre(0), centre(1)}, {}};
        std::vector<Point2> centred = sole.inner;
        for (Point2& point : centred) point = {point[0] - sole.centre[0], point[1] - sole.centre[1]};
        surround(centred, sole.first);
        Resting resting;
        const FootholdRules own = rules_of(rules);
        for (std::size_t k = 0; k < poses.shape(0); ++k)
            append(rows, resting(grid, sole, poses(k, 0), poses(k, 1), poses(k, 2), own));
    }
    return table(std::move(rows), 5);
}

FootPose pose_of(const Table& rows, std::size_t k) { return {rows(k, 0), rows(k, 1), rows(k, 2)}; }

// numbers: max_rise, obstacle, spacing, seconds, max_seconds; counts: yaws, max_states, guided. start has a fourth
// column with the heights. Returns rows of side (0 left), x, y, yaw and a foothold; and cost, weight, states, expanded,
// exhausted.
nb::tuple footstep_search(const Table& heights, const Row& place, const Table& body, const Table& swing,
                          const Row& coarse, const std::vector<Table>& inner, const std::vector<Table>& outer,
                          const Table& centres, const Row& rules, const Row& limits, const Row& costs,
                          const Row& numbers, const std::vector<int>& counts, const Table& start, const Table& goal,
                          const Row& weights, const Table& actions) {
    FootstepPath path;
    std::vector<double> rows;
    {
        nb::gil_scoped_release release;
        FootstepProblem p{};
        p.map = grid_of(heights, place), p.body = grid_of(body, coarse), p.swing = grid_of(swing, coarse);
        for (std::size_t side = 0; side < 2; ++side) {
            p.soles[side] = {points_of(inner[side]), points_of(outer[side]), {centres(side, 0), centres(side, 1)}, {}};
            p.start[side] = pose_of(start, side), p.goal[side] = pose_of(goal, side), p.start_z[side] = start(side, 3);
        }
        p.rules = rules_of(rules);
        p.limits = {limits(0), limits(1), limits(2), limits(3), limits(4),
                    limits(5), limits(6), limits(7), limits(8), limits(9)};
        p.costs = {costs(0), costs(1), costs(2), costs(3), costs(4), costs(5), costs(6)};
        p.max_rise = numbers(0), p.obstacle = numbers(1), p.spacing = numbers(2);
        p.seconds = numbers(3), p.max_seconds = numbers(4);
        p.yaws = counts[0], p.max_states = static_cast<std::size_t>(counts[1]), p.guided = counts[2] != 0;
        for (std::size_t k = 0; k < weights.shape(0); ++k) p.weights.push_back(weights(k));
        for (std::size_t k = 0; k < actions.shape(0); ++k) p.actions.push_back(pose_of(actions, k));
        path = FootstepSearch(p).run();
        for (const FoundStep& step : path.steps) {
            rows.insert(rows.end(), {static_cast<double>(step.side), step.pose.x, step.pose.y, step.pose.yaw});
            append(rows, step.foothold);
        }
    }
    return nb::make_tuple(table(std::move(rows), 9), path.cost, path.weight, path.states, path.expanded,
                          path.exhausted);
}

}  // namespace

void bind_footsteps(nb::module_& m) {
    m.def("footholds", &footholds);
    m.def("footstep_search", &footstep_search);
}

}  // namespace kinodyn
