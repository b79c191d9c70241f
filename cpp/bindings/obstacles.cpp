// Obstacles of a world as Python objects: boxes, capsules, cylinders, surfaces of meshes and point clouds.
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "bindings/arrays.hpp"
#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "core/collision.hpp"

namespace nb = nanobind;

namespace kinodyn {

// Obstacles as Python describes them; `owner` is the number of the object that they belong to.
struct BoxRecord {
    double R[9];  // axes of the box in the world by columns
    double p[3], half[3];
    std::int32_t owner;

    static constexpr auto layout() {
        using R = BoxRecord;
        return named("box_obstacle", field<3, 3>("R", &R::R), field("p", &R::p), field("half", &R::half),
                     field("owner", &R::owner));
    }
};

struct RoundRecord {
    double p[3], axis[3], half, radius;
    std::int32_t owner;

    static constexpr auto layout() {
        using R = RoundRecord;
        return named("round_obstacle", field("p", &R::p), field("axis", &R::axis), field("half", &R::half),
                     field("radius", &R::radius), field("owner", &R::owner));
    }
};

namespace {

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

}  // namespace

void bind_obstacles(nb::module_& m) {
    export_layouts<BoxRecord, RoundRecord>();
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
}

}  // namespace kinodyn
