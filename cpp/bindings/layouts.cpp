#include "bindings/layouts.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_23_API_VERSION
#include <numpy/arrayobject.h>

#include "bindings/args.hpp"

namespace nb = nanobind;

namespace kinodyn {

namespace {

// Name -> what `layouts` returns, and name -> dtype for records; kept as long as the process lives.
nb::dict& descriptions() {
    static nb::dict* const all = new nb::dict;
    return *all;
}
nb::dict& dtypes() {
    static nb::dict* const all = new nb::dict;
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

// As numpy.dtype takes it.
nb::object describe_record(const LayoutInfo& info) {
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
    return description;
}

// Fields in order as (name, format, shape); strings in a shape are sizes that are known at run time.
nb::object describe_fields(const LayoutInfo& info) {
    nb::list fields;
    for (const FieldInfo& field : info.fields)
        fields.append(nb::make_tuple(field.name.c_str(), field.format, shape_of(field)));
    return fields;
}

}  // namespace

void add_layout(const LayoutInfo& info) {
    const char* name = info.name.c_str();
    if (info.size == 0) {
        descriptions()[name] = describe_fields(info);
        return;
    }
    descriptions()[name] = describe_record(info);
    dtypes()[name] = nb::module_::import_("numpy").attr("dtype")(descriptions()[name]);
}

TableMemory table_memory(const char* name, nb::handle array, const char* layout) {
    const nb::object dtype = dtypes()[layout];
    auto* const a = reinterpret_cast<PyArrayObject*>(array.ptr());
    if (!PyArray_Check(array.ptr()) || PyArray_NDIM(a) != 1 || !PyArray_ISCARRAY_RO(a) ||
        !PyArray_EquivTypes(PyArray_DESCR(a), reinterpret_cast<PyArray_Descr*>(dtype.ptr())))
        raise_input_error(std::string(name) + " must be a one-dimensional array with the dtype layout('" + layout +
                          "'), got " + nb::repr(nb::getattr(array, "dtype", array.type())).c_str());
    return {nb::borrow(array), PyArray_DATA(a), static_cast<std::size_t>(PyArray_DIM(a, 0))};
}

void bind_layouts(nb::module_& m) {
    if (_import_array() < 0) throw nb::python_error();
    m.def("layouts", [] { return descriptions(); });
}

}  // namespace kinodyn
