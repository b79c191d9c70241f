// Named tuples for kernels that return several arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace kinodyn {

// The type of a kernel's results: a tuple whose items also have names, as those of collections.namedtuple. It is made
// when the kernel first returns so many of them, and lives as long as the process.
class ResultType {
  public:
    explicit ResultType(const char* name) : name_(std::string("kinodyn._core.") + name) {}
    // A new tuple, a plain one if the first name is null; `items` are new references, which it takes over.
    nanobind::object make(const char* const* names, PyObject** items, int count);

  private:
    std::string name_;
    PyTypeObject* type(const char* const* names, int count);

    std::vector<PyTypeObject*> types_;  // by number of items
};

}  // namespace kinodyn
