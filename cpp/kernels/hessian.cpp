// The derivative of a frame's Jacobian with respect to q in tangent coordinates: 6 x nv x nv, the last axis that of the
// derivative. Settings: the Reference.
//
// About a fixed point, moving along column k changes column j by S_k x S_j if the joint of j is that of k or beyond it
// (J. Haviland, P. Corke, "Manipulator differential kinematics, part 2: acceleration and advanced applications", 2023).
#include "kernels/motion.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Hessian {
    static constexpr bool sparse = true;
    static long words(const Call& c) {
        return 14 * static_cast<long>(c.model->bodies.size()) + 6 * static_cast<long>(c.model->ncolumns);
    }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        auto* at = w.template take_as<Placement<T>>(model.bodies.size());
        auto* S = w.template take_as<Spatial<T>>(model.ncolumns);
        place_list(w, w.in[0], at);
        const Placement<T> f = place_frame(model.frames[w.call.frames[0]], at);
        const Reference reference = w.call.template as<Reference>();
        for (const int i : w.call.bodies) {
            const Vec3<T> p = reference == Reference::World ? at[i].p : at[i].p - f.p;
            for_columns<T>(model.bodies[i], at[i].R, p,
                           [&](int k, const Spatial<T>& s) { S[model.bodies[i].column + k] = s; });
        }
        const long nv = model.nv;
        if (model.mimic)
            for (long k = 0; k < 6 * nv * nv; ++k) w.out[0][k] = 0.0;
        for (const int i : w.call.bodies)
            for (const int b : w.call.bodies) fill(w, f, S, i, b);  // a smaller index is nearer to the root
    }

    // Entries for the columns of body i, differentiated along those of body b.
    template <class T>
    static void fill(const Work<T>& w, const Placement<T>& f, const Spatial<T>* S, int i, int b) {
        const Model& model = w.model;
        const long nv = model.nv;
        const Body &body = model.bodies[i], &moved = model.bodies[b];
        for (int j = body.column; j < body.column + dofs(body.kind); ++j)
            for (int k = moved.column; k < moved.column + dofs(moved.kind); ++k) {
                T* out = w.out[0] + model.column_iv[j] * nv + model.column_iv[k];
                T d[6];
                write(derivative(w.call.template as<Reference>(), f, S[j], S[k], b <= i), d);
                for (int row = 0; row < 6; ++row, out += nv * nv) *out = model.mimic ? *out + d[row] : d[row];
            }
    }

    template <class T>
    static Spatial<T> derivative(Reference reference, const Placement<T>& f, const Spatial<T>& s,
                                 const Spatial<T>& move, bool moves) {
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        Spatial<T> d = moves ? cross_motion(move, s) : Spatial<T>{zero, zero};
        if (reference == Reference::World) return d;
        d.lin += cross(s.ang, move.lin);  // the reference point is the origin of the frame, which moves
        if (reference != Reference::Local) return d;
        d.lin -= cross(move.ang, s.lin), d.ang -= cross(move.ang, s.ang);
        return {tmul(f.R, d.lin), tmul(f.R, d.ang)};
    }
};

constexpr KernelEntry entries[] = {
    {"hessian", run<Hessian>},
};
extern const KernelList hessian_kernels;
const KernelList hessian_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
