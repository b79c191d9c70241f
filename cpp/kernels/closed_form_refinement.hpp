// Verification and refinement of the branches of a closed form, one target and one branch at a time.
#pragma once

#include "kernels/closed_form.hpp"
#include "kernels/motion.hpp"
#include "solver/jacobi_svd.hpp"

namespace kinodyn::KINODYN_TARGET {

// Cosines and sines of one joint in all branches.
struct alignas(64) BranchAngles {
    double cos[closed_form_branches], sin[closed_form_branches];
};

// Six revolute joints on the path to a frame, and the pose that it must reach.
class ClosedFormTarget {
  public:
    static constexpr int joints = 6;
    static constexpr double limit_tolerance = 1e-10;  // a joint beyond a limit by less is set to the limit [rad]
    static constexpr double refine_above = 1e-10;     // residuals that need refinement

    static long words(const Model& model) {
        return (lanes + 1) * 12 * static_cast<long>(model.bodies.size()) + lanes * static_cast<long>(model.nq);
    }

    explicit ClosedFormTarget(Work<double>& work)
        : w_(work), plan_(*reinterpret_cast<const ClosedFormPlan*>(work.in[closed_form_input::plan])) {
        const long bodies = static_cast<long>(work.model.bodies.size());
        packed_q_ = work.take_as<Pack>(work.model.nq);
        packed_at_ = work.take_as<Placement<Pack>>(bodies);
        at_ = work.take_as<Placement<double>>(bodies);
        for (int k = 0; k < joints; ++k) index_[k] = static_cast<int>(work.in[closed_form_input::indices][k]);
    }

    // Writes the configurations of all branches, which joints are beyond a limit, and the residuals; a pack of branches
    // at a time.
    void write(const BranchAngles (&angles)[joints]) {
        const double* rest = w_.in[closed_form_input::rest];
        const int nq = w_.model.nq;
        double *q = w_.out[closed_form_output::q], *outside = w_.out[closed_form_output::outside];
        for (int b = 0; b < closed_form_branches; b += lanes) {
            for (int k = 0; k < nq; ++k) packed_q_[k] = rest[k];
            for (int k = 0; k < joints; ++k) {
                Pack c, s;
                memcpy(&c, angles[k].cos + b, sizeof c);
                memcpy(&s, angles[k].sin + b, sizeof s);
                Pack angle = arctan2(s, c);
                angle.v = angle.v == angle.v ? angle.v : Pack::Vector{};  // NaN if out of reach
                packed_q_[index_[k]] = wrapped(angle, k, outside + joints * b);
            }
            for (int i = 0; i < lanes; ++i)
                for (int k = 0; k < nq; ++k) q[(b + i) * nq + k] = packed_q_[k][i];
            Placement<Pack> frame;
            const Pack residual = distance(packed_q_, packed_at_, frame);
            memcpy(w_.out[closed_form_output::residual] + b, &residual, sizeof residual);
        }
    }

    // Newton steps from a configuration near a solution, damped (Levenberg-Marquardt) where they do not reduce the
    // residual, near singularities. Returns the residual.
    double refine(double* q, double* outside, double residual) {
        constexpr int max_steps = 60, max_slow_steps = 5;
        constexpr double slow_progress = 0.9, least_damping = 1e-12, max_damping = 1.0;
        double damping = 0, trial_outside[joints], kept[joints];
        int slow = 0;
        for (int step = 0; step < max_steps; ++step) {
            double change[joints];
            distance(q, at_, frame_);
            newton_step(damping, change);
            for (int k = 0; k < joints; ++k) kept[k] = q[index_[k]];
            for (int k = 0; k < joints; ++k) q[index_[k]] = wrapped(kept[k] + change[k], k, trial_outside[k]);
            const double after = distance(q, at_, frame_);
            const bool improved = after < residual;
            if (improved) {
                slow = after > slow_progress * residual ? slow + 1 : 0;
                residual = after;
                memcpy(outside, trial_outside, sizeof trial_outside);
                damping *= 0.1;
            } else {
                for (int k = 0; k < joints; ++k) q[index_[k]] = kept[k];
                // in proportion to the square of the residual, convergence stays quadratic
                const double least = residual * residual > least_damping ? residual * residual : least_damping;
                damping = 10 * damping > least ? 10 * damping : least;
            }
            if (!(residual > refine_above && damping < max_damping && slow < max_slow_steps)) break;
        }
        return residual;
    }

  private:
    using V = Vec3<double>;

    const double* target() const { return w_.in[closed_form_input::target]; }

    // An angle of joint k with full turns added: nearest to `near` among those within the limits; if none is, nearest
    // regardless.
    double wrapped(double angle, int k, double& outside) const {
        constexpr double turn = 6.283185307179586;
        const double lower = w_.in[closed_form_input::lower][k], upper = w_.in[closed_form_input::upper][k];
        if (plan_.turns_wrapped != 0)
            angle += turn * __builtin_rint((w_.in[closed_form_input::near][k] - angle) / turn);
        const double low = lower - limit_tolerance, high = upper + limit_tolerance;
        double moved = angle;
        if (angle < low) moved = angle + turn * __builtin_ceil((low - angle) / turn);
        if (angle > high) moved = angle - turn * __builtin_ceil((angle - high) / turn);
        outside = !(moved >= low && moved <= high);
        if (outside != 0) return angle;
        return moved < lower ? lower : moved > upper ? upper : moved;
    }
    // The same for several branches; `outside` has a row for each.
    Pack wrapped(Pack angle, int k, double* outside) const {
        const double lower = w_.in[closed_form_input::lower][k], upper = w_.in[closed_form_input::upper][k];
        const bool within = !any((angle.v < lower) | (angle.v > upper));
        if (within && plan_.turns_wrapped == 0) return angle;
        for (int i = 0; i < lanes; ++i) angle.v[i] = wrapped(angle[i], k, outside[joints * i + k]);
        return angle;
    }

    // Frobenius norm of the difference between the frame's pose and the target.
    template <class T>
    T distance(const T* q, Placement<T>* at, Placement<T>& frame) const {
        for (int k = 0; k < w_.call.bodies.size; ++k) {
            const Body& body = w_.model.bodies[w_.call.bodies[k]];
            SinCos<T> angle;
            joint_angle(body, q, angle);
            place(body, parent_of(at, body), q, angle, at[w_.call.bodies[k]]);
        }
        frame = place_frame(w_.model.frames[w_.call.frames[0]], at);
        const double* G = target();
        const Vec3<T> x = frame.R.x - vec(G), y = frame.R.y - vec(G + 4), z = frame.R.z - vec(G + 8);
        const Vec3<T> p = frame.p - V{G[3], G[7], G[11]};
        return Lanes<T>::root(dot(x, x) + dot(y, y) + dot(z, z) + dot(p, p));
    }

    // The step from the configuration that `distance` was called with. Directions of nearly zero singular values are
    // not corrected by steps without damping: a huge one there would leave the branch.
    void newton_step(double damping, double* change) const {
        constexpr double singular = 1e-6, longest = 0.1;  // of the largest singular value; [rad]
        const double* T = target();
        const V t = V{T[3], T[7], T[11]} - frame_.p;
        const V r =
            0.5 * (cross(frame_.R.column(0), V{T[0], T[4], T[8]}) + cross(frame_.R.column(1), V{T[1], T[5], T[9]}) +
                   cross(frame_.R.column(2), V{T[2], T[6], T[10]}));
        double J[6 * joints] = {}, error[6] = {t.x, t.y, t.z, r.x, r.y, r.z}, square[6];
        for (int k = 0; k < joints; ++k) column(k, J + k);
        orthogonalise(J, error, square, 6, joints);
        for (int k = 0; k < joints; ++k) change[k] = 0;
        for (int i = 0; i < 6; ++i) {
            const bool kept = damping > 0 || square[i] > singular * singular * square[0];
            const double factor = kept && square[i] > 0 ? error[i] / (square[i] + damping) : 0;
            for (int k = 0; k < joints; ++k) change[k] += factor * J[i * joints + k];
        }
        for (int k = 0; k < joints; ++k)
            change[k] = change[k] > longest ? longest : change[k] < -longest ? -longest : change[k];
    }

    // Writes the column of the Jacobian of joint k.
    void column(int k, double* out) const {
        for (int b = 0; b < w_.call.bodies.size; ++b) {
            const int i = w_.call.bodies[b];
            const Body& body = w_.model.bodies[i];
            if (body.iq != index_[k]) continue;
            for_columns<double>(body, at_[i].R, at_[i].p - frame_.p, [&](int, const Spatial<double>& s) {
                out[0] = s.lin.x, out[joints] = s.lin.y, out[2 * joints] = s.lin.z;
                out[3 * joints] = s.ang.x, out[4 * joints] = s.ang.y, out[5 * joints] = s.ang.z;
            });
        }
    }

    Work<double>& w_;
    const ClosedFormPlan& plan_;
    Pack* packed_q_;
    Placement<Pack>* packed_at_;
    Placement<double>* at_;
    Placement<double> frame_;
    int index_[joints];
};

}  // namespace kinodyn::KINODYN_TARGET
