// CoM, CoM Jacobian, centroidal momentum matrix, momentum and its rate (D. E. Orin, A. Goswami, S.-H. Lee, "Centroidal
// dynamics of a humanoid robot", 2013).
#include "kernels/float_pack.hpp"
#include "kernels/momentum.hpp"
#include "kernels/rnea.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Com {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 14 * static_cast<long>(c.model->bodies.size()); }
    template <class T>
    static void run(Work<T>& w) {
        const int n = static_cast<int>(w.model.bodies.size());
        auto* at = w.template take_as<Placement<T>>(n);
        place_all(w, w.in[0], at);
        Vec3<T> moment = {0.0, 0.0, 0.0};
        for (int i = 0; i < n; ++i) {
            const BodyFor<T>& body = w.model.bodies[i];
            moment += at[i].R * vec(body.h) + body.mass * at[i].p;
        }
        const Vec3<T> com = w.model.inverse_mass * moment;
        write(com, w.out[0]);
    }
};

// The centroidal momentum matrix, or the CoM Jacobian alone, from the inertias of subtrees.
template <bool momentum>
struct CentroidalMatrix {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return World<double>::words(*c.model); }
    template <class T>
    static void run(Work<T>& w) {
        auto world = World<T>::take(w);
        world.place_all(w.model, w.in[0]);
        world.gather(w.model);
        if constexpr (momentum)
            momentum_matrix_of(w.model, world, centre(w.model, world), w.out[0]);
        else
            com_jacobian_of(w.model, world, w.out[0]);
    }
};

// Momentum about the centre of mass and, with accelerations, its rate: sums over bodies, no matrix needed.
template <bool rate>
struct Momentum {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return MovingBodies<double>::words(*c.model); }
    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        auto [world, v, a] = MovingBodies<T>::take(w);
        world.place_all(model, w.in[0]);
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        Spatial<T> sum = {zero, zero};
        Vec3<T> moment = zero;
        for (int i = 0; i < static_cast<int>(model.bodies.size()); ++i) {
            move_body(model, world, i, w.in[1], rate ? w.in[2] : nullptr, Spatial<T>{zero, zero}, v, a);
            moment += world.I[i].h;
            if constexpr (rate)
                sum += world.I[i] * a[i] + cross_force(v[i], world.I[i] * v[i]);
            else
                sum += world.I[i] * v[i];
        }
        const Vec3<T> com = model.inverse_mass * moment;
        write(about(com, sum), w.out[0]);
    }
};

constexpr KernelEntry entries[] = {
    {"com", run<Com>},
    {"com_float32", run<Com, FloatPack>},
    {"com_jacobian", run<CentroidalMatrix<false>>},
    {"momentum_matrix", run<CentroidalMatrix<true>>},
    {"momentum", run<Momentum<false>>},
    {"momentum_rate", run<Momentum<true>>},
};
extern const KernelList centroidal_kernels;
const KernelList centroidal_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
