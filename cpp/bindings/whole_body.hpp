// The door of whole-body inverse kinematics.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds whole_body to the module.
void bind_whole_body(nanobind::module_& m);

}  // namespace kinodyn
