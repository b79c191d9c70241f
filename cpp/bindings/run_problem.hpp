// Kernels that work on one problem, such as a search that continues from call to call.
#pragma once

#include "bindings/arrays.hpp"
#include "core/dispatch.hpp"

namespace kinodyn {

// Runs a kernel whose settings are a pointer to the problem.
template <class Problem>
void run_problem(const KernelHandle& kernel, const Model& model, Problem& problem) {
    nanobind::gil_scoped_release released;
    Problem* pointer = &problem;
    Call call;
    call.model = &model;
    call.settings = &pointer;
    call.count = 1;
    Fault fault;
    kernel.get()(call, 0, 1, fault);
}

// The same for a search, for at most `seconds`.
template <class Problem>
void run_search(const KernelHandle& kernel, Problem& problem, double seconds) {
    problem.seconds = seconds;
    run_problem(kernel, problem.query.robot(), problem);
}

}  // namespace kinodyn
