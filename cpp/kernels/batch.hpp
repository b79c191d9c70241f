// Runs an algorithm over a range of states: one state at a time in place, or `lanes` states at once.
//
// For lanes, the rows of each input are transposed into columns of packs, the algorithm works on those, and its outputs
// are transposed back into rows. Inputs and results are checked during the transposition, at no extra cost.
#pragma once

#include <stdint.h>
#include <string.h>

#include <utility>

#include "kernels/algebra.hpp"

namespace kinodyn::KINODYN_TARGET {

// Inputs, outputs and memory of an algorithm for one state or one pack of states.
template <class T>
struct Work {
    const Call& call;
    const Model& model;
    const T* in[Call::max_inputs];
    T* out[Call::max_outputs];
    T* free;  // memory for the algorithm, as requested by words()
    int singular_dof = -1;
    int singular_lane = 0;

    explicit Work(const Call& c) : call(c), model(*c.model) {}

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
        const T margin = pivot - 1e-13 * model.dof_scale[static_cast<std::size_t>(dof)];
        if (Lanes<T>::all_positive(margin) || singular_dof >= 0) return;
        singular_dof = dof;
        while (Lanes<T>::lane(margin, singular_lane) > 0) ++singular_lane;
    }
};

constexpr double unit_tolerance = 1e-6;  // of the norm: passes single precision, not an invalid quaternion

// Locates the invalid element of a row, after a quick test has found that there is one.
inline bool find_fault(const Call& call, long state, Fault& fault) {
    for (int k = 0; k < call.n_in; ++k) {
        const Input& input = call.in[k];
        const double* row = input.data + state * input.stride;
        for (int j = 0; j < input.size; ++j)
            if (!(row[j] - row[j] == 0)) {
                fault = {FaultKind::NotFinite, state, k, j};
                return true;
            }
    }
    for (int k = 0; k < call.n_in; ++k) {
        if (call.in[k].check != Check::Configuration) continue;
        const double* row = call.in[k].data + state * call.in[k].stride;
        for (int start : call.model->quaternions) {
            const double* u = row + start;
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
    for (int k = 0; k < call.n_in; ++k) work.in[k] = call.in[k].data + state * call.in[k].stride;
    for (int k = 0; k < call.n_out; ++k) work.out[k] = call.out[k].data + state * call.out[k].size;
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

using Vector = Pack::Vector;

template <int step, int... lane>
inline Vector keep_low(Vector a, Vector b, std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(a, b, (lane & step ? lanes + lane - step : lane)...);
}
template <int step, int... lane>
inline Vector keep_high(Vector a, Vector b, std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(a, b, (lane & step ? lanes + lane : lane + step)...);
}
// One stage of the transposition: swaps the off-diagonal blocks of size `step`.
template <int step>
inline void transpose_stage(Vector* a) {
    constexpr auto sequence = std::make_integer_sequence<int, lanes>{};
    for (int i = 0; i < lanes; ++i) {
        if (i & step) continue;
        const Vector low = keep_low<step>(a[i], a[i + step], sequence);
        const Vector high = keep_high<step>(a[i], a[i + step], sequence);
        a[i] = low, a[i + step] = high;
    }
}
inline void transpose(Vector* a) {
    transpose_stage<1>(a);
    if constexpr (lanes > 2) transpose_stage<2>(a);
    if constexpr (lanes > 4) transpose_stage<4>(a);
}

// Calls f(j) for blocks of `lanes` neighbours that cover 0 .. size; the last one may overlap the one before. For sizes
// below `lanes` there is no block: returns false.
template <class F>
inline bool for_blocks(int size, F&& f) {
    if (size < lanes) return false;
    int j = 0;
    for (; j + lanes <= size; j += lanes) f(j);
    if (j < size) f(size - lanes);
    return true;
}

// Transposes rows into columns; false if a number is not finite.
inline bool load_rows(const Input& input, long state, long last, Pack* columns) {
    const double* row[lanes];
    for (int i = 0; i < lanes; ++i) row[i] = input.data + (state + i < last ? state + i : last) * input.stride;
    Vector sum[2] = {};
    const bool done = for_blocks(input.size, [&](int j) {
        Vector block[lanes];
        for (int i = 0; i < lanes; ++i) memcpy(&block[i], row[i] + j, sizeof(Vector));
        for (int i = 0; i < lanes; ++i) sum[i & 1] += 0.0 * block[i];
        transpose(block);
        for (int i = 0; i < lanes; ++i) columns[j + i] = block[i];
    });
    for (int j = 0; !done && j < input.size; ++j) {
        for (int i = 0; i < lanes; ++i) columns[j].v[i] = row[i][j];
        sum[0] += 0.0 * columns[j].v;
    }
    return Lanes<Pack>::all_zero(sum[0] + sum[1]);
}

// Results that do not fit in the cache bypass it: reading the old contents first would double the traffic.
constexpr long streaming_bytes = 4L << 20;

// Eight rows written at the same time leave too many partial cache lines in the write-combining buffers: mass matrices
// of Talos take 4.6 us each, and 0.95 us if the rows are assembled in the cache and then streamed from begin to end.
// Four rows at a time fit in the buffers and are streamed directly.
constexpr bool rows_are_staged = lanes == 8;

inline bool streams(const Call& call, const Output& output) {
    return reinterpret_cast<uintptr_t>(output.data) % 16 == 0 && output.size % 2 == 0 &&
           call.count * output.size * static_cast<long>(sizeof(double)) >= streaming_bytes;
}

template <bool streaming>
inline void put(double* to, const Vector& block) {
#if defined(__SSE2__)
    if constexpr (streaming) {
        __m128d part;
        for (int i = 0; i < lanes; i += 2) {
            memcpy(&part, reinterpret_cast<const double*>(&block) + i, sizeof part);
            _mm_stream_pd(to + i, part);
        }
        return;
    }
#endif
    memcpy(to, &block, sizeof block);
}

// Copies n doubles, an even number, past the cache, one cache line after the other.
inline void stream(double* to, const double* from, long n) {
#if defined(__AVX512F__)
    long j = 0;
    for (; j < n && reinterpret_cast<uintptr_t>(to + j) % 64 != 0; j += 2)
        _mm_stream_pd(to + j, _mm_loadu_pd(from + j));
    for (; j + 8 <= n; j += 8) _mm512_stream_pd(to + j, _mm512_loadu_pd(from + j));
    for (; j < n; j += 2) _mm_stream_pd(to + j, _mm_loadu_pd(from + j));
#else
    memcpy(to, from, sizeof(double) * static_cast<unsigned long>(n));
#endif
}

// Writes the first `rows` lanes of the columns as rows; false if a number is not finite. Blocks marked in `zero` are
// known to be zero throughout.
template <bool streaming>
inline bool store_rows(double* first, int size, int rows, const Pack* columns, const char* zero) {
    double* row[lanes];
    for (int i = 0; i < lanes; ++i) row[i] = first + (i < rows ? i : 0) * static_cast<long>(size);
    Vector sum[2] = {};
    // lanes beyond the last row write to row 0, which is then overwritten by its own lane
    const bool done = for_blocks(size, [&](int j) {
        if (zero && zero[j]) {
            for (int i = lanes - 1; i >= 0; --i) put<streaming>(row[i] + j, Vector{});
            return;
        }
        Vector block[lanes];
        for (int i = 0; i < lanes; ++i) block[i] = columns[j + i].v;
        for (int i = 0; i < lanes; ++i) sum[i & 1] += 0.0 * block[i];
        transpose(block);
        for (int i = lanes - 1; i >= 0; --i) put<streaming>(row[i] + j, block[i]);
    });
    for (int j = 0; !done && j < size; ++j) {
        sum[0] += 0.0 * columns[j].v;
        for (int i = lanes - 1; i >= 0; --i) row[i][j] = columns[j][i];
    }
    return Lanes<Pack>::all_zero(sum[0] + sum[1]);
}

// Sparse algorithms write the same elements every time and no others. Outputs are filled with a marker
// before the first pack; elements that still hold it afterwards are structural zeros, and whole blocks of zeros need no
// transposition.
inline Pack untouched() { return Pack::Vector{} - __builtin_nan("0x6b6e"); }
inline void find_structure(Pack* columns, int size, char* zero) {
    const Pack::Mask mark = (Pack::Mask)untouched().v;
    for (int j = 0; j < size; ++j) {
        zero[j] = ((Pack::Mask)columns[j].v)[0] == mark[0];
        if (zero[j]) columns[j] = 0.0;
    }
    for (int j = 0; j + lanes <= size; ++j)
        for (int i = 1; i < lanes; ++i) zero[j] = zero[j] && zero[j + i];
}

// The packs of one call: inputs and outputs as columns, and memory for the algorithm.
template <class Algorithm>
struct Packs {
    const Call& call;
    Work<Pack> work;
    Pack* columns[Call::max_inputs];
    Pack* free;
    double* staged = nullptr;  // rows of one output before they are streamed
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
        return n + (rows_are_staged ? largest_output(call) : 0);
    }

    explicit Packs(const Call& c) : call(c), work(c) {
        work.free = reinterpret_cast<Pack*>(thread_scratch(sizeof(Pack) * words(c)));
        for (int k = 0; k < call.n_in; ++k) work.in[k] = columns[k] = work.take(call.in[k].size);
        for (int k = 0; k < call.n_out; ++k) {
            work.out[k] = work.take(call.out[k].size);
            if constexpr (Algorithm::sparse) {
                zero[k] = reinterpret_cast<char*>(work.take(call.out[k].size));
                for (int j = 0; j < call.out[k].size; ++j) work.out[k][j] = untouched();
            }
        }
        if constexpr (rows_are_staged) staged = reinterpret_cast<double*>(work.take(largest_output(call)));
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
            double* first_row = output.data + state * output.size;
            if (!streams(call, output)) {
                finite &= store_rows<false>(first_row, output.size, rows, work.out[k], zero[k]);
            } else if constexpr (rows_are_staged) {
                finite &= store_rows<false>(staged, output.size, rows, work.out[k], zero[k]);
                stream(first_row, staged, rows * static_cast<long>(output.size));
            } else {
                finite &= store_rows<true>(first_row, output.size, rows, work.out[k], zero[k]);
            }
        }
        return finite;
    }
};

// The first state from `state` on whose results are not finite; there must be one.
inline long first_overflow(const Call& call, long state) {
    for (;; ++state)
        for (int k = 0; k < call.n_out; ++k)
            if (!(sum_of_faults(call.out[k].data + state * call.out[k].size, call.out[k].size) == 0)) return state;
}

template <class Algorithm>
inline void run_packs(const Call& call, long begin, long end, Fault& fault) {
    Packs<Algorithm> packs(call);
    for (long state = begin; state < end; state += lanes) {
        const int rows = end - state < lanes ? static_cast<int>(end - state) : lanes;
        if (!packs.load(state, end - 1))
            for (int i = 0; i < rows; ++i)
                if (find_fault(call, state + i, fault)) return;
        packs.compute();
        if (packs.work.singular_dof >= 0) {
            const int lane = packs.work.singular_lane < rows ? packs.work.singular_lane : rows - 1;
            fault = {FaultKind::Singular, state + lane, 0, packs.work.singular_dof};
            return;
        }
        if (!packs.store(state, rows)) {
            fault = {FaultKind::Overflow, first_overflow(call, state), 0, 0};
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

template <class Algorithm>
void run(const Call& call, long begin, long end, Fault& fault) {
    // by the size of the call, not of this range: how a batch is divided among threads must not change the results
    if (call.count == 1 || Packs<Algorithm>::words(call) > max_pack_words)
        run_each<Algorithm>(call, begin, end, fault);
    else
        run_packs<Algorithm>(call, begin, end, fault);
}

}  // namespace kinodyn::KINODYN_TARGET
