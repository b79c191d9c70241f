// Distances between the spheres of a robot and obstacles.
#include "core/distance.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.hpp"
#include "bindings/define.hpp"
#include "bindings/functions.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

// pairs: of groups, (n, 2); checked: (owners of obstacles, groups)
void make_query(DistanceQuery* self, nb::handle robot, const SphereModel& spheres, const Obstacles& obstacles,
                const IndexRows& pairs, const FlagRows& checked) {
    const Model& model = robot_from(robot).model;
    const int groups = static_cast<int>(spheres.groups.size());
    require(pairs.shape(1) == 2, "pairs have two groups each");
    require(checked.shape(1) == spheres.groups.size(), "checked needs a column for each group of spheres");
    for (const SphereGroup& g : spheres.groups)
        require(g.body < static_cast<int>(model.bodies.size()), "the body of a group of spheres is unknown");
    std::vector<DistanceQuery::GroupPair> rows;
    for (std::size_t k = 0; k < pairs.shape(0); ++k) {
        const int a = pairs(k, 0), b = pairs(k, 1);
        require(a >= 0 && b >= 0 && a < groups && b < groups && a != b, "a pair of groups is out of range");
        rows.push_back({a, b});
    }
    for (const auto* boxes : {&obstacles.upright_boxes, &obstacles.boxes})
        for (const BoxObstacle& o : *boxes)
            require(static_cast<std::size_t>(o.owner) < checked.shape(0), "the owner of an obstacle is unknown");
    for (const auto* round : {&obstacles.capsules, &obstacles.cylinders})
        for (const RoundObstacle& o : *round)
            require(static_cast<std::size_t>(o.owner) < checked.shape(0), "the owner of an obstacle is unknown");
    for (const SurfaceObstacle& o : obstacles.surfaces)
        require(static_cast<std::size_t>(o.owner) < checked.shape(0), "the owner of an obstacle is unknown");
    new (self) DistanceQuery(model, spheres, obstacles, rows,
                             std::vector<char>(checked.data(), checked.data() + checked.size()));
}

void take_query(Args& args, nb::handle query) {
    const auto* given = nb::cast<const DistanceQuery*>(query);
    require(&given->robot() == &args.model(), "the query is that of another robot");
    args.settings(given);
}

}  // namespace

void bind_distance(nb::module_& m) {
    nb::class_<DistanceQuery>(m, "DistanceQuery")
        .def("__init__", &make_query, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        // (group, owner of the obstacle) of the pairs with obstacles
        .def_prop_ro("obstacle_pairs",
                     [](const DistanceQuery& query) {
                         std::vector<std::pair<int, int>> pairs;
                         for (const auto& pair : query.obstacle_pairs) pairs.emplace_back(pair.group, pair.owner);
                         return pairs;
                     })
        // its address, for kernels that receive it among their numbers; exact in a double
        .def_prop_ro(
            "address",
            [](const DistanceQuery& query) { return static_cast<double>(reinterpret_cast<std::uintptr_t>(&query)); })
        // numbers in which a solver remembers the pairs that are near
        .def_prop_ro("memory", &DistanceQuery::memory_words);
    define(m, "collision_distance", [](Args& args, Any query, Any q, Any max_distance) {
        take_query(args, query);
        args.configuration("q", q);
        args.scalar("max_distance", max_distance);
        args.output("distance", {});
        args.output("pair", {});
        args.output("points", {2, 3});
        args.output("gradient", {args.model().nv});
    });
    define(m, "pair_distances", [](Args& args, Any query, Any q, Any max_distance) {
        take_query(args, query);
        args.configuration("q", q);
        args.scalar("max_distance", max_distance);
        args.output({nb::cast<const DistanceQuery*>(query)->count()});
    });
}

}  // namespace kinodyn
