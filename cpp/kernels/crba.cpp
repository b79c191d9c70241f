// The mass matrix by the composite-rigid-body algorithm (R. Featherstone, Rigid Body Dynamics Algorithms, 2008,
// table 6.2), its factor M = L^T D L (table 6.3), and the solution of M x = b.
#include "kernels/float_pack.hpp"
#include "kernels/world.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Crba {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return World<double>::words(*c.model); }
    template <class T>
    static void run(Work<T>& w) {
        auto world = World<T>::take(w);
        world.place_all(w.model, w.in[0]);
        world.mass_matrix(w.model, w.out[0]);
    }
};

// out[0]: L below the diagonal and D on it, zeros above.
struct Factorize {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return World<double>::words(*c.model); }
    template <class T>
    static void run(Work<T>& w) {
        const long nv = w.model.nv;
        T* H = w.out[0];
        auto world = World<T>::take(w);
        world.place_all(w.model, w.in[0]);
        world.mass_matrix(w.model, H);
        factor(w, H);
        for (long i = 0; i < nv; ++i)
            for (long j = i + 1; j < nv; ++j) H[i * nv + j] = 0.0;
    }
};

// in[0]: the factor; in[1]: right-hand side.
struct Solve {
    static constexpr bool sparse = false;
    static long words(const Call&) { return 0; }
    template <class T>
    static void run(Work<T>& w) {
        for (int k = 0; k < w.model.nv; ++k) w.out[0][k] = w.in[1][k];
        solve_factored(w.model, w.in[0], w.out[0]);
    }
};

constexpr KernelEntry entries[] = {
    {"crba", run<Crba>},
    {"crba_float32", run<Crba, FloatPack>},
    {"factorize", run<Factorize>},
    {"solve", run<Solve>},
};
extern const KernelList crba_kernels;
const KernelList crba_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
