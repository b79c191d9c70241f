// What this instruction set offers.
#include "kernels/algorithms.hpp"

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
    rnea,
    bias,
    gravity,
    aba,
    crba,
    coriolis_matrix,
    energy,
    factorize,
    solve,
    momentum_matrix,
    momentum,
    momentum_rate,
    rnea_derivatives,
    aba_derivatives,
    regressor,
    state,
    state_jacobian,
    integrate,
    difference,
    interpolate,
    integrate_dynamics,
    constrained,
    impact,
    constraint_rows,
    constraint_error,
    project,
    point_motion,
    soft_forces,
    ik,
    ik_residual,
    task_rows,
    whole_body,
    id_qp,
    frame_control,
};

}  // namespace kinodyn::KINODYN_TARGET
