"""The Paden-Kahan subproblems from which all closed forms here are built, with a record of degenerate cases.

They are those of B. Paden, "Kinematics and Control of Robot Manipulators", 1986, and W. Kahan; see
R. Murray, Z. Li, S. Sastry, "A Mathematical Introduction to Robotic Manipulation", 1994, section 3.2, in the linear
form A cos q + B sin q = C.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis, CosSin, Mask, Real, Vec, constant, some

# All relative: to the size of the arm, then to the squared coefficients.
FREE_JOINT_TOLERANCE = 1e-10  # a point nearer to an axis than this does not determine the angle of its joint
NEARLY_FREE = 1e-4  # nor, within this, for a target that is out of reach by its rounding errors
DOUBLE_ROOT_TOLERANCE = 1e-12  # discriminants below this are double roots: the two branches may coincide
ZERO_TOLERANCE = 1e-14  # discriminants below this are rounding errors


@dataclass(eq=False)
class Degeneracies:
    """Record of degenerate cases: `singular` where a joint is free, `double` where two branches may coincide.

    `size` is the size of the arm [m]; `free` are the angles (n or 1 targets) of joints that are free, `tolerance` is
    the distance, relative to the size, within which they are; `lost` marks branches that were not followed to the
    target.
    """

    size: float
    free: list[Array]
    tolerance: float = FREE_JOINT_TOLERANCE
    singular: list[Mask] = field(default_factory=list)
    double: list[Mask] = field(default_factory=list)
    lost: list[Mask] = field(default_factory=list)

    def reversed(self) -> Degeneracies:
        """Return the same record for a solver that counts the joints from the other end."""
        return replace(self, free=self.free[::-1])


class Discriminant(NamedTuple):
    """A discriminant computed by other means than from the coefficients, and what is zero relative to their square."""

    value: Real
    zero: float


def level(
    axis: Axis, v: Vec, w: Vec, k: Real, *, joint: int, earlier: int, record: Degeneracies, scale: float = 1.0
) -> CosSin:
    """Rotate v about the axis until its component along w is k: two solutions, on a new first axis.

    Where there is none the nearest angle is returned, which verification by forward kinematics then rejects.
    """
    x, y = axis.across(v)
    a, b = axis.across(w)
    remainder = k - axis.along(v) * axis.along(w)
    return roots(a * x + b * y, b * x - a * y, remainder, scale, joint=joint, earlier=earlier, record=record)


def bend(
    axis: Axis, v: Vec, w: Vec, cosine: Real, squared_sine: Real, *, joint: int, earlier: int, record: Degeneracies
) -> CosSin:
    """Rotate the unit vector v about the axis to an angle from the unit vector w: two solutions, as `level`.

    Where v is nearly aligned with w, the cosine of the angle does not determine it; its sine does, to full precision.
    """
    x, y = axis.across(v)
    a, b = axis.across(w)
    m, n = axis.along(v), axis.along(w)
    # (1 - m^2) (1 - n^2) - (cosine - m n)^2, without differences of numbers near 1
    side = np.sign(cosine)
    discriminant = squared_sine * (1.0 - 2.0 * side * m * n / (1.0 + np.abs(cosine))) - (m - side * n) ** 2
    exact = Discriminant(discriminant, record.tolerance**2)
    return roots(
        a * x + b * y, b * x - a * y, cosine - m * n, 1.0, joint=joint, earlier=earlier, record=record, exact=exact
    )


def distance(
    axis: Axis, p: Vec, centre: Array, squared: Real, *, joint: int, earlier: int, record: Degeneracies
) -> CosSin:
    """Rotate the point p about the axis to a given squared distance from the centre (3,): two solutions."""
    o = constant(centre - axis.point)
    r = (p[0] - axis.origin[0], p[1] - axis.origin[1], p[2] - axis.origin[2])
    half = 0.5 * (_square(r) + _square(o) - squared)
    return level(axis, r, o, half, joint=joint, earlier=earlier, record=record, scale=record.size**2)


def aim(axis: Axis, u: Vec, v: Vec, *, joint: int, record: Degeneracies, scale: float = 1.0) -> CosSin:
    """Rotate u about the axis onto the direction of v, both projected along the axis."""
    return aim_plane(axis.across(u), axis.across(v), joint=joint, record=record, scale=scale)


def aim_plane(u: tuple[Real, Real], v: tuple[Real, Real], *, joint: int, record: Degeneracies, scale: float) -> CosSin:
    """Rotate the plane vector u onto the direction of v."""
    c = np.asarray(u[0] * v[0] + u[1] * v[1])
    s = np.asarray(u[0] * v[1] - u[1] * v[0])
    smallest = np.minimum(u[0] * u[0] + u[1] * u[1], v[0] * v[0] + v[1] * v[1])
    unknown = smallest <= (record.tolerance * scale) ** 2
    norm = np.sqrt(c * c + s * s)
    if not some(unknown):
        norm = 1.0 / norm
        return c * norm, s * norm
    record.singular.append(np.broadcast_to(unknown, norm.shape))
    norm = np.where(unknown | (norm == 0.0), 1.0, norm)
    return (
        np.where(unknown, np.cos(record.free[joint]), c / norm),
        np.where(unknown, np.sin(record.free[joint]), s / norm),
    )


def _with_axes(x: Real, ndim: int) -> Real:
    if isinstance(x, float) or x.ndim == 0 or x.ndim >= ndim:
        return x
    return x.reshape(*(1,) * (ndim - x.ndim), *x.shape)


def _square(v: Vec) -> Real:
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]


def roots(
    a: Real,
    b: Real,
    k: Real,
    scale: float,
    *,
    joint: int,
    earlier: int,
    record: Degeneracies,
    exact: Discriminant | None = None,
) -> CosSin:
    """Solve a cos q + b sin q = k: two solutions, on a new first axis before those of the `earlier` subproblems.

    The coefficients need not depend on all of these; the axes that they lack are added. `exact` is the discriminant
    a^2 + b^2 - k^2 where the caller knows it more precisely.
    """
    a, b, k = (_with_axes(x, earlier + 1) for x in (a, b, k))
    square = np.asarray(a * a + b * b)
    unknown = square <= (record.tolerance * scale) ** 2
    discriminant = np.asarray(square - k * k if exact is None else _with_axes(exact.value, earlier + 1))
    zero = ZERO_TOLERANCE if exact is None else exact.zero
    double = np.abs(discriminant) <= DOUBLE_ROOT_TOLERANCE * square
    if some(double):
        record.double.append(double)
    # Rounding errors of a double root would separate its solutions by their square root, and hide a free joint.
    root = np.sqrt(np.where(discriminant > zero * square, discriminant, 0.0))
    free = some(unknown)
    inverse = 1.0 / (np.where(unknown, 1.0, square) if free else square)
    k, root = k * inverse, root * inverse
    c, s, dc, ds = a * k, b * k, b * root, a * root
    shape = (2, *(c.shape if exact is None else np.broadcast_shapes(c.shape, dc.shape)))
    cosines, sines = np.empty(shape), np.empty(shape)
    np.subtract(c, dc, out=cosines[0])
    np.add(c, dc, out=cosines[1])
    np.add(s, ds, out=sines[0])
    np.subtract(s, ds, out=sines[1])
    if free:
        unknown = np.broadcast_to(unknown, c.shape)
        record.singular.append(unknown)
        angle = record.free[joint]
        cosines, sines = np.where(unknown, np.cos(angle), cosines), np.where(unknown, np.sin(angle), sines)
    return cosines, sines
