// Ctrl-C during long calls: the calling thread asks Python from time to time, helper threads are notified.
#pragma once

#include <atomic>

namespace kinodyn {

// Thrown where a call ends early: a Python exception is set, or, in a helper thread, the caller has ended.
struct Interrupted {};

// Sets the function that asks Python whether a signal handler has raised an exception. It returns at once in all
// threads but the main one.
void set_signal_check(bool (*raised)());

// Throws Interrupted if the call is to end. To be called at least every few milliseconds; cheap: most calls only count.
void poll_interrupt();

// While it exists, `poll_interrupt` in this thread, a helper of the pool, looks at the flag instead of asking Python.
class HelperInterrupts {
  public:
    explicit HelperInterrupts(const std::atomic<bool>& ended);
    ~HelperInterrupts();
    HelperInterrupts(const HelperInterrupts&) = delete;
    HelperInterrupts& operator=(const HelperInterrupts&) = delete;
};

}  // namespace kinodyn
