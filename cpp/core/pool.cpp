#include "pool.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace kinodyn {

namespace {

// Batches are cut so that both halves of the job stay busy to the end, yet each piece is worth the hand-over.
constexpr long smallest_piece = 32;
constexpr long worth_sharing = 4096;  // states times bodies

struct Job {
    Kernel kernel;
    const Call* call;
    long piece;
    std::atomic<long> next{0};
    std::mutex mutex;
    Fault fault;
    std::exception_ptr error;

    // Never throws: an exception must not end a helper thread.
    void work() {
        try {
            work_through();
        } catch (...) {
            next.store(call->count);
            std::lock_guard<std::mutex> lock(mutex);
            error = std::current_exception();
        }
    }

  private:
    void work_through() {
        for (;;) {
            const long begin = next.fetch_add(piece);
            if (begin >= call->count) return;
            const long end = begin + piece < call->count ? begin + piece : call->count;
            Fault found;
            kernel(*call, begin, end, found);
            if (found.kind == FaultKind::None) continue;
            next.store(call->count);  // no use in going on
            std::lock_guard<std::mutex> lock(mutex);
            if (fault.kind == FaultKind::None || found.state < fault.state) fault = found;
        }
    }
};

class Pool {
  public:
    explicit Pool(int helpers) {
        for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { serve(); });
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
        }
        wake_.notify_all();
        for (auto& t : threads_) t.join();
    }
    int helpers() const { return static_cast<int>(threads_.size()); }

    void run(Job& job) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            job_ = &job;
            ++round_;
        }
        wake_.notify_all();
        job.work();
        std::unique_lock<std::mutex> lock(mutex_);
        job_ = nullptr;  // helpers that have not woken up yet need not
        done_.wait(lock, [this] { return busy_ == 0; });
    }

  private:
    void serve() {
        long seen = 0;
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return stop_ || (job_ && round_ != seen); });
            if (stop_) return;
            seen = round_;
            Job* job = job_;
            ++busy_;
            lock.unlock();
            job->work();
            lock.lock();
            if (--busy_ == 0) done_.notify_all();
        }
    }

    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_, done_;
    Job* job_ = nullptr;
    long round_ = 0;
    int busy_ = 0;
    bool stop_ = false;
};

int default_threads() {
    if (const char* text = std::getenv("KINODYN_THREADS")) {
        const int n = std::atoi(text);
        if (n > 0) return n;
    }
    const unsigned n = std::thread::hardware_concurrency();
    return n ? static_cast<int>(n) : 1;
}

std::atomic<int> wanted{0};
std::mutex* in_use = nullptr;  // held while the pool works; a second caller then works alone
Pool* pool = nullptr;

// Threads do not survive a fork: the child forgets the pool (without joining what is not there) and makes its own.
void forget_in_child() {
    in_use = new std::mutex;
    pool = nullptr;
}

void prepare() {
    static std::once_flag once;
    std::call_once(once, [] {
        in_use = new std::mutex;
        pthread_atfork(nullptr, nullptr, forget_in_child);
    });
}

}  // namespace

int threads() {
    int n = wanted.load();
    if (n == 0) wanted.store(n = default_threads());
    return n;
}

void set_threads(int count) { wanted.store(count); }

Fault run_batch(Kernel kernel, const Call& call) {
    const int n = threads();
    const long bodies = static_cast<long>(call.model->bodies.size());
    const bool share = n > 1 && call.count >= 2 * smallest_piece && call.count * bodies >= worth_sharing;
    if (share) {
        prepare();
        std::unique_lock<std::mutex> lock(*in_use, std::try_to_lock);
        if (lock) {
            if (pool && pool->helpers() != n - 1) {
                delete pool;
                pool = nullptr;
            }
            if (!pool) pool = new Pool(n - 1);
            Job job;
            job.kernel = kernel;
            job.call = &call;
            const long pieces = 8L * n;
            job.piece = (call.count / pieces + smallest_piece - 1) / smallest_piece * smallest_piece;
            if (job.piece < smallest_piece) job.piece = smallest_piece;
            pool->run(job);
            if (job.error) std::rethrow_exception(job.error);
            return job.fault;
        }
    }
    Fault fault;
    if (call.count > 0) kernel(call, 0, call.count, fault);
    return fault;
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
