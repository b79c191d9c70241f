// Footholds on a map of heights, and the search of footsteps over it. Python has checked all arguments.
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "bindings/functions.hpp"
#include "bindings/layouts.hpp"
#include "bindings/results.hpp"
#include "planning/footstep_search.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Row = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

HeightGrid grid_of(const Matrix& heights, const GridRecord& place) {
    return {
        heights.data(), static_cast<int>(heights.shape(0)), static_cast<int>(heights.shape(1)), place.cell, place.x0,
        place.y0};
}

std::vector<Point2> points_of(const Matrix& rows) {
    std::vector<Point2> points(rows.shape(0));
    for (std::size_t k = 0; k < points.size(); ++k) points[k] = {rows(k, 0), rows(k, 1)};
    return points;
}

nb::object table(std::vector<double>&& values, std::size_t columns) {
    const std::size_t rows = values.size() / columns;
    auto* const memory = new std::vector<double>(std::move(values));
    const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double>(memory->data(), {rows, columns}, owner));
}

// Records of footholds for poses x, y, yaw.
nb::object footholds(const Matrix& heights, nb::handle grid, const Matrix& inner, const Matrix& outer,
                     const Row& centre, nb::handle rules, const Matrix& poses) {
    const HeightGrid map = grid_of(heights, record_from<GridRecord>("grid", grid));
    const FootholdRules own = record_from<FootholdRules>("rules", rules);
    std::vector<Foothold> found;
    {
        nb::gil_scoped_release release;
        const Sole sole = make_sole(points_of(inner), points_of(outer), {centre(0), centre(1)});
        Resting resting;
        for (std::size_t k = 0; k < poses.shape(0); ++k)
            found.push_back(resting(map, sole, poses(k, 0), poses(k, 1), poses(k, 2), own));
    }
    return table_of(found);
}

std::vector<FootPose> poses_of(const Matrix& rows) {
    std::vector<FootPose> poses;
    for (std::size_t k = 0; k < rows.shape(0); ++k) poses.push_back({rows(k, 0), rows(k, 1), rows(k, 2)});
    return poses;
}

// Costs to a goal on level ground: rows of cells (2 n n) and columns of headings.
nb::object footstep_costs(nb::handle limits, nb::handle costs, const Matrix& actions, int n, int yaws, double cell) {
    const FootstepLimits own = record_from<FootstepLimits>("limits", limits);
    const FootstepCosts each = record_from<FootstepCosts>("costs", costs);
    std::vector<double> found;
    {
        nb::gil_scoped_release release;
        found = footstep_distances(own, each, poses_of(actions), n, yaws, cell);
    }
    return table(std::move(found), static_cast<std::size_t>(yaws));
}

FootstepRecord record_of(const FoundStep& step) {
    const Foothold& hold = step.foothold;
    return {step.pose.x, step.pose.y, step.pose.yaw, hold.z, hold.gx, hold.gy, step.side};
}

nb::object result_of(const FootstepPath& path) {
    static ResultType type("FootstepPath");
    std::vector<FootstepRecord> steps;
    for (const FoundStep& step : path.steps) steps.push_back(record_of(step));
    const char* const names[] = {"steps", "cost", "weight", "states", "expanded", "exhausted"};
    PyObject* items[] = {table_of(steps).release().ptr(),         nb::cast(path.cost).release().ptr(),
                         nb::cast(path.weight).release().ptr(),   nb::cast(path.states).release().ptr(),
                         nb::cast(path.expanded).release().ptr(), nb::cast(path.exhausted).release().ptr()};
    return type.make(names, items, 6);
}

// start and goal: records of the left and the right foot; level: from `footstep_costs`.
nb::object footstep_search(const Matrix& heights, nb::handle grid, const Matrix& body, const Matrix& swing,
                           nb::handle coarse_grid, const std::vector<Matrix>& inner, const std::vector<Matrix>& outer,
                           const Matrix& centres, nb::handle rules, nb::handle limits, nb::handle costs,
                           nb::handle settings, nb::handle start, nb::handle goal, const Row& weights,
                           const Matrix& actions, const Matrix& level) {
    const GridRecord coarse = record_from<GridRecord>("coarse_grid", coarse_grid);
    FootstepProblem p{};
    p.map = grid_of(heights, record_from<GridRecord>("grid", grid));
    p.body = grid_of(body, coarse), p.swing = grid_of(swing, coarse);
    p.rules = record_from<FootholdRules>("rules", rules);
    p.limits = record_from<FootstepLimits>("limits", limits);
    p.costs = record_from<FootstepCosts>("costs", costs);
    p.settings = record_from<FootstepSettings>("settings", settings);
    const Table<FootstepRecord> first("start", start), last("goal", goal);
    if (first.size() != 2 || last.size() != 2) throw nb::value_error("start and goal need a record for each foot");
    FootstepPath path;
    {
        nb::gil_scoped_release release;
        for (std::size_t side = 0; side < 2; ++side) {
            p.soles[side] =
                make_sole(points_of(inner[side]), points_of(outer[side]), {centres(side, 0), centres(side, 1)});
            p.start[side] = {first[side].x, first[side].y, first[side].yaw}, p.start_z[side] = first[side].z;
            p.goal[side] = {last[side].x, last[side].y, last[side].yaw};
        }
        for (std::size_t k = 0; k < weights.shape(0); ++k) p.weights.push_back(weights(k));
        p.actions = poses_of(actions);
        const int cells = static_cast<int>(std::lround(std::sqrt(0.5 * static_cast<double>(level.shape(0)))));
        p.level = {level.data(), cells, p.settings.yaws, p.settings.level_cell, p.settings.per_metre};
        path = FootstepSearch(p).run();
    }
    return result_of(path);
}

}  // namespace

void bind_footsteps(nb::module_& m) {
    export_layouts<GridRecord, FootholdRules, Foothold, FootstepLimits, FootstepCosts, FootstepSettings,
                   FootstepRecord>();
    m.def("footholds", &footholds);
    m.def("footstep_costs", &footstep_costs);
    m.def("footstep_search", &footstep_search);
}

}  // namespace kinodyn
