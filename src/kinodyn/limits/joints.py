"""Limits of single joints: together they make a box around the next step, which is never empty."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot

ENDLESS = 1e30  # stands for no limit in the core, which wants finite numbers


class PositionLimit:
    """Keep joints within the robot's position limits, `margin` (rad or m) inside of them.

    A joint that starts outside comes back as fast as the other limits allow.
    """

    name = "position"

    def __init__(self, margin: float = 0.0) -> None:
        if not isinstance(margin, int | float | np.number) or not 0 <= margin < np.inf:
            raise InputError(f"margin must be a number from 0 on, got {margin!r}")
        self.margin = float(margin)

    def bounds(self, robot: Robot) -> tuple[Array, Array]:
        """Return the lowest and the highest configuration (nq,)."""
        lower, upper = robot.limits.lower + self.margin, robot.limits.upper - self.margin
        narrow = lower > upper
        if narrow.any():
            names = [joint.name for joint in robot.joints if joint.mimic is None and narrow[joint.q].any()]
            raise InputError(f"a margin of {self.margin:g} leaves no room between the limits of {', '.join(names)}")
        return np.maximum(lower, -ENDLESS), np.minimum(upper, ENDLESS)


class VelocityLimit:
    """Keep joint velocities within the robot's limits times `scale`, or within `values` (rad/s or m/s).

    `values` is one number, one for each velocity (nv,), or a dict of joint -> limit in place of the robot's.
    """

    name = "velocity"

    def __init__(self, values: ArrayLike | Mapping[str, float] | None = None, *, scale: float = 1.0) -> None:
        if not isinstance(scale, int | float | np.number) or not 0 < scale < np.inf:
            raise InputError(f"scale must be a positive number, got {scale!r}")
        self.values = values
        self.scale = float(scale)

    def bounds(self, robot: Robot) -> Array:
        """Return the largest velocity (nv,)."""
        own = np.minimum(robot.limits.velocity, ENDLESS)
        return np.minimum(self.scale * _by_joint(robot, "velocity limits", self.values, own), ENDLESS)


class AccelerationLimit:
    """Keep changes of velocity between steps within `values` (rad/s^2 or m/s^2).

    Joints then brake in time before their position limits. `values` is one number for all joints, one for each
    velocity (nv,), or a dict of joint -> limit; a floating base has no limit unless (nv,) or the dict gives it one.
    """

    name = "acceleration"

    def __init__(self, values: ArrayLike | Mapping[str, float]) -> None:
        self.values = values

    def bounds(self, robot: Robot) -> Array:
        """Return the largest acceleration (nv,)."""
        result = _by_joint(robot, "acceleration limits", self.values, np.full(robot.nv, ENDLESS))
        if robot.base == "floating" and not isinstance(self.values, Mapping) and np.ndim(self.values) == 0:
            result[:6] = ENDLESS
        return result


def _by_joint(robot: Robot, what: str, values: ArrayLike | Mapping[str, float] | None, own: Array) -> Array:
    result: Array = np.array(own)
    if values is None:
        return result
    if isinstance(values, Mapping):
        for name, value in values.items():
            result[robot.joint(name).v] = numbers(f"{what} of {name!r}", value)
    else:
        given = numbers(what, values) if np.ndim(values) == 0 else numbers(what, values, robot.nv)
        result = np.array(np.broadcast_to(given, (robot.nv,)))
    if not (result > 0).all():
        raise InputError(f"{what} must be positive, got {values!r}")
    return result
