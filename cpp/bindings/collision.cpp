// Collision geometry, queries and motion planning as Python objects.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "bindings/planning.hpp"
#include "core/surface_distance.hpp"
#include "planning/problem.hpp"

namespace nb = nanobind;

namespace kinodyn {

// Obstacles as Python describes them; `owner` is the number of the object that they belong to.
struct BoxRecord {
    double R[9];  // axes of the box in the world by columns
    double p[3], half[3];
    std::int32_t owner;
};
struct RoundRecord {
    double p[3], axis[3], half, radius;
    std::int32_t owner;
};

template <>
struct Layout<BoxRecord> {
    static constexpr const char* name = "box_obstacle";
    static constexpr auto fields() {
        using R = BoxRecord;
        return std::make_tuple(field<3, 3>("R", &R::R), field("p", &R::p), field("half", &R::half),
                               field("owner", &R::owner));
    }
};
template <>
struct Layout<RoundRecord> {
    static constexpr const char* name = "round_obstacle";
    static constexpr auto fields() {
        using R = RoundRecord;
        return std::make_tuple(field("p", &R::p), field("axis", &R::axis), field("half", &R::half),
                               field("radius", &R::radius), field("owner", &R::owner));
    }
};
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

template <class From, class To>
void copy(const From* from, int n, To* to) {
    std::transform(from, from + n, to, [](From x) { return static_cast<To>(x); });
}

BoxObstacle box_from(const BoxRecord& r) {
    BoxObstacle box{};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) box.R[3 * i + k] = static_cast<float>(r.R[3 * k + i]);
    copy(r.p, 3, box.p), copy(r.half, 3, box.half);
    box.owner = r.owner;
    return box;
}

RoundObstacle round_from(const RoundRecord& r) {
    RoundObstacle o{};
    copy(r.p, 3, o.p), copy(r.axis, 3, o.axis);
    o.half = static_cast<float>(r.half), o.radius = static_cast<float>(r.radius), o.owner = r.owner;
    return o;
}

void add_box(Obstacles& self, const BoxRecord& r) {
    constexpr double tilt = 1e-12;  // of a box that counts as upright: no digit of float32
    (std::fabs(r.R[8]) > 1 - tilt ? self.upright_boxes : self.boxes).push_back(box_from(r));
}

void make_obstacles(Obstacles* self, nb::handle boxes, nb::handle capsules, nb::handle cylinders) {
    const Table<BoxRecord> box_table("boxes", boxes);
    const Table<RoundRecord> capsule_table("capsules", capsules), cylinder_table("cylinders", cylinders);
    new (self) Obstacles;
    for (const BoxRecord& r : box_table) add_box(*self, r);
    for (const RoundRecord& r : capsule_table) self->capsules.push_back(round_from(r));
    for (const RoundRecord& r : cylinder_table) self->cylinders.push_back(round_from(r));
}

// The numbers of a contiguous array of float64, without the cost of converting it.
class Float64Buffer {
  public:
    Float64Buffer(nb::handle array, Py_ssize_t count, const char* message) {
        const int failed = PyObject_GetBuffer(array.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT);
        if (failed) PyErr_Clear();
        const bool right = !failed && view_.format && view_.format[0] == 'd' && view_.format[1] == '\0' &&
                           view_.len == count * static_cast<Py_ssize_t>(sizeof(double));
        if (!failed && !right) PyBuffer_Release(&view_);
        require(right, message);
    }
    ~Float64Buffer() { PyBuffer_Release(&view_); }
    Float64Buffer(const Float64Buffer&) = delete;
    Float64Buffer& operator=(const Float64Buffer&) = delete;
    double operator[](int i) const { return static_cast<const double*>(view_.buf)[i]; }

  private:
    Py_buffer view_;
};

constexpr const char* pose_message = "a pose is an array (4, 4) of float64";

void add_box(Obstacles& self, nb::handle size, nb::handle pose, int owner) {
    const Float64Buffer sides(size, 3, "the size of a box is an array (3,) of float64"), T(pose, 16, pose_message);
    BoxRecord r{};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) r.R[3 * i + k] = T[4 * i + k];
        r.p[i] = T[4 * i + 3], r.half[i] = 0.5 * sides[i];
    }
    r.owner = owner;
    add_box(self, r);
}

RoundObstacle round_obstacle(double radius, double length, nb::handle pose, int owner) {
    const Float64Buffer T(pose, 16, pose_message);
    return round_from({{T[3], T[7], T[11]}, {T[2], T[6], T[10]}, 0.5 * length, radius, owner});
}

// Of length 0: a sphere.
void add_capsule(Obstacles& self, double radius, double length, nb::handle pose, int owner) {
    self.capsules.push_back(round_obstacle(radius, length, pose, owner));
}

void add_cylinder(Obstacles& self, double radius, double length, nb::handle pose, int owner) {
    self.cylinders.push_back(round_obstacle(radius, length, pose, owner));
}

void check_owners(const Obstacles& obstacles, int n_owners) {
    const auto check = [&](const auto& all) {
        for (const auto& o : all) require(o.owner >= 0 && o.owner < n_owners, "the owner of an obstacle is unknown");
    };
    check(obstacles.upright_boxes), check(obstacles.boxes), check(obstacles.capsules), check(obstacles.cylinders);
    check(obstacles.surfaces);
}

using Points = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Faces = nb::ndarray<const std::int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

std::shared_ptr<Surface> point_surface(const Points& points) {
    require(points.shape(0) > 0, "a cloud needs points");
    nb::gil_scoped_release released;
    return std::make_shared<Surface>(points.data(), points.shape(0));
}

// The indices of the faces refer to vertices and have been checked in Python.
std::shared_ptr<Surface> triangle_surface(const Points& vertices, const Faces& faces, bool closed) {
    require(faces.shape(0) > 0, "a mesh needs triangles");
    nb::gil_scoped_release released;
    return std::make_shared<Surface>(vertices.data(), faces.data(), faces.shape(0), closed);
}

// Distances of points x, y, z, negative inside of a closed surface.
std::vector<double> signed_distances(const Surface& surface, const Points& points) {
    std::vector<double> distances;
    for (std::size_t k = 0; k < points.shape(0); ++k) {
        Vec3 p;
        float in_float[3];
        for (int i = 0; i < 3; ++i) {
            p[i] = points(k, static_cast<std::size_t>(i)) - surface.lower()[i];
            in_float[i] = static_cast<float>(p[i]);
        }
        distances.push_back(surface.nearest(p).distance * (surface.contains(in_float) ? -1 : 1));
    }
    return distances;
}

using Pose = nb::ndarray<const double, nb::shape<4, 4>, nb::c_contig, nb::device::cpu>;

// Points within `radius` of a surface with the pose T in the world.
void add_surface(Obstacles& self, std::shared_ptr<Surface> surface, const Pose& T, double radius, int owner) {
    BoxRecord bounds{};
    double corner[3];
    for (int i = 0; i < 3; ++i) {
        corner[i] = bounds.p[i] = T(i, 3);
        bounds.half[i] = 0.5 * surface->extent()[i] + radius + surface->rounding();
        for (int k = 0; k < 3; ++k) {
            bounds.R[3 * i + k] = T(i, k);
            corner[i] += T(i, k) * surface->lower()[k];
            bounds.p[i] += T(i, k) * (surface->lower()[k] + 0.5 * surface->extent()[k]);
        }
    }
    SurfaceObstacle o{};
    o.bounds = box_from(bounds);
    copy(corner, 3, o.corner);
    o.radius = static_cast<float>(radius) + surface->rounding(), o.owner = owner;
    o.surface = std::move(surface);
    self.surfaces.push_back(std::move(o));
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

void make_problem(PlanningProblem* self, const CollisionQuery& query, nb::handle settings, std::uint64_t seed,
                  const Numbers& lower, const Numbers& upper, const Numbers& start, const Rows& goals) {
    const std::size_t n = query.moving_dofs.size();
    require(n > 0 && n <= max_planned_dofs, "from 1 to 128 moving joints with one coordinate are needed");
    require(lower.shape(0) == n && upper.shape(0) == n && start.shape(0) == n && goals.shape(1) == n,
            "bounds, start and goals need a number for each moving joint");
    new (self) PlanningProblem(query, record_from<PlannerSettings>("settings", settings), seed);
    self->lower.assign(lower.data(), lower.data() + n);
    self->upper.assign(upper.data(), upper.data() + n);
    self->set_ends(start.data(), goals.data(), static_cast<int>(goals.shape(0)));
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

nb::object path_of(const PlanningProblem& problem) {
    const auto columns = static_cast<std::size_t>(problem.dim);
    return as_array(problem.path, {problem.path.size() / columns, columns});
}

void set_path(PlanningProblem& problem, const Rows& path) {
    require(path.shape(1) == static_cast<std::size_t>(problem.dim), "a path has a column for each moving joint");
    problem.path.assign(path.data(), path.data() + path.size());
}

}  // namespace

void bind_collision(nb::module_& m) {
    export_layouts<BoxRecord, RoundRecord, PlannerSettings, TableAxis>();
    nb::class_<ClearanceTable>(m, "ClearanceTable").def("__init__", &make_table);
    m.def("clearances", &make_clearances);
    nb::class_<Solid>(m, "Solid");
    m.def("make_solid", &make_solid);
    m.def("solid_distances", &solid_distances);
    nb::class_<SphereModel>(m, "Spheres").def("__init__", &make_spheres).def("decide_by_solids", &decide_by_solids);
    nb::class_<Surface>(m, "Surface").def("signed_distances", &signed_distances);
    m.def("point_surface", &point_surface);
    m.def("triangle_surface", &triangle_surface);
    nb::class_<Obstacles>(m, "Obstacles")
        .def(nb::init<>())
        .def("__init__", &make_obstacles)
        .def("add_box", nb::overload_cast<Obstacles&, nb::handle, nb::handle, int>(&add_box))
        .def("add_capsule", &add_capsule)
        .def("add_cylinder", &add_cylinder)
        .def("add_surface", &add_surface);
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
    nb::class_<PlanningProblem>(m, "PlanningProblem")
        .def("__init__", &make_problem, nb::keep_alive<1, 2>())
        .def("set_path", &set_path)
        .def_prop_ro("path", &path_of)
        .def_rw("length_bound", &PlanningProblem::length_bound)
        .def_rw("max_iterations", &PlanningProblem::max_iterations)
        .def_rw("continuous", &PlanningProblem::continuous)
        .def_ro("iterations", &PlanningProblem::iterations)
        .def_ro("edge_checks", &PlanningProblem::edge_checks)
        .def_ro("checked_packs", &PlanningProblem::checked_packs);
    m.def("rrt_connect", [kernel = KernelHandle("rrt_connect")](PlanningProblem& p, double seconds) {
        run_search(kernel, p, seconds);
        return p.solved;
    });
    m.def("shorten_path", [kernel = KernelHandle("shorten_path")](PlanningProblem& p, double seconds) {
        run_search(kernel, p, seconds);
        return p.blocked_edge;
    });
    m.def("path_blocked", [kernel = KernelHandle("path_blocked")](PlanningProblem& p, double seconds) {
        run_search(kernel, p, seconds);
        return p.blocked_edge;
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
