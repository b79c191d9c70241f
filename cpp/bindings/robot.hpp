// The compiled robot as a Python object: the model, and the names for error messages and frame lookup.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "core/model.hpp"

namespace kinodyn {

struct CompiledRobot {
    Model model;
    nanobind::dict frame_index;                    // name -> index, in the order of the frames
    std::vector<std::string> dof_joint, dof_link;  // by v index
    std::vector<int> all_bodies, all_frames, parameter_bodies;
};

// Adds the class to the module.
void bind_robot(nanobind::module_& m);

}  // namespace kinodyn
