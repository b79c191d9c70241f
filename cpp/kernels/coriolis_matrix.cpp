// The Coriolis matrix.
#include "kernels/body_motion.hpp"

namespace kinodyn::KINODYN_TARGET {

// G. Echeandia, P. Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body
// systems", 2021: C_ij = S_i^T (I S'_j + B S_j), with I and B of the more distal body.
struct Coriolis {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return BodyMotion<double>::words(*c.model) + 6 * c.model->ncolumns; }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        auto m = BodyMotion<T>::take(w);
        auto* rate = w.template take_as<Spatial<T>>(model.ncolumns);
        m.world.place_all(model, w.in[0]);
        m.move(model, w.in[1], nullptr);
        m.gather(model);
        clear_if_shared(model, w.out[0]);
        for (int c = 0; c < model.ncolumns; ++c) rate[c] = cross_motion(m.v[model.column_body[c]], m.world.S[c]);

        const long nv = model.nv;
        T* C = w.out[0];
        for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
            const Body& body = model.bodies[i];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c) {
                const Spatial<T>& S = m.world.S[c];
                const Spatial<T> F = m.world.I[i] * S;
                const Spatial<T> H = m.world.I[i] * rate[c] + m.B[i] * S;
                const Vec3<T> G = m.B[i].transposed(S);
                const long row = model.column_iv[c];
                World<T>::for_ancestors(model, c, [&](int d) {
                    const long column = model.column_iv[d];
                    put(model, C[column * nv + row], dot(m.world.S[d], H));
                    if (d != c) put(model, C[row * nv + column], dot(F, rate[d]) + dot(G, m.world.S[d].ang));
                });
            }
        }
    }
};

constexpr KernelEntry entries[] = {
    {"coriolis_matrix", run<Coriolis>},
};
extern const KernelList coriolis_matrix_kernels;
const KernelList coriolis_matrix_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
