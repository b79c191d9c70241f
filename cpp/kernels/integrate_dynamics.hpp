// What the kernel `integrate_dynamics` takes and returns.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

template <class T>
struct TimeStep {
    T dt;              // [s]
    T max_rate;        // a faster joint [rad/s or m/s] has diverged
    T friction_speed;  // below it [rad/s or m/s] dry friction decreases to zero
};

// Dry friction of a joint.
template <class T>
struct JointFriction {
    T force;           // [N m or N]
    T stopping_speed;  // [rad/s or m/s] that it could stop within a step
};

// A spring and damper that push a joint back from its limits.
template <class T>
struct JointStop {
    T lower, upper, stiffness, damping;
};
struct JointStopRecord {
    std::int32_t iq, iv;
};
struct JointFrictionRecord {
    std::int32_t iv;
};

struct IntegrationSettings {
    int steps;
    bool runge_kutta;  // of fourth order; else semi-implicit Euler
    const JointStopRecord* stops;
    int n_stops;
    const JointFrictionRecord* friction;
    int n_friction;
};

template <class T>
struct Layout<TimeStep<T>> {
    static constexpr const char* name = "time_step";
    static constexpr auto fields() {
        using S = TimeStep<T>;
        return std::make_tuple(field("dt", &S::dt), field("max_rate", &S::max_rate),
                               field("friction_speed", &S::friction_speed));
    }
};
template <class T>
struct Layout<JointFriction<T>> {
    static constexpr const char* name = "joint_friction_law";
    static constexpr auto fields() {
        return std::make_tuple(field("force", &JointFriction<T>::force),
                               field("stopping_speed", &JointFriction<T>::stopping_speed));
    }
};
template <class T>
struct Layout<JointStop<T>> {
    static constexpr const char* name = "joint_stop_law";
    static constexpr auto fields() {
        using S = JointStop<T>;
        return std::make_tuple(field("lower", &S::lower), field("upper", &S::upper), field("stiffness", &S::stiffness),
                               field("damping", &S::damping));
    }
};
template <>
struct Layout<JointStopRecord> {
    static constexpr const char* name = "joint_stop";
    static constexpr auto fields() {
        return std::make_tuple(field("iq", &JointStopRecord::iq), field("iv", &JointStopRecord::iv));
    }
};
template <>
struct Layout<JointFrictionRecord> {
    static constexpr const char* name = "joint_friction";
    static constexpr auto fields() { return std::make_tuple(field("iv", &JointFrictionRecord::iv)); }
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
