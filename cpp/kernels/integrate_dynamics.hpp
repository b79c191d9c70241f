// What the kernel `integrate_dynamics` takes and returns.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

template <class T>
struct TimeStep {
    T dt;              // [s]
    T max_rate;        // a faster joint [rad/s or m/s] has diverged
    T friction_speed;  // below it [rad/s or m/s] dry friction decreases to zero

    static constexpr auto layout() {
        using S = TimeStep<T>;
        return named("time_step", field("dt", &S::dt), field("max_rate", &S::max_rate),
                     field("friction_speed", &S::friction_speed));
    }
};

// Dry friction of a joint.
template <class T>
struct JointFriction {
    T force;           // [N m or N]
    T stopping_speed;  // [rad/s or m/s] that it could stop within a step

    static constexpr auto layout() {
        return named("joint_friction_law", field("force", &JointFriction<T>::force),
                     field("stopping_speed", &JointFriction<T>::stopping_speed));
    }
};

// A spring and damper that push a joint back from its limits.
template <class T>
struct JointStop {
    T lower, upper, stiffness, damping;

    static constexpr auto layout() {
        using S = JointStop<T>;
        return named("joint_stop_law", field("lower", &S::lower), field("upper", &S::upper),
                     field("stiffness", &S::stiffness), field("damping", &S::damping));
    }
};

struct JointStopRecord {
    std::int32_t iq, iv;

    static constexpr auto layout() {
        return named("joint_stop", field("iq", &JointStopRecord::iq), field("iv", &JointStopRecord::iv));
    }
};

struct JointFrictionRecord {
    std::int32_t iv;

    static constexpr auto layout() { return named("joint_friction", field("iv", &JointFrictionRecord::iv)); }
};

struct IntegrationSettings {
    int steps;
    bool runge_kutta;  // of fourth order; else semi-implicit Euler
    const JointStopRecord* stops;
    int n_stops;
    const JointFrictionRecord* friction;
    int n_friction;
};

namespace integration_input {
enum { q, v, tau, time_step, friction, stops };
}
namespace integration_output {
enum {
    q,
    v,
    steps,        // completed
    diverged_dof  // v index of the joint that diverged, -1 if none
};
}

}  // namespace kinodyn
