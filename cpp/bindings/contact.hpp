// The doors of dynamics with constraints.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds constrained, impact and constraint_rows to the module.
void bind_contact(nanobind::module_& m);

}  // namespace kinodyn
