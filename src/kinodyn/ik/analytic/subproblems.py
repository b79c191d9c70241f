"""The two questions that every closed form here is made of, with their degenerate answers noted.

They are the subproblems of B. Paden, "Kinematics and Control of Robot Manipulators", 1986, and W. Kahan; see
R. Murray, Z. Li, S. Sastry, "A Mathematical Introduction to Robotic Manipulation", 1994, section 3.2, in the linear
form A cos q + B sin q = C.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis, Mask, Real, Turn, Vec, constant, some

FREE = 1e-10  # a point nearer to an axis than this share of the arm's size does not say how far the joint has turned
DOUBLE = 1e-12  # discriminants below this share count as a double root: the two branches may be one
ROUNDING = 1e-14  # discriminants below this share are zero: turning by their root moves nothing by more than this


@dataclass(eq=False)
class Notes:
    """What is noticed on the way: joints that nothing determines, and targets where branches meet.

    `size` is the arm's size [m]; `free` holds the angles (n or 1 targets) to give joints that are free.
    """

    size: float
    free: list[Array]
    singular: list[Mask] = field(default_factory=list)
    double: list[Mask] = field(default_factory=list)

    def reversed(self) -> Notes:
        """Share these notes with a solver that counts the joints from the other end."""
        return Notes(self.size, self.free[::-1], self.singular, self.double)


def level(axis: Axis, v: Vec, w: Vec, k: Real, *, joint: int, notes: Notes, scale: float = 1.0) -> Turn:
    """Turn v about the axis until its component along w is k: two answers, on a new first axis.

    Where no angle does it the answer is the nearest one, which the check by forward kinematics then rejects.
    """
    x, y = axis.across(v)
    a, b = axis.across(w)
    rest = k - axis.along(v) * axis.along(w)
    return roots(a * x + b * y, b * x - a * y, rest, scale, joint=joint, notes=notes)


def distance(axis: Axis, p: Vec, centre: Array, squared: Real, *, joint: int, notes: Notes) -> Turn:
    """Turn the point p about the axis until its squared distance from the centre (3,) is as given: two answers."""
    o = constant(centre - axis.point)
    r = (p[0] - axis.origin[0], p[1] - axis.origin[1], p[2] - axis.origin[2])
    half = 0.5 * (_square(r) + _square(o) - squared)
    return level(axis, r, o, half, joint=joint, notes=notes, scale=notes.size**2)


def aim(axis: Axis, u: Vec, v: Vec, *, joint: int, notes: Notes, scale: float = 1.0) -> Turn:
    """Turn u about the axis until it points where v does, both seen along the axis."""
    return aim_plane(axis.across(u), axis.across(v), joint=joint, notes=notes, scale=scale)


def aim_plane(u: tuple[Real, Real], v: tuple[Real, Real], *, joint: int, notes: Notes, scale: float) -> Turn:
    """Turn the plane vector u until it points where v does."""
    c = np.asarray(u[0] * v[0] + u[1] * v[1])
    s = np.asarray(u[0] * v[1] - u[1] * v[0])
    smallest = np.minimum(u[0] * u[0] + u[1] * u[1], v[0] * v[0] + v[1] * v[1])
    unknown = smallest <= (FREE * scale) ** 2
    norm = np.sqrt(c * c + s * s)
    if not some(unknown):
        norm = 1.0 / norm
        return c * norm, s * norm
    notes.singular.append(np.broadcast_to(unknown, norm.shape))
    norm = np.where(unknown | (norm == 0.0), 1.0, norm)
    return (
        np.where(unknown, np.cos(notes.free[joint]), c / norm),
        np.where(unknown, np.sin(notes.free[joint]), s / norm),
    )


def _square(v: Vec) -> Real:
    return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]


def roots(a: Real, b: Real, k: Real, scale: float, *, joint: int, notes: Notes) -> Turn:
    """Solve a cos q + b sin q = k: two answers, on a new first axis; a and b below FREE times scale are zero."""
    square = np.asarray(a * a + b * b)
    unknown = square <= (FREE * scale) ** 2
    left = np.asarray(square - k * k)
    double = np.abs(left) <= DOUBLE * square
    if some(double):
        notes.double.append(double)
    # Rounding of a double root would part its two answers by its square root, and hide that another joint is free.
    root = np.sqrt(np.where(left > ROUNDING * square, left, 0.0))
    free = some(unknown)
    inverse = 1.0 / (np.where(unknown, 1.0, square) if free else square)
    k, root = k * inverse, root * inverse
    c, s, dc, ds = a * k, b * k, b * root, a * root
    cosines, sines = np.empty((2, *c.shape)), np.empty((2, *c.shape))
    np.subtract(c, dc, out=cosines[0])
    np.add(c, dc, out=cosines[1])
    np.add(s, ds, out=sines[0])
    np.subtract(s, ds, out=sines[1])
    if free:
        unknown = np.broadcast_to(unknown, c.shape)
        notes.singular.append(unknown)
        angle = notes.free[joint]
        cosines, sines = np.where(unknown, np.cos(angle), cosines), np.where(unknown, np.sin(angle), sines)
    return cosines, sines
