// Runs an algorithm over a range of states: one state at a time in place, or a pack of states at once.
//
// For packs, the rows of each input are transposed into columns of packs, the algorithm works on those, and its outputs
// are transposed back into rows. Inputs and results are checked during the transposition, at no extra cost.
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/algebra.hpp"
#include "kernels/row_streams.hpp"
#include "kernels/transpose.hpp"

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
inline bool find_fault(const Call& call, long state, Fault& fault) {
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
inline bool all_unit(const Call& call, const T* const* in) {
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

// Calls f(j) for blocks of n neighbours that cover 0 .. size; the last one may overlap the one before. For sizes below
// n there is no block: returns false.
template <int n, class F>
inline bool for_blocks(int size, F&& f) {
    if (size < n) return false;
    int j = 0;
    for (; j + n <= size; j += n) f(j);
    if (j < size) f(size - n);
    return true;
}

// Transposes rows into columns; false if a number is not finite.
template <class T>
inline bool load_rows(const Input& input, long state, long last, T* columns) {
    constexpr int n = Lanes<T>::count;
    const RealOf<T>* row[n];
    for (int i = 0; i < n; ++i) row[i] = input.row<RealOf<T>>(state + i < last ? state + i : last);
    T sum[2] = {0.0, 0.0};
    const bool done = for_blocks<n>(input.size, [&](int j) {
        T block[n];
        for (int i = 0; i < n; ++i) memcpy(&block[i], row[i] + j, sizeof(T));
        for (int i = 0; i < n; ++i) sum[i & 1] += 0.0 * block[i];
        transpose(block);
        for (int i = 0; i < n; ++i) columns[j + i] = block[i];
    });
    for (int j = 0; !done && j < input.size; ++j) {
        for (int i = 0; i < n; ++i) columns[j].v[i] = row[i][j];
        sum[0] += 0.0 * columns[j];
    }
    return Lanes<T>::all_zero(sum[0] + sum[1]);
}

// Results that do not fit in the cache bypass it: reading the old contents first would double the traffic.
constexpr long streaming_bytes = 4L << 20;

// Eight rows written at the same time leave too many partial cache lines in the write-combining buffers: mass matrices
// of Talos take 4.6 us each, and 0.95 us if the rows are assembled in the cache and then streamed from begin to end.
// Four rows at a time fit in the buffers and are streamed directly. Dense results are streamed in whole lines where
// blocks have their size: poses of all frames of Talos take 0.55 us, and 0.65 us assembled in the cache; with the
// blocks of zeros of sparse results it is the other way round.
template <class T>
constexpr bool rows_are_staged = Lanes<T>::count >= 8;

template <class Real>
inline bool streams(const Call& call, const Output& output) {
    const long bytes = output.size * static_cast<long>(sizeof(Real));
    return reinterpret_cast<uintptr_t>(output.data) % 16 == 0 && bytes % 16 == 0 &&
           call.count * bytes >= streaming_bytes;
}

template <bool streaming, class T>
inline void put(RealOf<T>* to, const T& block) {
#if defined(__SSE2__)
    if constexpr (streaming) {
        __m128i part;
        for (unsigned i = 0; i < sizeof(T); i += sizeof part) {
            memcpy(&part, reinterpret_cast<const char*>(&block) + i, sizeof part);
            _mm_stream_si128(reinterpret_cast<__m128i*>(reinterpret_cast<char*>(to) + i), part);
        }
        return;
    }
#endif
    memcpy(to, &block, sizeof block);
}

// Copies n bytes, a multiple of 16, past the cache, one cache line after the other. Both are aligned to 16 bytes.
inline void stream(void* destination, const void* source, long n) {
    char* to = static_cast<char*>(destination);
    const char* from = static_cast<const char*>(source);
#if defined(__SSE2__)
    const auto copy_16 = [&](long j) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + j),
                         _mm_load_si128(reinterpret_cast<const __m128i*>(from + j)));
    };
    long j = 0;
    for (; j < n && reinterpret_cast<uintptr_t>(to + j) % 64 != 0; j += 16) copy_16(j);
#if defined(__AVX512F__)
    for (; j + 64 <= n; j += 64) _mm512_stream_si512(reinterpret_cast<__m512i*>(to + j), _mm512_loadu_si512(from + j));
#endif
    for (; j < n; j += 16) copy_16(j);
#else
    memcpy(to, from, static_cast<unsigned long>(n));
#endif
}

// Writes the first `rows` lanes of the columns as rows; false if a number is not finite. Blocks marked in `zero` are
// known to be zero throughout.
template <bool streaming, class T>
inline bool store_rows(RealOf<T>* first, int size, int rows, const T* columns, const char* zero) {
    constexpr int n = Lanes<T>::count;
    RealOf<T>* row[n];
    for (int i = 0; i < n; ++i) row[i] = first + (i < rows ? i : 0) * static_cast<long>(size);
    T sum[2] = {0.0, 0.0};
    // lanes beyond the last row write to row 0, which is then overwritten by its own lane
    const bool done = for_blocks<n>(size, [&](int j) {
        if (zero && zero[j]) {
            for (int i = n - 1; i >= 0; --i) put<streaming, T>(row[i] + j, 0.0);
            return;
        }
        T block[n];
        for (int i = 0; i < n; ++i) block[i] = columns[j + i];
        for (int i = 0; i < n; ++i) sum[i & 1] += 0.0 * block[i];
        transpose(block);
        for (int i = n - 1; i >= 0; --i) put<streaming>(row[i] + j, block[i]);
    });
    for (int j = 0; !done && j < size; ++j) {
        sum[0] += 0.0 * columns[j];
        for (int i = n - 1; i >= 0; --i) row[i][j] = columns[j][i];
    }
    return Lanes<T>::all_zero(sum[0] + sum[1]);
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
inline void find_structure(T* columns, int size, char* zero) {
    using Mask = typename T::Mask;
    const Mask mark = (Mask)untouched<T>().v;
    for (int j = 0; j < size; ++j) {
        zero[j] = ((Mask)columns[j].v)[0] == mark[0];
        if (zero[j]) columns[j] = 0.0;
    }
    for (int j = 0; j + Lanes<T>::count <= size; ++j)
        for (int i = 1; i < Lanes<T>::count; ++i) zero[j] = zero[j] && zero[j + i];
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

    explicit Packs(const Call& c) : call(c), work(c) {
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
        for (int k = 0; k < call.n_out; ++k) {
            const Output& output = call.out[k];
            Real* first_row = output.row<Real>(state);
            if (!streams<Real>(call, output)) {
                finite &= store_rows<false>(first_row, output.size, rows, work.out[k], zero[k]);
            } else if constexpr (blocks_are_lines<T> && !Algorithm::sparse) {
                const bool whole = rows == Lanes<T>::count && output.size >= Lanes<T>::count;
                finite &= whole ? stream_rows(first_row, output.size, work.out[k])
                                : store_rows<false>(first_row, output.size, rows, work.out[k], zero[k]);
            } else if constexpr (rows_are_staged<T>) {
                finite &= store_rows<false>(staged, output.size, rows, work.out[k], zero[k]);
                stream(first_row, staged, rows * static_cast<long>(output.size * sizeof(Real)));
            } else {
                finite &= store_rows<true>(first_row, output.size, rows, work.out[k], zero[k]);
            }
        }
        return finite;
    }
};

// The first state from `state` on whose results are not finite; there must be one.
template <class Real>
inline long first_overflow(const Call& call, long state) {
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
