"""Closed-form motion of the linear inverted pendulum (LIPM) over a piecewise linear zero moment point (ZMP)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import exp, expm1
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError

MAX_EXPONENT = 300.0  # of the motion of the pendulum: beyond it, its numbers overflow

Point = Sequence[float] | Array
Pair = tuple[float, float]
Row = tuple[float, float, float, float]


@displayed
class LIPMState(NamedTuple):
    """State of the pendulum on the ground plane at one or more times.

    Attributes
    ----------
    com, velocity, acceleration : (..., 2)
        Of the CoM [m, m/s, m/s^2].
    dcm, zmp : (..., 2)
        [m]
    """

    com: Array
    velocity: Array
    acceleration: Array
    dcm: Array
    zmp: Array


@displayed
class LIPMTrajectory:
    """CoM trajectory over a ZMP that is linear between knots and constant after the last one.

    Parameters
    ----------
    times
        Of the knots, increasing [s].
    zmp
        At the knots, (n, 2) [m].
    omega
        Natural frequency [rad/s].
    com
        CoM (2,) at the first knot [m].
    dcm_end
        Divergent component of motion (DCM) (2,) at the last knot [m].

    Notes
    -----
    The DCM is integrated backwards from its end and the CoM forwards from its start, each in its stable direction, so
    that the trajectory is as exact after minutes as at the start. It is built from plain floats, because a controller
    makes a new one with every plan.
    """

    @check_types
    def __init__(
        self, times: Sequence[float], zmp: Sequence[Point], omega: float, *, com: Point, dcm_end: Point
    ) -> None:
        if len(times) != len(zmp):
            raise InputError(f"there must be one ZMP for each time, got {len(zmp)} for {len(times)}")
        self.omega = omega
        self._times = [float(t) for t in times]
        points = [(float(x), float(y)) for x, y in zmp]
        (x, y), (u, v) = com, dcm_end
        self._rows = _solve(self._times, points, omega, (float(x), float(y)), (float(u), float(v)))

    @property
    def start(self) -> float:
        """Time of the first knot [s]."""
        return self._times[0]

    @property
    def end(self) -> float:
        """Time of the last knot [s]."""
        return self._times[-1]

    @cached_property
    def times(self) -> Array:
        """Times (n,) of the knots [s]."""
        return np.array(self._times)

    @property
    def zmp(self) -> Array:
        """ZMP (n, 2) at the knots [m]."""
        return self._table[:, :, 0]

    @property
    def com(self) -> Array:
        """CoM (n, 2) at the knots [m]."""
        result: Array = self._table[:, :, [0, 2, 3]].sum(axis=-1)
        return result

    @property
    def dcm(self) -> Array:
        """DCM (n, 2) at the knots [m]."""
        result: Array = self._table[:, :, 0] + self._table[:, :, 1] / self.omega + 2.0 * self._table[:, :, 2]
        return result

    def __call__(self, t: ArrayLike) -> LIPMState:
        """Evaluate at times (...) [s], not before the first knot."""
        time = numbers("t", t)
        if (time < self._times[0] - 1e-9).any():
            raise InputError(f"the trajectory starts at {self._times[0]:.6g} s, got {float(time.min()):.6g} s")
        k = np.clip(np.searchsorted(self.times, time, side="right") - 1, 0, len(self._times) - 1)
        s = np.asarray(time - self.times[k])[..., None]
        start, r, grow, fall = np.moveaxis(self._table[k], -1, 0)
        up, down = np.exp(self.omega * s) * grow, np.exp(-self.omega * s) * fall
        p = start + r * s
        com, velocity = p + up + down, r + self.omega * (up - down)
        return LIPMState(com, velocity, self.omega**2 * (up + down), com + velocity / self.omega, p)

    def at(self, t: float) -> LIPMState:
        """Evaluate at one time, faster than a call: for control loops.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        LIPMState
        """
        rows = np.array(self.floats(t))
        return LIPMState(rows[0:2], rows[2:4], rows[4:6], rows[6:8], rows[8:10])

    def floats(self, t: float) -> tuple[float, ...]:
        """Evaluate at one time, in plain floats.

        Parameters
        ----------
        t
            [s]

        Returns
        -------
        tuple of 10 floats
            In the order of `LIPMState`.
        """
        k = max(bisect_right(self._times, t) - 1, 0)
        s, w = t - self._times[k], self.omega
        if not -MAX_EXPONENT < w * s < MAX_EXPONENT:
            raise InputError(f"t must be near the trajectory, from {self._times[0]:g} s on, got {t!r}")
        rising, falling = exp(w * s), exp(-w * s)
        (p, r, g, f), (q, u, h, i) = self._rows[k]
        p, g, f, q, h, i = p + r * s, rising * g, falling * f, q + u * s, rising * h, falling * i
        x, y, v, z = p + g + f, q + h + i, r + w * (g - f), u + w * (h - i)
        return x, y, v, z, w * w * (g + f), w * w * (h + i), x + v / w, y + z / w, p, q

    @cached_property
    def _table(self) -> Array:
        """ZMP, its rate, unstable and stable part at each knot: (n, 2, 4)."""
        return np.array(self._rows)


def _solve(times: list[float], zmp: list[Pair], omega: float, com: Pair, end: Pair) -> list[tuple[Row, Row]]:
    """Compute for each knot and axis: ZMP, its rate, the unstable and the stable part of the CoM."""
    n, (dx, dy) = len(times), end
    px, py = zmp[-1]
    parts = [(0.0, 0.0, 0.5 * (dx - px), 0.5 * (dy - py), 1.0)]
    for k in range(n - 2, -1, -1):  # backwards: rates, unstable parts, decay
        h, (qx, qy) = times[k + 1] - times[k], zmp[k]
        if h <= 0:
            raise InputError(f"times must increase, got {times[k]!r} and then {times[k + 1]!r}")
        first, last, rest = dcm_fractions(omega * h)
        dx, dy = first * qx + last * px + rest * dx, first * qy + last * py + rest * dy
        u, v = (px - qx) / h, (py - qy) / h
        parts.append((u, v, 0.5 * (dx - qx - u / omega), 0.5 * (dy - qy - v / omega), rest))
        px, py = qx, qy
    parts.reverse()
    rows: list[tuple[Row, Row]] = []
    fx, fy = com[0] - px - parts[0][2], com[1] - py - parts[0][3]
    for k, (u, v, gx, gy, rest) in enumerate(parts):  # forwards: stable parts
        x, y = zmp[k]
        rows.append(((x, u, gx, fx), (y, v, gy, fy)))
        if k < n - 1:
            fx, fy = gx / rest + rest * fx - parts[k + 1][2], gy / rest + rest * fy - parts[k + 1][3]
    return rows


@lru_cache(maxsize=1024)  # the MPC and the trajectory of its solution ask for the same intervals
def dcm_fractions(x: float) -> tuple[float, float, float]:
    """Compute `balance.lipm.dcm_fractions` of one number x = omega * time, in plain floats."""
    rest = exp(-x)
    first = 1.0 + expm1(-x) / x if x > 1e-5 else x / 2 - x * x / 6
    return first, 1.0 - rest - first, rest
