// The door of controllers.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

// Adds frame_control to the module.
void bind_control(nanobind::module_& m);

}  // namespace kinodyn
