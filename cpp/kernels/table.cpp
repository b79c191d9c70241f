// What this instruction set offers.
#include "algorithms.hpp"

#define KINODYN_TEXT_OF(x) #x
#define KINODYN_TEXT(x) KINODYN_TEXT_OF(x)

namespace kinodyn::KINODYN_TARGET {

extern const Kernels kernels;
const Kernels kernels = {
    KINODYN_TEXT(KINODYN_TARGET),
    KINODYN_LANES,
    poses,
    jacobian,
    jacobian_dot,
    velocity,
    acceleration,
    com,
    com_jacobian,
    inverse,
    bias,
    gravity,
    forward,
    mass_matrix,
    coriolis_matrix,
    energy,
    factorize,
    solve,
    momentum_matrix,
    momentum,
    momentum_rate,
    inverse_derivatives,
    forward_derivatives,
    regressor,
    state,
    state_jacobian,
    integrate,
    difference,
    interpolate,
    advance,
    constrained,
    impact,
    constraint_rows,
    constraint_error,
    settle,
    point_motion,
    soft_forces,
    reach,
    misfit,
    whole_body,
    inverse_dynamics,
    frame_control,
};

}  // namespace kinodyn::KINODYN_TARGET
