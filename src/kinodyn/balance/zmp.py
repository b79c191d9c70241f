"""The zero moment point (ZMP), from the motion of the robot and from contact forces.

M. Vukobratovic, B. Borovac, "Zero-moment point: thirty five years of its life", 2004; P. Sardain, G. Bessonnet, 2004.
Both give the same point for the same motion, because the contact forces change the momentum.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core, kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, broadcast, not_overflowed, number, numbers
from kinodyn.errors import InputError, SingularError
from kinodyn.model.robot import Robot

MIN_NORMAL_FORCE = 1e-9  # fraction of the largest component of the wrench, below which there is no ZMP


def contact_wrench(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Compute the contact wrench that a motion needs: the momentum rate minus the weight.

    Parameters
    ----------
    robot
    q, v, a
        Configurations (..., nq), velocities and accelerations (..., nv).

    Returns
    -------
    (..., 6)
        Force [N], then moment [N m] about the CoM, in world axes.
    """
    wrench: Array = _core.momentum_rate(robot, q, v, a, None)
    wrench[..., :3] -= robot.mass * robot.gravity
    return wrench


def zmp(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, height: float = 0.0, fill_value: ArrayLike | None = None
) -> Array:
    """Compute the zero moment point (ZMP) of a motion. It is exact: the rate of angular momentum counts.

    Parameters
    ----------
    robot
    q, v, a
        Configurations (..., nq), velocities and accelerations (..., nv).
    height
        Of the horizontal plane [m].
    fill_value
        Result (..., 3) where the robot does not press on the ground; without it SingularError is raised there.

    Returns
    -------
    (..., 3)
        [m]

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q, still = robot.configuration("standing"), np.zeros(robot.nv)
    >>> bool(np.allclose(kd.balance.zmp(robot, q, still, still)[:2], kd.kinematics.com(robot, q)[:2]))
    True
    """
    wrench = contact_wrench(robot, q, v, a)
    return _without_moment(wrench, kinematics.com(robot, q), height, fill_value)


def zmp_from_wrenches(
    robot: Robot,
    q: ArrayLike,
    wrenches: Mapping[str, ArrayLike],
    *,
    height: float = 0.0,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Compute the ZMP of contact wrenches on frames.

    Parameters
    ----------
    robot
    q
        Configurations (..., nq).
    wrenches
        Frame -> wrench (..., 6), "local_world_aligned" [N, N m].
    height
        Of the horizontal plane [m].
    fill_value
        Result (..., 3) where nothing presses on the ground; without it SingularError is raised there.

    Returns
    -------
    (..., 3)
        [m]
    """
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches must be a mapping of frame -> (..., 6), got {type(wrenches).__name__}")
    if not wrenches:
        raise InputError("wrenches is empty; give the wrenches on the feet, frame name -> (..., 6)")
    total, origin = np.zeros(6), np.zeros(3)
    for frame, value in wrenches.items():
        wrench, p = broadcast(
            (numbers(f"wrench on {frame!r}", value, 6), 1), (kinematics.pose(robot, q, frame)[..., :3, 3], 1)
        )
        moment = wrench[..., 3:] + np.cross(p, wrench[..., :3])
        total = total + np.concatenate([wrench[..., :3], moment], axis=-1)
    return _without_moment(total, origin, height, fill_value)


def zmp_from_forces(
    points: ArrayLike, forces: ArrayLike, *, height: float = 0.0, fill_value: ArrayLike | None = None
) -> Array:
    """Compute the ZMP of forces at points.

    Parameters
    ----------
    points
        (..., n, 3) in the world [m].
    forces
        (..., n, 3) [N]
    height
        Of the horizontal plane [m].
    fill_value
        Result (..., 3) where nothing presses on the ground; without it SingularError is raised there.

    Returns
    -------
    (..., 3)
        [m]

    Examples
    --------
    >>> print(zmp_from_forces([[0.1, 0, 0], [-0.1, 0, 0]], [[0, 0, 30], [0, 0, 10]]))
    [0.05 0.   0.  ]
    """
    p, f = broadcast((numbers("points", points, 3), 1), (numbers("forces", forces, 3), 1))
    if p.ndim < 2:
        raise InputError(f"points and forces must have shape (..., n, 3), got {p.shape}")
    total = np.concatenate([f.sum(axis=-2), np.cross(p, f).sum(axis=-2)], axis=-1)
    return _without_moment(total, np.zeros(3), height, fill_value)


def cop(T_world_sole: MatrixLike, wrench: ArrayLike, *, fill_value: ArrayLike | None = None) -> Array:
    """Compute the centre of pressure of one sole: the point of its plane z = 0 without horizontal moment.

    Parameters
    ----------
    T_world_sole
        (..., 4, 4)
    wrench
        (..., 6) on the robot at the origin of the sole, in world axes [N, N m].
    fill_value
        Result (..., 3) where the sole does not press on the ground; without it SingularError is raised there.

    Returns
    -------
    (..., 3)
        In the world [m].
    """
    T, given = broadcast((as_pose(T_world_sole, "T_world_sole"), 2), (numbers("wrench", wrench, 6), 1))
    back = np.swapaxes(T[..., :3, :3], -1, -2)
    local = np.concatenate([_turn(back, given[..., :3]), _turn(back, given[..., 3:])], axis=-1)
    place = None
    if fill_value is not None:
        place = _turn(back, numbers("fill_value", fill_value, 3) - T[..., :3, 3])
    point = _without_moment(local, np.zeros(3), 0.0, place)
    return _turn(T[..., :3, :3], point) + T[..., :3, 3]


def _turn(R: Array, p: Array) -> Array:
    turned: Array = (R @ p[..., None])[..., 0]
    return turned


def _without_moment(wrench: Array, about: Array, height: float, fill_value: ArrayLike | None) -> Array:
    """Find the point on z = height at which a wrench, given about a point, has no horizontal moment."""
    height = number("height", height)
    f, n = wrench[..., :3], wrench[..., 3:]
    pressed = f[..., 2] > MIN_NORMAL_FORCE * np.abs(wrench).max(axis=-1, initial=1e-9)
    if not pressed.all() and fill_value is None:
        raise SingularError(
            f"{int((~pressed).sum())} of {pressed.size} states do not press on the ground and have no ZMP; "
            "give fill_value= for those"
        )
    upward = np.where(pressed, f[..., 2], 1.0)
    drop = height - about[..., 2]
    x = about[..., 0] + (drop * f[..., 0] - n[..., 1]) / upward
    y = about[..., 1] + (drop * f[..., 1] + n[..., 0]) / upward
    point: Array = np.stack([x, y, np.broadcast_to(float(height), x.shape)], axis=-1)
    not_overflowed("the ZMP", point)
    if fill_value is None:
        return point
    return np.where(pressed[..., None], point, numbers("fill_value", fill_value, 3))
