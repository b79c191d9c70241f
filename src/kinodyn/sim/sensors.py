"""The state as the controller sees it: with noise and delay."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import instance, integer, numbers
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot


class Sensors:
    """Measures q and v with Gaussian noise and a delay of some ticks. Noise on q is a step on the manifold."""

    def __init__(self, robot: Robot, noise: Mapping[str, ArrayLike] | None, ticks: int, seed: int) -> None:
        if noise is not None:
            instance("noise", noise, Mapping, 'a mapping of "q" and "v" to standard deviations')
        given = dict(noise or {})
        for name in given:
            if name not in ("q", "v"):
                raise unknown_name("noise", name, ("q", "v"))
        self._robot = robot
        self._deviation = {name: _deviation(name, value, robot.nv) for name, value in given.items()}
        self._random = np.random.default_rng(integer("seed", seed))
        self._past: deque[tuple[Array, Array]] = deque(maxlen=ticks + 1)
        self.exact = not given and ticks == 0

    def read(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Store the state of this tick, and return the delayed one; at first that is the initial state."""
        if "q" in self._deviation:
            q = self._robot.integrate(q, self._random.normal(size=v.shape) * self._deviation["q"])
        if "v" in self._deviation:
            v = v + self._random.normal(size=v.shape) * self._deviation["v"]
        self._past.append((q, v))
        return self._past[0]


def _deviation(name: str, value: ArrayLike, nv: int) -> Array:
    array = numbers(f"noise[{name!r}]", value)
    if array.shape not in ((), (nv,)) or (array < 0).any():
        raise InputError(f"noise[{name!r}] must be a nonnegative standard deviation, or ({nv},) of them, got {value!r}")
    return array
