// The Jacobian of a frame and its time derivative, along the path from the root to it. Settings: the Reference.
#include "kernels/float_pack.hpp"
#include "kernels/motion.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Jacobian {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return 18 * static_cast<long>(c.model->bodies.size()); }

    template <class T>
    static void run(Work<T>& w) {
        auto* poses = w.template take_as<PathPose<T>>(w.model.bodies.size());
        place_list(w, w.in[0], poses);
        const Placement<T> f = place_frame(w.model.frames[w.call.frames[0]], poses);
        const Reference reference = w.call.template as<Reference>();
        clear_if_shared(w, w.out[0]);
        for (int k = 0; k < w.call.bodies.size; ++k) {
            const int i = w.call.bodies[k];
            const BodyFor<T>& body = w.model.bodies[i];
            const Placement<T> at = poses[i];
            const Vec3<T> p = reference == Reference::World ? at.p : at.p - f.p;
            for_columns<T>(body, at.R, p, [&](int dof, Spatial<T> s) {
                if (reference == Reference::Local) s = {tmul(f.R, s.lin), tmul(f.R, s.ang)};
                put_column(w, w.out[0], body.iv + dof, s);
            });
        }
    }
};

// The time derivative of the Jacobian's components in the chosen reference.
struct JacobianDot {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return 26 * static_cast<long>(c.bodies.size); }

    template <class T>
    static void run(Work<T>& w) {
        auto* motions = w.template take_as<Motion<T>>(w.call.bodies.size);
        const Motion<T> m = propagate<T>(w, w.in[0], w.in[1], nullptr, motions);
        const Placement<T> f = frame_on(w, m);
        const Spatial<T> v_frame = velocity_at(m, f.p - m.at.p);
        const bool at_world = w.call.template as<Reference>() == Reference::World;
        clear_if_shared(w, w.out[0]);
        for (int k = 0; k < w.call.bodies.size; ++k) {
            const Motion<T>& b = motions[k];
            const Body& body = w.model.bodies[w.call.bodies[k]];
            const Vec3<T> r = at_world ? b.at.p : b.at.p - f.p;
            const Vec3<T> r_dot = at_world ? b.v.lin : b.v.lin - v_frame.lin;
            for_columns<T>(body, b.at.R, r, [&](int dof, const Spatial<T>& s) {
                put_column(w, w.out[0], body.iv + dof, derivative(w, s, b, r, r_dot, f, v_frame));
            });
        }
    }

    // A column is (r x s, s) for a revolute axis s, (s, 0) for a prismatic one; s rotates with the body.
    template <class T>
    static Spatial<T> derivative(const Work<T>& w, const Spatial<T>& s, const Motion<T>& b, const Vec3<T>& r,
                                 const Vec3<T>& r_dot, const Placement<T>& f, const Spatial<T>& v_frame) {
        const Vec3<T> slide = s.lin - cross(r, s.ang);
        const Vec3<T> ang = cross(b.v.ang, s.ang);
        Spatial<T> d = {cross(b.v.ang, slide) + cross(r_dot, s.ang) + cross(r, ang), ang};
        if (w.call.template as<Reference>() == Reference::Local) {
            d.lin -= cross(v_frame.ang, s.lin);
            d.ang -= cross(v_frame.ang, s.ang);
            d = {tmul(f.R, d.lin), tmul(f.R, d.ang)};
        }
        return d;
    }
};

constexpr KernelEntry entries[] = {
    {"jacobian", run<Jacobian>},
    {"jacobian_float32", run<Jacobian, FloatPack>},
    {"jacobian_dot", run<JacobianDot>},
};
extern const KernelList jacobian_kernels;
const KernelList jacobian_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
