// Selects the instruction set once, when the module is loaded, and looks up its kernels.
#pragma once

#include <string>
#include <vector>

#include "core/kernels.hpp"

namespace kinodyn {

// A compiled instruction set, with the lists of kernels of all files; CMake generates the table.
struct InstructionSet {
    const char* name;
    int lanes;
    const KernelList* const* lists;
    int n_lists;
};
extern const InstructionSet compiled_instruction_sets[];
extern const int n_compiled_instruction_sets;

// The one in use: the widest that this processor supports, or the one named by the variable KINODYN_ISA.
const InstructionSet& instruction_set();

// Those that were compiled and that this processor supports, narrowest first.
std::vector<const InstructionSet*> instruction_sets();

// Switches to another of them; false if there is none of that name.
bool use_instruction_set(const std::string& name);

// Names of the kernels of an instruction set, in alphabetical order.
std::vector<std::string> kernel_names(const InstructionSet& set);

// A kernel by its name, whatever the instruction set. Throws std::runtime_error if an instruction set lacks it, so that
// a module with a missing kernel cannot be imported.
class KernelHandle {
  public:
    explicit KernelHandle(const char* name);
    Kernel get() const;

  private:
    int index_;  // in the table of each instruction set
};

}  // namespace kinodyn
