// Inverse dynamics (recursive Newton-Euler) and forward dynamics (articulated bodies), linear in the number of joints.
// R. Featherstone, Rigid Body Dynamics Algorithms, 2008, tables 5.1 and 7.1.
#include "algorithms.hpp"
#include "articulated.hpp"

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

template <class Method>
struct Forward {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return Method::words(c); }
    template <class T>
    static void run(Work<T>& w) {
        Method::run(w, 3, w.in[0], w.in[1], ModelJoints<T>{w.model, w.in[2], w.in[1]}, w.out[0]);
    }
};

void inverse(const Call& c, long begin, long end, Fault& f) { run<Inverse>(c, begin, end, f); }
void bias(const Call& c, long begin, long end, Fault& f) { run<Bias>(c, begin, end, f); }
void forward(const Call& c, long begin, long end, Fault& f) {
    if (c.model->mimic)
        run<Forward<FactoredMass>>(c, begin, end, f);
    else
        run<Forward<ArticulatedBodies>>(c, begin, end, f);
}

}  // namespace kinodyn::KINODYN_TARGET
