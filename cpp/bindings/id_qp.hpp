// The door of inverse dynamics as a quadratic programme.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds inverse_dynamics to the module.
void bind_id_qp(nanobind::module_& m);

}  // namespace kinodyn
