// Sphere fitting, and distances from triangles.
#include "core/sphere_fit.hpp"

#include <nanobind/ndarray.h>

#include "bindings/functions.hpp"
#include "bindings/layouts.hpp"
#include "core/sphere_groups.hpp"
#include "core/sphere_overlaps.hpp"
#include "core/voxel_hull.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Points = nb::ndarray<const double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Faces = nb::ndarray<const std::int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using Starts = nb::ndarray<const std::int32_t, nb::shape<-1>, nb::c_contig, nb::device::cpu>;
using Pairs = nb::ndarray<const std::int32_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using Poses = nb::ndarray<const double, nb::shape<-1, -1, 4, 4>, nb::c_contig, nb::device::cpu>;
using Balls = nb::ndarray<const double, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;

Vec3 point(const Points& points, std::size_t k) { return {points(k, 0), points(k, 1), points(k, 2)}; }

// The indices of the faces refer to vertices and have been checked in Python.
std::vector<Triangle> triangles_of(const Points& vertices, const Faces& faces) {
    std::vector<Triangle> triangles(faces.shape(0));
    for (std::size_t k = 0; k < triangles.size(); ++k)
        triangles[k] = {point(vertices, static_cast<std::size_t>(faces(k, 0))),
                        point(vertices, static_cast<std::size_t>(faces(k, 1))),
                        point(vertices, static_cast<std::size_t>(faces(k, 2)))};
    return triangles;
}

std::vector<Ball> balls_from(const Balls& rows) {
    std::vector<Ball> balls(rows.shape(0));
    for (std::size_t k = 0; k < balls.size(); ++k) balls[k] = {{rows(k, 0), rows(k, 1), rows(k, 2)}, rows(k, 3)};
    return balls;
}

template <class T>
nb::object array(std::vector<T>&& values, std::initializer_list<std::size_t> shape) {
    auto* const memory = new std::vector<T>(std::move(values));
    const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T>(memory->data(), shape, owner));
}

nb::object rows_of(const std::vector<Ball>& balls) {
    std::vector<double> rows;
    for (const Ball& ball : balls) rows.insert(rows.end(), {ball.centre.x, ball.centre.y, ball.centre.z, ball.radius});
    return array(std::move(rows), {balls.size(), 4});
}

std::vector<Face> faces_of(const std::vector<Triangle>& triangles) {
    std::vector<Face> faces;
    for (const Triangle& t : triangles) faces.push_back({t, 0});
    return faces;
}

double bound_of(const Points& vertices, const Faces& faces, double resolution) {
    nb::gil_scoped_release release;
    const std::vector<Triangle> triangles = triangles_of(vertices, faces);
    return fit_bound(TriangleBvh(triangles), faces_of(triangles), resolution);
}

nb::tuple hull(const Points& vertices, const Faces& faces, double cell) {
    std::vector<double> points;
    std::vector<std::int64_t> corners;
    {
        nb::gil_scoped_release release;
        const VoxelHull found = voxel_hull(triangles_of(vertices, faces), cell);
        for (const Vec3& p : found.vertices) points.insert(points.end(), {p.x, p.y, p.z});
        for (const auto& face : found.faces) corners.insert(corners.end(), face.begin(), face.end());
        cell = found.cell;
    }
    const std::size_t n = points.size() / 3, m = corners.size() / 3;
    return nb::make_tuple(array(std::move(points), {n, 3}), array(std::move(corners), {m, 3}), cell);
}

nb::object fit(const Points& vertices, const Faces& faces, const Numbers& bend, double resolution) {
    std::vector<Ball> spheres;
    {
        nb::gil_scoped_release release;
        const std::vector<Triangle> triangles = triangles_of(vertices, faces);
        std::vector<Face> with_bends;
        for (std::size_t k = 0; k < triangles.size(); ++k) with_bends.push_back({triangles[k], bend(k)});
        spheres = fit_spheres(TriangleBvh(triangles), with_bends, resolution);
    }
    return rows_of(spheres);
}

nb::object overshoot(const TriangleBvh& surface, const Balls& spheres) {
    const std::vector<Ball> balls = balls_from(spheres);
    Overshoot found;
    {
        nb::gil_scoped_release release;
        found = measure_overshoot(surface, balls);
    }
    return nb::make_tuple(found.median, found.p95, found.max);
}

nb::object signed_distances(const TriangleBvh& surface, const Points& points) {
    std::vector<double> distances(points.shape(0));
    {
        nb::gil_scoped_release release;
        for (std::size_t k = 0; k < distances.size(); ++k) {
            const Vec3 p = point(points, k);
            distances[k] = surface.nearest(p).distance * (surface.inside(p) ? -1 : 1);
        }
    }
    const std::size_t count = distances.size();
    return array(std::move(distances), {count});
}

nb::tuple lowest_distance(const TriangleBvh& surface, const Points& points) {
    TriangleBvh::Lowest found;
    {
        nb::gil_scoped_release release;
        found = surface.lowest(points.data(), points.shape(0));
    }
    return nb::make_tuple(found.distance, found.index);
}

using IntegerRows = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// For each row, the index of the first one that equals it.
nb::object first_equal_rows(const IntegerRows& rows) {
    const std::size_t n = rows.shape(0), width = rows.shape(1);
    std::vector<std::int64_t> first(n);
    {
        nb::gil_scoped_release release;
        std::size_t size = 4;
        while (size < 2 * n) size *= 2;
        std::vector<std::int64_t> table(size, -1);  // open addressing
        for (std::size_t k = 0; k < n; ++k) {
            const std::int64_t* row = rows.data() + width * k;
            std::uint64_t hash = 0;
            for (std::size_t i = 0; i < width; ++i) {
                hash = (hash ^ static_cast<std::uint64_t>(row[i])) * 0x9e3779b97f4a7c15ULL;
                hash ^= hash >> 32;
            }
            std::size_t slot = hash & (size - 1);
            while (table[slot] >= 0 &&
                   !std::equal(row, row + width, rows.data() + width * static_cast<std::size_t>(table[slot])))
                slot = (slot + 1) & (size - 1);
            if (table[slot] < 0) table[slot] = static_cast<std::int64_t>(k);
            first[k] = table[slot];
        }
    }
    return array(std::move(first), {n});
}

nb::object group(const Balls& spheres, int count) {
    const std::vector<Ball> balls = balls_from(spheres);
    SphereGroups groups;
    {
        nb::gil_scoped_release release;
        groups = group_spheres(balls, count);
    }
    const std::size_t size = groups.group.size();
    return nb::make_tuple(array(std::move(groups.group), {size}), rows_of(groups.coarse));
}

std::vector<int> starts_from(const Starts& starts) { return {starts.data(), starts.data() + starts.size()}; }

// The indices of pairs and starts are consistent: Python creates them from one SphereSet.
nb::object overlaps(const Balls& bounding, const Balls& coarse, const Starts& coarse_start, const Balls& fine,
                    const Starts& fine_start, const Pairs& pairs, const Poses& poses, long kept) {
    const SphereLevels levels{balls_from(bounding), balls_from(coarse), balls_from(fine), starts_from(coarse_start),
                              starts_from(fine_start)};
    std::vector<LinkPair> links(pairs.shape(0));
    for (std::size_t k = 0; k < links.size(); ++k) links[k] = {pairs(k, 0), pairs(k, 1)};
    std::vector<PairOverlaps> found;
    {
        nb::gil_scoped_release release;
        found = find_overlaps(levels, links, poses.data(), static_cast<long>(poses.shape(0)), kept);
    }
    nb::list results;
    for (PairOverlaps& pair : found) {
        const std::size_t size = pair.states.size();
        results.append(
            nb::make_tuple(pair.count, array(std::move(pair.states), {size}), array(std::move(pair.depths), {size})));
    }
    return results;
}

nb::object enclosing(const Balls& spheres) { return rows_of({enclosing_ball(balls_from(spheres))}); }

}  // namespace

void bind_sphere_fit(nb::module_& m) {
    nb::class_<TriangleBvh>(m, "TriangleBvh")
        .def("__init__",
             [](TriangleBvh* self, const Points& vertices, const Faces& faces) {
                 if (faces.shape(0) == 0) throw nb::value_error("there are no triangles");
                 new (self) TriangleBvh(triangles_of(vertices, faces));
             })
        .def("overshoot", &overshoot)
        .def("signed_distances", &signed_distances)
        .def("lowest_distance", &lowest_distance)
        .def("search_cost", &TriangleBvh::search_cost, nb::call_guard<nb::gil_scoped_release>());
    add_constant("least_fit_resolution", least_fit_resolution);
    m.def("first_equal_rows", &first_equal_rows);
    m.def("fit_spheres", &fit);
    m.def("fit_bound", &bound_of);
    m.def("voxel_hull", &hull);
    m.def("group_spheres", &group);
    m.def("sphere_overlaps", &overlaps);
    m.def("enclosing_sphere", &enclosing);
}

}  // namespace kinodyn
