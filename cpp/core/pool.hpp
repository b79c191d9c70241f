// One pool of threads for the whole process; the caller works too.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

constexpr int max_threads = 1024;

// Number of threads for large batches, the caller included. Initially all cores, or KINODYN_THREADS.
int threads();
void set_threads(int count);

// Runs the kernel over all states of the call, in parallel when there is enough work. Returns the fault of the
// earliest state that has one. Throws Interrupted after Ctrl-C.
Fault run_batch(Kernel kernel, const Call& call);

// The number of threads that the system has refused to start since the last call of this function; batches run on the
// others.
int take_refused_threads();

}  // namespace kinodyn
