// Spheres and solids of robots, clearance tables and collision queries as Python objects.
#include "core/collision.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "core/clearance_table.hpp"
#include "core/interrupts.hpp"
#include "core/surface_distance.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Cells = nb::ndarray<const float, nb::ndim<ClearanceTable::max_axes>, nb::c_contig, nb::device::cpu>;
using Axes = TableAxis[ClearanceTable::max_axes];

void read_axes(nb::handle records, Axes& axis) {
    const Table<TableAxis> table("axes", records);
    require(table.end() - table.begin() == ClearanceTable::max_axes, "a table has two axes");
    std::copy(table.begin(), table.end(), axis);
}

void make_table(ClearanceTable* self, int first, int second, nb::handle axes, const Cells& cells) {
    new (self) ClearanceTable{first, second, {}, {cells.data(), cells.data() + cells.size()}};
    read_axes(axes, self->axis);
    for (int k = 0; k < ClearanceTable::max_axes; ++k)
        require(static_cast<std::size_t>(self->axis[k].count) == cells.shape(k), "axes and cells of a table differ");
}

// Rows of three corners.
std::vector<Triangle> triangles(const Rows& rows) {
    std::vector<Triangle> all(rows.shape(0));
    for (std::size_t k = 0; k < all.size(); ++k) {
        const double* v = rows.data() + 9 * k;
        all[k] = {{v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {v[6], v[7], v[8]}};
    }
    return all;
}

std::shared_ptr<Solid> make_solid(const Rows& rows) {
    require(rows.shape(1) == 9 && rows.shape(0) > 0, "triangles are rows of three corners");
    nb::gil_scoped_release released;
    return std::make_shared<Solid>(triangles(rows));
}

// Distances of two solids at poses (R, p: 12 numbers) of the second in the first: 0 if they collide, `bound` if they
// are farther apart.
std::vector<double> solid_distances(const Solid& first, const Solid& second, const Rows& poses, double bound) {
    require(poses.shape(1) == 12, "poses are rows of a rotation and a position");
    nb::gil_scoped_release released;
    SurfaceDistance surfaces(first, second);
    std::vector<double> found;
    for (std::size_t k = 0; k < poses.shape(0); ++k) {
        poll_interrupt();
        Transform T;
        std::copy_n(poses.data() + 12 * k, 9, T.R);
        std::copy_n(poses.data() + 12 * k + 9, 3, T.p);
        constexpr double tolerance = 1e-5;
        const double distance = surfaces.distance(T, bound, tolerance);
        found.push_back(distance > 0 && surfaces.nested(T) ? 0 : distance);
    }
    return found;
}

// Clearances of pair `pair` of a query, whose groups of spheres cover these solids, in the frames of the bodies.
nb::object make_clearances(const CollisionQuery& query, int pair, nb::handle axes, const Solid& first,
                           const Solid& second) {
    require(pair >= 0 && static_cast<std::size_t>(pair) < query.pairs.size(), "the pair is unknown");
    Axes axis;
    read_axes(axes, axis);
    for (const TableAxis& a : axis) require(a.count > 0 && a.iq < query.robot().nq, "an axis of the table is wrong");
    std::vector<float> cells;
    {
        nb::gil_scoped_release released;
        SurfaceDistance surfaces(first, second);
        cells = clearances(query, pair, axis, surfaces);
    }
    auto* data = new float[cells.size()];
    std::copy(cells.begin(), cells.end(), data);
    const nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<float*>(p); });
    std::size_t shape[ClearanceTable::max_axes];
    for (int k = 0; k < ClearanceTable::max_axes; ++k) shape[k] = static_cast<std::size_t>(axis[k].count);
    return nb::cast(nb::ndarray<nb::numpy, float>(data, ClearanceTable::max_axes, shape, owner));
}

// Group g consists of the rows [start[g], start[g + 1]) of `spheres`: x, y, z, r. A pair is two groups and the index of
// a table, or -1.
void make_spheres(SphereModel* self, const Indices& bodies, const Indices& start, const Rows& spheres,
                  const IndexRows& pairs, const std::vector<const ClearanceTable*>& tables) {
    const std::size_t n = bodies.shape(0);
    require(spheres.shape(1) == 4, "spheres are rows x, y, z, r");
    require(start.shape(0) == n + 1 && start(0) == 0 && static_cast<std::size_t>(start(n)) == spheres.shape(0),
            "the starts of the groups do not match the table of spheres");
    for (std::size_t g = 0; g < n; ++g) require(start(g) < start(g + 1), "each group needs spheres");
    new (self) SphereModel;
    for (std::size_t g = 0; g < n; ++g)
        self->add_group(bodies(g), spheres.data() + 4 * start(g), start(g + 1) - start(g));
    self->find_units();
    require(pairs.shape(1) == 3, "pairs are rows of two groups and a table");
    for (std::size_t k = 0; k < pairs.shape(0); ++k) {
        const int a = pairs(k, 0), b = pairs(k, 1), table = pairs(k, 2), groups = static_cast<int>(n);
        require(a >= 0 && b >= 0 && a < groups && b < groups && a != b, "a pair of groups is out of range");
        require(table < static_cast<int>(tables.size()), "the table of a pair is unknown");
        self->pairs.push_back({a, b});
        self->pair_tables.push_back(table);
    }
    for (const ClearanceTable* table : tables) self->tables.push_back(*table);
    self->pair_slacks.assign(self->pairs.size(), 0.0f);
}

// Solids of all groups, or None, and the overlap of the spheres of each pair up to which they decide.
void decide_by_solids(SphereModel& self, const std::vector<std::shared_ptr<Solid>>& solids, const Numbers& slacks) {
    require(slacks.shape(0) == self.pairs.size() && solids.size() == self.groups.size(),
            "each pair has a slack, each group a solid or none");
    for (std::size_t k = 0; k < self.pairs.size(); ++k) {
        const SphereModel::Pair& pair = self.pairs[k];
        require(!(slacks(k) > 0) || (solids[pair.a] && solids[pair.b]), "a pair with a slack needs solids");
        self.pair_slacks[k] = static_cast<float>(slacks(k));
    }
    self.solids.assign(solids.begin(), solids.end());
}

void check_owners(const Obstacles& obstacles, int n_owners) {
    const auto check = [&](const auto& all) {
        for (const auto& o : all) require(o.owner >= 0 && o.owner < n_owners, "the owner of an obstacle is unknown");
    };
    check(obstacles.upright_boxes), check(obstacles.boxes), check(obstacles.capsules), check(obstacles.cylinders);
    check(obstacles.surfaces);
}

void make_query(CollisionQuery* self, nb::handle robot, const SphereModel& spheres, const Obstacles& obstacles,
                const FlagRows& allowed, const Numbers& q, const Numbers& lower, const Numbers& upper,
                const Flags& moves, bool check_fixed) {
    const Model& model = robot_from(robot).model;
    const auto nq = static_cast<std::size_t>(model.nq);
    require(q.shape(0) == nq && lower.shape(0) == nq && upper.shape(0) == nq, "q and its limits need nq numbers");
    require(moves.shape(0) == static_cast<std::size_t>(model.nv), "moves needs nv flags");
    require(allowed.shape(1) == spheres.groups.size(), "allowed needs a column for each group of spheres");
    for (const SphereGroup& g : spheres.groups)
        require(g.body < static_cast<int>(model.bodies.size()), "the body of a group of spheres is unknown");
    for (const ClearanceTable& table : spheres.tables)
        for (const TableAxis& axis : table.axis) require(axis.iq < model.nq, "a table needs another robot");
    check_owners(obstacles, static_cast<int>(allowed.shape(0)));
    const std::vector<char> may_touch(allowed.data(), allowed.data() + allowed.size()),
        moving(moves.data(), moves.data() + moves.shape(0));
    new (self) CollisionQuery(model, spheres, obstacles, may_touch,
                              {q.data(), lower.data(), upper.data(), moving, check_fixed});
    self->n_owners = static_cast<long>(allowed.shape(0));
}

template <class Row>
nb::object sweeps_of(const CollisionQuery& query, std::size_t rows, Row&& row) {
    const auto nv = static_cast<std::size_t>(query.robot().nv);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < rows; ++i) {
        const float* values = row(static_cast<int>(i));
        numbers.insert(numbers.end(), values, values + nv);
    }
    return as_array(numbers, {rows, nv});
}

}  // namespace

void bind_collision(nb::module_& m) {
    export_layouts<TableAxis>();
    add_constant("clearance_undecided", ClearanceTable::undecided);
    add_constant("clearance_colliding", ClearanceTable::colliding);
    add_constant("clearance_max_axes", ClearanceTable::max_axes);
    nb::class_<ClearanceTable>(m, "ClearanceTable").def("__init__", &make_table);
    m.def("clearances", &make_clearances);
    nb::class_<Solid>(m, "Solid");
    m.def("make_solid", &make_solid);
    m.def("solid_distances", &solid_distances);
    nb::class_<SphereModel>(m, "Spheres").def("__init__", &make_spheres).def("decide_by_solids", &decide_by_solids);
    nb::class_<CollisionQuery> query(m, "CollisionQuery");
    query.def("__init__", &make_query, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>())
        .def_prop_ro("moving_q",
                     [](const CollisionQuery& query) {
                         std::vector<int> indices;
                         for (const CollisionQuery::Dof& dof : query.moving_dofs) indices.push_back(dof.iq);
                         return indices;
                     })
        .def_ro("complete", &CollisionQuery::complete)
        .def_prop_ro("pairs", [](const CollisionQuery& query) {
            std::vector<std::pair<int, int>> pairs;
            for (const SphereModel::Pair& pair : query.pairs) pairs.emplace_back(pair.a, pair.b);
            return pairs;
        });
    // Bounds of how far points of each group move for each unit of v: (groups, nv).
    query.def_prop_ro("sweeps", [](const CollisionQuery& q) {
        return sweeps_of(q, q.spheres().groups.size(), [&](int g) { return q.group_sweep(g); });
    });
    // Of the groups of each pair relative to each other: (pairs, nv).
    query.def_prop_ro("pair_sweeps", [](const CollisionQuery& q) {
        return sweeps_of(q, q.pairs.size(), [&](int k) { return q.pair_sweep(k); });
    });
    define(m, "collision_free", [](Args& args, Any query, Any q) {
        args.settings(nb::cast<const CollisionQuery*>(query));
        args.configuration("q", q);
        args.output({});
    });
    define(m, "touching", [](Args& args, Any query, Any q) {
        const auto* given = nb::cast<const CollisionQuery*>(query);
        args.settings(given);
        args.configuration("q", q);
        args.output("obstacles", {given->n_owners, static_cast<long>(given->spheres().groups.size())});
        args.output("pairs", {static_cast<long>(given->pairs.size())});
    });
    define(m, "motion_free", [](Args& args, Any query, Any q0, Any q1, Any resolution) {
        args.settings(nb::cast<const CollisionQuery*>(query));
        args.configuration("q0", q0);
        args.configuration("q1", q1);
        args.scalar("resolution", resolution);
        args.output({});
    });
}

}  // namespace kinodyn
