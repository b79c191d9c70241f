"""Mass properties of simple solids, and what is left or made when bodies are taken apart or put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from kinodyn.arrays import Array
from kinodyn.description.types import Inertia

_AXIS = {"x": 0, "y": 1, "z": 2}


def sphere(mass: float, radius: float, com: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    """Return the inertia of a uniform solid sphere: mass [kg], radius [m], centre [m] in the link frame."""
    return Inertia(mass, np.array(com, dtype=float), np.eye(3) * (0.4 * mass * radius**2))


def cylinder(
    mass: float,
    radius: float,
    length: float,
    axis: Literal["x", "y", "z"] = "z",
    com: Sequence[float] = (0.0, 0.0, 0.0),
) -> Inertia:
    """Return the inertia of a uniform solid cylinder: mass [kg], radius and length [m], centre [m]."""
    moments = np.full(3, mass * (3.0 * radius**2 + length**2) / 12.0)
    moments[_AXIS[axis]] = 0.5 * mass * radius**2
    return Inertia(mass, np.array(com, dtype=float), np.diag(moments))


def box(mass: float, size: Sequence[float], com: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    """Return the inertia of a uniform solid box: mass [kg], full lengths (x, y, z) [m], centre [m]."""
    squares = np.square(np.array(size, dtype=float))
    return Inertia(mass, np.array(com, dtype=float), np.diag(mass / 12.0 * (squares.sum() - squares)))


def principal(mass: float, com: Sequence[float], moments: Sequence[float]) -> Inertia:
    """Return the inertia whose principal axes are the link axes: moments (Ixx, Iyy, Izz) about the com [kg m^2]."""
    return Inertia(mass, np.array(com, dtype=float), np.diag(np.array(moments, dtype=float)))


def symmetric(xx: float, yy: float, zz: float, xy: float = 0.0, xz: float = 0.0, yz: float = 0.0) -> Array:
    """Return the symmetric 3x3 matrix with these six entries; off the diagonal they are the matrix entries as such."""
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def about_origin(inertia: Inertia) -> Array:
    """Return the rotational inertia about the origin of the link frame [kg m^2] (parallel axis theorem)."""
    return inertia.matrix + inertia.mass * _offset(inertia.com)


def combine(parts: Iterable[Inertia]) -> Inertia:
    """Return the inertia of rigidly joined bodies, all given in the same frame."""
    bodies = list(parts)
    mass = sum(body.mass for body in bodies)
    com: Array = np.sum([body.mass * body.com for body in bodies], axis=0) / mass
    origin: Array = np.sum([about_origin(body) for body in bodies], axis=0)
    return Inertia(mass, com, origin - mass * _offset(com))


def remove(whole: Inertia, parts: Iterable[Inertia]) -> Inertia:
    """Return what is left of `whole` when `parts`, in the same frame, are cut out of it."""
    negatives = [Inertia(-part.mass, part.com, -part.matrix) for part in parts]
    return combine([whole, *negatives])


def is_physically_consistent(inertia: Inertia, tolerance: float = 1e-9) -> bool:
    """Tell whether some distribution of positive mass has this inertia.

    The mass must be positive, the principal moments positive, and none larger than the sum of the other two
    (up to `tolerance` of their sum).
    """
    if not inertia.mass > 0.0:
        return False
    moments = np.linalg.eigvalsh(inertia.matrix)
    slack = tolerance * float(moments.sum())
    return bool(moments[0] > 0.0 and moments[2] <= moments[0] + moments[1] + slack)


def _offset(com: Array) -> Array:
    """Return the inertia per kilogram of a point at `com` about the origin."""
    return float(com @ com) * np.eye(3) - np.outer(com, com)
