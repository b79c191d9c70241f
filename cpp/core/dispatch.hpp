// Chooses the instruction set, once, when the module loads.
#pragma once

#include <string>
#include <vector>

#include "core/kernels.hpp"

namespace kinodyn {

// The kernels in use: the widest that this processor runs, or what the variable KINODYN_ISA names.
const Kernels& kernels();

// Names of the instruction sets that were compiled and that this processor runs, narrowest first.
std::vector<std::string> instruction_sets();

// Switches to another of them; false if there is none of that name.
bool use_instruction_set(const std::string& name);

}  // namespace kinodyn
