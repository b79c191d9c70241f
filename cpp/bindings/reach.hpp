// The doors of inverse kinematics.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds reach, reach_alone, misfit and are_poses to the module.
void bind_reach(nanobind::module_& m);

}  // namespace kinodyn
