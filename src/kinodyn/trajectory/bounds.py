"""Limits of a trajectory as arrays: those of the robot, or given ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot
from kinodyn.trajectory.space import Space

LimitLike: TypeAlias = ArrayLike | Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Bounds:
    """Limits of position (nq,) and of velocity, acceleration, jerk and torque (nv,); infinite where none."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    torque: Array


def motion_bounds(
    space: Space,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    jerk: LimitLike | None = None,
    torque: LimitLike | None = None,
) -> Bounds:
    """Collect limits; None stands for the robot's own limit, if it has one.

    Each is one number, one for each velocity coordinate (nv,), or a dict of joint -> limit that replaces the robot's.
    One number does not limit ball and floating joints, whose coordinates mix metres and radians: give (nv,) or a dict.
    """
    none, robot = np.full(space.nv, np.inf), space.robot
    own = (none, none) if robot is None else (_own_velocity(space, robot), robot.limits.effort)
    ends = (np.full(space.nq, -np.inf), np.full(space.nq, np.inf))
    lower, upper = ends if robot is None else (robot.limits.lower, robot.limits.upper)
    return Bounds(
        lower,
        upper,
        _limit(space, "velocity", velocity, own[0]),
        _limit(space, "acceleration", acceleration, none),
        _limit(space, "jerk", jerk, none),
        _limit(space, "torque", torque, own[1]),
    )


def _own_velocity(space: Space, robot: Robot) -> Array:
    """Return the robot's velocity limits (nv,); a joint that cannot move may have 0, which then limits nothing."""
    velocity: Array = robot.limits.velocity
    if (velocity > 0.0).all():
        return velocity
    vector = ~space.on_manifold
    held = np.zeros(space.nv, dtype=bool)
    held[vector] = (robot.limits.lower == robot.limits.upper)[space.q_index[vector]]
    return np.where(held & (velocity == 0.0), np.inf, velocity)


def _limit(space: Space, what: str, given: LimitLike | None, own: Array) -> Array:
    if given is None:
        if what == "velocity" and not (own > 0.0).all():
            name = space.names[int((own <= 0.0).argmax())]
            raise InputError(
                f"velocity limit of joint {name!r} must be positive, got 0; give velocity={{{name!r}: ...}}"
            )
        return own
    result: Array = np.array(own)
    if isinstance(given, Mapping):
        for name, value in given.items():
            result[_index(space, name)] = _number(f"{what} of {name!r}", value)
    else:
        array = _number(what, given)
        if array.shape not in ((), (space.nv,)):
            raise InputError(f"{what} must be one number, ({space.nv},) or a dict of joints, got shape {array.shape}")
        result = np.array(np.broadcast_to(array, (space.nv,)))
        if array.ndim == 0:
            result[space.on_manifold] = own[space.on_manifold]
    if not (result > 0.0).all():
        raise InputError(f"{what} must be positive, got {given!r}")
    return result


def _number(what: str, value: ArrayLike) -> Array:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"{what} must be positive numbers, inf for no limit, got {value!r}") from cause
    if np.isnan(array).any():
        raise InputError(f"{what} must be positive numbers, inf for no limit, got {value!r}")
    return array


def _index(space: Space, name: str) -> slice | int:
    if space.robot is not None:
        return space.robot.joint(name).v
    if name not in space.names:
        raise unknown_name("coordinate", name, space.names)
    return space.names.index(name)
