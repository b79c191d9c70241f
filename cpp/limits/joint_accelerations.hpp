// Bounds of joint accelerations under which acceleration, velocity and position limits can be kept, and which of these
// limits each bound comes from.
#pragma once

#include "kernels/world.hpp"
#include "limits/acceleration.hpp"
#include "limits/position.hpp"
#include "limits/velocity.hpp"

namespace kinodyn::KINODYN_TARGET {

class JointAccelerations {
  public:
    static long words(long nv) { return 4 * padded(nv); }
    void take(Memory& memory, long nv) {
        nv_ = nv;
        for (double** x : {&lower_, &upper_, &lower_limit_, &upper_limit_}) *x = memory.take(nv);
    }

    // M: mass matrix at q.
    void compute(const Model& model, const JointBounds& joints, const double* q, const double* v, const double* M,
                 double dt) {
        for (long k = 0; k < nv_; ++k) {
            Bounds bounds = acceleration_bounds(joints.acceleration[k]);
            set(k, bounds, JointLimit::Acceleration);
            narrow_by_velocity(bounds, joints.velocity[k], v[k], joints.braking[k], dt);
            narrow(k, bounds, JointLimit::Velocity);
        }
        for (const Body& body : model.bodies) {
            if (dofs(body.kind) != 1) continue;
            const long k = body.iv, i = body.iq;
            Bounds bounds = this->bounds(k);
            narrow_by_position(bounds, q[i], v[k], joints.lower[i], joints.upper[i], braking(joints, k, M[k * nv_ + k]),
                               dt);
            narrow(k, bounds, JointLimit::Position);
        }
    }

    Bounds bounds(long k) const { return {lower_[k], upper_[k]}; }
    // The limit behind the bound that is nearer to acceleration a, or that a violates.
    double limit_of(long k, double a) const {
        return a - lower_[k] < upper_[k] - a ? lower_limit_[k] : upper_limit_[k];
    }

  private:
    // Available deceleration of a joint, planned with half of the motor torque on the inertia that it moves:
    // the other half is reserved for gravity and other joints.
    static Braking braking(const JointBounds& joints, long k, double inertia) {
        constexpr double motor_fraction = 0.5;
        const double most = joints.braking[k], motor = motor_fraction * joints.effort[k] / inertia;
        return {motor > 0 && motor < most ? motor : most, most};
    }
    void set(long k, const Bounds& bounds, JointLimit limit) {
        lower_[k] = bounds.lower, upper_[k] = bounds.upper;
        lower_limit_[k] = upper_limit_[k] = static_cast<double>(limit);
    }
    void narrow(long k, const Bounds& bounds, JointLimit limit) {
        if (bounds.lower != lower_[k]) lower_[k] = bounds.lower, lower_limit_[k] = static_cast<double>(limit);
        if (bounds.upper != upper_[k]) upper_[k] = bounds.upper, upper_limit_[k] = static_cast<double>(limit);
    }

    long nv_ = 0;
    double *lower_, *upper_;
    double *lower_limit_, *upper_limit_;  // JointLimit of each bound
};

}  // namespace kinodyn::KINODYN_TARGET
