#include "core/pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "core/fork.hpp"
#include "core/interrupts.hpp"

namespace kinodyn {

namespace {

// Chunks shrink as the work runs out, so that all threads finish together, but not below a size worth the hand-over.
constexpr long min_chunk = 32;            // states
constexpr long min_parallel_work = 4096;  // states times bodies
// A chunk that takes longer than this is followed by smaller ones, so that Ctrl-C is noticed soon.
constexpr std::chrono::milliseconds long_chunk(20);
constexpr long max_lanes = 8;

// States of the first chunk of a call: a state of a robot with hundreds of bodies may take tens of milliseconds.
long first_chunk(const Call& call) {
    constexpr long first_work = 2048;  // states times bodies
    const long bodies = std::max<long>(static_cast<long>(call.model->bodies.size()), 1);
    return std::clamp(first_work / bodies / max_lanes * max_lanes, max_lanes, min_chunk);
}

// The states that one thread takes at a time.
class ChunkSize {
  public:
    explicit ChunkSize(long first) : limit_(first) {}
    long limit() const { return limit_; }
    // Takes the duration of a chunk into account.
    void adapt(long states, std::chrono::steady_clock::duration duration) {
        if (duration > long_chunk) limit_ = std::max(states / 2 / max_lanes * max_lanes, max_lanes);
        if (4 * duration < long_chunk && limit_ < max_states) limit_ *= 2;
    }

  private:
    static constexpr long max_states = std::numeric_limits<long>::max() / 2;
    long limit_;  // doubled while chunks are short
};

struct Job {
    Kernel kernel;
    const Call* call;
    int threads;
    std::atomic<long> next{0};
    std::atomic<bool> interrupted{false};
    std::mutex mutex;
    Fault fault;
    std::exception_ptr error;

    Job(Kernel of, const Call& with, int shared_by) : kernel(of), call(&with), threads(shared_by) {}

    // Never throws: an exception must not end a helper thread.
    void work() {
        try {
            run_chunks();
        } catch (...) {
            next.store(call->count);
            interrupted.store(true);
            std::lock_guard<std::mutex> lock(mutex);
            if (!error) error = std::current_exception();
        }
    }
    void help() {
        const WatchedFlag until_interrupted(interrupted);
        work();
    }
    Fault result() const {
        if (error) std::rethrow_exception(error);
        return fault;
    }

  private:
    // Takes the states [begin, end) for the caller; false if none are left.
    bool take(long most, long& begin, long& end) {
        begin = next.load();
        do {
            if (begin >= call->count) return false;
            const long share =
                threads == 1 ? call->count : (call->count - begin) / (3 * threads) / min_chunk * min_chunk;
            end = std::min(call->count, begin + std::min(std::max(share, min_chunk), most));
        } while (!next.compare_exchange_weak(begin, end));
        return true;
    }

    void run_chunks() {
        long begin, end;
        ChunkSize size(first_chunk(*call));
        while (take(size.limit(), begin, end)) {
            const auto start = std::chrono::steady_clock::now();
            Fault found;
            kernel(*call, begin, end, found);
            size.adapt(end - begin, std::chrono::steady_clock::now() - start);
            poll_interrupt_after_long();
            if (found.kind == FaultKind::None) continue;
            next.store(call->count);  // stop; chunks before this one are being worked on already
            std::lock_guard<std::mutex> lock(mutex);
            if (fault.kind == FaultKind::None || found.state < fault.state) fault = found;
        }
    }
};

// Address space that is kept free while threads are started, for what they need when they begin. Smaller than the 64 MB
// that the C library takes at once for the allocations of a thread.
class Reserve {
  public:
    Reserve() : data_(std::malloc(std::size_t{32} << 20)) {}
    ~Reserve() { std::free(data_); }
    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;

  private:
    void* volatile data_;  // volatile: an allocation without use would be left out
};

class Pool {
  public:
    // The system may refuse threads, for lack of memory or by a limit on processes; then there are fewer.
    explicit Pool(int helpers) : requested_(helpers) {
        std::lock_guard<std::mutex> lock(mutex_);  // helpers begin when the reserve has been freed
        const Reserve reserve;
        try {
            threads_.reserve(static_cast<std::size_t>(helpers));
            for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {
        } catch (const std::bad_alloc&) {}
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        for (auto& t : threads_) t.join();
    }
    int requested() const { return requested_; }
    int helpers() const { return static_cast<int>(threads_.size()); }

    void run(Job& job) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            job_ = &job;
            round_.fetch_add(1);
        }
        wake_.notify_all();
        job.work();
        {
            std::lock_guard<std::mutex> lock(mutex_);
            job_ = nullptr;  // helpers that have not woken up yet stay idle
        }
        spin_while([this] { return busy_.load() != 0; });
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return busy_.load() == 0; });
    }

  private:
    // Sleeping and waking takes longer than many batches: spin for a moment first.
    template <class Condition>
    static void spin_while(Condition&& condition) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
        while (condition() && std::chrono::steady_clock::now() < end) pause();
    }
    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }

    void serve() {
        { std::lock_guard<std::mutex> lock(mutex_); }
        // The first access allocates the thread-local data: later, without memory, the C library would end the process.
        const WatchedFlag allocated(stop_);
        long seen = 0;
        for (;;) {
            spin_while([&] { return round_.load() == seen && !stop_.load(); });
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return stop_.load() || round_.load() != seen; });
            if (stop_.load()) return;
            seen = round_.load();
            Job* job = job_;
            if (!job) continue;
            busy_.fetch_add(1);
            lock.unlock();
            job->help();
            lock.lock();
            if (busy_.fetch_sub(1) == 1) done_.notify_all();
        }
    }

    const int requested_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    Job* job_ = nullptr;
    std::atomic<long> round_{0};
    std::atomic<int> busy_{0};
    std::atomic<bool> stop_{false};
};

int default_threads() {
    if (const char* text = std::getenv("KINODYN_THREADS")) {
        const int n = std::atoi(text);
        if (n > 0) return std::min(n, max_threads);
    }
    const int n = static_cast<int>(std::thread::hardware_concurrency());
    return std::clamp(n, 1, max_threads);
}

std::atomic<int> thread_count{0};  // 0: not chosen yet
std::atomic<int> refused{0};       // threads that could not be started, until they are reported
std::mutex* in_use = nullptr;      // held while the pool works; a second caller then works alone
Pool* pool = nullptr;

// Threads do not survive a fork: the child abandons the pool, without joining threads that do not exist, and makes its
// own.
void forget_in_child() {
    in_use = new std::mutex;
    pool = nullptr;
}

void prepare() {
    static std::once_flag once;
    std::call_once(once, [] {
        in_use = new std::mutex;
        call_in_forked_child(forget_in_child);
    });
}

}  // namespace

int threads() {
    int n = thread_count.load();
    if (n == 0) thread_count.store(n = default_threads());
    return n;
}

void set_threads(int count) { thread_count.store(count); }

int take_refused_threads() { return refused.load(std::memory_order_relaxed) ? refused.exchange(0) : 0; }

namespace {

// The pool with n - 1 helpers, or fewer if the system refuses them.
Pool& pool_of(int n) {
    if (pool && pool->requested() != n - 1) {
        delete pool;
        pool = nullptr;
    }
    if (!pool) {
        pool = new Pool(n - 1);
        refused.store(n - 1 - pool->helpers());
    }
    return *pool;
}

// The calling thread alone.
Fault run_alone(Kernel kernel, const Call& call) {
    if (call.count > first_chunk(call)) {
        Job job(kernel, call, 1);
        job.work();
        return job.result();
    }
    Fault fault;
    if (call.count > 0) kernel(call, 0, call.count, fault);
    return fault;
}

}  // namespace

Fault run_batch(Kernel kernel, const Call& call) {
    const int n = threads();
    const long bodies = static_cast<long>(call.model->bodies.size());
    if (n == 1 || call.count < 2 * min_chunk || call.count * bodies < min_parallel_work) return run_alone(kernel, call);
    prepare();
    std::unique_lock<std::mutex> lock(*in_use, std::try_to_lock);
    if (!lock) return run_alone(kernel, call);
    Pool& helpers = pool_of(n);
    Job job(kernel, call, helpers.helpers() + 1);
    helpers.run(job);
    return job.result();
}

char* thread_scratch(std::size_t bytes) {
    struct Memory {
        char* data = nullptr;
        std::size_t size = 0;
        ~Memory() { ::operator delete(data, std::align_val_t(64)); }
    };
    thread_local Memory memory;
    if (bytes > memory.size) {
        ::operator delete(memory.data, std::align_val_t(64));
        memory.data = nullptr;
        memory.size = 0;
        const std::size_t size = bytes + bytes / 4 + 4096;
        memory.data = static_cast<char*>(::operator new(size, std::align_val_t(64)));
        memory.size = size;
    }
    return memory.data;
}

}  // namespace kinodyn
