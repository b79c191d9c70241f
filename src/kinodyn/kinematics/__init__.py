"""Poses, Jacobians, velocities, manipulability and workspace: pure functions of (robot, q, ...), over any batch axes.

Arguments broadcast against each other; `out=` receives the result and avoids an allocation.

The reference of a frame's Jacobian, velocity and acceleration is one of

- "local_world_aligned" (default, short form "aligned"): at the frame's origin, in world axes;
- "local": at the frame's origin, in the frame's own axes;
- "world": the spatial twist of the body, at the world's origin and in world axes.
"""

from kinodyn.arrays import Reference
from kinodyn.kinematics.frames import (
    acceleration,
    analytic_jacobian,
    com,
    com_acceleration,
    com_jacobian,
    com_velocity,
    hessian,
    jacobian,
    jacobian_dot,
    pose,
    poses,
    velocity,
)
from kinodyn.kinematics.singularities import (
    Ellipsoid,
    condition_number,
    force_ellipsoid,
    is_singular,
    manipulability,
    singular_values,
    velocity_ellipsoid,
)
from kinodyn.kinematics.workspaces import Workspace, workspace

__all__ = [
    "Ellipsoid",
    "Reference",
    "Workspace",
    "acceleration",
    "analytic_jacobian",
    "com",
    "com_acceleration",
    "com_jacobian",
    "com_velocity",
    "condition_number",
    "force_ellipsoid",
    "hessian",
    "is_singular",
    "jacobian",
    "jacobian_dot",
    "manipulability",
    "pose",
    "poses",
    "singular_values",
    "velocity",
    "velocity_ellipsoid",
    "workspace",
]


def __dir__() -> list[str]:
    return list(__all__)
