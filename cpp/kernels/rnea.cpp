// Inverse dynamics by the recursive Newton-Euler algorithm, O(n).
// R. Featherstone, Rigid Body Dynamics Algorithms, 2008, table 5.1.
#include "kernels/rnea.hpp"

#include "kernels/algorithms.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Inverse {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return Recursion<double>::words(*c.model) + wrench_words(c); }
    template <class T>
    static void run(Work<T>& w) {
        inverse_dynamics<true>(w, 3, w.in[0], w.in[1], w.in[2], w.out[0]);
    }
};

struct Bias {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return Recursion<double>::words(*c.model) + wrench_words(c); }
    template <class T>
    static void run(Work<T>& w) {
        inverse_dynamics<false, T>(w, 2, w.in[0], w.in[1], nullptr, w.out[0]);
    }
};

void rnea(const Call& c, long begin, long end, Fault& f) { run<Inverse>(c, begin, end, f); }
void bias(const Call& c, long begin, long end, Fault& f) { run<Bias>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
