#include "bindings/args.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>

#include "core/pool.hpp"

namespace nb = nanobind;

namespace kinodyn {

static_assert(sizeof(npy_intp) == sizeof(long), "64-bit systems only");

namespace {

PyArrayObject* array(PyObject* object) { return reinterpret_cast<PyArrayObject*>(object); }

std::string shape_text(const npy_intp* dims, int ndim) {
    std::string text = "(";
    for (int i = 0; i < ndim; ++i) text += std::to_string(dims[i]) + (i + 1 < ndim ? ", " : ndim == 1 ? "," : "");
    return text + ")";
}

bool plain(PyObject* object, int type) {
    if (!PyArray_CheckExact(object)) return false;
    PyArrayObject* a = array(object);
    return PyArray_TYPE(a) == type && PyArray_ISCARRAY_RO(a);
}

// Do two C-contiguous arrays share memory?
bool overlap(PyObject* a, PyObject* b) {
    const char *start_a = PyArray_BYTES(array(a)), *start_b = PyArray_BYTES(array(b));
    return start_a < start_b + PyArray_NBYTES(array(b)) && start_b < start_a + PyArray_NBYTES(array(a));
}

// Converts an object to a C-contiguous float64 array; a new reference.
PyObject* as_doubles(const char* name, PyObject* value) {
    if (plain(value, NPY_DOUBLE)) {
        Py_INCREF(value);
        return value;
    }
    if (value == Py_None) raise_input_error(std::string(name) + " is None; an array of numbers is needed");
    PyObject* any = PyArray_FROM_O(value);
    if (any && !PyArray_ISNUMBER(array(any)) && !PyArray_ISBOOL(array(any))) {
        Py_DECREF(any);
        any = nullptr;
    }
    if (any && PyArray_ISCOMPLEX(array(any))) {
        Py_DECREF(any);
        any = nullptr;
    }
    PyObject* result = any ? PyArray_FROM_OTF(any, NPY_DOUBLE, NPY_ARRAY_IN_ARRAY | NPY_ARRAY_FORCECAST) : nullptr;
    Py_XDECREF(any);
    if (!result) {
        PyErr_Clear();
        raise_input_error(std::string(name) + " must be an array of real numbers, got " + name_of_type(value) +
                          (PyArray_Check(value) ? " of another kind" : ""));
    }
    return result;
}

// Converts an object to a C-contiguous float32 array; a new reference. Numbers that are too large become infinite,
// which the kernels report; NumPy would warn of them.
PyObject* as_floats(const char* name, PyObject* value) {
    if (plain(value, NPY_FLOAT)) {
        Py_INCREF(value);
        return value;
    }
    PyObject* doubles = as_doubles(name, value);
    PyArrayObject* from = array(doubles);
    PyObject* result = PyArray_SimpleNew(PyArray_NDIM(from), PyArray_DIMS(from), NPY_FLOAT);
    if (result) {
        const auto* numbers = static_cast<const double*>(PyArray_DATA(from));
        std::transform(numbers, numbers + PyArray_SIZE(from), static_cast<float*>(PyArray_DATA(array(result))),
                       [](double x) { return static_cast<float>(x); });
    }
    Py_DECREF(doubles);
    if (!result) throw nb::python_error();
    return result;
}

// A new array. Large ones begin at a cache line, which NumPy does not promise: rows are then written in whole lines.
PyObject* new_array(int ndim, const npy_intp* dims, int type) {
    constexpr npy_intp large = 1 << 16, line = 64;
    npy_intp bytes = type == NPY_FLOAT ? sizeof(float) : sizeof(double);
    for (int i = 0; i < ndim; ++i)
        if (__builtin_mul_overflow(bytes, dims[i], &bytes)) return PyErr_NoMemory();
    if (bytes < large) return PyArray_SimpleNew(ndim, dims, type);
    npy_intp padded = bytes + line;
    PyObject* memory = PyArray_SimpleNew(1, &padded, NPY_BYTE);
    if (!memory) return nullptr;
    char* data = PyArray_BYTES(array(memory));
    data += -reinterpret_cast<std::uintptr_t>(data) % line;
    PyObject* result = PyArray_SimpleNewFromData(ndim, dims, type, data);
    if (!result) {
        Py_DECREF(memory);
        return nullptr;
    }
    if (PyArray_SetBaseObject(array(result), memory) < 0) {  // takes the reference, even if it fails
        Py_DECREF(result);
        return nullptr;
    }
    return result;
}

void warn_of_refused_threads() {
    const int refused = take_refused_threads();
    if (refused == 0) return;
    const std::string message = "the system refused " + std::to_string(refused) + " of " + std::to_string(threads()) +
                                " threads; batches run on the others. kinodyn.set_threads sets their number";
    if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1) < 0) throw nb::python_error();
}

}  // namespace

void import_numpy() {
    if (_import_array() < 0) throw nb::python_error();
}

Args::Args(nb::handle robot, Precision precision) : robot_(robot_from(robot)), precision_(precision) {
    call_.model = &robot_.model;
    if (precision == Precision::Float32) call_.rounded_model = &robot_.rounded_model();
}

int Args::number_type() const { return precision_ == Precision::Float32 ? NPY_FLOAT : NPY_DOUBLE; }

Args::~Args() {
    for (int k = 0; k < call_.n_in; ++k) Py_DECREF(inputs_[k]);
    for (int k = 0; k < call_.n_out; ++k) Py_XDECREF(outputs_[k]);
}

int Args::add_input(const char* name, nb::handle value) {
    if (call_.n_in == Call::max_inputs)
        raise_input_error("too many arguments: at most " + std::to_string(Call::max_inputs) +
                          " in one call, each wrench counted");
    const auto convert = precision_ == Precision::Float32 ? as_floats : as_doubles;
    inputs_[call_.n_in] = convert(name, value.ptr());
    names_[call_.n_in] = name;
    return call_.n_in++;
}

void Args::input(const char* name, nb::handle value, int size, Check check) {
    const int k = add_input(name, value);
    PyArrayObject* a = array(inputs_[k]);
    const int ndim = PyArray_NDIM(a);
    if (size < 0 && ndim > 0) size = static_cast<int>(PyArray_DIM(a, ndim - 1));
    if (ndim < 1 || PyArray_DIM(a, ndim - 1) != size)
        raise_input_error(std::string(name) + " must have shape (..., " + std::to_string(size) + "), got " +
                          shape_text(PyArray_DIMS(a), ndim));
    tail_axes_[k] = 1;
    call_.in[k] = {PyArray_DATA(a), 0, size, check};
}

void Args::matrix(const char* name, nb::handle value, int rows, int columns) {
    const int k = add_input(name, value);
    PyArrayObject* a = array(inputs_[k]);
    const int ndim = PyArray_NDIM(a);
    if (ndim < 2 || PyArray_DIM(a, ndim - 2) != rows || PyArray_DIM(a, ndim - 1) != columns)
        raise_input_error(std::string(name) + " must have shape (..., " + std::to_string(rows) + ", " +
                          std::to_string(columns) + "), got " + shape_text(PyArray_DIMS(a), ndim));
    tail_axes_[k] = 2;
    call_.in[k] = {PyArray_DATA(a), 0, rows * columns, Check::Finite};
}

void Args::scalar(const char* name, nb::handle value) {
    const int k = add_input(name, value);
    tail_axes_[k] = 0;
    call_.in[k] = {PyArray_DATA(array(inputs_[k])), 0, 1, Check::Finite};
}

int Args::batch_axes(int k) const { return PyArray_NDIM(array(inputs_[k])) - tail_axes_[k]; }

void Args::wrenches(nb::handle value) {
    if (value.is_none()) return;
    if (!PyDict_Check(value.ptr()) && !nb::hasattr(value, "items"))
        raise_input_error(std::string("wrenches must be a mapping of frame -> (..., 6), got ") + name_of_type(value));
    const nb::object dict =
        nb::borrow(reinterpret_cast<PyObject*>(&PyDict_Type))(value);  // a copy that no other thread changes
    wrench_names_.reserve(static_cast<std::size_t>(PyDict_Size(dict.ptr())));
    PyObject *frame, *wrench;
    Py_ssize_t position = 0;
    wrench_frames_.resize(static_cast<int>(PyDict_Size(dict.ptr())));
    for (int i = 0; PyDict_Next(dict.ptr(), &position, &frame, &wrench); ++i) {
        wrench_frames_[i] = frame_from(robot_, frame);
        wrench_names_.push_back("wrenches[" + std::string(nb::repr(frame).c_str()) + "]");
        input(wrench_names_.back().c_str(), wrench, 6);
    }
    call_.wrench_frames = wrench_frames_.list();
}

void Args::output(const char* name, std::initializer_list<long> tail) {
    const int k = call_.n_out++;
    outputs_[k] = nullptr;
    output_names_[k] = name;
    long size = 1;
    for (const long dim : tail) {
        tails_[k].dims[tails_[k].ndim++] = dim;
        size *= dim;
    }
    if (size > INT_MAX)
        raise_input_error("the result would have " + std::to_string(size) +
                          " numbers for each state, which is too many");
    call_.out[k] = {nullptr, static_cast<int>(size)};
}

void Args::path_to(nb::handle frame) { path_to_index(frame_from(robot_, frame)); }

void Args::path_to_index(int frame) {
    const auto& bodies = robot_.model.bodies;
    int n = 0;
    for (int b = robot_.model.frames[frame].body; b >= 0; b = bodies[b].parent) ++n;
    bodies_.resize(n);
    for (int b = robot_.model.frames[frame].body; b >= 0; b = bodies[b].parent) bodies_[--n] = b;
    frames_.resize(1);
    frames_[0] = frame;
    call_.bodies = bodies_.list();
    call_.frames = frames_.list();
}

void Args::frames(nb::handle names) {
    if (auto known = robot_.selection_of(names)) return use(std::move(known));
    const char* const expected = "frames must be a sequence of frame names";
    if (PyUnicode_Check(names.ptr()) || !PySequence_Check(names.ptr())) raise_input_error(expected);
    const nb::object all = nb::steal(PySequence_Tuple(names.ptr()));
    if (!all) throw nb::python_error();
    const auto selection = std::make_shared<FrameSelection>();
    bool constant = all.is(names);  // a tuple of strings, which cannot change
    for (Py_ssize_t i = 0; i < NB_TUPLE_GET_SIZE(all.ptr()); ++i) {
        PyObject* name = NB_TUPLE_GET_ITEM(all.ptr(), i);
        selection->frames.push_back(frame_from(robot_, name));
        constant &= PyUnicode_CheckExact(name);
    }
    std::vector<char> needed(robot_.model.bodies.size());
    for (const int frame : selection->frames)
        for (int b = robot_.model.frames[frame].body; b >= 0 && !needed[b]; b = robot_.model.bodies[b].parent)
            needed[b] = 1;
    for (std::size_t b = 0; b < needed.size(); ++b)
        if (needed[b]) selection->bodies.push_back(static_cast<int>(b));
    if (constant) {
        selection->names = all;
        robot_.remember(selection);
    }
    use(selection);
}

void Args::use(std::shared_ptr<const FrameSelection> selection) {
    selection_ = std::move(selection);
    call_.bodies = {selection_->bodies.data(), static_cast<int>(selection_->bodies.size())};
    call_.frames = {selection_->frames.data(), static_cast<int>(selection_->frames.size())};
}

void Args::all_frames() {
    bodies(robot_.all_bodies);
    call_.frames = {robot_.all_frames.data(), static_cast<int>(robot_.all_frames.size())};
}

void Args::dofs(nb::handle indices) {
    PyArrayObject* a = array(indices.ptr());
    if (!PyArray_Check(indices.ptr()) || PyArray_TYPE(a) != NPY_INT32 || PyArray_NDIM(a) != 1 ||
        !PyArray_ISCARRAY_RO(a))
        raise_input_error("dofs must be a contiguous vector of int32");
    const auto* given = static_cast<const std::int32_t*>(PyArray_DATA(a));
    dofs_.resize(static_cast<int>(PyArray_DIM(a, 0)));
    dof_index_.resize(robot_.model.nv);
    std::fill_n(dof_index_.data(), robot_.model.nv, -1);
    for (int k = 0; k < dofs_.size(); ++k) {
        if (given[k] < 0 || given[k] >= robot_.model.nv || (k && given[k] <= given[k - 1]))
            raise_input_error("dofs must be ascending, from 0 to below " + std::to_string(robot_.model.nv));
        dofs_[k] = given[k];
        dof_index_[given[k]] = k;
    }
    for (const int b : call_.bodies) {
        const Body& body = robot_.model.bodies[b];
        for (int k = 1; k < kinodyn::dofs(body.kind); ++k)
            if ((dof_index_[body.iv + k] < 0) != (dof_index_[body.iv] < 0))
                raise_input_error("dofs has some of a joint's v indices, not all");
    }
    call_.dofs = dofs_.list();
    call_.dof_index = dof_index_.list();
}

// Finds the common batch shape and the stride of each input through it.
void Args::broadcast() {
    for (int k = 0; k < call_.n_in; ++k) batch_.ndim = batch_axes(k) > batch_.ndim ? batch_axes(k) : batch_.ndim;
    if (batch_.ndim > 30) raise_input_error("too many batch axes: at most 30");
    for (int i = 0; i < batch_.ndim; ++i) batch_.dims[i] = 1;
    for (int k = 0; k < call_.n_in; ++k) {
        const npy_intp* dims = PyArray_DIMS(array(inputs_[k]));
        const int n = batch_axes(k), shift = batch_.ndim - n;
        for (int i = 0; i < n; ++i) {
            long& common = batch_.dims[shift + i];
            if (dims[i] == common || dims[i] == 1) continue;
            if (common != 1) {
                std::string shapes;
                for (int j = 0; j < call_.n_in; ++j)
                    shapes += std::string(j ? ", " : "") + names_[j] + " " +
                              shape_text(PyArray_DIMS(array(inputs_[j])), PyArray_NDIM(array(inputs_[j])));
                raise_input_error("batch shapes do not broadcast: " + shapes);
            }
            common = dims[i];
        }
    }
    call_.count = 1;
    for (int i = 0; i < batch_.ndim; ++i) call_.count *= batch_.dims[i];

    for (int k = 0; k < call_.n_in; ++k) {
        PyArrayObject* a = array(inputs_[k]);
        const int n = batch_axes(k);
        long own = 1;
        for (int i = 0; i < n; ++i) own *= PyArray_DIM(a, i);
        if (own == call_.count) {
            call_.in[k].stride = call_.in[k].size;
        } else if (own == 1) {
            call_.in[k].stride = 0;
        } else if (call_.count > 0) {  // some axes are repeated: copy to a contiguous array
            npy_intp full[34];
            for (int i = 0; i < batch_.ndim; ++i) full[i] = batch_.dims[i];
            int ndim = batch_.ndim;
            for (int i = n; i < PyArray_NDIM(a); ++i) full[ndim++] = PyArray_DIM(a, i);
            PyObject* copy = PyArray_SimpleNew(ndim, full, number_type());
            if (!copy || PyArray_CopyInto(array(copy), a) < 0) {
                Py_XDECREF(copy);
                throw nb::python_error();
            }
            Py_DECREF(inputs_[k]);
            inputs_[k] = copy;
            call_.in[k].data = PyArray_DATA(array(copy));
            call_.in[k].stride = call_.in[k].size;
        }
    }
}

PyObject* Args::checked_output(PyObject* given, const Shape& shape) const {
    if (!PyArray_Check(given)) raise_input_error(std::string("out must be a NumPy array, got ") + name_of_type(given));
    PyArrayObject* a = array(given);
    bool same = PyArray_NDIM(a) == shape.ndim;
    for (int i = 0; same && i < shape.ndim; ++i) same = PyArray_DIM(a, i) == shape.dims[i];
    if (!same)
        raise_input_error("out must have shape " + shape_text(shape.dims, shape.ndim) + ", got " +
                          shape_text(PyArray_DIMS(a), PyArray_NDIM(a)));
    if (PyArray_TYPE(a) != number_type() || !PyArray_ISCARRAY(a))
        raise_input_error(std::string("out must be a writeable, C-contiguous ") + name_of(precision_) + " array");
    Py_INCREF(given);
    return given;
}

// Kernels read states after writing earlier ones: an input that shares memory with an output is copied first.
void Args::copy_inputs_under(PyObject* output) {
    for (int k = 0; k < call_.n_in; ++k) {
        if (!overlap(inputs_[k], output)) continue;
        PyObject* copy = PyArray_NewCopy(array(inputs_[k]), NPY_CORDER);
        if (!copy) throw nb::python_error();
        Py_DECREF(inputs_[k]);
        inputs_[k] = copy;
        call_.in[k].data = PyArray_DATA(array(copy));
    }
}

void Args::make_outputs(nb::handle out) {
    const bool several = call_.n_out > 1;
    if (!out.is_none() && several && (!PyTuple_Check(out.ptr()) || NB_TUPLE_GET_SIZE(out.ptr()) != call_.n_out))
        raise_input_error("out must be a tuple of " + std::to_string(call_.n_out) + " arrays");
    for (int k = 0; k < call_.n_out; ++k) {
        Shape shape = batch_;
        for (int i = 0; i < tails_[k].ndim; ++i) shape.dims[shape.ndim++] = tails_[k].dims[i];
        if (out.is_none()) {
            outputs_[k] = new_array(shape.ndim, shape.dims, number_type());
            if (!outputs_[k]) throw nb::python_error();
        } else {
            outputs_[k] = checked_output(several ? NB_TUPLE_GET_ITEM(out.ptr(), k) : out.ptr(), shape);
            for (int j = 0; j < k; ++j)
                if (overlap(outputs_[j], outputs_[k])) raise_input_error("the arrays in out must not share memory");
            copy_inputs_under(outputs_[k]);
        }
        call_.out[k].data = PyArray_DATA(array(outputs_[k]));
    }
}

Fault Args::run_kernel(Kernel kernel) const {
    if (call_.count * static_cast<long>(robot_.model.bodies.size()) < 512) return run_batch(kernel, call_);
    Fault fault;
    {
        nb::gil_scoped_release released;
        fault = run_batch(kernel, call_);
    }
    warn_of_refused_threads();
    return fault;
}

nb::object Args::run(Kernel kernel, nb::handle out, ResultType& type) {
    broadcast();
    make_outputs(out);
    const Fault fault = run_kernel(kernel);
    if (fault.kind != FaultKind::None) raise(fault);
    PyObject* results[Call::max_outputs];
    for (int k = 0; k < call_.n_out; ++k) {
        results[k] = outputs_[k];
        outputs_[k] = nullptr;
    }
    return call_.n_out == 1 ? nb::steal(results[0]) : type.make(output_names_, results, call_.n_out);
}

}  // namespace kinodyn
