"""External and feedforward forces of a controller: constant or measured, at joints or at frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

Force: TypeAlias = ArrayLike | Mapping[str, ArrayLike]
ForceSource: TypeAlias = Force | Callable[[float, State], Any]
WrenchSource: TypeAlias = Callable[[float, State], Any]


def joint_forces(robot: Robot, source: ForceSource, t: float, state: State, what: str) -> Array:
    """Compute generalised forces (..., nv), given as such or as wrenches frame -> (..., 6) in world axes."""
    given = source(t, state) if callable(source) else source
    if not isinstance(given, Mapping):
        return numbers(what, given, robot.nv)
    total = np.zeros(robot.nv)
    for frame, value in given.items():
        wrench = numbers(f"{what} at {frame!r}", value, 6)
        total = total + (wrench[..., None, :] @ state.jacobian(frame))[..., 0, :]
    return total


def measured_wrench(source: WrenchSource, t: float, state: State, what: str) -> Array:
    """Read a measured wrench (..., 6)."""
    return numbers(what, source(t, state), 6)


def require_source(source: object, what: str) -> None:
    """Raise unless `source` can be called for a measured force."""
    if not callable(source):
        raise InputError(f"{what} must be a function of (t, state), got {type(source).__name__}")
