#include "kernels/ik.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <nanobind/ndarray.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "bindings/define.hpp"
#include "bindings/functions.hpp"
#include "kernels/closed_form.hpp"
#include "kernels/continuation.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

using Limit = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// targets: a dict of frame -> (pose (..., 16), weights (..., 6)).
void add_targets(Args& args, Any q, Any lower, Any upper, Any targets) {
    const nb::dict given = nb::cast<nb::dict>(targets);
    args.frames(given.keys());
    args.configuration("q", q);
    args.input("lower", lower, args.model().nq);
    args.input("upper", upper, args.model().nq);
    for (const auto& item : given) args.input("target", item.second[0], 16);
    for (const auto& item : given) args.input("weights", item.second[1], 6);
}

// dofs: the v indices that may move.
void prepare_ik(Args& args, Any q0, Any lower, Any upper, Any settings, Any targets, Any dofs) {
    add_targets(args, q0, lower, upper, targets);
    args.dofs(dofs);
    args.settings(record_from<IkSettings>("settings", settings));
    args.output("q", {args.model().nq});
    args.output("iterations", {});
    args.output("ending", {});
}

void prepare_residual(Args& args, Any q, Any lower, Any upper, Any tolerances, Any targets) {
    add_targets(args, q, lower, upper, targets);
    args.settings(record_from<IkTolerances>("tolerances", tolerances));
    args.output("error", {2});
    args.output("success", {});
    args.output("cost", {});
    args.output("poses", {args.call().frames.size, 4, 4});
}

void prepare_continuation(Args& args, Any links, Any start, Any from, Any to, Any settings) {
    const auto given = record_from<ContinuationSettings>("settings", settings);
    args.input("links", links, 12 * given.joints);
    args.input("start", start, 2 * given.joints);
    args.input("from", from, 16);
    args.input("to", to, 16);
    args.settings(given);
    args.output("z", {2L * given.joints});
    args.output("left", {});
    args.output("error", {});
}

void prepare_closed_form(Args& args, Any T, Any frame, Any plan, Any indices, Any lower, Any upper, Any near,
                         Any rest) {
    args.path_to(frame);
    args.matrix("T", T, 4, 4);
    args.records<ClosedFormPlan>("plan", plan);
    args.input("indices", indices, 6);
    args.input("lower", lower, 6);
    args.input("upper", upper, 6);
    args.input("near", near, 6);
    args.input("rest", rest, args.model().nq);
    args.output("q", {closed_form_branches, args.model().nq});
    args.output("residual", {closed_form_branches});
    args.output("outside", {closed_form_branches, 6});
    args.output("regular", {});
}

PyArrayObject* part(const nb::object& several, int k) {
    return reinterpret_cast<PyArrayObject*>(NB_TUPLE_GET_ITEM(several.ptr(), k));
}
nb::object item(const nb::object& several, int k) { return nb::borrow(NB_TUPLE_GET_ITEM(several.ptr(), k)); }
// The numbers of row i in one of several arrays returned by a kernel.
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

// How many rows were computed: the kernel goes no further once the first has converged, or one of each four.
long rows_tried(const double* endings, long rows) {
    constexpr long together = 4, converged = static_cast<long>(IkEnding::Converged);
    if (endings[0] == converged) return 1;
    for (long k = 1; k < rows; ++k)
        if (endings[k] == converged) return std::min(rows, (k / together + 1) * together);
    return rows;
}

// The kernels that a search for one target uses.
struct SearchKernels {
    KernelHandle ik{"ik"}, residual{"ik_residual"}, difference{"difference"};
    ResultType ik_type{"ik"}, residual_type{"ik_residual"}, difference_type{"difference"};
};

// The first row if it succeeded, else the successful row nearest to the first start; -1 if there is none.
long nearest(SearchKernels& kernels, Any robot, Any q0, Any q, const double* success, long rows) {
    if (success[0] > 0) return 0;
    if (std::find_if(success, success + rows, [](double x) { return x > 0; }) == success + rows) return -1;
    Args args(robot);
    args.configuration("q0", q0);
    args.configuration("q", q);
    const long nv = args.model().nv;
    args.output({nv});
    const nb::object distances = args.run(kernels.difference.get(), nb::none(), kernels.difference_type);
    const double* v = static_cast<const double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(distances.ptr())));
    long chosen = -1;
    double least = 0;
    for (long k = 0; k < rows; ++k, v += nv) {
        const double square = std::inner_product(v, v + nv, v, 0.0);
        if (success[k] > 0 && (chosen < 0 || square < least)) chosen = k, least = square;
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

// One target, its pose (16) without batch axes, from several starts (m, nq), of which the first leads. Returns the
// solution and None if a start succeeds, the first or else the nearest to it; otherwise None and the results of `ik`
// for the starts that were tried. The solution has no batch axes; `at_limit` marks the coordinates at or beyond
// `low` or `high`.
nb::object ik_single(SearchKernels& kernels, Any robot, Any starts, Any lower, Any upper, Any settings, Any targets,
                     Any dofs, Any tolerances, const Limit& low, const Limit& high) {
    static ResultType solution_type("ik_solution"), attempt_type("ik_attempt");
    Args search(robot);
    const auto nq = static_cast<std::size_t>(search.model().nq);
    if (low.size() != nq || high.size() != nq) raise_input_error("low and high must have as many numbers as q");
    prepare_ik(search, starts, lower, upper, settings, targets, dofs);
    const nb::object all = search.run(kernels.ik.get(), nb::none(), kernels.ik_type);
    const long rows = rows_tried(numbers(all, ik_output::ending), PyArray_DIM(part(all, ik_output::ending), 0));
    const nb::object q = first_rows(item(all, ik_output::q), rows);
    Args check(robot);
    prepare_residual(check, q, lower, upper, tolerances, targets);
    const nb::object residual = check.run(kernels.residual.get(), nb::none(), kernels.residual_type);
    const double* success = numbers(residual, ik_residual_output::success);
    const long chosen = nearest(kernels, robot, first_rows(starts, 1), q, success, rows);
    if (chosen < 0) {
        const char* const names[] = {"q", "iterations", "ending"};
        PyObject* items[] = {nb::object(q).release().ptr(),
                             first_rows(item(all, ik_output::iterations), rows).release().ptr(),
                             first_rows(item(all, ik_output::ending), rows).release().ptr()};
        return nb::make_tuple(nb::none(), attempt_type.make(names, items, 3));
    }
    const char* const names[] = {"q", "error", "at_limit", "iterations", "poses"};
    PyObject* items[] = {row(all, ik_output::q, chosen).release().ptr(),
                         row(residual, ik_residual_output::error, chosen).release().ptr(),
                         at_limits(numbers(all, ik_output::q, chosen), low, high).release().ptr(),
                         row(all, ik_output::iterations, chosen).release().ptr(),
                         row(residual, ik_residual_output::poses, chosen).release().ptr()};
    return nb::make_tuple(solution_type.make(names, items, 5), nb::none());
}

// Are these poses (..., 4, 4) finite, their rotations orthonormal within 1e-6 and right-handed, their last rows
// 0 0 0 1? The caller determines what is wrong with those that are not.
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
    export_layouts<IkSettings, IkTolerances, ContinuationSettings, ClosedFormPlan>();
    export_codes<IkEnding>();
    add_constant("max_inputs", Call::max_inputs);
    define(m, "ik", [](Args& args, Any q0, Any lower, Any upper, Any settings, Any targets, Any dofs) {
        prepare_ik(args, q0, lower, upper, settings, targets, dofs);
    });
    define(m, "ik_residual", [](Args& args, Any q, Any lower, Any upper, Any tolerances, Any targets) {
        prepare_residual(args, q, lower, upper, tolerances, targets);
    });
    define(m, "continuation", [](Args& args, Any links, Any start, Any from, Any to, Any settings) {
        prepare_continuation(args, links, start, from, to, settings);
    });
    define(m, "closed_form",
           [](Args& args, Any T, Any frame, Any plan, Any indices, Any lower, Any upper, Any near, Any rest) {
               prepare_closed_form(args, T, frame, plan, indices, lower, upper, near, rest);
           });
    auto* const kernels = new SearchKernels;  // lives as long as the function
    const auto any = nb::arg().none();
    m.def(
        "ik_single",
        [kernels](Any robot, Any starts, Any lower, Any upper, Any settings, Any targets, Any dofs, Any tolerances,
                  Limit low, Limit high) {
            return ik_single(*kernels, robot, starts, lower, upper, settings, targets, dofs, tolerances, low, high);
        },
        any, any, any, any, any, any, any, any, nb::arg(), nb::arg());
    m.def("are_poses", &are_poses);
}

}  // namespace kinodyn
