// Joints at a configuration: e is the difference on the configuration manifold.
//
// Each joint has rows of its own. Where a joint has one degree of freedom its row is a unit vector; of a ball or a free
// joint e is a logarithm, and its rows are the inverse of the left Jacobian at e.
#pragma once

#include "tasks/fields.hpp"
#include "tasks/robot_state.hpp"
#include "tasks/se3_log.hpp"

namespace kinodyn::KINODYN_TARGET {

struct PostureFields : TaskFields {
    static constexpr auto layout() { return named("posture", task_parts(&Sizes::nv, &Sizes::nv, &Sizes::nq)); }
};

class PostureTask {
  public:
    using Fields = PostureFields;
    static constexpr int rows = -1, distances = 0;  // rows: one for each degree of freedom

    PostureTask(const RobotState& state, const TaskEntry&, const PostureFields& fields)
        : state_(state), fields_(fields) {}

    void error(double* e) const {
        for (const Body& b : state_.model.bodies) joint_difference(b, state_.q, fields_.target, e);
    }

    // Calls single(k) for each v index that is a joint of its own, and block(k, n) for ball and free joints of n
    // degrees of freedom from k on.
    template <class Single, class Block>
    static void for_joints(const Model& model, Single&& single, Block&& block) {
        std::size_t next = 0;
        for (int k = 0; k < model.nv;) {
            while (next < model.bodies.size() && dofs(model.bodies[next].kind) == 1) ++next;
            if (next == model.bodies.size() || model.bodies[next].iv != k) {
                single(k++);
                continue;
            }
            const int n = dofs(model.bodies[next++].kind);
            block(k, n);
            k += n;
        }
    }
    // The same with block(k, n, joint), for those joints that have weight; e is the error.
    template <class Single, class Block>
    void for_joints(const double* e, Single&& single, Block&& block) const {
        for_joints(state_.model, single, [&](int k, int n) {
            if (has_weight(k, n)) block(k, n, Joint(e + k, n));
        });
    }

    void motion(const double* e, double* rate, double* bias) const {
        const double *v = state_.v, *target_v = fields_.velocity, *target_a = fields_.acceleration;
        for (int k = 0; k < state_.model.nv; ++k) rate[k] = target_v[k] - v[k], bias[k] = target_a[k];
        for_joints(
            e, [](int) {},
            [&](int k, int, const Joint& joint) {
                joint.motion(v + k, target_v + k, target_a + k, rate + k, bias + k);
            });
    }

    // The rows of a ball or a free joint of n degrees of freedom, n = 3 or 6.
    class Joint {
      public:
        Joint(const double* e, int n) : e_(twist(e, n)), jacobian_(e_), n_(n) {}

        // Row by row (n, n).
        void write_rows(double* J) const {
            for (int j = 0; j < n_; ++j) {
                double unit[6] = {};
                unit[j] = 1;
                const Spatial<double> column = jacobian_.inverse(twist(unit, n_));
                for (int k = 0; k < n_; ++k) J[k * n_ + j] = component(column, k + 6 - n_);
            }
        }

        // Rate of the error for joint velocity v; the target's motion is given in the target's axes.
        void motion(const double* v, const double* target_v, const double* target_a, double* rate, double* bias) const {
            const Spatial<double> u = twist(v, n_), t = from_target(twist(target_v, n_));
            const Spatial<double> de = jacobian_.inverse(t - u);
            Spatial<double> change = from_target(twist(target_a, n_));
            change.lin -= cross(u.ang, t.lin) + cross(u.lin, t.ang);  // the axes of the joint move
            change.ang -= cross(u.ang, t.ang);
            const Spatial<double> dde = jacobian_.inverse(change - jacobian_.rate_times(de));
            for (int k = 0; k < n_; ++k) {
                rate[k] = component(de, k + 6 - n_);
                bias[k] = component(dde, k + 6 - n_);
            }
        }

      private:
        static Spatial<double> twist(const double* x, int n) { return {n == 6 ? vec(x) : V{0, 0, 0}, vec(x + n - 3)}; }
        Spatial<double> from_target(const Spatial<double>& s) const {
            const Quaternion r = exponential(e_.ang);
            const auto turned = [&](const V& a) { return a + 2 * cross(r.u, cross(r.u, a) + r.s * a); };
            const V ang = turned(s.ang);
            return {turned(s.lin) + cross(left_jacobian_times(e_.lin, e_.ang), ang), ang};
        }

        Spatial<double> e_;
        LeftJacobian jacobian_;
        int n_;
    };

  private:
    bool has_weight(int k, int n) const {
        for (int i = k; i < k + n; ++i)
            if (fields_.weights[i] != 0) return true;
        return false;
    }

    const RobotState& state_;
    const PostureFields& fields_;
};

}  // namespace kinodyn::KINODYN_TARGET
