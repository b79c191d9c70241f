// Python objects to the robot, frame or reference that they stand for; typed errors otherwise.
#include "bindings/lookups.hpp"

namespace nb = nanobind;

namespace kinodyn {

void raise_error(const char* type, const std::string& message) {
    const nb::object error = nb::module_::import_("kinodyn.errors").attr(type);
    PyErr_SetString(error.ptr(), message.c_str());
    throw nb::python_error();
}

void raise_input_error(const std::string& message) { raise_error("InputError", message); }

std::string name_of_type(nb::handle object) {
    const nb::handle type = object.type();
    const std::string module = nb::str(type.attr("__module__")).c_str(),
                      name = nb::str(type.attr("__qualname__")).c_str();
    return module == "builtins" ? name : module + "." + name;
}

const CompiledRobot& robot_from(nb::handle object) {
    static PyTypeObject* const type = reinterpret_cast<PyTypeObject*>(nb::type<CompiledRobot>().ptr());
    if (!PyObject_TypeCheck(object.ptr(), type) || !nb::inst_ready(object))
        raise_input_error(std::string("robot must be a kinodyn.Robot, got ") + name_of_type(object));
    return *nb::inst_ptr<CompiledRobot>(object);
}

int frame_from(const CompiledRobot& robot, nb::handle frame) {
    PyObject* object = frame.ptr();
    const int count = static_cast<int>(robot.model.frames.size());
    if (PyUnicode_Check(object)) {
        if (PyObject* index = PyDict_GetItemWithError(robot.frame_index.ptr(), object))
            return static_cast<int>(PyLong_AsLong(index));
        const nb::module_ errors = nb::module_::import_("kinodyn.errors");
        const nb::object error = errors.attr("unknown_name")("frame", frame, robot.frame_index);
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
        throw nb::python_error();
    }
    if (PyIndex_Check(object) && !PyBool_Check(object)) {
        const Py_ssize_t index = PyNumber_AsSsize_t(object, nullptr);
        if (index >= 0 && index < count) return static_cast<int>(index);
        if (PyErr_Occurred()) {
            PyErr_Clear();
            raise_input_error(std::string("frame must be a name or an index, got ") + name_of_type(object));
        }
        raise_error("UnknownNameError", "frame " + std::to_string(index) +
                                            " is out of range: this robot has frames 0 to " +
                                            std::to_string(count - 1));
    }
    raise_input_error(std::string("frame must be a name or an index, got ") + name_of_type(object));
}

Reference reference_from(nb::handle text) {
    if (PyUnicode_Check(text.ptr())) {
        const auto is = [&](const char* name) { return PyUnicode_CompareWithASCIIString(text.ptr(), name) == 0; };
        if (is("local_world_aligned") || is("aligned")) return Reference::LocalWorldAligned;
        if (is("local")) return Reference::Local;
        if (is("world")) return Reference::World;
    }
    raise_input_error("reference must be 'local_world_aligned' (short: 'aligned'), 'local' or 'world', got " +
                      std::string(nb::repr(text).c_str()));
}

}  // namespace kinodyn
