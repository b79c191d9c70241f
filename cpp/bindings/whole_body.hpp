// Binds the kernel of whole-body inverse kinematics.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Binds the kernel of whole-body inverse kinematics.
void bind_whole_body(nanobind::module_& m);

}  // namespace kinodyn
