"""Integral action without windup."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import nonnegative_vector
from kinodyn.control.controller import Clock
from kinodyn.errors import InputError


class Integral:
    """A gain times the integral of an error, bounded, and paused while it would push a torque further past its limit.

    Conditional integration: K. J. Astrom and L. Rundqwist, "Integrator windup and how to avoid it", 1989.

    Attributes
    ----------
    value : (..., n)
        Current output [N m, N].
    """

    def __init__(self, n: int, gain: ArrayLike, limit: ArrayLike, anti_windup: bool) -> None:
        self.gain, self.limit = (
            nonnegative_vector(name, value, n, "coordinate")
            for name, value in (("integral", gain), ("integral_limit", limit))
        )
        if not np.isfinite(self.gain).all():
            raise InputError("integral must be finite")
        self.anti_windup, self._n = anti_windup, n
        self.is_zero = not self.gain.any()
        self.reset()

    def reset(self) -> None:
        """Set the output to zero and clear the time."""
        self.value: Array = np.zeros(self._n)
        self._clock = Clock()

    def integrate(self, t: float, error: Array, tau: Array, limits: Array) -> None:
        """Integrate the error (..., n) since the last call [s]; tau (..., n) are the torques before their limits."""
        dt = self._clock.step(t)
        if self.is_zero or dt == 0.0:
            return
        integrated = self.value + dt * self.gain * error
        if self.anti_windup:
            winds_up = (tau > limits) & (error > 0) | (tau < -limits) & (error < 0)
            integrated = np.where(winds_up, self.value, integrated)
        self.value = np.clip(integrated, -self.limit, self.limit)
