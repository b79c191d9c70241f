"""The zero moment point: from how the robot moves, and from the forces under its feet.

M. Vukobratovic, B. Borovac, "Zero-moment point: thirty five years of its life", 2004; P. Sardain, G. Bessonnet, 2004.
Both ways give the same point for the same motion: the forces are what changes the momentum.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core, kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, broadcast, numbers
from kinodyn.errors import InputError, SingularError
from kinodyn.model.robot import Robot

PRESSED = 1e-9  # of the largest force: with less than that upwards, no point of pressure can be told


def contact_wrench(robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
    """Compute what the world must press on the robot with for this motion: (..., 6), about the centre of mass.

    It is the rate of momentum without the weight, along the world's axes: force [N], then moment [N m].
    """
    wrench: Array = _core.momentum_rate(robot, q, v, a, None)
    wrench[..., :3] -= robot.mass * robot.gravity
    return wrench


def zmp(
    robot: Robot, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, height: float = 0.0, otherwise: ArrayLike | None = None
) -> Array:
    """Compute the zero moment point (..., 3) of a motion on the horizontal plane at `height` [m].

    Exact: the rate of angular momentum counts. `otherwise` (..., 3) is the answer where nothing presses on the ground;
    without it SingularError is raised there.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q, still = robot.configuration("standing"), np.zeros(robot.nv)
    >>> bool(np.allclose(kd.balance.zmp(robot, q, still, still)[:2], kd.kinematics.com(robot, q)[:2]))
    True
    """
    wrench = contact_wrench(robot, q, v, a)
    return _without_moment(wrench, kinematics.com(robot, q), height, otherwise)


def zmp_from_wrenches(
    robot: Robot,
    q: ArrayLike,
    wrenches: Mapping[str, ArrayLike],
    *,
    height: float = 0.0,
    otherwise: ArrayLike | None = None,
) -> Array:
    """Compute the zero moment point (..., 3) of wrenches on frames, in the aligned reference as everywhere."""
    if not wrenches:
        raise InputError("wrenches is empty; give those on the feet, frame name -> (..., 6)")
    total, origin = np.zeros(6), np.zeros(3)
    for frame, value in wrenches.items():
        wrench, p = broadcast(
            (numbers(f"wrench on {frame!r}", value, 6), 1), (kinematics.pose(robot, q, frame)[..., :3, 3], 1)
        )
        moment = wrench[..., 3:] + np.cross(p, wrench[..., :3])
        total = total + np.concatenate([wrench[..., :3], moment], axis=-1)
    return _without_moment(total, origin, height, otherwise)


def zmp_from_forces(
    points: ArrayLike, forces: ArrayLike, *, height: float = 0.0, otherwise: ArrayLike | None = None
) -> Array:
    """Compute the zero moment point (..., 3) of forces (..., n, 3) at points (..., n, 3) of the world.

    >>> print(zmp_from_forces([[0.1, 0, 0], [-0.1, 0, 0]], [[0, 0, 30], [0, 0, 10]]))
    [0.05 0.   0.  ]
    """
    p, f = broadcast((numbers("points", points, 3), 1), (numbers("forces", forces, 3), 1))
    if p.ndim < 2:
        raise InputError(f"points and forces must have shape (..., n, 3), got {p.shape}")
    total = np.concatenate([f.sum(axis=-2), np.cross(p, f).sum(axis=-2)], axis=-1)
    return _without_moment(total, np.zeros(3), height, otherwise)


def cop(T_world_sole: MatrixLike, wrench: ArrayLike, *, otherwise: ArrayLike | None = None) -> Array:
    """Compute the centre of pressure (..., 3) in the world of one sole: the point of its plane z = 0 without moment.

    `wrench` (..., 6) acts at the origin of the sole, along the world's axes, on the robot.
    """
    T, given = broadcast((as_pose(T_world_sole, "T_world_sole"), 2), (numbers("wrench", wrench, 6), 1))
    back = np.swapaxes(T[..., :3, :3], -1, -2)
    local = np.concatenate([_turn(back, given[..., :3]), _turn(back, given[..., 3:])], axis=-1)
    place = None
    if otherwise is not None:
        place = _turn(back, numbers("otherwise", otherwise, 3) - T[..., :3, 3])
    point = _without_moment(local, np.zeros(3), 0.0, place)
    return _turn(T[..., :3, :3], point) + T[..., :3, 3]


def _turn(R: Array, p: Array) -> Array:
    turned: Array = (R @ p[..., None])[..., 0]
    return turned


def _without_moment(wrench: Array, about: Array, height: float, otherwise: ArrayLike | None) -> Array:
    """Find on z = height where the wrench, given about a point, has no horizontal moment."""
    f, n = wrench[..., :3], wrench[..., 3:]
    pressed = f[..., 2] > PRESSED * np.abs(wrench).max(axis=-1, initial=1e-9)
    if not pressed.all() and otherwise is None:
        raise SingularError(
            f"{int((~pressed).sum())} of {pressed.size} states do not press on the ground, where there is no zero "
            "moment point; give otherwise= for those"
        )
    upward = np.where(pressed, f[..., 2], 1.0)
    drop = height - about[..., 2]
    x = about[..., 0] + (drop * f[..., 0] - n[..., 1]) / upward
    y = about[..., 1] + (drop * f[..., 1] + n[..., 0]) / upward
    point: Array = np.stack([x, y, np.broadcast_to(float(height), x.shape)], axis=-1)
    if otherwise is None:
        return point
    return np.where(pressed[..., None], point, numbers("otherwise", otherwise, 3))
