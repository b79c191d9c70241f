"""Where everything is and how it moves: pure functions of (robot, q, ...), over any leading batch axes.

Arguments broadcast against each other; `out=` takes the array for the result and avoids the allocation.

References, for Jacobians, velocities and accelerations of a frame:

- "aligned" (the default): at the frame's origin, along the world's axes;
- "local": at the frame's origin, along its own axes;
- "world": the twist of the body as seen at the world's origin.
"""

from kinodyn.arrays import Reference
from kinodyn.kinematics.frames import (
    acceleration,
    analytic_jacobian,
    com,
    com_acceleration,
    com_jacobian,
    com_velocity,
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
