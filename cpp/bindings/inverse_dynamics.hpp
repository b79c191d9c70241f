// The door of inverse dynamics as a quadratic programme.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds inverse_dynamics to the module.
void bind_inverse_dynamics(nanobind::module_& m);

}  // namespace kinodyn
