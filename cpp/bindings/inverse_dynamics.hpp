// The door of whole-body inverse kinematics.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds inverse_dynamics to the module.
void bind_inverse_dynamics(nanobind::module_& m);

}  // namespace kinodyn
