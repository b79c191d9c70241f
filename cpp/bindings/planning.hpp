// Searches for paths, which continue from call to call.
#pragma once

#include "bindings/arrays.hpp"
#include "core/dispatch.hpp"

namespace kinodyn {

// Runs a kernel whose settings are the problem alone, for at most `seconds`.
template <class Problem>
void run_search(const KernelHandle& kernel, Problem& problem, double seconds) {
    nanobind::gil_scoped_release released;
    Call call;
    Problem* pointer = &problem;
    call.model = &problem.query.robot();
    call.settings = &pointer;
    call.count = 1;
    problem.seconds = seconds;
    Fault fault;
    kernel.get()(call, 0, 1, fault);
}

}  // namespace kinodyn
