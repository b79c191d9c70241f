"""Where everything is and how it moves: pure functions of (robot, q, ...), over any leading batch axes.

Arguments broadcast against each other; `out=` takes the array for the result and avoids the allocation.

References, for Jacobians, velocities and accelerations of a frame:

- "aligned" (the default): at the frame's origin, along the world's axes;
- "local": at the frame's origin, along its own axes;
- "world": the twist of the body as seen at the world's origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array, Reference
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.spatial import analytic_map


def pose(robot: Robot, q: ArrayLike, frame: str | int, *, out: Array | None = None) -> Array:
    """Compute the pose T_world_frame of one frame: (..., 4, 4).

    >>> import kinodyn as kd
    >>> robot = kd.load("planar2r")
    >>> kd.kinematics.pose(robot, [0.0, 0.0], robot.frame_names[-1]).shape
    (4, 4)
    """
    return _core.pose(robot, q, frame, out)


def poses(robot: Robot, q: ArrayLike, *, frames: Sequence[str | int] | None = None, out: Array | None = None) -> Array:
    """Compute the poses of all frames, in the order of `robot.frame_names`, or of those given: (..., n, 4, 4)."""
    return _core.poses(robot, q, frames, out)


def jacobian(
    robot: Robot, q: ArrayLike, frame: str | int, *, reference: Reference = "aligned", out: Array | None = None
) -> Array:
    """Compute the Jacobian J (..., 6, nv) of a frame: its twist is J v, linear part first."""
    return _core.jacobian(robot, q, frame, reference, out)


def jacobian_dot(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = "aligned",
    out: Array | None = None,
) -> Array:
    """Compute the time derivative (..., 6, nv) of the Jacobian in the same reference, when the robot moves with v."""
    return _core.jacobian_dot(robot, q, v, frame, reference, out)


def analytic_jacobian(robot: Robot, q: ArrayLike, frame: str | int, *, parameters: str = "ZYX") -> Array:
    """Compute the Jacobian of position and orientation parameters: (..., 6, nv), or (..., 7, nv) for "quaternion".

    `parameters` is an order of Euler angles about moving axes such as "ZYX" or "ZYZ", "rotation_vector", or
    "quaternion" ([x y z w]). Where the parameters are singular (gimbal lock) SingularError is raised.
    """
    J = jacobian(robot, q, frame)
    rates = analytic_map(pose(robot, q, frame), parameters)
    return np.concatenate([J[..., :3, :], rates @ J[..., 3:, :]], axis=-2)


def velocity(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = "aligned",
    out: Array | None = None,
) -> Array:
    """Compute the twist (..., 6) of a frame: linear velocity [m/s], angular velocity [rad/s]."""
    return _core.velocity(robot, q, v, frame, reference, out)


def acceleration(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str | int,
    *,
    reference: Reference = "aligned",
    kind: Literal["classical", "spatial"] = "classical",
    out: Array | None = None,
) -> Array:
    """Compute the acceleration (..., 6) of a frame, gravity not included.

    "classical" is the second derivative of the point's position, what an accelerometer would feel; "spatial" is the
    rate of change of the twist as a vector field, which differs by angular x linear velocity.
    """
    if kind not in ("classical", "spatial"):
        raise InputError(f"kind must be 'classical' or 'spatial', got {kind!r}")
    return _core.acceleration(robot, q, v, a, frame, reference, kind == "classical", out)


def com(robot: Robot, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the centre of mass of everything that moves, in the world: (..., 3) [m]."""
    return _core.com(robot, q, out)


def com_jacobian(robot: Robot, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Compute the Jacobian (..., 3, nv) of the centre of mass: its velocity is J v."""
    return _core.com_jacobian(robot, q, out)


def com_velocity(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Compute the velocity (..., 3) of the centre of mass [m/s]."""
    result: Array = _core.momentum(robot, q, v, None)[..., :3] / robot.mass
    return result


def com_acceleration(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Compute the acceleration (..., 3) of the centre of mass [m/s^2], gravity not included."""
    result: Array = _core.momentum_rate(robot, q, v, a, None)[..., :3] / robot.mass
    return result
