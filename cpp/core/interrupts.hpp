// Ctrl-C during long calls: the main thread asks Python from time to time, others are notified.
#pragma once

#include <atomic>

namespace kinodyn {

// Thrown where a call ends early: a Python exception is set, or, in another thread than the main one, the caller has
// ended.
struct Interrupted {};

// Sets the function that asks Python whether a signal handler has raised an exception. It returns at once in all
// threads but the main one.
void set_signal_check(bool (*raised)());

// Throws Interrupted if the call is to end. To be called at least every few milliseconds; cheap: most calls only count.
void poll_interrupt();

// The same after a step that takes long: reads the clock at each call.
void poll_interrupt_after_long();

// While it exists, `poll_interrupt` in this thread looks at the flag instead of asking Python.
class WatchedFlag {
  public:
    explicit WatchedFlag(const std::atomic<bool>& ended);
    ~WatchedFlag();
    WatchedFlag(const WatchedFlag&) = delete;
    WatchedFlag& operator=(const WatchedFlag&) = delete;

  private:
    const std::atomic<bool>* const before_;
};

}  // namespace kinodyn
