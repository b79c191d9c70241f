// Analytic derivatives of inverse (RNEA) and forward dynamics (ABA).
//
// In world axes about a common point, moving along column j changes the velocity and acceleration of the bodies beyond
// it by the rotation of their vectors plus P'_j = v x S_j and P''_j = a x S_j + v x P'_j, with v and a those of the
// body before the joint. (S. Singh, R. Russell, P. Wensing, "Efficient analytical derivatives of rigid-body dynamics
// using spatial vector algebra", RA-L 2022, eqs. 26-31, extended here to compact Coriolis terms.)
#include "kernels/body_motion.hpp"

namespace kinodyn::KINODYN_TARGET {

// Fills dq, dv and M (nv x nv each) for a BodyMotion after gather(); armature and damping included.
template <class T>
struct Gradient {
    Spatial<T>*p_dot, *p_ddot, *rate;  // by column: P', P'', and S' + P'

    static long words(const Model& m) { return 18 * static_cast<long>(m.ncolumns); }
    static Gradient take(Work<T>& w) {
        const long n = w.model.ncolumns;
        return {w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n),
                w.template take_as<Spatial<T>>(n)};
    }

    void fill(const Model& model, const BodyMotion<T>& m, T* dq, T* dv, T* M) {
        for (int c = 0; c < model.ncolumns; ++c) carry(model, m, c);
        clear_if_shared(model, dq);
        clear_if_shared(model, dv);
        clear_if_shared(model, M);
        for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i)
            for (int c = model.bodies[i].column; c < model.bodies[i].column + dofs(model.bodies[i].kind); ++c)
                fill_column(model, m, i, c, dq, dv, M);
        const long nv = model.nv;
        for (long k = 0; k < nv; ++k) {
            M[k * nv + k] += model.armature[k];
            dv[k * nv + k] += model.damping[k];
        }
    }

  private:
    void carry(const Model& model, const BodyMotion<T>& m, int c) {
        const int i = model.column_body[c], parent = model.bodies[i].parent;
        const Spatial<T>& S = m.world.S[c];
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        if (parent < 0) {
            p_dot[c] = {zero, zero};
            p_ddot[c] = cross_motion(BodyMotion<T>::ground(model), S);
        } else {
            p_dot[c] = cross_motion(m.v[parent], S);
            p_ddot[c] = cross_motion(m.a[parent], S) + cross_motion(m.v[parent], p_dot[c]);
        }
        rate[c] = cross_motion(m.v[i], S) + p_dot[c];
    }

    void fill_column(const Model& model, const BodyMotion<T>& m, int i, int c, T* dq, T* dv, T* M) const {
        const auto& S = m.world.S;
        const auto& I = m.world.I[i];
        const auto& B = m.B[i];
        const Body& body = model.bodies[i];
        const long nv = model.nv, row = model.column_iv[c];
        const Spatial<T> F = I * S[c];
        const Spatial<T> own_q = I * p_ddot[c] + 2.0 * (B * p_dot[c]);
        const Spatial<T> all_q = own_q + cross_force(S[c], m.f[i]);
        const Spatial<T> all_v = I * rate[c] + 2.0 * (B * S[c]);
        const Vec3<T> G = 2.0 * B.transposed(S[c]);
        World<T>::for_ancestors(model, i, c, [&](int d) {
            const long column = model.column_iv[d];
            // within one joint the axes rotate with the body, which cancels the term of f
            put(model, dq[column * nv + row], dot(S[d], d >= body.column ? own_q : all_q));
            put(model, dv[column * nv + row], dot(S[d], all_v));
            const T inertia = dot(S[d], F);
            put(model, M[column * nv + row], inertia);
            if (d == c) return;
            put(model, dq[row * nv + column], dot(F, p_ddot[d]) + dot(G, p_dot[d].ang));
            put(model, dv[row * nv + column], dot(F, rate[d]) + dot(G, S[d].ang));
            put(model, M[row * nv + column], inertia);
        });
    }
};

struct RneaDerivatives {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return BodyMotion<double>::words(*c.model) + Gradient<double>::words(*c.model); }

    template <class T>
    static void run(Work<T>& w) {
        auto m = BodyMotion<T>::take(w);
        auto gradient = Gradient<T>::take(w);
        m.world.place_all(w.model, w.in[0]);
        m.move(w.model, w.in[1], w.in[2]);
        m.gather(w.model);
        gradient.fill(w.model, m, w.out[0], w.out[1], w.out[2]);
    }
};

// From inverse dynamics at the acceleration due to tau: da = M^-1 (dtau - d(rnea)). out[2] is M^-1.
struct AbaDerivatives {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long nv = c.model->nv;
        return BodyMotion<double>::words(*c.model) + Gradient<double>::words(*c.model) + nv * nv + nv;
    }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        const long nv = model.nv;
        auto m = BodyMotion<T>::take(w);
        auto gradient = Gradient<T>::take(w);
        T* H = w.take(nv * nv);
        T* a = w.take(nv);
        T *dq = w.out[0], *dv = w.out[1], *inverse = w.out[2];

        m.world.place_all(model, w.in[0]);
        m.move(model, w.in[1], nullptr);
        bias_from(model, m, w.in[1], a);
        for (long k = 0; k < nv; ++k) a[k] = w.in[2][k] - a[k];
        m.world.mass_matrix(model, H);
        factor(w, H);
        solve_factored(model, H, a, 1);

        // again with the known acceleration, which needs the inertias of single bodies again
        for (std::size_t i = 0; i < model.bodies.size(); ++i)
            m.world.I[i] = World<T>::inertia_at(model.bodies[i], m.world.at[i]);
        m.move(model, w.in[1], a);
        m.gather(model);
        for (long k = 0; k < nv * nv; ++k) dq[k] = dv[k] = 0.0;
        gradient.fill(model, m, dq, dv, inverse);
        for (long k = 0; k < nv * nv; ++k) inverse[k] = 0.0;
        for (long k = 0; k < nv; ++k) inverse[k * nv + k] = 1.0;
        solve_factored(model, H, dq, nv, -1);
        solve_factored(model, H, dv, nv, -1);
        solve_factored(model, H, inverse, nv, 1, true);
    }

    // Torques for the accelerations in m; sums f over subtrees.
    template <class T>
    static void bias_from(const Model& model, BodyMotion<T>& m, const T* qd, T* tau) {
        for (int k = 0; k < model.nv; ++k) tau[k] = model.damping[k] * qd[k];
        for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
            const Body& body = model.bodies[i];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c)
                tau[model.column_iv[c]] += dot(m.world.S[c], m.f[i]);
            if (body.parent >= 0) m.f[body.parent] += m.f[i];
        }
    }
};

constexpr KernelEntry entries[] = {
    {"rnea_derivatives", run<RneaDerivatives>},
    {"aba_derivatives", run<AbaDerivatives>},
};
extern const KernelList rnea_derivatives_kernels;
const KernelList rnea_derivatives_kernels = entries;

}  // namespace kinodyn::KINODYN_TARGET
