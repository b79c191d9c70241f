#include "bindings/functions.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "bindings/args.hpp"
#include "core/qp.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

nb::object make(std::initializer_list<npy_intp> shape, int type = NPY_DOUBLE) {
    nb::object made =
        nb::steal(PyArray_SimpleNew(static_cast<int>(shape.size()), const_cast<npy_intp*>(shape.begin()), type));
    if (!made) throw nb::python_error();
    return made;
}

double* data(const nb::object& array) {
    return static_cast<double*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
}

// The numbers of an array of float64 of the size that is asked for. Python says what is wrong with any other.
const double* numbers(nb::handle value, npy_intp size) {
    auto* array = reinterpret_cast<PyArrayObject*>(value.ptr());
    if (!PyArray_Check(value.ptr()) || PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(array) ||
        PyArray_SIZE(array) != size)
        raise_input_error("a quadratic program takes contiguous arrays of float64 of matching sizes");
    return static_cast<const double*>(PyArray_DATA(array));
}

// Bounds of variables and sides of rows in one array; `free` where they are None.
nb::object stack(nb::handle bounds, nb::handle sides, int n, int m, double free) {
    const nb::object both = make({n + m});
    const auto put = [&](nb::handle part, double* to, int size) {
        if (part.is_none())
            std::fill(to, to + size, free);
        else
            std::copy_n(numbers(part, size), size, to);
    };
    put(bounds, data(both), n);
    put(sides, data(both) + n, m);
    return both;
}

// A scaled program as arrays that DAQP takes, and the way back to the units of the program that was given.
class Qp {
  public:
    Qp(nb::handle H, nb::handle g, nb::handle A, nb::object lower, nb::object upper)
        : given_lower_(std::move(lower)), given_upper_(std::move(upper)) {
        n_ = size(g);
        m_ = size(given_lower_) - n_;
        const QpView given{n_,
                           m_,
                           numbers(H, npy_intp{n_} * n_),
                           numbers(g, n_),
                           numbers(A, npy_intp{m_} * n_),
                           numbers(given_lower_, n_ + m_),
                           numbers(given_upper_, n_ + m_)};
        if (const char* fault = find_fault(given)) raise_input_error(fault);
        this->H = make({n_, n_}), this->g = make({n_}), this->A = make({m_, n_});
        this->lower = make({n_ + m_}), this->upper = make({n_ + m_}), sense = make({n_ + m_}, NPY_INT);
        x_unit = make({n_}), row_unit = make({m_});
        ScaledQp scaled{data(this->H),
                        data(this->g),
                        data(this->A),
                        data(this->lower),
                        data(this->upper),
                        data(x_unit),
                        data(row_unit),
                        0,
                        true};
        scale(given, scaled);
        cost_unit = scaled.cost_unit;
        has_cost = scaled.has_cost;
        int* kinds = static_cast<int*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(sense.ptr())));
        for (int k = 0; k < n_ + m_; ++k) kinds[k] = given.lower[k] == given.upper[k] ? equality : 0;
    }

    // In the order of the arguments of DAQP.
    nb::object arrays() const { return nb::make_tuple(H, g, A, upper, lower, sense); }

    bool convex() const {
        thread_local std::vector<double> scratch;  // grows to the largest program, and is not touched anew by every one
        scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_)));
        return is_convex(view(), scratch.data());
    }

    nb::object measure(nb::handle y, nb::handle multipliers, bool with_floor) const {
        std::vector<double> scratch(2 * static_cast<std::size_t>(n_));
        const QpResiduals r =
            residuals(view(), numbers(y, n_), numbers(multipliers, n_ + m_), with_floor, scratch.data());
        return nb::make_tuple(r.primal, r.dual, r.complementarity, r.gap);
    }

    // x, clipped to its bounds if it is to be `within` them, and the multipliers of bounds and of rows.
    nb::object unscale(nb::handle y, nb::handle multipliers, bool within) const {
        const double *from = numbers(y, n_), *push = numbers(multipliers, n_ + m_);
        const double *to_x = data(x_unit), *to_row = data(row_unit);
        const double *low = data(given_lower_), *high = data(given_upper_);
        const nb::object x = make({n_}), of_bounds = make({n_}), of_rows = make({m_});
        for (int i = 0; i < n_; ++i) {
            const double value = from[i] * to_x[i];
            data(x)[i] = within ? std::min(std::max(value, low[i]), high[i]) : value;
            data(of_bounds)[i] = push[i] * cost_unit / to_x[i];
        }
        for (int j = 0; j < m_; ++j) data(of_rows)[j] = push[n_ + j] * cost_unit / to_row[j];
        return nb::make_tuple(x, of_bounds, of_rows);
    }

    nb::object H, g, A, lower, upper, sense, x_unit, row_unit;
    double cost_unit = 1;
    bool has_cost = true;

  private:
    static constexpr int equality = 5;  // as DAQP calls it

    static int size(nb::handle array) {
        if (!PyArray_Check(array.ptr())) raise_input_error("a quadratic program takes arrays");
        return static_cast<int>(PyArray_SIZE(reinterpret_cast<PyArrayObject*>(array.ptr())));
    }

    QpView view() const { return {n_, m_, data(H), data(g), data(A), data(lower), data(upper)}; }

    int n_ = 0, m_ = 0;
    nb::object given_lower_, given_upper_;
};

}  // namespace

void bind_qp(nb::module_& m) {
    if (_import_array() < 0) throw nb::python_error();
    m.def(
        "stack_sides",
        [](nb::handle x_lower, nb::handle x_upper, nb::handle lower, nb::handle upper, int n, int m) {
            constexpr double infinite = std::numeric_limits<double>::infinity();
            return nb::make_tuple(stack(x_lower, lower, n, m, -infinite), stack(x_upper, upper, n, m, infinite));
        },
        nb::arg("x_lower").none(), nb::arg("x_upper").none(), nb::arg("lower").none(), nb::arg("upper").none(),
        nb::arg("n"), nb::arg("m"));
    nb::class_<Qp>(m, "ScaledQp")
        .def(nb::init<nb::handle, nb::handle, nb::handle, nb::object, nb::object>())
        .def("arrays", &Qp::arrays)
        .def("is_convex", &Qp::convex)
        .def("residuals", &Qp::measure)
        .def("unscale", &Qp::unscale)
        .def_ro("H", &Qp::H)
        .def_ro("g", &Qp::g)
        .def_ro("A", &Qp::A)
        .def_ro("lower", &Qp::lower)
        .def_ro("upper", &Qp::upper)
        .def_ro("sense", &Qp::sense)
        .def_ro("x_unit", &Qp::x_unit)
        .def_ro("row_unit", &Qp::row_unit)
        .def_ro("cost_unit", &Qp::cost_unit)
        .def_ro("has_cost", &Qp::has_cost);
}

}  // namespace kinodyn
