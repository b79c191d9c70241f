#include "core/interrupts.hpp"

#include <algorithm>
#include <chrono>

namespace kinodyn {

namespace {

using Clock = std::chrono::steady_clock;

// Asking Python takes the GIL, for which a thread may wait some milliseconds.
constexpr std::chrono::milliseconds interval(50), clock_interval(5);

std::atomic<bool (*)()> raised{nullptr};

// The clock is read about every 5 ms: after as many calls as took that long before.
struct Countdown {
    static constexpr int most_calls = 64;  // steps of the next algorithm may take a thousand times as long
    int left = 0, calls = 1;
    Clock::time_point read = Clock::now(), asked = read;
    const std::atomic<bool>* ended = nullptr;  // in other threads than the main one

    void end_of_interval() {
        const Clock::time_point now = Clock::now();
        const auto elapsed = std::max<long long>((now - read).count(), 1);
        const auto wanted = std::chrono::nanoseconds(clock_interval).count() * (calls - left) / elapsed;
        calls = static_cast<int>(std::clamp<long long>(wanted, 1, std::min(2 * calls, most_calls)));
        left = calls;
        read = now;
        if (ended ? ended->load(std::memory_order_relaxed) : ask(now)) throw Interrupted{};
    }

    bool ask(Clock::time_point now) {
        if (now - asked < interval) return false;
        asked = now;
        const auto check = raised.load();
        return check && check();
    }
};

thread_local Countdown countdown;

}  // namespace

void set_signal_check(bool (*check)()) { raised.store(check); }

void poll_interrupt() {
    if (--countdown.left < 0) countdown.end_of_interval();
}

void poll_interrupt_after_long() { countdown.end_of_interval(); }

WatchedFlag::WatchedFlag(const std::atomic<bool>& ended) : before_(countdown.ended) { countdown.ended = &ended; }
WatchedFlag::~WatchedFlag() { countdown.ended = before_; }

}  // namespace kinodyn
