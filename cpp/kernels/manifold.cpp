// Integration, difference and interpolation on the configuration manifold, one state at a time: logarithms branch on
// their arguments. Mimic joints have no coordinates of their own and repeat the result of their leader.
#include "kernels/manifold.hpp"

#include "kernels/batch.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Integrate {
    static constexpr bool sparse = false;
    static long words(const Call&) { return 0; }
    static void run(Work<double>& w) {
        for (const Body& b : w.model.bodies) integrate_joint(b, w.in[0], w.in[1], 1, w.out[0]);
    }
};

struct Difference {
    static constexpr bool sparse = false;
    static long words(const Call&) { return 0; }
    static void run(Work<double>& w) {
        for (const Body& b : w.model.bodies) joint_difference(b, w.in[0], w.in[1], w.out[0]);
    }
};

// in[2]: 0 at in[0], 1 at in[1].
struct Interpolate {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return c.model->nv; }
    static void run(Work<double>& w) {
        double* v = w.take(w.model.nv);
        for (const Body& b : w.model.bodies) joint_difference(b, w.in[0], w.in[1], v);
        for (const Body& b : w.model.bodies) integrate_joint(b, w.in[0], v, w.in[2][0], w.out[0]);
    }
};

constexpr KernelEntry entries[] = {
    {"integrate", run_each<Integrate>},
    {"difference", run_each<Difference>},
    {"interpolate", run_each<Interpolate>},
};
extern const KernelList manifold_kernels;
const KernelList manifold_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
