// The compiled robot as a Python object: the model, and the names for error messages and frame lookup.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/complete_model.hpp"

namespace kinodyn {

// Frames given by a tuple of names, and the bodies on the paths to them.
struct FrameSelection {
    nanobind::object names;
    std::vector<int> frames, bodies;
};

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

    // The last selection, for the next call with the same tuple; null if it was another one.
    std::shared_ptr<const FrameSelection> selection_of(nanobind::handle names) const {
        const nanobind::ft_lock_guard lock(selecting_);
        return selection_ && selection_->names.is(names) ? selection_ : nullptr;
    }
    void remember(std::shared_ptr<const FrameSelection> selection) const {
        const nanobind::ft_lock_guard lock(selecting_);
        selection_.swap(selection);
    }

  private:
    mutable nanobind::ft_mutex selecting_;
    mutable std::shared_ptr<const FrameSelection> selection_;
    mutable std::once_flag rounding_;
    mutable ModelOf<float> rounded_;
};

// Adds the class to the module.
void bind_robot(nanobind::module_& m);

}  // namespace kinodyn
