// Forward dynamics by the articulated-body algorithm, O(n); through the mass matrix where joints mimic others.
// R. Featherstone, Rigid Body Dynamics Algorithms, 2008, table 7.1.
#include "kernels/aba.hpp"

#include "kernels/float_pack.hpp"

namespace kinodyn::KINODYN_TARGET {

template <class Method>
struct Aba {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return Method::words(c); }
    template <class T>
    static void run(Work<T>& w) {
        Method::run(w, w.in[0], w.in[1], ModelJoints<T>{w.model, w.in[2], w.in[1]}, w.out[0]);
    }
};

constexpr KernelEntry entries[] = {
    {"aba", run_forward_dynamics<Aba>},
    {"aba_float32", run_forward_dynamics<Aba, FloatPack>},
};
extern const KernelList aba_kernels;
const KernelList aba_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
