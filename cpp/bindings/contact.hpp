// The doors of dynamics with constraints.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds constrained, impact, constraint_rows, point_motion and soft_forces to the module.
void bind_contact(nanobind::module_& m);

}  // namespace kinodyn
