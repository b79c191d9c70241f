// Analytic derivatives of inverse (RNEA) and forward dynamics (ABA).
//
// In world axes about a common point, moving along column j changes the velocity and acceleration of the bodies beyond
// it by the rotation of their vectors plus P'_j = v x S_j and P''_j = a x S_j + v x P'_j, with v and a those of the
// body before the joint. (S. Singh, R. Russell, P. Wensing, "Efficient analytical derivatives of rigid-body dynamics
// using spatial vector algebra", RA-L 2022, eqs. 26-31, extended here to compact Coriolis terms.)
#include "kernels/body_motion.hpp"
#include "kernels/tree_inverse.hpp"

namespace kinodyn::KINODYN_TARGET {

// Fills dq, dv and, with_M, M (nv x nv each) for a BodyMotion after gather(); armature and damping included.
template <class T>
struct Gradient {
    Spatial<T>*p_dot, *p_ddot, *rate;  // by column: P', P'', and S' + P'

    static long words(const Model& m) { return 18 * static_cast<long>(m.ncolumns); }
    static Gradient take(Work<T>& w) {
        const long n = w.model.ncolumns;
        return {w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n),
                w.template take_as<Spatial<T>>(n)};
    }

    template <bool with_M>
    void fill(const Model& model, const BodyMotion<T>& m, T* dq, T* dv, T* M) {
        for (int c = 0; c < model.ncolumns; ++c) carry(model, m, c);
        clear_if_shared(model, dq);
        clear_if_shared(model, dv);
        if constexpr (with_M) clear_if_shared(model, M);
        for (int c = model.ncolumns - 1; c >= 0; --c) {
            if (model.mimic)
                fill_column<with_M>(model, m, c, dq, dv, M, [](T& entry, const T& value) { entry += value; });
            else
                fill_column<with_M>(model, m, c, dq, dv, M, [](T& entry, const T& value) { entry = value; });
        }
        const long nv = model.nv;
        for (long k = 0; k < nv; ++k) {
            if constexpr (with_M) M[k * nv + k] += model.armature[k];
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

    // put(entry, value) writes, or adds where joints share coordinates.
    template <bool with_M, class Put>
    void fill_column(const Model& model, const BodyMotion<T>& m, int c, T* dq, T* dv, T* M, Put&& put) const {
        const auto& S = m.world.S;
        const int i = model.column_body[c], first = model.bodies[i].column;
        const auto& I = m.world.I[i];
        const auto& B = m.B[i];
        const int *parent = model.column_parent.data(), *iv = model.column_iv.data();
        const long nv = model.nv, row = iv[c];
        const Spatial<T> F = I * S[c];
        const Spatial<T> own_q = I * p_ddot[c] + 2.0 * (B * p_dot[c]);
        const Spatial<T> all_q = own_q + cross_force(S[c], m.f[i]);
        const Spatial<T> all_v = I * rate[c] + 2.0 * (B * S[c]);
        const Vec3<T> G = 2.0 * B.transposed(S[c]);
        const auto above = [&](int d, const Spatial<T>& q) {  // row d, column c
            const long entry = iv[d] * nv + row;
            put(dq[entry], dot(S[d], q));
            put(dv[entry], dot(S[d], all_v));
        };
        const auto below = [&](int d) {  // row c, column d
            const long entry = row * nv + iv[d];
            put(dq[entry], dot(F, p_ddot[d]) + dot(G, p_dot[d].ang));
            put(dv[entry], dot(F, rate[d]) + dot(G, S[d].ang));
            if constexpr (with_M) {
                const T inertia = dot(S[d], F);
                put(M[entry], inertia);
                put(M[iv[d] * nv + row], inertia);
            }
        };
        above(c, own_q);
        if constexpr (with_M) put(M[row * nv + row], dot(S[c], F));
        // Two passes, as the factors of both do not fit in the registers together. Within one joint the axes rotate
        // with the body, which cancels the term of f.
        int d = parent[c];
        for (; d >= first; d = parent[d]) above(d, own_q);
        for (; d >= 0; d = parent[d]) above(d, all_q);
        for (d = parent[c]; d >= 0; d = parent[d]) below(d);
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
        gradient.template fill<true>(w.model, m, w.out[0], w.out[1], w.out[2]);
    }
};

// From inverse dynamics at the acceleration due to tau: da = M^-1 (dtau - d(rnea)). out[2] is M^-1.
struct AbaDerivatives {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long nv = c.model->nv;
        return BodyMotion<double>::words(*c.model) + Gradient<double>::words(*c.model) + nv * nv + nv +
               TreeInverse<double>::words(*c.model) + 12 * static_cast<long>(c.model->bodies.size());
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
        for (int k = 0; k < nv; ++k) a[k] = w.in[2][k] - model.damping[k] * w.in[1][k];
        subtract_bias(model, m, a);
        for (long k = 0; k < nv * nv; ++k) dq[k] = dv[k] = 0.0;
        m.world.mass_matrix(model, H);
        factor(w, H);
        solve_factored(model, H, a);
        accelerate(w, m, a);

        gradient.template fill<false>(model, m, dq, dv, nullptr);
        const TreeInverse<T> tree(w, H);
        tree.solve_negated(dq, dv);
        tree.invert(inverse);
    }

    // Sums wrenches and Coriolis operators over subtrees, and subtracts the torques of the wrenches from tau.
    template <class T>
    static void subtract_bias(const Model& model, BodyMotion<T>& m, T* tau) {
        for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
            const Body& body = model.bodies[i];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c)
                tau[model.column_iv[c]] -= dot(m.world.S[c], m.f[i]);
            if (body.parent < 0) continue;
            m.B[body.parent] += m.B[i];
            m.f[body.parent] += m.f[i];
        }
    }

    // Adds the effect of the joints' accelerations to the accelerations of the bodies and to the wrenches, which are
    // sums over subtrees like the inertias.
    template <class T>
    static void accelerate(Work<T>& w, BodyMotion<T>& m, const T* qdd) {
        const Model& model = w.model;
        const int n = static_cast<int>(model.bodies.size());
        auto* gain = w.template take_as<Spatial<T>>(n);
        auto* wrench = w.template take_as<Spatial<T>>(n);
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        for (int i = 0; i < n; ++i) {
            const Body& body = model.bodies[i];
            gain[i] = body.parent < 0 ? Spatial<T>{zero, zero} : gain[body.parent];
            // a body's own share is the inertia of its subtree less those of its children's, which they subtract
            for (int c = body.column; c < body.column + dofs(body.kind); ++c)
                gain[i] += qdd[model.column_iv[c]] * m.world.S[c];
            m.a[i] += gain[i];
            wrench[i] = m.world.I[i] * gain[i];
            if (body.parent >= 0) wrench[body.parent] -= m.world.I[i] * gain[body.parent];
        }
        for (int i = n - 1; i >= 0; --i) {
            m.f[i] += wrench[i];
            if (model.bodies[i].parent >= 0) wrench[model.bodies[i].parent] += wrench[i];
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
