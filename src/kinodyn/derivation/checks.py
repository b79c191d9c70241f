"""What the derivations ask of their arguments."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot


def require_robot(robot: object) -> None:
    """Refuse what is not a Robot."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")


def finite_array(name: str, value: object, size: int) -> Array:
    """Return an array (..., size) of finite numbers, or say what came instead."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers, got {type(value).__name__}") from error
    if array.ndim == 0 or array.shape[-1] != size:
        raise InputError(f"{name} has the shape {array.shape}; allowed is (..., {size})")
    if not np.isfinite(array).all():
        raise InputError(f"{name} is not finite everywhere")
    return array
