// Bindings of quadratic programs.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds the class ScaledQp to the module.
void bind_qp(nanobind::module_& m);

}  // namespace kinodyn
