// Constraints between frames: what must not move, seen as rows that act on joint velocities.
//
// A constraint stands between a frame A and a frame B, or the world. With a place fixed in each, it keeps some of the
// six directions of A's place still relative to B's: the motion of A at its own place, seen from B, in the axes of B's
// place. Forces act on A there, in those axes, and the opposite ones on B.
#pragma once

#include "momentum.hpp"

namespace kinodyn::KINODYN_TARGET {

struct Constraint {
    int a, b;  // frames; b = -1: the world
    int mask;  // bit k: direction k of x y z rx ry rz is kept
    static constexpr int integers = 3;
    static constexpr int numbers = 26;  // place in A: p 3, R 9; place in B: p 3, R 9; stiffness, damping [1/s^2, 1/s]
    static Constraint read(const int* n) { return {n[0], n[1], n[2]}; }
    int rows() const { return __builtin_popcount(static_cast<unsigned>(mask)); }
};

// Motion of the bodies: twists, and accelerations without those of the joints (`bias`), about the common point.
template <class T>
struct Motion {
    Spatial<T>*v, *bias;
};

template <class T>
class ConstraintRows {
  public:
    ConstraintRows(const Model& model, const World<T>& world, const Motion<T>& motion)
        : model_(model), world_(world), motion_(motion) {}

    // Writes the constraint's rows: columns `first` .. of JT (nv, m), and for each row the acceleration that it needs
    // (`wanted`) and its velocity. Returns the number of rows.
    long write(const Constraint& c, const T* x, T* JT, long m, long first, T* wanted, T* velocity) const {
        const Placement<T> A = place(c.a, x, x + 3), B = place(c.b, x + 12, x + 15);
        const Spatial<T> va = at_point(motion_.v, c.a, A.p), vb = at_point(motion_.v, c.b, A.p);
        const Spatial<T> relative = in_axes(B.R, va - vb);
        const Spatial<T> bias = in_axes(B.R, relative_bias(c, A.p, va, vb));
        const Vec3<T> d = tmul(B.R, A.p - B.p), r = turn_between(B.R, A.R);
        const T error[6] = {d.x, d.y, d.z, r.x, r.y, r.z};
        const T rate[6] = {relative.lin.x, relative.lin.y, relative.lin.z,
                           relative.ang.x, relative.ang.y, relative.ang.z};
        const T drift[6] = {bias.lin.x, bias.lin.y, bias.lin.z, bias.ang.x, bias.ang.y, bias.ang.z};
        long row = first;
        int place_of[6];
        for (int k = 0; k < 6; ++k) {
            place_of[k] = -1;
            if (!(c.mask >> k & 1)) continue;
            place_of[k] = static_cast<int>(row);
            wanted[row] = -drift[k] - x[24] * error[k] - x[25] * rate[k];
            velocity[row] = rate[k];
            ++row;
        }
        add_columns(c.a, A.p, B.R, 1, place_of, JT, m);
        add_columns(c.b, A.p, B.R, -1, place_of, JT, m);
        return row - first;
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

    // The twist of a frame's body at a point.
    Spatial<T> at_point(const Spatial<T>* of, int frame, const Vec3<T>& p) const {
        const Vec3<T> zero = {0.0, 0.0, 0.0};
        const int body = body_of(frame);
        if (body < 0) return {zero, zero};
        return {of[body].lin + cross(of[body].ang, p), of[body].ang};
    }
    // Acceleration of the point of the body that is at p, joints at constant velocity.
    Spatial<T> point_bias(int frame, const Vec3<T>& p, const Spatial<T>& v) const {
        Spatial<T> a = at_point(motion_.bias, frame, p);
        a.lin += cross(v.ang, v.lin);
        return a;
    }
    // Of A's place as seen from B, whose axes turn.
    Spatial<T> relative_bias(const Constraint& c, const Vec3<T>& p, const Spatial<T>& va, const Spatial<T>& vb) const {
        Spatial<T> a = point_bias(c.a, p, va) - point_bias(c.b, p, vb);
        a.lin -= T(2.0) * cross(vb.ang, va.lin - vb.lin);
        a.ang -= cross(vb.ang, va.ang);
        return a;
    }

    static Spatial<T> in_axes(const Mat3<T>& R, const Spatial<T>& s) { return {tmul(R, s.lin), tmul(R, s.ang)}; }

    // Rotation of A as seen from B: 2 sin(angle / 2) along the axis.
    static Vec3<T> turn_between(const Mat3<T>& B, const Mat3<T>& A) {
        using L = Lanes<T>;
        const Vec3<T> x = tmul(B, A.column(0)), y = tmul(B, A.column(1)), z = tmul(B, A.column(2));
        const T k = 1.0 / L::root(L::larger(1.0 + x.x + y.y + z.z, T(1e-12)));
        return {k * (y.z - z.y), k * (z.x - x.z), k * (x.y - y.x)};
    }

    void add_columns(int frame, const Vec3<T>& p, const Mat3<T>& axes, double sign, const int* place_of, T* JT,
                     long m) const {
        for (int b = body_of(frame); b >= 0; b = model_.bodies[b].parent) {
            const Body& body = model_.bodies[b];
            for (int col = body.column; col < body.column + dofs(body.kind); ++col) {
                const Spatial<T>& s = world_.S[col];
                const Spatial<T> local = in_axes(axes, {s.lin + cross(s.ang, p), s.ang});
                const T column[6] = {local.lin.x, local.lin.y, local.lin.z, local.ang.x, local.ang.y, local.ang.z};
                T* out = JT + model_.column_iv[col] * m;
                for (int k = 0; k < 6; ++k)
                    if (place_of[k] >= 0) out[place_of[k]] += sign * column[k];
            }
        }
    }

    const Model& model_;
    const World<T>& world_;
    const Motion<T>& motion_;
};

}  // namespace kinodyn::KINODYN_TARGET
