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

// The numbers of a float64 array of the requested size. Python explains what is wrong with any other.
const double* numbers(nb::handle value, npy_intp size) {
    auto* array = reinterpret_cast<PyArrayObject*>(value.ptr());
    if (!PyArray_Check(value.ptr()) || PyArray_TYPE(array) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(array) ||
        PyArray_SIZE(array) != size)
        raise_input_error("a quadratic program takes contiguous arrays of float64 of matching sizes");
    return static_cast<const double*>(PyArray_DATA(array));
}

// Is it a contiguous float64 array of these sizes?
bool is_plain(nb::handle value, std::initializer_list<npy_intp> shape) {
    if (!PyArray_CheckExact(value.ptr())) return false;
    auto* array = reinterpret_cast<PyArrayObject*>(value.ptr());
    return PyArray_TYPE(array) == NPY_DOUBLE && PyArray_ISCARRAY_RO(array) &&
           PyArray_NDIM(array) == static_cast<int>(shape.size()) &&
           std::equal(shape.begin(), shape.end(), PyArray_DIMS(array));
}

// Bounds of variables and of rows in one array; `free` where they are None.
nb::object stack(nb::handle x_bounds, nb::handle row_bounds, int n, int m, double free) {
    const nb::object both = make({n + m});
    const auto put = [&](nb::handle part, double* to, int size) {
        if (part.is_none())
            std::fill(to, to + size, free);
        else
            std::copy_n(numbers(part, size), size, to);
    };
    put(x_bounds, data(both), n);
    put(row_bounds, data(both) + n, m);
    return both;
}

// The arrays of a scaled program.
struct QpArrays {
    nb::object H, g, A, lower, upper, sense, x_unit, row_unit;

    QpArrays() = default;
    QpArrays(int n, int m)
        : H(make({n, n})),
          g(make({n})),
          A(make({m, n})),
          lower(make({n + m})),
          upper(make({n + m})),
          sense(make({n + m}, NPY_INT)),
          x_unit(make({n})),
          row_unit(make({m})) {}

    bool fit(int n, int m) const {
        return g.is_valid() && PyArray_SIZE(reinterpret_cast<PyArrayObject*>(g.ptr())) == n &&
               PyArray_SIZE(reinterpret_cast<PyArrayObject*>(row_unit.ptr())) == m;
    }
    bool can_be_reused() const {
#ifdef Py_GIL_DISABLED
        return false;  // another thread may be about to take the arrays: counts of references are no proof here
#endif
        constexpr npy_intp most = 1 << 16;  // numbers; larger programs are not solved in control loops
        const auto size = [](const nb::object& of) { return PyArray_SIZE(reinterpret_cast<PyArrayObject*>(of.ptr())); };
        if (!g.is_valid() || size(H) + size(A) > most) return false;
        for (const nb::object* each : {&H, &g, &A, &lower, &upper, &sense, &x_unit, &row_unit})
            if (Py_REFCNT(each->ptr()) != 1) return false;
        return true;
    }

    // Reuses the arrays of the last program that is no longer in use: programs in a control loop keep their size from
    // tick to tick, and memory that the allocator returned to the system in between costs a page fault for each page.
    static QpArrays& cached() {
        static auto* arrays = new QpArrays;  // never deleted: Python may be finalised first
        return *arrays;
    }
    static QpArrays get(int n, int m) { return cached().fit(n, m) ? std::exchange(cached(), {}) : QpArrays(n, m); }
};

// A scaled program as arrays that DAQP takes, and its answers in the units of the program that was given.
class Qp : public QpArrays {
  public:
    Qp(nb::handle H, nb::handle g, nb::handle A, nb::object lower, nb::object upper, bool by_bounds = false)
        : given_lower(std::move(lower)), given_upper(std::move(upper)) {
        n_ = size(g);
        m_ = size(given_lower) - n_;
        const QpView given{n_,
                           m_,
                           numbers(H, npy_intp{n_} * n_),
                           numbers(g, n_),
                           numbers(A, npy_intp{m_} * n_),
                           numbers(given_lower, n_ + m_),
                           numbers(given_upper, n_ + m_)};
        if (const char* fault = find_fault(given)) raise_input_error(fault);
        static_cast<QpArrays&>(*this) = get(n_, m_);
        ScaledQp scaled{data(this->H),
                        data(this->g),
                        data(this->A),
                        data(this->lower),
                        data(this->upper),
                        data(x_unit),
                        data(row_unit),
                        0,
                        true};
        scale(given, by_bounds, scaled);
        cost_unit = scaled.cost_unit;
        has_cost = scaled.has_cost;
        int* kinds = static_cast<int*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(sense.ptr())));
        for (int k = 0; k < n_ + m_; ++k) kinds[k] = given.lower[k] == given.upper[k] ? equality : 0;
    }

    Qp(Qp&&) = default;
    ~Qp() {
        if (can_be_reused()) std::swap(cached(), static_cast<QpArrays&>(*this));
    }

    // In the order of the arguments of DAQP.
    nb::object arrays() const { return nb::make_tuple(H, g, A, upper, lower, sense); }

    bool convex() const {
        thread_local std::vector<double> scratch;  // grows to the largest program and is reused
        scratch.resize(std::max(scratch.size(), static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_)));
        return is_convex(view(), scratch.data());
    }

    // The residuals of the KKT conditions at a point.
    nb::object measure(nb::handle y, nb::handle multipliers, bool with_floor) const {
        const QpResiduals r = residuals_at(y, multipliers, with_floor);
        return nb::make_tuple(r.primal, r.dual, r.complementarity, r.gap);
    }

    // x, clipped to its bounds if it is to be `within` them, and the multipliers of bounds and of rows.
    nb::object unscale(nb::handle y, nb::handle multipliers, bool within) const {
        const double *from = numbers(y, n_), *push = numbers(multipliers, n_ + m_);
        const double *to_x = data(x_unit), *to_row = data(row_unit);
        const double *low = data(given_lower), *high = data(given_upper);
        const nb::object x = make({n_}), of_bounds = make({n_}), of_rows = make({m_});
        for (int i = 0; i < n_; ++i) {
            const double value = from[i] * to_x[i];
            data(x)[i] = within ? std::min(std::max(value, low[i]), high[i]) : value;
            data(of_bounds)[i] = push[i] * cost_unit / to_x[i];
        }
        for (int j = 0; j < m_; ++j) data(of_rows)[j] = push[n_ + j] * cost_unit / to_row[j];
        return nb::make_tuple(x, of_bounds, of_rows);
    }

    // The minimum in the units of the program that was given, or None if a residual at the point is above the
    // tolerance, or a row exceeds its bound by more than that although its terms could be summed more accurately: x,
    // multipliers of bounds and of rows, and the residuals.
    nb::object verified(nb::handle y, nb::handle multipliers, double tolerance) const {
        const QpResiduals r = residuals_at(y, multipliers, false);
        const double dual = std::max(r.dual, r.complementarity);
        if (!(std::max({r.primal, dual, r.gap, r.beyond_bounds}) <= tolerance)) return nb::none();
        return unscale(y, multipliers, true) + nb::make_tuple(r.primal, dual, r.gap);
    }

    nb::object given_lower, given_upper;
    double cost_unit = 1;
    bool has_cost = true;

  private:
    static constexpr int equality = 5;  // as DAQP calls it

    static int size(nb::handle array) {
        if (!PyArray_Check(array.ptr())) raise_input_error("a quadratic program takes arrays");
        return static_cast<int>(PyArray_SIZE(reinterpret_cast<PyArrayObject*>(array.ptr())));
    }

    QpResiduals residuals_at(nb::handle y, nb::handle multipliers, bool with_floor) const {
        std::vector<double> scratch(2 * static_cast<std::size_t>(n_));
        return residuals(view(), numbers(y, n_), numbers(multipliers, n_ + m_), with_floor, scratch.data());
    }

    QpView view() const { return {n_, m_, data(H), data(g), data(A), data(lower), data(upper)}; }

    int n_ = 0, m_ = 0;
};

// Scales a convex program of plain arrays without any conversion in Python: None for any other program, which Python
// converts, or whose errors it explains.
nb::object scale_plain(nb::handle H, nb::handle g, nb::handle A, nb::handle x_lower, nb::handle x_upper,
                       nb::handle lower, nb::handle upper) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    if (!PyArray_CheckExact(g.ptr()) || !PyArray_CheckExact(A.ptr())) return nb::none();
    const npy_intp n = PyArray_SIZE(reinterpret_cast<PyArrayObject*>(g.ptr()));
    const npy_intp m = PyArray_NDIM(reinterpret_cast<PyArrayObject*>(A.ptr())) == 2
                           ? PyArray_DIM(reinterpret_cast<PyArrayObject*>(A.ptr()), 0)
                           : 0;
    const auto fits = [](nb::handle bound, npy_intp size) { return bound.is_none() || is_plain(bound, {size}); };
    if (!is_plain(H, {n, n}) || !is_plain(g, {n}) || !is_plain(A, {m, n}) || !fits(x_lower, n) || !fits(x_upper, n) ||
        !fits(lower, m) || !fits(upper, m))
        return nb::none();
    const nb::object low = stack(x_lower, lower, static_cast<int>(n), static_cast<int>(m), -infinite);
    const nb::object high = stack(x_upper, upper, static_cast<int>(n), static_cast<int>(m), infinite);
    try {
        Qp scaled(H, g, A, low, high);
        return scaled.convex() ? nb::cast(std::move(scaled)) : nb::none();
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_ValueError)) throw;
        return nb::none();
    }
}

}  // namespace

void bind_qp(nb::module_& m) {
    if (_import_array() < 0) throw nb::python_error();
    m.def(
        "stack_bounds",
        [](nb::handle x_lower, nb::handle x_upper, nb::handle lower, nb::handle upper, int n, int m) {
            constexpr double infinite = std::numeric_limits<double>::infinity();
            return nb::make_tuple(stack(x_lower, lower, n, m, -infinite), stack(x_upper, upper, n, m, infinite));
        },
        nb::arg("x_lower").none(), nb::arg("x_upper").none(), nb::arg("lower").none(), nb::arg("upper").none(),
        nb::arg("n"), nb::arg("m"));
    m.def("scale_plain", &scale_plain, nb::arg("H").none(), nb::arg("g").none(), nb::arg("A").none(),
          nb::arg("x_lower").none(), nb::arg("x_upper").none(), nb::arg("lower").none(), nb::arg("upper").none());
    nb::class_<Qp>(m, "ScaledQp")
        .def(nb::init<nb::handle, nb::handle, nb::handle, nb::object, nb::object, bool>(), nb::arg("H"), nb::arg("g"),
             nb::arg("A"), nb::arg("lower"), nb::arg("upper"), nb::arg("by_bounds") = false)
        .def("arrays", &Qp::arrays)
        .def("is_convex", &Qp::convex)
        .def("residuals", &Qp::measure)
        .def("unscale", &Qp::unscale)
        .def("verified", &Qp::verified)
        .def_ro("H", &Qp::H)
        .def_ro("g", &Qp::g)
        .def_ro("A", &Qp::A)
        .def_ro("lower", &Qp::lower)
        .def_ro("upper", &Qp::upper)
        .def_ro("sense", &Qp::sense)
        .def_ro("x_unit", &Qp::x_unit)
        .def_ro("row_unit", &Qp::row_unit)
        .def_ro("given_lower", &Qp::given_lower)
        .def_ro("given_upper", &Qp::given_upper)
        .def_ro("cost_unit", &Qp::cost_unit)
        .def_ro("has_cost", &Qp::has_cost);
}

}  // namespace kinodyn
