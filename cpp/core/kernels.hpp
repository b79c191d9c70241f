// The door between the algorithms, compiled once per instruction set, and everything else.
#pragma once

#include <cstddef>

#include "core/model.hpp"

namespace kinodyn {

enum class Check : std::uint8_t { Finite, Configuration };

struct Input {
    const double* data;
    std::ptrdiff_t stride;  // between states, in doubles; 0 repeats one value
    int size;
    Check check;
};

struct Output {
    double* data;
    int size;  // doubles per state, contiguous
};

enum class FaultKind : std::uint8_t { None, NotFinite, NotUnit, Singular, Overflow };

// The first state that could not be computed, and why.
struct Fault {
    FaultKind kind = FaultKind::None;
    long state = 0;
    int argument = 0;  // NotFinite: which input
    int element = 0;   // NotFinite: element of it; NotUnit: q index; Singular: v index
};

// One call of a kernel over `count` states. `list` and `more` carry what the kernel needs beside numbers, such as the
// bodies on the way to a frame; `mode` chooses between its variants.
struct Call {
    static constexpr int max_inputs = 256, max_outputs = 12;
    const Model* model = nullptr;
    Input in[max_inputs];
    Output out[max_outputs];
    int n_in = 0, n_out = 0;
    long count = 0;
    const int* list = nullptr;
    int n_list = 0;
    const int* more = nullptr;
    int n_more = 0;
    const int* dofs = nullptr;  // v indices that matter, for kernels that solve for some of them
    int n_dofs = 0;
    int mode = 0;
    const void* plan = nullptr;  // what else the kernel needs, in a structure of its own
};

// Works on the states [begin, end) and stops at the first fault.
using Kernel = void (*)(const Call&, long begin, long end, Fault&);

// What one instruction set offers.
struct Kernels {
    const char* name;
    int lanes;
    Kernel poses, jacobian, jacobian_dot, velocity, acceleration, com, com_jacobian;
    Kernel rnea, bias, gravity, aba, crba, coriolis_matrix, energy, factorize, solve;
    Kernel momentum_matrix, momentum, momentum_rate, rnea_derivatives, aba_derivatives, regressor;
    Kernel state, state_jacobian;
    Kernel integrate, difference, interpolate, integrate_dynamics;
    Kernel constrained, impact, constraint_rows, constraint_error, project;
    Kernel point_motion, soft_forces;
    Kernel ik, ik_residual, task_rows, whole_body, id_qp;
    Kernel frame_control;
};

// Memory of the calling thread, aligned to 64 bytes, kept for its next call.
char* thread_scratch(std::size_t bytes);

}  // namespace kinodyn
