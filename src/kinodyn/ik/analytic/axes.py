"""Joint axes as directed lines, and arithmetic on them.

Vectors are triples of components, each a number or an array whose last axis runs over targets and whose leading axes
run over branches. Operations are then plain NumPy on long contiguous arrays, and components known to be zero when the
geometry is recognised cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array

Kind = TypeVar("Kind", bound=np.generic)
Real: TypeAlias = Array | float
Vec: TypeAlias = tuple[Real, Real, Real]
Mask: TypeAlias = NDArray[np.bool_]
CosSin: TypeAlias = tuple[Real, Real]  # cosine and sine of an angle

TRIVIAL_FACTORS = (0.0, 1.0, -1.0)
AXIS_ROUNDING = 1e-13  # smaller components of an axis are rounding errors of the description, such as cos(pi / 2)


def combine(factors: Sequence[Real], parts: Sequence[Real]) -> Real:
    """Sum factors times parts; the factors 0, 1 and -1 need no product."""
    total: Real | None = None
    for factor, part in zip(factors, parts, strict=True):
        if isinstance(factor, float) and factor in TRIVIAL_FACTORS:
            if factor == 1.0:
                total = part if total is None else total + part
            elif factor == -1.0:
                total = -part if total is None else total - part
        else:
            total = factor * part if total is None else total + factor * part
    return 0.0 if total is None else total


def some(mask: Mask) -> bool:
    """Return whether any is true; counting is faster than `any` for a single target."""
    return bool(np.count_nonzero(mask))


def targets_first(array: NDArray[Kind]) -> NDArray[Kind]:
    """Move the last axis, that of the targets, to the front; branches follow."""
    moved: NDArray[Kind] = array.transpose(-1, *range(array.ndim - 1))
    return moved


def constant(v: Array) -> Vec:
    """Convert a vector (3,) to a triple of numbers."""
    return float(v[0]), float(v[1]), float(v[2])


def minus(u: Vec, v: Vec) -> Vec:
    """Subtract two vectors."""
    return u[0] - v[0], u[1] - v[1], u[2] - v[2]


def plus(u: Vec, v: Vec) -> Vec:
    """Add two vectors."""
    return u[0] + v[0], u[1] + v[1], u[2] + v[2]


def add_angles(a: CosSin, b: CosSin) -> CosSin:
    """Compute cosine and sine of the sum of two angles."""
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]


def negated(angle: CosSin) -> CosSin:
    """Compute cosine and sine of the negative angle."""
    return angle[0], -angle[1]


@dataclass(frozen=True, eq=False)
class Axis:
    """A directed line: a point on it (3,) [m] and a right-handed frame whose third column is the direction."""

    point: Array
    frame: Array

    @staticmethod
    def through(point: Array, direction: Array) -> Axis:
        """Return the line through a point along a unit vector."""
        w = np.where(np.abs(direction) < AXIS_ROUNDING, 0.0, direction)
        w = w / np.linalg.norm(w)
        x = np.eye(3)[int(np.argmin(np.abs(w)))]
        x = x - (x @ w) * w
        x /= np.linalg.norm(x)
        return Axis(np.asarray(point, dtype=float), np.stack([x, np.cross(w, x), w], axis=1))

    @property
    def direction(self) -> Array:
        """Direction (3,) of the line."""
        return self.frame[:, 2]

    @cached_property
    def _columns(self) -> tuple[Vec, Vec, Vec]:
        return constant(self.frame[:, 0]), constant(self.frame[:, 1]), constant(self.frame[:, 2])

    @cached_property
    def _rows(self) -> tuple[Vec, Vec, Vec]:
        return constant(self.frame[0]), constant(self.frame[1]), constant(self.frame[2])

    @property
    def w(self) -> Vec:
        """Direction as a triple."""
        return self._columns[2]

    @cached_property
    def origin(self) -> Vec:
        """Point as a triple."""
        return constant(self.point)

    def reversed(self) -> Axis:
        """Return the same line with opposite direction."""
        return Axis(self.point, self.frame * (-1.0, 1.0, -1.0))

    def moved(self, point: Array) -> Axis:
        """Return the same line with another of its points as origin."""
        return Axis(point, self.frame)

    def across(self, v: Vec) -> tuple[Real, Real]:
        """Return the two components of v perpendicular to the axis."""
        return combine(self._columns[0], v), combine(self._columns[1], v)

    def along(self, v: Vec) -> Real:
        """Return the component of v along the axis."""
        return combine(self.w, v)

    def rotate(self, angle: CosSin, v: Vec) -> Vec:
        """Rotate the direction v about the axis."""
        c, s = angle
        a, b = self.across(v)
        if isinstance(a, float) and isinstance(b, float):
            local = (combine((a, -b), angle), combine((b, a), angle), self.along(v))
        else:
            local = (c * a - s * b, s * a + c * b, self.along(v))
        x, y, z = self._rows
        return combine(x, local), combine(y, local), combine(z, local)

    def rotate_point(self, angle: CosSin, p: Vec) -> Vec:
        """Rotate the point p about the line."""
        return plus(self.rotate(angle, minus(p, self.origin)), self.origin)


@dataclass(frozen=True, eq=False)
class Motion:
    """Rigid motions of many targets: R as three rows and the translation t, components over targets (n,)."""

    rows: tuple[Vec, Vec, Vec]
    t: Vec

    @staticmethod
    def from_pose(T: Array) -> Motion:
        """Split poses (n, 4, 4) into components."""
        parts = np.ascontiguousarray(T.transpose(1, 2, 0))
        rows = tuple((parts[i, 0], parts[i, 1], parts[i, 2]) for i in range(3))
        return Motion((rows[0], rows[1], rows[2]), (parts[0, 3], parts[1, 3], parts[2, 3]))

    @property
    def columns(self) -> tuple[Vec, Vec, Vec]:
        """Columns of R."""
        a, b, c = self.rows
        return (a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])

    def rotate(self, v: Vec) -> Vec:
        """Rotate a direction: R v."""
        x, y, z = self.rows
        return combine(v, x), combine(v, y), combine(v, z)

    def rotate_back(self, v: Vec) -> Vec:
        """Rotate a direction back: R^T v."""
        x, y, z = self.columns
        return combine(v, x), combine(v, y), combine(v, z)

    def move(self, p: Vec) -> Vec:
        """Move a point: R p + t."""
        return plus(self.rotate(p), self.t)

    def inverse(self) -> Motion:
        """Invert the motions."""
        x, y, z = self.rotate_back(self.t)
        return Motion(self.columns, (-x, -y, -z))
