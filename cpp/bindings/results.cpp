#include "bindings/results.hpp"

#include <structseq.h>

namespace nb = nanobind;

namespace kinodyn {

PyTypeObject* ResultType::type(const char* const* names, int count) {
    if (types_.size() <= static_cast<std::size_t>(count)) types_.resize(static_cast<std::size_t>(count) + 1);
    PyTypeObject*& type = types_[static_cast<std::size_t>(count)];
    if (type) return type;
    std::vector<PyStructSequence_Field> fields;
    for (int k = 0; k < count; ++k) fields.push_back({names[k], nullptr});
    fields.push_back({nullptr, nullptr});
    PyStructSequence_Desc description = {name_.c_str(), nullptr, fields.data(), count};
    type = PyStructSequence_NewType(&description);
    if (!type) throw nb::python_error();
    return type;
}

nb::object ResultType::make(const char* const* names, PyObject** items, int count) {
    if (!names[0]) {  // creating a plain tuple is twice as fast
        PyObject* plain = PyTuple_New(count);
        if (!plain) throw nb::python_error();
        for (int k = 0; k < count; ++k) NB_TUPLE_SET_ITEM(plain, k, items[k]);
        return nb::steal(plain);
    }
    PyObject* tuple = PyStructSequence_New(type(names, count));
    if (!tuple) throw nb::python_error();
    for (int k = 0; k < count; ++k) PyStructSequence_SetItem(tuple, k, items[k]);
    return nb::steal(tuple);
}

}  // namespace kinodyn
