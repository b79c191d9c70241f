// What the kernel `continuation` takes and returns.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

struct ContinuationSettings {
    double tolerance;     // largest correction of a predicted step [rad]
    std::int32_t joints;  // of the chain: 6, or 7 of which one is given
    std::int32_t given;   // index of the joint that is given, -1 for none
    std::int32_t max_steps;

    static constexpr auto layout() {
        using S = ContinuationSettings;
        return named("continuation_settings", field("tolerance", &S::tolerance), field("joints", &S::joints),
                     field("given", &S::given), field("max_steps", &S::max_steps));
    }
};

// Complex numbers are pairs (real, imaginary).
namespace continuation_input {
enum {
    links,  // (joints, 12): rotation by rows and translation from each joint's frame to the next one's
    start,  // (joints): z = exp(i q) of a solution at the first pose
    from,   // (8): first pose: quaternion, w first, of any norm; position; unused
    to,     // (8): last pose: the same; z of the given joint
};
}
namespace continuation_output {
enum {
    z,      // (joints): solution at the last pose
    left,   // part of the path that is left: 0 where the end was reached
    error,  // last Newton correction [rad]
};
}

}  // namespace kinodyn
