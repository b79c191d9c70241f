#include "bindings/layouts.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

#include <cstring>

#include "bindings/args.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

// What is registered, by name; kept as long as the process lives.
struct Registered {
    nb::dict layouts;    // dtype of a record, or fields of a block
    nb::dict codes;      // dict of name -> number
    nb::dict constants;  // numbers
};
Registered& registered() {
    static Registered* const all = new Registered;
    return *all;
}

nb::tuple shape_of(const FieldInfo& field) {
    nb::list shape;
    for (const Dimension& d : field.shape)
        if (d.name.empty())
            shape.append(d.size);
        else
            shape.append(d.name.c_str());
    return nb::tuple(shape);
}

nb::object dtype_of(const LayoutInfo& info) {
    nb::list names, formats, offsets;
    for (const FieldInfo& field : info.fields) {
        names.append(field.name.c_str());
        formats.append(nb::make_tuple(field.format, shape_of(field)));
        offsets.append(field.offset);
    }
    nb::dict description;
    description["names"] = names;
    description["formats"] = formats;
    description["offsets"] = offsets;
    description["itemsize"] = info.size;
    return nb::module_::import_("numpy").attr("dtype")(description);
}

// Fields in order as (name, format, shape); strings in a shape are sizes that are known at run time.
nb::object fields_of(const LayoutInfo& info) {
    nb::list fields;
    for (const FieldInfo& field : info.fields)
        fields.append(nb::make_tuple(field.name.c_str(), field.format, shape_of(field)));
    return fields;
}

// Usually it is the same object, so that no comparison is needed.
bool same_dtype(PyArray_Descr* a, PyArray_Descr* b) { return a == b || PyArray_EquivTypes(a, b); }

}  // namespace

void add_layout(const LayoutInfo& info) {
    registered().layouts[info.name.c_str()] = info.size == 0 ? fields_of(info) : dtype_of(info);
    for (const CodesInfo& codes : info.codes) add_codes(codes);
}

void add_codes(const CodesInfo& info) {
    nb::dict values;
    for (const auto& [name, value] : info.values) values[name.c_str()] = value;
    registered().codes[info.name.c_str()] = values;
}

void add_constant(const char* name, double value) { registered().constants[name] = value; }

nb::handle layout_dtype(const char* layout) { return nb::object(registered().layouts[layout]); }

TableMemory table_memory(const char* name, nb::handle array, nb::handle dtype, const char* layout) {
    auto* const a = reinterpret_cast<PyArrayObject*>(array.ptr());
    if (!PyArray_Check(array.ptr()) || PyArray_NDIM(a) != 1 || !PyArray_ISCARRAY_RO(a) ||
        !same_dtype(PyArray_DESCR(a), reinterpret_cast<PyArray_Descr*>(dtype.ptr())))
        raise_input_error(std::string(name) + " must be a one-dimensional array with the dtype layout('" + layout +
                          "'), got " + nb::repr(nb::getattr(array, "dtype", array.type())).c_str());
    return {nb::borrow(array), PyArray_DATA(a), static_cast<std::size_t>(PyArray_DIM(a, 0))};
}

nb::object copy_table(const void* data, std::size_t size, std::size_t record_size, const char* layout) {
    npy_intp rows = static_cast<npy_intp>(size);
    const nb::handle dtype = layout_dtype(layout);
    Py_INCREF(dtype.ptr());  // the new array takes this reference
    nb::object made = nb::steal(PyArray_SimpleNewFromDescr(1, &rows, reinterpret_cast<PyArray_Descr*>(dtype.ptr())));
    if (!made) throw nb::python_error();
    if (size > 0) std::memcpy(PyArray_DATA(reinterpret_cast<PyArrayObject*>(made.ptr())), data, size * record_size);
    return made;
}

void bind_layouts(nb::module_& m) {
    if (_import_array() < 0) throw nb::python_error();
    m.def("layouts", [] { return registered().layouts; });
    m.def("codes", [] { return registered().codes; });
    m.def("constants", [] { return registered().constants; });
}

}  // namespace kinodyn
