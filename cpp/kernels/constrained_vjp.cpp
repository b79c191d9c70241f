// Vector-Jacobian product of constrained dynamics, by implicit differentiation of its KKT system
//
//     [M J^T; J 0] [a; -f] = [tau - h; -dJ/dt v]
//
// With the solution (x, -g) of the same system for the gradient with respect to a in place of tau - h, and zero in
// place of dJ/dt v, the gradient is that of -x . (inverse dynamics - J^T f) + g . (J a + dJ/dt v) for constant a, f, x
// and g. Constraints with the world only: their axes do not move.
#include "kernels/contact.hpp"
#include "kernels/inverse_adjoint.hpp"

namespace kinodyn::KINODYN_TARGET {

// Inputs: 0 q; 1 v; 2 a; 3 x; 4 f and 5 g, row by row; then the poses of each constraint; then wrenches.
// Outputs: gradients with respect to 0 q; 1 v; 2 the wrenches.
struct ConstrainedVjp {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        return World<double>::words(*c.model) + InverseAdjoint<double>::words(*c.model) + 2L * c.model->nv;
    }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        auto world = World<T>::take(w);
        auto adjoint = InverseAdjoint<T>::take(w);
        T *tangent = w.take(model.nv), *unused = w.take(model.nv);
        world.place_all(model, w.in[0]);
        adjoint.move(model, world, w.in[1], w.in[2], w.in[3]);
        adjoint.add_wrenches(w, world, w.out[2]);
        const ConstraintList& list = w.call.template as<ConstraintList>();
        for (int k = 0, row = 0; k < list.count; row += list.records[k++].rows()) {
            const ConstraintRecord& c = list.records[k];
            const int body = c.frame < 0 ? -1 : model.frames[c.frame].body;
            if (body < 0) continue;  // does not move
            const auto& poses = *reinterpret_cast<const ConstraintPoses<T>*>(w.in[list.first_input + k]);
            const Placement<T> frame = place_frame(model.frames[c.frame], world.at);
            const Vec3<T> point = frame.p + frame.R * vec(poses.p_frame);
            adjoint.add_wrench(body, point, wrench_of(c, poses, w.in[4] + row));
            adjoint.add_acceleration(body, point, -1.0 * wrench_of(c, poses, w.in[5] + row));
        }
        adjoint.collect(model, world, tangent, w.out[1], unused);
        for (int k = 0; k < model.nv; ++k) {
            tangent[k] = -tangent[k];
            w.out[1][k] = -w.out[1][k] - model.damping[k] * w.in[3][k];
        }
        for (int k = 0; k < 6 * w.call.wrench_frames.size; ++k) w.out[2][k] = -w.out[2][k];
        gradient_of_coordinates(model, w.in[0], tangent, w.out[0]);
    }

    // Forces along the constrained directions as a wrench in world axes.
    template <class T>
    static Spatial<T> wrench_of(const ConstraintRecord& c, const ConstraintPoses<T>& poses, const T* forces) {
        T all[6];
        for (int k = 0; k < 6; ++k) all[k] = c.constrains(k) ? *forces++ : T(0.0);
        const Mat3<T> R = mat(poses.R_other);
        return {R * vec(all), R * vec(all + 3)};
    }
};

constexpr KernelEntry entries[] = {
    {"constrained_vjp", run<ConstrainedVjp>},
};
extern const KernelList constrained_vjp_kernels;
const KernelList constrained_vjp_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
