// Inverse dynamics by the recursive Newton-Euler algorithm, O(n).
// R. Featherstone, Rigid Body Dynamics Algorithms, 2008, table 5.1.
#include "kernels/rnea.hpp"

namespace kinodyn::KINODYN_TARGET {

template void rnea<false>(Work<double>&, const double*, const double*, const double*, double*);
template void rnea<false>(Work<Pack>&, const Pack*, const Pack*, const Pack*, Pack*);
template void rnea<false>(Work<FloatPack>&, const FloatPack*, const FloatPack*, const FloatPack*, FloatPack*);

struct Rnea {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return Recursion<double>::words(*c.model) + wrench_words(c); }
    template <class T>
    static void run(Work<T>& w) {
        inverse_dynamics<true>(w, w.in[0], w.in[1], w.in[2], w.out[0]);
    }
};

struct Bias {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return Recursion<double>::words(*c.model) + wrench_words(c); }
    template <class T>
    static void run(Work<T>& w) {
        inverse_dynamics<false, T>(w, w.in[0], w.in[1], nullptr, w.out[0]);
    }
};

constexpr KernelEntry entries[] = {
    {"rnea", run<Rnea>},
    {"rnea_float32", run<Rnea, FloatPack>},
    {"bias", run<Bias>},
};
extern const KernelList rnea_kernels;
const KernelList rnea_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
