"""Rotations, poses, twists, wrenches and inertias over any batch axes, to complement SciPy's `Rotation`.

Rotations are matrices `(..., 3, 3)`; poses `T_a_b` `(..., 4, 4)` map coordinates in b to a; quaternions `(..., 4)` are
ordered x y z w; twists and wrenches `(..., 6)` are linear first. Rotation arguments also accept a SciPy
`Rotation`, pose arguments a SciPy `RigidTransform`. Poses are composed by the matrix product `T_a_b @ T_b_c`.
"""

from kinodyn.checks import as_pose, as_rotation
from kinodyn.spatial.cross import skew, unskew
from kinodyn.spatial.inertia import inertia_matrix, move_inertia
from kinodyn.spatial.jacobians import left_jacobian, left_jacobian_inverse, right_jacobian, right_jacobian_inverse
from kinodyn.spatial.lie import exp, exp3, log, log3
from kinodyn.spatial.poses import adjoint, interpolate, inverse, move_twist, move_wrench, pose, pose_error
from kinodyn.spatial.quaternions import quaternion_inverse, quaternion_product, quaternion_rotate, slerp
from kinodyn.spatial.rates import (
    analytic_map,
    euler_rates,
    euler_rates_matrix,
    quaternion_rates,
    quaternion_rates_matrix,
    rotation_vector_rates,
    rotation_vector_rates_matrix,
)
from kinodyn.spatial.rotations import (
    as_angle_axis,
    as_euler,
    as_quaternion,
    from_angle_axis,
    from_euler,
    from_quaternion,
    rot_x,
    rot_y,
    rot_z,
)

__all__ = [
    "adjoint",
    "analytic_map",
    "as_angle_axis",
    "as_euler",
    "as_pose",
    "as_quaternion",
    "as_rotation",
    "euler_rates",
    "euler_rates_matrix",
    "exp",
    "exp3",
    "from_angle_axis",
    "from_euler",
    "from_quaternion",
    "inertia_matrix",
    "interpolate",
    "inverse",
    "left_jacobian",
    "left_jacobian_inverse",
    "log",
    "log3",
    "move_inertia",
    "move_twist",
    "move_wrench",
    "pose",
    "pose_error",
    "quaternion_inverse",
    "quaternion_product",
    "quaternion_rates",
    "quaternion_rates_matrix",
    "quaternion_rotate",
    "right_jacobian",
    "right_jacobian_inverse",
    "rot_x",
    "rot_y",
    "rot_z",
    "rotation_vector_rates",
    "rotation_vector_rates_matrix",
    "skew",
    "slerp",
    "unskew",
]


def __dir__() -> list[str]:
    return list(__all__)
