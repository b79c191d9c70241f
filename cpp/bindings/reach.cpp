#include "reach.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <nanobind/ndarray.h>
#include <numpy/arrayobject.h>

#include <cmath>
#include <cstring>

#include "../core/dispatch.hpp"
#include "door.hpp"

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

nb::object reach(Any robot, Any q0, Any lower, Any upper, Any settings, Any targets, int method) {
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
    return door.run(kernels().reach, nb::none());
}

nb::object misfit(Any robot, Any q, Any lower, Any upper, Any allowed, Any targets) {
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
    return door.run(kernels().misfit, nb::none());
}

// An array of its own, of one axis or of none.
template <class T>
nb::object fresh(int type, int ndim, npy_intp size, T*& data) {
    nb::object made = nb::steal(PyArray_SimpleNew(ndim, &size, type));
    if (!made) throw nb::python_error();
    data = static_cast<T*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made.ptr())));
    return made;
}
// The numbers in an array that a kernel has made, which is one of several.
const double* numbers(const nb::object& several, int k) {
    return static_cast<const double*>(
        PyArray_DATA(reinterpret_cast<PyArrayObject*>(PyTuple_GET_ITEM(several.ptr(), k))));
}

// Only the first row of it.
nb::object first(const nb::object& several, int k) {
    const nb::object row = nb::steal(PySequence_GetSlice(PyTuple_GET_ITEM(several.ptr(), k), 0, 1));
    if (!row) throw nb::python_error();
    return row;
}

// One target, its poses (16) without batch axes, from several starts (m, nq) at once, of which the first leads. Where
// that one arrives, and is right: q, success, residual, which coordinates stand at or beyond `low` or `high`,
// iterations, poses, all without batch axes. Else what reach says of all starts, or of the first where that one
// arrived.
nb::object reach_alone(Any robot, Any starts, Any lower, Any upper, Any settings, Any targets, int method, Any allowed,
                       Limit low, Limit high) {
    const nb::object found = reach(robot, starts, lower, upper, settings, targets, method);
    if (numbers(found, 2)[0] != 0) return found;
    const npy_intp nq = robot_from(robot).model.nq;
    double *q, *iterations;
    npy_bool *success, *active;
    const nb::object own_q = fresh(NPY_DOUBLE, 1, nq, q), own_iterations = fresh(NPY_DOUBLE, 0, 1, iterations);
    const nb::object own_success = fresh(NPY_BOOL, 0, 1, success), own_active = fresh(NPY_BOOL, 1, nq, active);
    std::memcpy(q, numbers(found, 0), sizeof(double) * static_cast<std::size_t>(nq));
    const nb::object judged = misfit(robot, own_q, lower, upper, allowed, targets);
    if (numbers(judged, 1)[0] == 0) return nb::make_tuple(first(found, 0), first(found, 1), first(found, 2));
    *success = 1;
    *iterations = numbers(found, 1)[0];
    if (static_cast<npy_intp>(low.size()) != nq || static_cast<npy_intp>(high.size()) != nq)
        raise_input_error("low and high must have as many numbers as q");
    for (npy_intp k = 0; k < nq; ++k) active[k] = q[k] <= low.data()[k] || q[k] >= high.data()[k];
    return nb::make_tuple(own_q, own_success, judged[0], own_active, own_iterations, judged[3]);
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

void bind_reach(nb::module_& m) {
    if (_import_array() < 0) throw nb::python_error();
    const auto any = nb::arg().none();
    m.def("reach", &reach, any, any, any, any, any, any, nb::arg());
    m.def("reach_alone", &reach_alone, any, any, any, any, any, any, nb::arg(), any, nb::arg(), nb::arg());
    m.def("misfit", &misfit, any, any, any, any, any, any);
    m.def("are_poses", &are_poses);
}

}  // namespace kinodyn
