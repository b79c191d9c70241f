// Impulses of unilateral contacts with dry friction.
#pragma once

#include "core/kernels.hpp"

namespace kinodyn {

// For m points with velocities c + A x after the impulses x, three coordinates each with the normal first: finds x with
// x_n >= 0, normal velocity at least b, one of the two active, and friction |x_t| <= mu x_n that opposes sliding.
// Projected Gauss-Seidel, point by point (J. J. Moreau 1988; M. Jean, "The non-smooth contact dynamics method", 1999).
// Inputs: 0 A (9 m^2), 1 c (3 m), 2 b (m), 3 mu (m), below 0 for points that do not take part, 4 a warm start (3 m),
// 5 tolerance. Settings: ImpulseSettings. Outputs: 0 x (3 m), 1 the last change in velocity, 2 sweeps.
void contact_impulses(const Call& call, long begin, long end, Fault& fault);

}  // namespace kinodyn
