// The Coriolis matrix, analytic derivatives of inverse and forward dynamics, and the torque regressor.
//
// In world axes about a common point, moving along column j changes the velocity and acceleration of the bodies beyond
// it by what it carries round plus P'_j = v x S_j and P''_j = a x S_j + v x P'_j, with v and a those of the body before
// the joint. (S. Singh, R. Russell, P. Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial
// vector algebra", RA-L 2022, eqs. 26-31, extended here to compact Coriolis terms.)
#include "kernels/algorithms.hpp"
#include "kernels/momentum.hpp"

namespace kinodyn::KINODYN_TARGET {

// The operator B with B u = sum over particles of mass * (u.ang x x', x cross (u.ang x x')), x' the particle's
// velocity. It has twelve numbers: the momentum P, and K = tr(W) 1 - W^T for W = sum of mass * x x'^T. B v is the
// velocity product v x* I v, and dI/dt - 2 B is skew.
template <class T>
struct CoriolisOperator {
    Vec3<T> P;
    Mat3<T> K;

    static CoriolisOperator of(const RigidInertia<T>& I, const Spatial<T>& v) {
        // W = h v^T - X [w], with X = tr(I) / 2 - I the second moment of mass
        const T half = 0.5 * (I.I.xx + I.I.yy + I.I.zz);
        const Vec3<T> x = {half - I.I.xx, -I.I.xy, -I.I.xz}, y = {-I.I.xy, half - I.I.yy, -I.I.yz},
                      z = {-I.I.xz, -I.I.yz, half - I.I.zz};
        // row_i of X [w] is (x_i cross w)
        const Vec3<T> a = I.h.x * v.lin - cross(x, v.ang), b = I.h.y * v.lin - cross(y, v.ang),
                      c = I.h.z * v.lin - cross(z, v.ang);
        const T trace = a.x + b.y + c.z;
        return {I.mass * v.lin + cross(v.ang, I.h),
                {{trace - a.x, -b.x, -c.x}, {-a.y, trace - b.y, -c.y}, {-a.z, -b.z, trace - c.z}}};
    }
    Spatial<T> operator*(const Spatial<T>& u) const { return {cross(u.ang, P), K * u.ang}; }
    // B^T u has an angular part only.
    Vec3<T> transposed(const Spatial<T>& u) const { return cross(P, u.lin) + tmul(K, u.ang); }
    CoriolisOperator& operator+=(const CoriolisOperator& other) {
        P += other.P;
        K += other.K;
        return *this;
    }
};

// Everything that moves, for given q, v, a: what the derivatives are sums of.
template <class T>
struct Moving {
    World<T> world;
    Spatial<T>*v, *a, *f;
    CoriolisOperator<T>* B;

    static long words(const Model& m) { return World<double>::words(m) + 30 * static_cast<long>(m.bodies.size()); }
    static Moving take(Work<T>& w) {
        const long n = static_cast<long>(w.model.bodies.size());
        return {World<T>::take(w), w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n),
                w.template take_as<Spatial<T>>(n), w.template take_as<CoriolisOperator<T>>(n)};
    }
    static Spatial<T> ground(const Model& model) {
        const double* g = model.gravity;
        return {{T(-g[0]), T(-g[1]), T(-g[2])}, {T(0.0), T(0.0), T(0.0)}};
    }
    // Needs the inertias of single bodies, so before gather().
    void move(const Model& model, const T* qd, const T* qdd) {
        for (std::size_t i = 0; i < model.bodies.size(); ++i) {
            move_body(model, world, static_cast<int>(i), qd, qdd, ground(model), v, a);
            B[i] = CoriolisOperator<T>::of(world.I[i], v[i]);
            f[i] = world.I[i] * a[i] + cross_force(v[i], world.I[i] * v[i]);
        }
    }
    // Sums over subtrees.
    void gather(const Model& model) {
        for (int i = static_cast<int>(model.bodies.size()) - 1; i > 0; --i) {
            const int parent = model.bodies[i].parent;
            if (parent < 0) continue;
            B[parent] += B[i];
            f[parent] += f[i];
        }
        world.gather(model);
    }
};

// Writes or, where joints share coordinates, adds.
template <class T>
inline void put(const Model& model, T& entry, const T& value) {
    if (model.mimic)
        entry += value;
    else
        entry = value;
}

template <class T>
inline void clear_if_shared(const Model& model, T* M) {
    if (model.mimic)
        for (long k = 0; k < static_cast<long>(model.nv) * model.nv; ++k) M[k] = 0.0;
}

// G. Echeandia, P. Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel symbols for rigid-body
// systems", 2021: C_ij = S_i^T (I S'_j + B S_j), with I and B of the farther body.
struct Coriolis {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return Moving<double>::words(*c.model) + 6 * c.model->ncolumns; }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        auto m = Moving<T>::take(w);
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
                World<T>::for_ancestors(model, i, c, [&](int d) {
                    const long column = model.column_iv[d];
                    put(model, C[column * nv + row], dot(m.world.S[d], H));
                    if (d != c) put(model, C[row * nv + column], dot(F, rate[d]) + dot(G, m.world.S[d].ang));
                });
            }
        }
    }
};

// Fills dq, dv and M (nv x nv each) for a Moving after gather(); armature and damping included.
template <class T>
struct Gradient {
    Spatial<T>*p_dot, *p_ddot, *rate;  // by column: P', P'', and S' + P'

    static long words(const Model& m) { return 18 * static_cast<long>(m.ncolumns); }
    static Gradient take(Work<T>& w) {
        const long n = w.model.ncolumns;
        return {w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n),
                w.template take_as<Spatial<T>>(n)};
    }

    void fill(const Model& model, const Moving<T>& m, T* dq, T* dv, T* M) {
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
    void carry(const Model& model, const Moving<T>& m, int c) {
        const int i = model.column_body[c], parent = model.bodies[i].parent;
        const Spatial<T>& S = m.world.S[c];
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        if (parent < 0) {
            p_dot[c] = {zero, zero};
            p_ddot[c] = cross_motion(Moving<T>::ground(model), S);
        } else {
            p_dot[c] = cross_motion(m.v[parent], S);
            p_ddot[c] = cross_motion(m.a[parent], S) + cross_motion(m.v[parent], p_dot[c]);
        }
        rate[c] = cross_motion(m.v[i], S) + p_dot[c];
    }

    void fill_column(const Model& model, const Moving<T>& m, int i, int c, T* dq, T* dv, T* M) const {
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
            // within one joint the axes turn along with the body, which cancels the term of f
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

struct InverseDerivatives {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return Moving<double>::words(*c.model) + Gradient<double>::words(*c.model); }

    template <class T>
    static void run(Work<T>& w) {
        auto m = Moving<T>::take(w);
        auto gradient = Gradient<T>::take(w);
        m.world.place_all(w.model, w.in[0]);
        m.move(w.model, w.in[1], w.in[2]);
        m.gather(w.model);
        gradient.fill(w.model, m, w.out[0], w.out[1], w.out[2]);
    }
};

// From inverse dynamics at the acceleration that tau gives: da = M^-1 (dtau - d(inverse)). out[2] is M^-1.
struct ForwardDerivatives {
    static constexpr bool sparse = false;
    static long words(const Call& c) {
        const long nv = c.model->nv;
        return Moving<double>::words(*c.model) + Gradient<double>::words(*c.model) + nv * nv + nv;
    }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        const long nv = model.nv;
        auto m = Moving<T>::take(w);
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

        // again with the acceleration known; single bodies' inertias are needed once more
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

    // Torques that hold the accelerations in m; sums f over subtrees.
    template <class T>
    static void bias_from(const Model& model, Moving<T>& m, const T* qd, T* tau) {
        for (int k = 0; k < model.nv; ++k) tau[k] = model.damping[k] * qd[k];
        for (int i = static_cast<int>(model.bodies.size()) - 1; i >= 0; --i) {
            const Body& body = model.bodies[i];
            for (int c = body.column; c < body.column + dofs(body.kind); ++c)
                tau[model.column_iv[c]] += dot(m.world.S[c], m.f[i]);
            if (body.parent >= 0) m.f[body.parent] += m.f[i];
        }
    }
};

// Torques as a linear function of the ten inertial parameters of each body in call.list, in the axes of its link:
// mass, mass * com, inertia about the link's origin (xx xy yy xz yz zz).
struct Regressor {
    static constexpr bool sparse = true;
    static long words(const Call& c) { return Moving<double>::words(*c.model); }

    template <class T>
    static void run(Work<T>& w) {
        const Model& model = w.model;
        auto m = Moving<T>::take(w);
        m.world.place_all(model, w.in[0]);
        m.move(model, w.in[1], w.in[2]);
        const long width = 10L * w.call.n_list;
        if (model.mimic)
            for (long k = 0; k < model.nv * width; ++k) w.out[0][k] = 0.0;
        for (int k = 0; k < w.call.n_list; ++k) {
            const int i = w.call.list[k];
            Spatial<T> columns[10];
            body_columns(model.bodies[i], m, i, columns);
            const int last = model.bodies[i].column + dofs(model.bodies[i].kind) - 1;
            World<T>::for_ancestors(model, i, last, [&](int d) {
                T* row = w.out[0] + model.column_iv[d] * width + 10L * k;
                for (int j = 0; j < 10; ++j) put(model, row[j], dot(m.world.S[d], columns[j]));
            });
        }
    }

    // Wrench on body i per unit of each parameter, in world axes about the common point.
    template <class T>
    static void body_columns(const Body& body, const Moving<T>& m, int i, Spatial<T>* out) {
        const Mat3<T> R = m.world.at[i].R * mat(body.R_link);
        const Vec3<T>& p = m.world.at[i].p;
        // acceleration of the link's origin, gravity included, and angular motion, all in link axes
        const Vec3<T> lin_v = m.v[i].lin + cross(m.v[i].ang, p);
        const Vec3<T> lin_a = m.a[i].lin + cross(m.a[i].ang, p) + cross(m.v[i].ang, lin_v);
        const Vec3<T> d = tmul(R, lin_a), w = tmul(R, m.v[i].ang), alpha = tmul(R, m.a[i].ang);
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        const Vec3<T> unit[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
        const T aa[3] = {alpha.x, alpha.y, alpha.z}, ww[3] = {w.x, w.y, w.z};
        out[0] = {d, zero};
        for (int k = 0; k < 3; ++k)
            out[1 + k] = {cross(alpha, unit[k]) + cross(w, cross(w, unit[k])), cross(unit[k], d)};
        constexpr int pairs[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}};
        for (int k = 0; k < 6; ++k) {
            const int r = pairs[k][0], c = pairs[k][1];
            Vec3<T> Ea = aa[c] * unit[r], Ew = ww[c] * unit[r];
            if (r != c) Ea += aa[r] * unit[c], Ew += ww[r] * unit[c];
            out[4 + k] = {zero, Ea + cross(w, Ew)};
        }
        for (int k = 0; k < 10; ++k) {
            const Vec3<T> lin = R * out[k].lin;
            out[k] = {lin, R * out[k].ang + cross(p, lin)};
        }
    }
};

void coriolis_matrix(const Call& c, long begin, long end, Fault& f) { run<Coriolis>(c, begin, end, f); }
void rnea_derivatives(const Call& c, long begin, long end, Fault& f) { run<InverseDerivatives>(c, begin, end, f); }
void aba_derivatives(const Call& c, long begin, long end, Fault& f) { run<ForwardDerivatives>(c, begin, end, f); }
void regressor(const Call& c, long begin, long end, Fault& f) { run<Regressor>(c, begin, end, f); }

}  // namespace kinodyn::KINODYN_TARGET
