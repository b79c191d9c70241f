// What the kernel `hard_contacts` takes and returns: the impulses of unilateral contacts in one time step.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

struct HardContactSettings {
    double dt;           // [s]
    double restitution;  // 0 to 1
    double tolerance;    // of the Gauss-Seidel sweeps [m/s]
    std::int32_t max_sweeps;
    std::int32_t plane;  // 1: the ground is the plane through the origin across each point's normal

    static constexpr auto layout() {
        using S = HardContactSettings;
        return named("hard_contact_settings", field("dt", &S::dt), field("restitution", &S::restitution),
                     field("tolerance", &S::tolerance), field("max_sweeps", &S::max_sweeps), field("plane", &S::plane));
    }
};

namespace hard_contact_input {
enum {
    q,
    v,
    mass_matrix,
    inertia,   // (nv) added to the diagonal of the mass matrix
    force,     // (nv) that accelerates it, without contacts
    owner,     // (m) which of the frames carries each point
    position,  // (m, 3) in that frame
    normal,    // (m, 3) of the ground in the world
    height,    // (m) above the ground; not read for a plane
    friction,  // (m)
    guess,     // (m, 3)
};
}
namespace hard_contact_output {
enum {
    impulse,  // (m, 3) along the normal and two tangents [N s]
    wrench,   // (frames, 6) on each frame in world axes [N, N m]
    change,   // of the velocity in the last sweep [m/s]
};
}

}  // namespace kinodyn
