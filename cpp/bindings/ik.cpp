#include "bindings/ik.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <nanobind/ndarray.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "bindings/args.hpp"
#include "core/dispatch.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Any = nb::handle;
using Limit = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// targets: a dict of frame -> (pose (..., 16), weights (..., 6)), which come after the limits of q.
nb::dict aim(Door& door, Any targets) {
    const nb::dict given = nb::cast<nb::dict>(targets);
    door.towards(given.keys());
    door.solve_for_bodies();
    return given;
}
void input_limits(Door& door, Any lower, Any upper) {
    door.input("lower", lower, door.robot().model.nq);
    door.input("upper", upper, door.robot().model.nq);
}
void input_targets(Door& door, const nb::dict& given) {
    for (const auto& item : given) door.input("target", item.second[0], 16);
    for (const auto& item : given) door.input("weights", item.second[1], 6);
}

nb::object ik(Any robot, Any q0, Any lower, Any upper, Any settings, Any targets, int method) {
    Door door(robot);
    const nb::dict given = aim(door, targets);
    door.configuration("q0", q0);
    input_limits(door, lower, upper);
    door.input("settings", settings, 6);
    input_targets(door, given);
    door.call().mode = method;
    door.output({door.robot().model.nq});
    door.output({});
    door.output({});
    return door.run(kernels().ik, nb::none());
}

nb::object ik_residual(Any robot, Any q, Any lower, Any upper, Any allowed, Any targets) {
    Door door(robot);
    const nb::dict given = aim(door, targets);
    door.configuration("q", q);
    input_limits(door, lower, upper);
    door.input("allowed", allowed, 3);
    input_targets(door, given);
    door.output({2});
    door.output({});
    door.output({});
    door.output({static_cast<long>(given.size()), 4, 4});
    return door.run(kernels().ik_residual, nb::none());
}

PyArrayObject* part(const nb::object& several, int k) {
    return reinterpret_cast<PyArrayObject*>(PyTuple_GET_ITEM(several.ptr(), k));
}
// The numbers of row i in one of several arrays, which a kernel has made.
const double* numbers(const nb::object& several, int k, long i = 0) {
    PyArrayObject* a = part(several, k);
    return reinterpret_cast<const double*>(PyArray_BYTES(a) + i * PyArray_STRIDE(a, 0));
}
nb::object first_rows(Any array, long count) {
    nb::object rows = nb::steal(PySequence_GetSlice(array.ptr(), 0, count));
    if (!rows) throw nb::python_error();
    return rows;
}
// A copy of row i, without the axis of rows.
nb::object row(const nb::object& several, int k, long i) {
    PyArrayObject* a = part(several, k);
    nb::object made = nb::steal(PyArray_SimpleNew(PyArray_NDIM(a) - 1, PyArray_DIMS(a) + 1, NPY_DOUBLE));
    if (!made) throw nb::python_error();
    PyArrayObject* own = reinterpret_cast<PyArrayObject*>(made.ptr());
    std::memcpy(PyArray_DATA(own), numbers(several, k, i), static_cast<std::size_t>(PyArray_NBYTES(own)));
    return made;
}

// How many rows mean something: the kernel goes no further once the first has arrived, or one of each four.
long rows_tried(const double* ended, long rows) {
    constexpr long together = 4;
    if (ended[0] == 0) return 1;
    for (long k = 1; k < rows; ++k)
        if (ended[k] == 0) return std::min(rows, (k / together + 1) * together);
    return rows;
}

// The first row if it is right, else the one of those that are right that is nearest to it before it moved; or -1.
long nearest(Any robot, Any q0, Any q, const double* right, long rows) {
    if (right[0] > 0) return 0;
    if (std::find_if(right, right + rows, [](double x) { return x > 0; }) == right + rows) return -1;
    Door door(robot);
    door.configuration("q0", q0);
    door.configuration("q", q);
    const long nv = door.robot().model.nv;
    door.output({nv});
    const nb::object away = door.run(kernels().difference, nb::none());
    const double* v = static_cast<const double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(away.ptr())));
    long chosen = -1;
    double least = 0;
    for (long k = 0; k < rows; ++k, v += nv) {
        const double square = std::inner_product(v, v + nv, v, 0.0);
        if (right[k] > 0 && (chosen < 0 || square < least)) chosen = k, least = square;
    }
    return chosen;
}

nb::object at_limits(const double* q, const Limit& low, const Limit& high) {
    npy_intp nq = static_cast<npy_intp>(low.size());
    nb::object made = nb::steal(PyArray_SimpleNew(1, &nq, NPY_BOOL));
    if (!made) throw nb::python_error();
    auto* active = static_cast<npy_bool*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made.ptr())));
    for (npy_intp k = 0; k < nq; ++k) active[k] = q[k] <= low.data()[k] || q[k] >= high.data()[k];
    return made;
}

// One target, its pose (16) without batch axes, from several starts (m, nq), of which the first leads. Where one is
// right, the first or else the nearest: q, residual, which coordinates stand at or beyond `low` or `high`, iterations,
// poses, all without batch axes. Else what reach says of the starts that it took.
nb::object ik_single(Any robot, Any starts, Any lower, Any upper, Any settings, Any targets, int method, Any allowed,
                     Limit low, Limit high) {
    const auto nq = static_cast<std::size_t>(robot_from(robot).model.nq);
    if (low.size() != nq || high.size() != nq) raise_input_error("low and high must have as many numbers as q");
    nb::object found = ik(robot, starts, lower, upper, settings, targets, method);
    const long rows = rows_tried(numbers(found, 2), PyArray_DIM(part(found, 2), 0));
    found = nb::make_tuple(first_rows(found[0], rows), first_rows(found[1], rows), first_rows(found[2], rows));
    const nb::object judged = ik_residual(robot, found[0], lower, upper, allowed, targets);
    const long chosen = nearest(robot, first_rows(starts, 1), found[0], numbers(judged, 1), rows);
    if (chosen < 0) return found;
    return nb::make_tuple(row(found, 0, chosen), row(judged, 0, chosen),
                          at_limits(numbers(found, 0, chosen), low, high), row(found, 1, chosen),
                          row(judged, 3, chosen));
}

// Are these poses (..., 4, 4) finite, their rotations orthonormal within 1e-6 and right-handed, their last rows
// 0 0 0 1? What is wrong with those that are not is for others to say.
bool are_poses(nb::ndarray<const double, nb::c_contig, nb::device::cpu> poses) {
    constexpr double tolerance = 1e-6, largest = 1e60;
    const double* T = poses.data();
    for (const double* end = T + poses.size(); T < end; T += 16) {
        bool right = true;
        for (int i = 0; i < 3; ++i) {
            right = right && std::fabs(T[4 * i + 3]) < largest && std::fabs(T[12 + i]) <= tolerance;
            for (int j = 0; j < 3; ++j) {
                const double dot = T[i] * T[j] + T[4 + i] * T[4 + j] + T[8 + i] * T[8 + j];
                right = right && std::fabs(dot - (i == j)) <= tolerance;
            }
        }
        const double volume = T[0] * (T[5] * T[10] - T[6] * T[9]) - T[1] * (T[4] * T[10] - T[6] * T[8]) +
                              T[2] * (T[4] * T[9] - T[5] * T[8]);
        if (!(right && volume > 0 && std::fabs(T[15] - 1) <= tolerance)) return false;
    }
    return true;
}

}  // namespace

void bind_ik(nb::module_& m) {
    if (_import_array() < 0) throw nb::python_error();
    const auto any = nb::arg().none();
    m.def("ik", &ik, any, any, any, any, any, any, nb::arg());
    m.def("ik_single", &ik_single, any, any, any, any, any, any, nb::arg(), any, nb::arg(), nb::arg());
    m.def("ik_residual", &ik_residual, any, any, any, any, any, any);
    m.def("are_poses", &are_poses);
}

}  // namespace kinodyn
