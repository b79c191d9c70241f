// Forward kinematics: poses, velocities and accelerations of frames, along the path from the root to each.
//
// Settings: Reference for `velocity`, AccelerationSettings for `acceleration`.
#include "kernels/float_pack.hpp"
#include "kernels/motion.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Poses {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 18 * static_cast<long>(c.model->bodies.size()); }

    template <class T>
    static void run(Work<T>& w) {
        auto* poses = w.template take_as<PathPose<T>>(w.model.bodies.size());
        place_list(w, w.in[0], poses);
        T* out = w.out[0];
        for (int k = 0; k < w.call.frames.size; ++k, out += 16)
            store_pose(out, place_frame(w.model.frames[w.call.frames[k]], poses));
    }
};

struct Velocity {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 2 * static_cast<long>(c.bodies.size); }

    template <class T>
    static void run(Work<T>& w) {
        const Motion<T> m = propagate<T>(w, w.in[0], w.in[1], nullptr, nullptr);
        const Placement<T> f = frame_on(w, m);
        Spatial<T> v = velocity_at(m, f.p - m.at.p);
        const Reference reference = w.call.template as<Reference>();
        if (reference == Reference::Local) v = {tmul(f.R, v.lin), tmul(f.R, v.ang)};
        if (reference == Reference::World) v.lin += cross(f.p, v.ang);
        write(v, w.out[0]);
    }
};

struct Acceleration {
    static constexpr bool sparse = false;
    static long words(const Call& c) { return 2 * static_cast<long>(c.bodies.size); }

    template <class T>
    static void run(Work<T>& w) {
        const auto& settings = w.call.template as<AccelerationSettings>();
        const Motion<T> m = propagate(w, w.in[0], w.in[1], w.in[2], static_cast<Motion<T>*>(nullptr));
        const Placement<T> f = frame_on(w, m);
        Spatial<T> v = velocity_at(m, f.p - m.at.p);
        Spatial<T> a = acceleration_at(m, f.p - m.at.p);
        a.lin -= cross(v.ang, v.lin);  // spatial acceleration, which transforms like a twist
        if (settings.reference == Reference::World) {
            v.lin += cross(f.p, v.ang);
            a.lin += cross(f.p, a.ang);
        }
        if (settings.classical) a.lin += cross(v.ang, v.lin);
        if (settings.reference == Reference::Local) a = {tmul(f.R, a.lin), tmul(f.R, a.ang)};
        write(a, w.out[0]);
    }
};

constexpr KernelEntry entries[] = {
    {"poses", run<Poses>},
    {"poses_float32", run<Poses, FloatPack>},
    {"velocity", run<Velocity>},
    {"acceleration", run<Acceleration>},
};
extern const KernelList forward_kinematics_kernels;
const KernelList forward_kinematics_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
