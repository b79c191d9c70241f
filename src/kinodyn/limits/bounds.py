"""Joint bounds in the layout of the core: one row of numbers with named fields."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers, shape_of
from kinodyn.errors import InputError
from kinodyn.layouts import block_size, constant, layout, named_view
from kinodyn.model.robot import Robot

UNLIMITED = constant("no_limit")  # represents no limit in the core, which accepts finite numbers only


class JointBounds:
    """Joint bounds, narrowed by individual limits.

    Attributes
    ----------
    lower, upper : (nq,)
        Positions.
    velocity, acceleration, effort : (nv,)
        Maximum magnitudes.
    braking : (nv,)
        Deceleration that is available at all times, to stop before the position limits.
    numbers : (size,)
        All of them, in the layout of the core.
    """

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    braking: Array
    effort: Array

    def __init__(self, robot: Robot) -> None:
        dtype = layout("joint_bounds", nq=robot.nq, nv=robot.nv)
        self.robot = robot
        self.numbers: Array = np.full(block_size(dtype), UNLIMITED)
        view = named_view(self.numbers, dtype)
        for name in dtype.names or ():
            setattr(self, name, view[name])
        self.lower[...] = -UNLIMITED


def by_joint(robot: Robot, what: str, values: ArrayLike | Mapping[str, float] | None, default: Array) -> Array:
    """Return positive numbers (nv,) from one number, one for each velocity, or a dict of joint -> number.

    None, and joints that the dict does not name, use `default`.
    """
    result: Array = np.array(default)
    if values is None:
        return result
    if isinstance(values, Mapping):
        for name, value in values.items():
            result[robot.joint(name).v] = numbers(f"{what} of {name!r}", value)
    else:
        given = numbers(what, values) if shape_of(values) == () else numbers(what, values, robot.nv)
        result = np.array(np.broadcast_to(given, (robot.nv,)))
    if not (result > 0).all():
        raise InputError(f"{what} must be positive, got {values!r}")
    return result
