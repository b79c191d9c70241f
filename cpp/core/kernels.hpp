// Kernels: algorithms over a batch of states, compiled once for each instruction set.
#pragma once

#include <cstddef>

#include "core/model.hpp"

namespace kinodyn {

enum class Check : std::uint8_t { Finite, Configuration };

// Numbers are doubles, or floats in the kernels whose names end in _float32.
struct Input {
    const void* data;
    std::ptrdiff_t stride;  // between states, in numbers; 0 repeats one value
    int size;
    Check check;

    template <class Real = double>
    const Real* row(long state) const {
        return static_cast<const Real*>(data) + state * stride;
    }
};

struct Output {
    void* data;
    int size;  // numbers per state, contiguous

    template <class Real = double>
    Real* row(long state) const {
        return static_cast<Real*>(data) + state * size;
    }
};

enum class FaultKind : std::uint8_t { None, NotFinite, NotUnit, Singular, Overflow, TooLarge };

// The first state that could not be computed, and why.
struct Fault {
    FaultKind kind = FaultKind::None;
    long state = 0;
    int argument = 0;  // NotFinite: which input
    int element = 0;   // NotFinite: element of it; NotUnit: q index; Singular: v index
};

// A non-owning list of indices.
struct IndexList {
    const int* data = nullptr;
    int size = 0;
    int operator[](int i) const { return data[i]; }
    const int* begin() const { return data; }
    const int* end() const { return data + size; }
};

// One call of a kernel over `count` states.
struct Call {
    static constexpr int max_inputs = 256, max_outputs = 12;
    const Model* model = nullptr;
    const ModelOf<float>* rounded_model = nullptr;  // for the kernels in float32
    Input in[max_inputs];
    Output out[max_outputs];
    int n_in = 0, n_out = 0;
    long count = 0;
    IndexList bodies;         // bodies to visit, parents first; for one frame: the path from the root to it
    IndexList frames;         // frames to compute
    IndexList dofs;           // v indices to solve for, all or none of a body's
    IndexList dof_index;      // v index -> index in dofs, -1 for others
    IndexList wrench_frames;  // frames of the external wrenches, which are the last inputs
    const void* settings = nullptr;

    int first_wrench() const { return n_in - wrench_frames.size; }
    // Settings that are the same for all states, in a structure defined by the kernel.
    template <class Settings>
    const Settings& as() const {
        return *static_cast<const Settings*>(settings);
    }
};

// Settings of the kernel `acceleration`; those of the other kernels of frames are the Reference alone.
struct AccelerationSettings {
    Reference reference;
    bool classical;  // acceleration of the point itself, not of the spatial velocity field
};

// Works on the states [begin, end) and stops at the first fault.
using Kernel = void (*)(const Call&, long begin, long end, Fault&);

// The kernels that a file offers. The file `kernels/crba.cpp` defines the list `crba_kernels`, which is all that is
// needed to register them: CMake collects the lists (KINODYN_TARGET is the instruction set). They are constants,
// because no code of an instruction set may run before the processor is known to support it.
struct KernelEntry {
    const char* name;
    Kernel kernel;
};
struct KernelList {
    const KernelEntry* entries = nullptr;
    int size = 0;
    constexpr KernelList() = default;
    template <int n>
    constexpr KernelList(const KernelEntry (&list)[n]) : entries(list), size(n) {}
};

// Memory of the calling thread, aligned to 64 bytes, kept for its next call.
char* thread_scratch(std::size_t bytes);

}  // namespace kinodyn
