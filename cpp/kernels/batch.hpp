// Runs an algorithm over a range of states: one state at a time in place, or a pack of states at once.
//
// For packs, the rows of each input are transposed into columns of packs, the algorithm works on those, and its outputs
// are transposed back into rows. Inputs and results are checked during the transposition, at no extra cost.
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/row_streams.hpp"
#include "kernels/rows.hpp"

namespace kinodyn::KINODYN_TARGET {

inline const Model& model_of(const Call& call, double) { return *call.model; }
inline const ModelOf<float>& model_of(const Call& call, float) { return *call.rounded_model; }

// Inputs, outputs and memory of an algorithm for one state or one pack of states.
template <class T>
struct Work {
    const Call& call;
    const ModelFor<T>& model;
    const T* in[Call::max_inputs];
    T* out[Call::max_outputs];
    T* free;  // memory for the algorithm, as requested by words()
    int singular_dof = -1;
    int singular_lane = 0;

    explicit Work(const Call& c) : call(c), model(model_of(c, RealOf<T>())) {}

    T* take(long n) {
        T* start = free;
        free += n;
        return start;
    }
    template <class S>
    S* take_as(long n) {
        static_assert(sizeof(S) % sizeof(T) == 0, "structures of T only");
        return reinterpret_cast<S*>(take(n * static_cast<long>(sizeof(S) / sizeof(T))));
    }
    // Records a pivot of M that is zero up to rounding, relative to the inertia it was reduced from, or NaN.
    void check_pivot(T pivot, int dof) {
        constexpr RealOf<T> rounding = sizeof(RealOf<T>) == 8 ? 1e-13 : 1e-6;
        const T margin = pivot - rounding * model.dof_scale[static_cast<std::size_t>(dof)];
        if (Lanes<T>::all_positive(margin) || singular_dof >= 0) return;
        singular_dof = dof;
        while (Lanes<T>::lane(margin, singular_lane) > 0) ++singular_lane;
    }
};

constexpr double unit_tolerance = 1e-6;  // of the norm: passes single precision, not an invalid quaternion

// Locates the invalid element of a row, after a quick test has found that there is one.
template <class Real = double>
[[gnu::noinline]] inline bool find_fault(const Call& call, long state, Fault& fault) {
    for (int k = 0; k < call.n_in; ++k) {
        const Real* row = call.in[k].row<Real>(state);
        for (int j = 0; j < call.in[k].size; ++j)
            if (!(row[j] - row[j] == 0)) {
                fault = {FaultKind::NotFinite, state, k, j};
                return true;
            }
    }
    for (int k = 0; k < call.n_in; ++k) {
        if (call.in[k].check != Check::Configuration) continue;
        const Real* row = call.in[k].row<Real>(state);
        for (int start : call.model->quaternions) {
            const Real* u = row + start;
            const double norm = __builtin_sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]);
            if (!(fabs(norm - 1) <= unit_tolerance)) {
                fault = {FaultKind::NotUnit, state, k, start};
                return true;
            }
        }
    }
    return false;
}

// 0 if all numbers are finite, NaN otherwise; four sums at once, to hide the latency of addition.
inline double sum_of_faults(const double* x, long n) {
    Pack::Vector sums[4] = {};
    long j = 0;
    for (; j + 4 * lanes <= n; j += 4 * lanes)
        for (int i = 0; i < 4; ++i) {
            Pack::Vector block;
            memcpy(&block, x + j + i * lanes, sizeof block);
            sums[i] += 0.0 * block;
        }
    const Pack::Vector sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = 0;
    for (int i = 0; i < lanes; ++i) total += sum[i];
    for (; j < n; ++j) total += 0.0 * x[j];
    return total;
}

// Are all quaternions in the configurations of unit length?
template <class T>
[[gnu::noinline]] inline bool all_unit(const Call& call, const T* const* in) {
    for (int k = 0; k < call.n_in; ++k) {
        if (call.in[k].check != Check::Configuration) continue;
        for (int start : call.model->quaternions) {
            const T* u = in[k] + start;
            const T excess = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3] - 1.0;
            if (!Lanes<T>::within(excess, 2 * unit_tolerance)) return false;
        }
    }
    return true;
}

template <class Algorithm>
inline void run_one(const Call& call, long state, Fault& fault) {
    Work<double> work(call);
    for (int k = 0; k < call.n_in; ++k) work.in[k] = call.in[k].row(state);
    for (int k = 0; k < call.n_out; ++k) work.out[k] = call.out[k].row(state);
    bool right = all_unit(call, work.in);
    for (int k = 0; k < call.n_in; ++k) right &= sum_of_faults(work.in[k], call.in[k].size) == 0;
    if (!right && find_fault(call, state, fault)) return;
    if constexpr (Algorithm::sparse)
        for (int k = 0; k < call.n_out; ++k) memset(work.out[k], 0, sizeof(double) * call.out[k].size);
    work.free = reinterpret_cast<double*>(thread_scratch(sizeof(double) * Algorithm::words(call)));
    Algorithm::run(work);
    if (work.singular_dof >= 0) {
        fault = {FaultKind::Singular, state, 0, work.singular_dof};
        return;
    }
    for (int k = 0; k < call.n_out; ++k)
        if (!(sum_of_faults(work.out[k], call.out[k].size) == 0)) fault = {FaultKind::Overflow, state, k, 0};
}

// Sparse algorithms write the same elements every time and no others. Outputs are filled with a marker
// before the first pack; elements that still hold it afterwards are structural zeros, and whole blocks of zeros need no
// transposition.
template <class T>
inline T untouched() {
    const typename T::Vector zero = {};
    if constexpr (sizeof(RealOf<T>) == 8)
        return zero - __builtin_nan("0x6b6e");
    else
        return zero - __builtin_nanf("0x6b6e");
}
template <class T>
[[gnu::noinline]] inline void find_structure(T* columns, int size, char* zero) {
    using Mask = typename T::Mask;
    const Mask mark = (Mask)untouched<T>().v;
    for (int j = 0; j < size; ++j) {
        zero[j] = ((Mask)columns[j].v)[0] == mark[0];
        if (zero[j]) columns[j] = 0.0;
    }
    for (int j = 0; j + Lanes<T>::count <= size; ++j)
        for (int i = 1; i < Lanes<T>::count; ++i) zero[j] = zero[j] && zero[j + i];
}

// Results of more than 4 MB bypass the cache, whose levels that a core has alone are smaller: reading the old contents
// first would take as long as writing. Smaller ones are written faster into the cache, where the caller finds them.
template <class Real>
inline bool exceeds_cache(const Call& call) {
    long numbers = 0;
    for (int k = 0; k < call.n_out; ++k) numbers += call.out[k].size;
    return call.count * numbers * static_cast<long>(sizeof(Real)) > (4L << 20);
}

// The packs of one call: inputs and outputs as columns, and memory for the algorithm.
template <class Algorithm, class T>
struct Packs {
    using Real = RealOf<T>;
    const Call& call;
    Work<T> work;
    T* columns[Call::max_inputs];
    T* free;
    Real* staged = nullptr;  // rows of one output before they are streamed
    char* zero[Call::max_outputs] = {};
    bool first = true;
    const bool bypass;  // the cache

    static long largest_output(const Call& call) {
        int size = 0;
        for (int k = 0; k < call.n_out; ++k) size = call.out[k].size > size ? call.out[k].size : size;
        return size;
    }
    static long words(const Call& call) {
        long n = Algorithm::words(call);
        for (int k = 0; k < call.n_in; ++k) n += call.in[k].size;
        for (int k = 0; k < call.n_out; ++k) n += 2 * call.out[k].size;  // half of it for the structure
        return n + (rows_are_staged<T> ? largest_output(call) : 0);
    }

    explicit Packs(const Call& c) : call(c), work(c), bypass(exceeds_cache<Real>(c)) {
        work.free = reinterpret_cast<T*>(thread_scratch(sizeof(T) * words(c)));
        for (int k = 0; k < call.n_in; ++k) work.in[k] = columns[k] = work.take(call.in[k].size);
        for (int k = 0; k < call.n_out; ++k) {
            work.out[k] = work.take(call.out[k].size);
            if constexpr (Algorithm::sparse) {
                zero[k] = reinterpret_cast<char*>(work.take(call.out[k].size));
                for (int j = 0; j < call.out[k].size; ++j) work.out[k][j] = untouched<T>();
            }
        }
        if constexpr (rows_are_staged<T>) staged = reinterpret_cast<Real*>(work.take(largest_output(call)));
        free = work.free;
    }

    bool load(long state, long last) {
        bool finite = true;
        for (int k = 0; k < call.n_in; ++k)
            if (first || call.in[k].stride != 0) finite &= load_rows(call.in[k], state, last, columns[k]);
        return finite && all_unit(call, work.in);
    }
    void compute() {
        work.free = free;
        Algorithm::run(work);
        if constexpr (Algorithm::sparse)
            for (int k = 0; first && k < call.n_out; ++k) find_structure(work.out[k], call.out[k].size, zero[k]);
        first = false;
    }
    bool store(long state, int rows) {
        bool finite = true;
        for (int k = 0; k < call.n_out; ++k)
            finite &= store(call.out[k], call.out[k].template row<Real>(state), rows, work.out[k], zero[k]);
        return finite;
    }

  private:
    bool store(const Output& output, Real* to, int rows, const T* from, const char* zeros) {
        const int size = output.size;
        if (!bypass || !rows_aligned<Real>(output, 16)) return store_rows<Writing::Cached>(to, size, rows, from, zeros);
        if (streams_aligned<T>(output)) return store_rows<Writing::StreamedAligned>(to, size, rows, from, zeros);
        if constexpr (blocks_are_lines<T> && !Algorithm::sparse) {
            if (rows == Lanes<T>::count && size >= rows) return stream_rows(to, size, from);
            return store_rows<Writing::Cached>(to, size, rows, from, zeros);
        } else if constexpr (rows_are_staged<T>) {
            const bool finite = store_rows<Writing::Cached>(staged, size, rows, from, zeros);
            stream(to, staged, rows * static_cast<long>(size * sizeof(Real)));
            return finite;
        } else {
            return store_rows<Writing::Streamed16>(to, size, rows, from, zeros);
        }
    }
};

// The first state from `state` on whose results are not finite; there must be one.
template <class Real>
[[gnu::noinline]] inline long first_overflow(const Call& call, long state) {
    for (;; ++state)
        for (int k = 0; k < call.n_out; ++k) {
            const Real* row = call.out[k].row<Real>(state);
            for (int j = 0; j < call.out[k].size; ++j)
                if (!(row[j] - row[j] == 0)) return state;
        }
}

template <class Algorithm, class T>
inline void run_packs(const Call& call, long begin, long end, Fault& fault) {
    constexpr int n = Lanes<T>::count;
    Packs<Algorithm, T> packs(call);
    for (long state = begin; state < end; state += n) {
        const int rows = end - state < n ? static_cast<int>(end - state) : n;
        if (!packs.load(state, end - 1))
            for (int i = 0; i < rows; ++i)
                if (find_fault<RealOf<T>>(call, state + i, fault)) return;
        packs.compute();
        if (packs.work.singular_dof >= 0) {
            const int lane = packs.work.singular_lane < rows ? packs.work.singular_lane : rows - 1;
            fault = {FaultKind::Singular, state + lane, 0, packs.work.singular_dof};
            return;
        }
        if (!packs.store(state, rows)) {
            fault = {FaultKind::Overflow, first_overflow<RealOf<T>>(call, state), 0, 0};
            return;
        }
    }
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

// One state at a time: for algorithms that branch on their data, such as logarithms, and for results so large that
// a pack of them would take too much memory.
template <class Algorithm>
void run_each(const Call& call, long begin, long end, Fault& fault) {
    for (long state = begin; state < end && fault.kind == FaultKind::None; ++state)
        run_one<Algorithm>(call, state, fault);
}

constexpr long max_pack_words = 256L << 20 >> 5;  // 256 MB of packs of four

// T is Pack, or FloatPack for a kernel in float32, which has no code for one state alone.
template <class Algorithm, class T = Pack>
void run(const Call& call, long begin, long end, Fault& fault) {
    // by the size of the call, not of this range: how a batch is divided among threads must not change the results
    const auto too_large = [&] { return Packs<Algorithm, T>::words(call) > max_pack_words; };
    if constexpr (sizeof(RealOf<T>) == sizeof(double)) {
        if (call.count == 1 || too_large()) return run_each<Algorithm>(call, begin, end, fault);
    } else if (too_large()) {
        fault = {FaultKind::TooLarge, begin, 0, 0};
        return;
    }
    run_packs<Algorithm, T>(call, begin, end, fault);
}

}  // namespace kinodyn::KINODYN_TARGET
