// Layouts and rows of tasks and limits.
#pragma once

#include <nanobind/nanobind.h>

namespace kinodyn {

void bind_tasks(nanobind::module_& m);

}  // namespace kinodyn
