// Forward dynamics by the articulated-body algorithm, O(n); through the mass matrix where joints mimic others.
// R. Featherstone, Rigid Body Dynamics Algorithms, 2008, table 7.1.
#include "kernels/aba.hpp"

#include "kernels/algorithms.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class Method>
struct Forward {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return Method::words(c); }
    template <class T>
    static void run(Work<T>& w) {
        Method::run(w, 3, w.in[0], w.in[1], ModelJoints<T>{w.model, w.in[2], w.in[1]}, w.out[0]);
    }
};

void aba(const Call& c, long begin, long end, Fault& f) {
    if (c.model->mimic)
        run<Forward<FactoredMass>>(c, begin, end, f);
    else
        run<Forward<ArticulatedBodies>>(c, begin, end, f);
}

}  // namespace kinodyn::KINODYN_TARGET
