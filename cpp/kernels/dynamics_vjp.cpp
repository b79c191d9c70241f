// Vector-Jacobian products of inverse and forward dynamics. Forward dynamics is the inverse of a -> tau: its gradient
// is minus that of inverse dynamics at M^-1 x, for the gradient x with respect to a.
#include "kernels/inverse_adjoint.hpp"

namespace kinodyn::KINODYN_TARGET {

// Inputs: 0 q; 1 v; 2 a; 3 x, the gradient with respect to tau; then wrenches.
// Outputs: gradients with respect to 0 q; 1 v; 2 a; 3 the wrenches.
struct RneaVjp {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        return World<double>::words(*c.model) + InverseAdjoint<double>::words(*c.model) + c.model->nv;
    }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        auto world = World<T>::take(w);
        auto adjoint = InverseAdjoint<T>::take(w);
        T* tangent = w.take(model.nv);
        const T* x = w.in[3];
        world.place_all(model, w.in[0]);
        adjoint.move(model, world, w.in[1], w.in[2], x);
        adjoint.add_wrenches(w, world, w.out[3]);
        adjoint.collect(model, world, tangent, w.out[1], w.out[2]);
        for (int k = 0; k < model.nv; ++k) {
            w.out[1][k] += model.damping[k] * x[k];
            w.out[2][k] += model.armature[k] * x[k];
        }
        gradient_of_coordinates(model, w.in[0], tangent, w.out[0]);
    }
};

// The same of forward dynamics. Inputs: 2 a, the result of forward dynamics; 3 the gradient with respect to it.
// Outputs: 2 the gradient with respect to tau.
struct AbaVjp {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long nv = c.model->nv;
        return World<double>::words(*c.model) + InverseAdjoint<double>::words(*c.model) + nv * nv + 2 * nv;
    }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        const long nv = model.nv;
        auto world = World<T>::take(w);
        auto adjoint = InverseAdjoint<T>::take(w);
        T *tangent = w.take(nv), *unused = w.take(nv), *M = w.take(nv * nv), *x = w.out[2];
        world.place_all(model, w.in[0]);
        world.mass_matrix(model, M);
        factor(w, M);
        for (long k = 0; k < nv; ++k) x[k] = w.in[3][k];
        solve_factored(model, M, x);

        for (std::size_t i = 0; i < model.bodies.size(); ++i)  // mass_matrix() left the inertias of subtrees
            world.I[i] = World<T>::inertia_at(model.bodies[i], world.at[i]);
        adjoint.move(model, world, w.in[1], w.in[2], x);
        adjoint.add_wrenches(w, world, w.out[3]);
        adjoint.collect(model, world, tangent, w.out[1], unused);
        for (long k = 0; k < nv; ++k) {
            tangent[k] = -tangent[k];
            w.out[1][k] = -w.out[1][k] - model.damping[k] * x[k];
        }
        for (int k = 0; k < 6 * w.call.wrench_frames.size; ++k) w.out[3][k] = -w.out[3][k];
        gradient_of_coordinates(model, w.in[0], tangent, w.out[0]);
    }
};

constexpr KernelEntry entries[] = {
    {"rnea_vjp", run<RneaVjp>},
    {"aba_vjp", run<AbaVjp>},
};
extern const KernelList dynamics_vjp_kernels;
const KernelList dynamics_vjp_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
