// Vector-Jacobian products of forward kinematics, linear in the number of joints: the gradient of a function of poses,
// of the CoM or of a twist is a set of wrenches on the bodies, collected towards the root.
//
// Settings: Reference for `velocity_vjp`.
#include "kernels/coordinate_gradient.hpp"
#include "kernels/motion.hpp"

namespace kinodyn::KINODYN_TARGET {

// Adds the power of a wrench, given in world axes about the origin of the body, per unit rate of the body's joint.
template <class T>
inline void add_gradient(const Body& body, const Mat3<T>& R, const Spatial<T>& wrench, T* gradient) {
    const Spatial<T> own = {tmul(R, wrench.lin), tmul(R, wrench.ang)};
    const T store[joint_words] = {};
    visit(body.kind,
          [&](auto kind) { Joint<decltype(kind)::value, T>::stored(body, store).add_effort(gradient, own); });
}

// The gradient (nv) of wrenches in world axes about the origins of the bodies in call.bodies: one sweep to the root.
template <class T>
inline void collect_gradient(const Work<T>& w, const Placement<T>* at, Spatial<T>* wrenches, T* gradient) {
    for (int k = 0; k < w.model.nv; ++k) gradient[k] = 0.0;
    for (int k = w.call.bodies.size - 1; k >= 0; --k) {
        const int i = w.call.bodies[k];
        const Body& body = w.model.bodies[i];
        const Spatial<T>& f = wrenches[i];
        add_gradient(body, at[i].R, f, gradient);
        if (body.parent < 0) continue;
        wrenches[body.parent] += Spatial<T>{f.lin, f.ang + cross(at[i].p - at[body.parent].p, f.lin)};
    }
}

inline long collection_words(const Call& c) { return 20 * static_cast<long>(c.model->bodies.size()) + c.model->nv; }

// Inputs: 0 q; 1 the gradient with respect to the poses, 16 numbers for each frame in call.frames.
struct PosesVjp {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return collection_words(c); }

    template <class T>
    static void run(Work<T>& w) {
        const std::size_t n = w.model.bodies.size();
        auto* at = w.template take_as<Placement<T>>(n);
        auto* wrenches = w.template take_as<Spatial<T>>(n);
        T* tangent = w.take(w.model.nv);
        place_list(w, w.in[0], at);
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        for (std::size_t i = 0; i < n; ++i) wrenches[i] = {zero, zero};
        const T* gradient = w.in[1];
        for (int k = 0; k < w.call.frames.size; ++k, gradient += 16) {
            const FixedFrame& frame = w.model.frames[w.call.frames[k]];
            if (frame.body < 0) continue;  // does not move
            const Spatial<T> f = wrench_of(place_frame(frame, at), gradient);
            const Vec3<T> arm = at[frame.body].R * vec(frame.p);
            wrenches[frame.body] += Spatial<T>{f.lin, f.ang + cross(arm, f.lin)};
        }
        collect_gradient(w, at, wrenches, tangent);
        gradient_of_coordinates(w.model, w.in[0], tangent, w.out[0]);
    }

    // The wrench at the frame's origin whose power is the rate of the function: a rotation r changes each axis x of the
    // frame by r cross x.
    template <class T>
    static Spatial<T> wrench_of(const Placement<T>& f, const T* g) {
        const Mat3<T> G = {vec(g), vec(g + 4), vec(g + 8)};
        Vec3<T> moment = cross(f.R.column(0), G.column(0));
        moment += cross(f.R.column(1), G.column(1));
        moment += cross(f.R.column(2), G.column(2));
        return {{g[3], g[7], g[11]}, moment};
    }
};

// Inputs: 0 q; 1 the gradient with respect to the CoM.
struct ComVjp {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return collection_words(c); }

    template <class T>
    static void run(Work<T>& w) {
        const std::size_t n = w.model.bodies.size();
        auto* at = w.template take_as<Placement<T>>(n);
        auto* wrenches = w.template take_as<Spatial<T>>(n);
        T* tangent = w.take(w.model.nv);
        place_list(w, w.in[0], at);
        const Vec3<T> force = w.model.inverse_mass * vec(w.in[1]);
        for (std::size_t i = 0; i < n; ++i) {
            const Body& body = w.model.bodies[i];
            wrenches[i] = {body.mass * force, cross(at[i].R * vec(body.h), force)};
        }
        collect_gradient(w, at, wrenches, tangent);
        gradient_of_coordinates(w.model, w.in[0], tangent, w.out[0]);
    }
};

// Inputs: 0 q; 1 v; 2 the gradient with respect to the twist. Outputs: the gradients with respect to q and v.
//
// About a fixed point, moving along the unit twist S of a joint changes the twist V of the frame by S x (V - V'), with
// V' that of the body before the joint. A wrench W on V is therefore the wrench (V - V') x* W on the joint.
struct VelocityVjp {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 26 * static_cast<long>(c.bodies.size) + c.model->nv; }

    template <class T>
    static void run(Work<T>& w) {
        auto* motions = w.template take_as<Motion<T>>(w.call.bodies.size);
        T *tangent = w.take(w.model.nv), *by_v = w.out[1];
        const Motion<T> last = propagate<T>(w, w.in[0], w.in[1], nullptr, motions);
        const Placement<T> f = frame_on(w, last);
        const Spatial<T> V = velocity_at(last, f.p - last.at.p);
        Spatial<T> W, change;
        wrenches_of(w, f, V, W, change);
        for (int k = 0; k < w.model.nv; ++k) tangent[k] = by_v[k] = 0.0;
        Motion<T> before = at_rest<T>();
        for (int k = 0; k < w.call.bodies.size; ++k) {
            const Body& body = w.model.bodies[w.call.bodies[k]];
            const Placement<T>& at = motions[k].at;
            const Vec3<T> arm = at.p - f.p;
            const Spatial<T> F = cross_force(V - velocity_at(before, f.p - before.at.p), W) + change;
            add_gradient(body, at.R, about(arm, F), tangent);
            add_gradient(body, at.R, about(arm, W), by_v);
            before = motions[k];
        }
        gradient_of_coordinates(w.model, w.in[0], tangent, w.out[0]);
    }

    // W about the frame's origin in world axes; `change`: the wrench due to the motion of the reference with the frame.
    template <class T>
    static void wrenches_of(const Work<T>& w, const Placement<T>& f, const Spatial<T>& V, Spatial<T>& W,
                            Spatial<T>& change) {
        const Reference reference = w.call.template as<Reference>();
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        W = {vec(w.in[2]), vec(w.in[2] + 3)};
        change = {zero, zero};
        if (reference == Reference::World) {
            W = about(f.p, W);
            return;
        }
        if (reference == Reference::Local) {
            W = {f.R * W.lin, f.R * W.ang};
            change.ang -= cross(V.lin, W.lin) + cross(V.ang, W.ang);
        }
        change.lin = cross(W.lin, V.ang);
    }
};

constexpr KernelEntry entries[] = {
    {"poses_vjp", run<PosesVjp>},
    {"com_vjp", run<ComVjp>},
    {"velocity_vjp", run<VelocityVjp>},
};
extern const KernelList kinematics_vjp_kernels;
const KernelList kinematics_vjp_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
