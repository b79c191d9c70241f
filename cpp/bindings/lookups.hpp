// Robots, frames and references given as Python objects, and the errors that Python raises.
#pragma once

#include <string>

#include "bindings/robot.hpp"
#include "core/dispatch.hpp"

namespace kinodyn {

// Raises an error of `kinodyn.errors`, by the name of its class.
[[noreturn]] void raise_error(const char* type, const std::string& message);
[[noreturn]] void raise_input_error(const std::string& message);

// Name of the type of an object, for messages.
std::string name_of_type(nanobind::handle object);

// The compiled robot behind a Python object; raises if it is something else.
const CompiledRobot& robot_from(nanobind::handle object);

// Index of a frame given by name or number.
int frame_from(const CompiledRobot& robot, nanobind::handle frame);

Reference reference_from(nanobind::handle text);

}  // namespace kinodyn
