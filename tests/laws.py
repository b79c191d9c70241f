"""Shared by the tests of laws that hold on every robot of the zoo: types of the fixtures, and products over batches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

N = 9  # states of each robot: they fill packs of two, four and eight lanes and leave a remainder

Close = Callable[..., None]
Draw = Callable[..., tuple[Array, Array, Array, Array]]
Rate = Callable[..., Array]


def frames(robot: Robot) -> list[str]:
    """Return the last frame, one in the middle, and the root, which does not move."""
    names = robot.frame_names
    return [names[-1], names[len(names) // 2], names[0]]


def times(A: Array, x: Array) -> Array:
    """Multiply matrices (..., m, n) and vectors (..., n)."""
    return np.einsum("...ij,...j->...i", A, x)


def transposed(A: Array) -> Array:
    """Swap the last two axes."""
    return np.swapaxes(A, -1, -2)
