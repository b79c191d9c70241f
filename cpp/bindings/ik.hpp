// The doors of inverse kinematics.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds reach, ik_single, misfit and are_poses to the module.
void bind_ik(nanobind::module_& m);

}  // namespace kinodyn
