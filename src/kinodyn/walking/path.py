"""The motion of the pendulum over a zero moment point that goes straight from knot to knot, in closed form."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from math import exp, expm1
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.description.types import Array
from kinodyn.errors import InputError
from kinodyn.spatial.checks import numbers

Point = Sequence[float] | Array
Row = tuple[float, float, float, float]


class Motion(NamedTuple):
    """A pendulum at one or more times, on the ground plane: each (..., 2) in m, m/s, m/s^2."""

    com: Array
    velocity: Array
    acceleration: Array
    dcm: Array
    zmp: Array


class PendulumPath:
    """The centre of mass over time, for a zero moment point that is linear between knots and stays after the last.

    The divergent component is followed backwards from its end and the mass forwards from its start, each in the
    direction in which errors die out, so that the path is as exact after minutes as at its beginning. Numbers are plain
    floats: a controller makes such a path at each of its ticks.
    """

    def __init__(
        self, times: Sequence[float], zmp: Sequence[Point], omega: float, *, com: Point, dcm_end: Point
    ) -> None:
        """Start the mass at `com` (2,) [m], and end with the divergent component at `dcm_end` (2,) [m]."""
        if len(times) != len(zmp) or any(b <= a for a, b in zip(times, times[1:], strict=False)):
            raise InputError("times must increase, and there must be a zero moment point for each")
        self.omega = omega
        self._times = [float(t) for t in times]
        axes = [_axis(self._times, [float(p[k]) for p in zmp], omega, float(com[k]), float(dcm_end[k])) for k in (0, 1)]
        self._rows = list(zip(*axes, strict=True))

    @property
    def start(self) -> float:
        """Give the time of the first knot [s]."""
        return self._times[0]

    @property
    def end(self) -> float:
        """Give the time of the last knot [s]."""
        return self._times[-1]

    @cached_property
    def times(self) -> Array:
        """Give the times (n,) of the knots [s]."""
        return np.array(self._times)

    @property
    def zmp(self) -> Array:
        """Give the zero moment point (n, 2) at the knots [m]."""
        return self._table[:, :, 0]

    @property
    def com(self) -> Array:
        """Give the centre of mass (n, 2) at the knots [m]."""
        result: Array = self._table[:, :, [0, 2, 3]].sum(axis=-1)
        return result

    @property
    def dcm(self) -> Array:
        """Give the divergent component (n, 2) at the knots [m]."""
        result: Array = self._table[:, :, 0] + self._table[:, :, 1] / self.omega + 2.0 * self._table[:, :, 2]
        return result

    def __call__(self, t: ArrayLike) -> Motion:
        """Compute the motion at times (...) [s], not before the first knot."""
        time = numbers("t", t)
        if (time < self._times[0] - 1e-9).any():
            raise InputError(f"the path begins at {self._times[0]:.6g} s, got {float(time.min()):.6g} s")
        k = np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self._times) - 1)
        s = np.asarray(time - self.times[k])[..., None]
        start, r, grow, fall = np.moveaxis(self._table[k], -1, 0)
        up, down = np.exp(self.omega * s) * grow, np.exp(-self.omega * s) * fall
        p = start + r * s
        com, velocity = p + up + down, r + self.omega * (up - down)
        return Motion(com, velocity, self.omega**2 * (up + down), com + velocity / self.omega, p)

    def at(self, t: float) -> Motion:
        """Compute the motion at one time, as a call does but faster: made for control loops."""
        rows = np.array(self.floats(t))
        return Motion(rows[0:2], rows[2:4], rows[4:6], rows[6:8], rows[8:10])

    def floats(self, t: float) -> tuple[float, ...]:
        """Compute the ten numbers of `at` in the order of `Motion`."""
        k = max(bisect_right(self._times, t) - 1, 0)
        s, w = t - self._times[k], self.omega
        rising, falling = exp(w * s), exp(-w * s)
        (p, r, g, f), (q, u, h, i) = self._rows[k]
        p, g, f, q, h, i = p + r * s, rising * g, falling * f, q + u * s, rising * h, falling * i
        x, y, v, z = p + g + f, q + h + i, r + w * (g - f), u + w * (h - i)
        return x, y, v, z, w * w * (g + f), w * w * (h + i), x + v / w, y + z / w, p, q

    @cached_property
    def _table(self) -> Array:
        """Start, rate, growing and falling part at each knot: (n, 2, 4)."""
        return np.array(self._rows)


def _axis(times: list[float], zmp: list[float], omega: float, com: float, end: float) -> list[Row]:
    """Solve one axis: zero moment point, its rate, the growing and the falling part of the mass at each knot."""
    n = len(times)
    grow, rates, dcm = [0.0] * n, [0.0] * n, end
    grow[-1] = 0.5 * (end - zmp[-1])
    for k in range(n - 2, -1, -1):
        h = times[k + 1] - times[k]
        first, last, rest = share(omega * h)
        dcm = first * zmp[k] + last * zmp[k + 1] + rest * dcm
        rates[k] = (zmp[k + 1] - zmp[k]) / h
        grow[k] = 0.5 * (dcm - zmp[k] - rates[k] / omega)
    rows: list[Row] = []
    fall = com - zmp[0] - grow[0]
    for k in range(n - 1):
        rows.append((zmp[k], rates[k], grow[k], fall))
        x = omega * (times[k + 1] - times[k])
        fall = exp(x) * grow[k] + exp(-x) * fall - grow[k + 1]
    rows.append((zmp[-1], 0.0, grow[-1], fall))
    return rows


def share(x: float) -> tuple[float, float, float]:
    """Do what `balance.lipm.shares` does, for one number x = omega * time."""
    rest = exp(-x)
    first = 1.0 + expm1(-x) / x if x > 1e-5 else x / 2 - x * x / 6
    return first, 1.0 - rest - first, rest
