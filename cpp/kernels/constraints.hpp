// Constraints between frames (contact.hpp): their errors, Jacobians and drifts.
#pragma once

#include "kernels/contact.hpp"
#include "kernels/manifold.hpp"
#include "kernels/momentum.hpp"

namespace kinodyn::KINODYN_TARGET {

// Motion of the bodies: twists, and accelerations without those of the joints (`bias`), about the common point.
template <class T>
struct Motion {
    Spatial<T>*v, *bias;
};

// One constraint at one configuration. Its outputs have one entry for each constrained direction.
template <class T>
class PlacedConstraint {
  public:
    PlacedConstraint(const Model& model, const World<T>& world, const ConstraintRecord& c, const ConstraintPoses<T>& x)
        : model_(model),
          world_(world),
          c_(c),
          A_(place(c.frame, x.p_frame, x.R_frame)),
          B_(place(c.other, x.p_other, x.R_other)) {}

    int rows() const { return c_.rows(); }

    // Adds its columns to JT (nv, m), which must be zero initially.
    [[gnu::noinline]] void columns(T* JT, long m) const {
        add_columns(c_.frame, 1, JT, m);
        add_columns(c_.other, -1, JT, m);
    }

    // Error of A's pose relative to B's: the displacement along, and 2 sin(angle / 2) about, each axis.
    [[gnu::noinline]] void error(T* out) const {
        if (!c_.has_target) {
            for (int k = 0; k < c_.rows(); ++k) out[k] = 0.0;
        } else {
            put({tmul(B_.R, A_.p - B_.p), turn_between(B_.R, A_.R)}, out);
        }
    }

    // Velocity of A's pose seen from B, and its acceleration at constant joint velocities.
    [[gnu::noinline]] void motion(const Motion<T>& motion, T* rate, T* drift) const {
        const Spatial<T> va = at_point(motion.v, c_.frame), vb = at_point(motion.v, c_.other);
        put({tmul(B_.R, va.lin - vb.lin), tmul(B_.R, va.ang - vb.ang)}, rate);
        Spatial<T> a = point_bias(motion, c_.frame, va) - point_bias(motion, c_.other, vb);
        a.lin -= T(2.0) * cross(vb.ang, va.lin - vb.lin);  // the axes of B rotate
        a.ang -= cross(vb.ang, va.ang);
        put({tmul(B_.R, a.lin), tmul(B_.R, a.ang)}, drift);
    }

  private:
    Placement<T> place(int frame, const T* p, const T* R) const {
        const Mat3<T> turn = {{R[0], R[1], R[2]}, {R[3], R[4], R[5]}, {R[6], R[7], R[8]}};
        const Vec3<T> shift = {p[0], p[1], p[2]};
        if (frame < 0) return {turn, shift - world_.origin};
        Placement<T> f = place_frame(model_.frames[frame], world_.at);
        if (model_.frames[frame].body < 0) f.p -= world_.origin;
        return {f.R * turn, f.p + f.R * shift};
    }

    int body_of(int frame) const { return frame < 0 ? -1 : model_.frames[frame].body; }

    // The twist of a frame's body at A's origin.
    Spatial<T> at_point(const Spatial<T>* of, int frame) const {
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        const int body = body_of(frame);
        if (body < 0) return {zero, zero};
        return {of[body].lin + cross(of[body].ang, A_.p), of[body].ang};
    }
    // Acceleration of the body-fixed point at A's origin, at constant joint velocities.
    Spatial<T> point_bias(const Motion<T>& motion, int frame, const Spatial<T>& v) const {
        Spatial<T> a = at_point(motion.bias, frame);
        a.lin += cross(v.ang, v.lin);
        return a;
    }

    void put(const Spatial<T>& s, T* out) const {
        const T all[6] = {s.lin.x, s.lin.y, s.lin.z, s.ang.x, s.ang.y, s.ang.z};
        for (int k = 0; k < 6; ++k)
            if (c_.constrains(k)) *out++ = all[k];
    }

    // Rotation of A as seen from B: 2 sin(angle / 2) along the axis.
    static Vec3<T> turn_between(const Mat3<T>& B, const Mat3<T>& A) {
        using L = Lanes<T>;
        const Vec3<T> x = tmul(B, A.column(0)), y = tmul(B, A.column(1)), z = tmul(B, A.column(2));
        const T opening = 1.0 + x.x + y.y + z.z;  // 4 cos^2(angle / 2)
        const T k = 1.0 / L::root(L::larger(opening, T(1e-8)));
        Vec3<T> turn = {k * (y.z - z.y), k * (z.x - x.z), k * (x.y - y.x)};
        if (L::all_positive(opening - 1e-8)) return turn;
        for (int i = 0; i < L::count; ++i) {  // near half a turn the antisymmetric part does not determine the axis
            const auto at = [i](const Vec3<T>& v) { return V{L::lane(v.x, i), L::lane(v.y, i), L::lane(v.z, i)}; };
            const V cx = at(x), cy = at(y), cz = at(z);
            const Quaternion r = quaternion_of({{cx.x, cy.x, cz.x}, {cx.y, cy.y, cz.y}, {cx.z, cy.z, cz.z}});
            const double two = r.s < 0 ? -2 : 2;
            L::set(turn.x, i, two * r.u.x), L::set(turn.y, i, two * r.u.y), L::set(turn.z, i, two * r.u.z);
        }
        return turn;
    }

    void add_columns(int frame, double sign, T* JT, long m) const {
        for (int b = body_of(frame); b >= 0; b = model_.bodies[b].parent) {
            const Body& body = model_.bodies[b];
            for (int col = body.column; col < body.column + dofs(body.kind); ++col) {
                const Spatial<T>& s = world_.S[col];
                const Vec3<T> lin = tmul(B_.R, s.lin + cross(s.ang, A_.p)), ang = tmul(B_.R, s.ang);
                const T column[6] = {lin.x, lin.y, lin.z, ang.x, ang.y, ang.z};
                T* out = JT + model_.column_iv[col] * m;
                for (int k = 0; k < 6; ++k)
                    if (c_.constrains(k)) *out++ += sign * column[k];
            }
        }
    }

    const Model& model_;
    const World<T>& world_;
    const ConstraintRecord c_;
    const Placement<T> A_, B_;
};

inline const ConstraintList& constraints(const Call& call) { return call.as<ConstraintList>(); }

template <class T>
[[gnu::noinline]] inline PlacedConstraint<T> placed(Work<T>& w, const World<T>& world, int k) {
    const ConstraintList& list = constraints(w.call);
    const auto& poses = *reinterpret_cast<const ConstraintPoses<T>*>(w.in[list.first_input + k]);
    return {w.model, world, list.records[k], poses};
}

// Motion of all bodies.
template <class T>
[[gnu::noinline]] inline Motion<T> move_all(Work<T>& w, const World<T>& world, const T* v) {
    const int n = static_cast<int>(w.model.bodies.size());
    const Motion<T> motion = {w.template take_as<Spatial<T>>(n), w.template take_as<Spatial<T>>(n)};
    const Vec3<T> zero = {0.0, 0.0, 0.0};
    for (int i = 0; i < n; ++i) move_body<T>(w.model, world, i, v, nullptr, {zero, zero}, motion.v, motion.bias);
    return motion;
}

}  // namespace kinodyn::KINODYN_TARGET
