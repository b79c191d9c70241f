// Local planner on the constraint manifold: short steps towards a target, each projected onto the constraints and
// checked for collision.
#pragma once

#include "kernels/motion_checks.hpp"
#include "planning/projection.hpp"

namespace kinodyn::KINODYN_TARGET {

class ConstrainedMotion {
  public:
    static long bytes(const ConstrainedProblem& p) {
        return aligned(MotionChecker::bytes(p.query)) + 8 * (Projection::words(p.table) + words(p)) + 64;
    }

    ConstrainedMotion(ConstrainedProblem& problem, char* memory)
        : p_(problem),
          model_(problem.query.robot()),
          checker_(problem.query, memory),
          projection_(problem.table, reinterpret_cast<double*>(memory + aligned(MotionChecker::bytes(problem.query)))) {
        Memory rest{reinterpret_cast<double*>(memory + aligned(MotionChecker::bytes(problem.query))) +
                    padded(Projection::words(problem.table))};
        v_ = rest.take(model_.nv), w_ = rest.take(model_.nv), middle_ = rest.take(model_.nq);
        const long n = static_cast<long>(problem.query.moving_dofs.size());
        q_float_ = reinterpret_cast<float*>(rest.take(n)), v_float_ = reinterpret_cast<float*>(rest.take(n));
    }

    // Extends from `from` towards `target` as far as possible, at most by `range`. Calls reached(q) for each new
    // vertex. A target that satisfies the constraints is reached exactly. A random sample does not; of it, only the
    // joints with one coordinate are tracked, unless ball and free joints are sampled too. Returns whether the target
    // was reached.
    template <class Reached>
    bool extend(const double* from, const double* target, bool on_constraints, double range, double* q,
                Reached&& reached) {
        double step = p_.settings.step, covered = 0;
        copy(from, q);
        const bool whole = on_constraints || p_.samples_manifold;
        double left = difference(q, target, whole, v_);
        while (covered < range && steady_time() < p_.deadline) {
            if (left < 1e-9) return on_constraints;
            const Step s = take_step(q, target, on_constraints, whole, left, step, covered);
            if (s == Step::TooLong) {
                step *= 0.5;
                if (step < p_.settings.step / max_refinement) return false;
                continue;
            }
            if (s == Step::Blocked) return false;
            copy(next_, q);
            reached(q);
            step = step * 1.5 < p_.settings.step ? step * 1.5 : p_.settings.step;
            left = difference(q, target, whole, v_);
        }
        return left < 1e-9 && on_constraints;
    }

    // Memory for one more vertex, which take_step writes.
    void set_next(double* next) { next_ = next; }

    // Tangent vector from a to b; returns its length.
    double difference(const double* a, const double* b, bool whole, double* v) const {
        double sum = 0;
        for (const ConstraintTable::Dof& d : p_.table.dofs) v[d.iv] = b[d.iq] - a[d.iq], sum += v[d.iv] * v[d.iv];
        for (int i : p_.table.manifold_bodies) {
            const Body& body = model_.bodies[i];
            if (whole) joint_difference(body, a, b, v);
            for (int k = body.iv; k < body.iv + dofs(body.kind); ++k) {
                if (!whole) v[k] = 0;
                sum += v[k] * v[k];
            }
        }
        return __builtin_sqrt(sum);
    }

    double distance(const double* a, const double* b) { return difference(a, b, true, w_); }

  private:
    enum class Step { Taken, TooLong, Blocked };
    static constexpr double max_refinement = 16, detour = 1.6, min_progress = 0.1;

    static long words(const ConstrainedProblem& p) {
        return 3 * padded(p.query.robot().nv + p.nq) + 2 * padded(static_cast<long>(p.query.moving_dofs.size())) +
               8 * lanes;
    }
    void copy(const double* a, double* b) const {
        for (int k = 0; k < p_.nq; ++k) b[k] = a[k];
    }
    void integrate(const double* q, const double* v, double scale, double* out) const {
        copy(q, out);
        for (const ConstraintTable::Dof& d : p_.table.dofs) out[d.iq] = q[d.iq] + scale * v[d.iv];
        for (int i : p_.table.manifold_bodies) integrate_joint(model_.bodies[i], q, v, scale, out);
    }

    // One step from q along v_, whose length is `left`, to next_.
    Step take_step(const double* q, const double* target, bool on_constraints, bool whole, double left, double step,
                   double& covered) {
        ++p_.steps;
        if (on_constraints && left <= step) {
            copy(target, next_);
        } else {
            integrate(q, v_, left > step ? step / left : 1, next_);
            if (!projection_.project(next_, p_.settings.max_iterations)) return Step::TooLong;
            const double rest = difference(next_, target, whole, w_);
            if (rest > left - min_progress * (left < step ? left : step)) return Step::Blocked;
        }
        const double length = difference(q, next_, true, w_);
        if (length > detour * step) return Step::TooLong;
        integrate(q, w_, 0.5, middle_);
        if (projection_.excess(middle_) > 0.9) return Step::TooLong;
        if (!free(q)) return Step::Blocked;
        covered += length;
        return Step::Taken;
    }

    // Is the motion from q along w_ free throughout?
    bool free(const double* q) {
        int k = 0;
        for (const CollisionQuery::Dof& dof : p_.query.moving_dofs)
            q_float_[k] = p_.query.reduced(dof.iq, q[dof.iq]), v_float_[k++] = static_cast<float>(w_[dof.iv]);
        if (!p_.query.moving_manifold_bodies.empty()) checker_.set_geodesic(q, w_);
        return checker_.free_throughout(q_float_, v_float_, static_cast<float>(p_.settings.resolution));
    }

    ConstrainedProblem& p_;
    const Model& model_;
    MotionChecker checker_;
    Projection projection_;
    double *v_, *w_, *middle_, *next_ = nullptr;
    float *q_float_, *v_float_;
};

}  // namespace kinodyn::KINODYN_TARGET
