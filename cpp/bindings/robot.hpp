// The compiled robot as a Python object: the model, and the names for error messages and frame lookup.
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <string>
#include <vector>

#include "core/complete_model.hpp"

namespace kinodyn {

struct CompiledRobot {
    Model model;
    nanobind::dict frame_index;                    // name -> index, in the order of the frames
    std::vector<std::string> dof_joint, dof_link;  // by v index
    std::vector<int> all_bodies, all_frames, parameter_bodies;

    // The model in float32, made when it is first needed.
    const ModelOf<float>& rounded_model() const {
        std::call_once(rounding_, [this] { rounded_ = rounded(model); });
        return rounded_;
    }

  private:
    mutable std::once_flag rounding_;
    mutable ModelOf<float> rounded_;
};

// Adds the class to the module.
void bind_robot(nanobind::module_& m);

}  // namespace kinodyn
