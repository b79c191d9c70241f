"""Single and double support: how long phases last, and what the feet span in each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.polygon import half_planes
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import Footstep

DIRECTIONS = np.array([(np.cos(a), np.sin(a)) for a in np.arange(8) * (np.pi / 4)])


@dataclass(frozen=True)
class Timing:
    """How long [s] phases last: on one foot, on both between steps, on both before the first and after the last."""

    single: float
    double: float
    start: float
    stop: float

    @classmethod
    def of(cls, body: Biped) -> Timing:
        """Choose times from the natural frequency of the pendulum: small robots step faster."""
        return cls(1.6 / body.omega, 0.4 / body.omega, 2.0 / body.omega, 1.6 / body.omega)

    def __post_init__(self) -> None:
        for name in ("single", "double", "start", "stop"):
            if not 0 < getattr(self, name) < np.inf:
                raise InputError(f"{name} must be a positive number of seconds, got {getattr(self, name)!r}")

    @property
    def step(self) -> float:
        """Give the time from one touchdown to the next [s]."""
        return self.single + self.double


@dataclass(frozen=True, eq=False)
class Phase:
    """A time during which the same feet stand.

    Attributes
    ----------
    kind : str
        "single"; "double" between two steps; "start" and "stop" on both feet before the first and after the last;
        "stand" without end.
    start, end : float
        [s]
    feet : dict of side -> Footstep
        Feet on the ground.
    swing : Footstep or None
        Where the other foot lands at the end of a single support.
    lifted : Footstep or None
        Where it stood before.
    step : int
        How many of the planned steps have landed before.
    zmp : (2, 2)
        Zero moment point that the plan has at the start and at the end [m].
    polygon : (m, 2)
        What the zero moment point is kept in: the support polygon, made smaller by the plan's margin.
    soles : tuple of (4, 2)
        The smaller soles that it spans, that of the foot that landed last at the end.
    """

    kind: str
    start: float
    end: float
    feet: dict[str, Footstep]
    swing: Footstep | None
    lifted: Footstep | None
    step: int
    zmp: Array
    polygon: Array
    soles: tuple[Array, ...]

    @property
    def length(self) -> float:
        """Give how long it lasts [s]."""
        return self.end - self.start

    @cached_property
    def rows(self) -> Array:
        """Give the polygon as rows (m, 4) of a, b, lower, upper with lower <= a x + b y <= upper; see `two_sided`."""
        return two_sided(self.polygon)

    @cached_property
    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Give `zmp` as plain numbers."""
        (x, y), (u, v) = self.zmp.tolist()
        return (x, y), (u, v)

    def blended(self, new: float) -> Array:
        """Give rows as `rows` does of the part of the polygon that stays in it however the feet are moved apart.

        It is the sum of `new` times the sole of the foot that landed last and the rest of the other's; a sum of
        polygons has no other edges than theirs.
        """
        old, latest = self._both
        return np.asarray((1.0 - new) * old + new * latest)

    @cached_property
    def _both(self) -> list[Array]:
        A = np.concatenate([two_sided(sole)[:, :2] for sole in self.soles])
        A = A[[k for k in range(len(A)) if not (np.abs(A[:k] @ A[k]) > 1.0 - 1e-12).any()]]
        reach = [A @ sole.T for sole in self.soles]
        return [np.column_stack([A, points.min(axis=1), points.max(axis=1)]) for points in reach]

    @cached_property
    def sole_supports(self) -> list[Array]:
        """Give for each sole how far it reaches in each of `DIRECTIONS` (8,) [m]."""
        return [(DIRECTIONS @ sole.T).max(axis=1) for sole in self.soles]

    @cached_property
    def support(self) -> Array:
        """Give how far the polygon reaches in each of `DIRECTIONS` (8,) [m]."""
        result: Array = (DIRECTIONS @ self.polygon.T).max(axis=1)
        return result


def two_sided(polygon: Array) -> Array:
    """Write a convex polygon (m, 2) as rows (k, 4) of a, b, lower, upper; edges that face each other share one row."""
    A, b = half_planes(polygon)
    facing = (A @ A.T < -1.0 + 1e-12) & (np.arange(len(A))[:, None] < np.arange(len(A)))
    rows, taken = [], set()
    for i in range(len(A)):
        if i in taken:
            continue
        partner = int(facing[i].argmax()) if facing[i].any() else -1
        taken.add(partner)
        rows.append((*A[i], -b[partner] if partner >= 0 else -np.inf, b[i]))
    return np.array(rows)


def place(corners: Array, step: Footstep) -> Array:
    """Put points (n, 2) of a sole where a foot stands: (n, 2) in the world."""
    c, s = np.cos(step.yaw), np.sin(step.yaw)
    return np.asarray(corners @ np.array([[c, s], [-s, c]]) + (step.x, step.y))
