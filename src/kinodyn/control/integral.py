"""An integral that does not wind up."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import InputError


class Integral:
    """A gain times the integral of an error, bounded; it waits where a torque is at its limit and it asks for more.

    Conditional integration: K. J. Astrom and L. Rundqwist, "Integrator windup and how to avoid it", 1989.

    Attributes
    ----------
    value : (..., n)
        What it gives now [N m, N].
    """

    def __init__(self, n: int, gain: ArrayLike, limit: ArrayLike, anti_windup: bool) -> None:
        self.gain, self.limit = (_bounds(name, x, n) for name, x in (("integral", gain), ("integral_limit", limit)))
        if not np.isfinite(self.gain).all():
            raise InputError("integral must be finite")
        self.anti_windup, self._n = anti_windup, n
        self.is_zero = not self.gain.any()
        self.reset()

    def reset(self) -> None:
        """Go back to zero."""
        self.value: Array = np.zeros(self._n)

    def advance(self, dt: float, error: Array, tau: Array, limits: Array) -> None:
        """Add up the error (..., n) of dt seconds; tau (..., n) is what was wanted, before its limits."""
        if self.is_zero or dt == 0.0:
            return
        grown = self.value + dt * self.gain * error
        if self.anti_windup:
            more = (tau > limits) & (error > 0) | (tau < -limits) & (error < 0)
            grown = np.where(more, self.value, grown)
        self.value = np.clip(grown, -self.limit, self.limit)


def _bounds(name: str, value: ArrayLike, n: int) -> Array:
    try:
        given = np.array(np.broadcast_to(np.asarray(value, dtype=float), (n,)))
    except (TypeError, ValueError) as cause:
        raise InputError(f"{name} must be one number or ({n},)") from cause
    if not (given >= 0).all():
        raise InputError(f"{name} must not be negative, got {given.tolist()}")
    return given
