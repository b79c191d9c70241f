"""Inertias of simple solids, and of bodies that are combined or separated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import list_of, number, numbers, vector
from kinodyn.description.types import Inertia
from kinodyn.errors import InputError

__all__ = [
    "about_origin",
    "box",
    "combine",
    "cylinder",
    "is_physically_consistent",
    "principal",
    "remove",
    "sphere",
    "symmetric",
]

_AXIS = {"x": 0, "y": 1, "z": 2}


def __dir__() -> list[str]:
    return list(__all__)


@check_types
def sphere(mass: float, radius: float, com: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    """Compute the inertia of a uniform solid sphere.

    Parameters
    ----------
    mass : float [kg]
    radius : float [m]
    com : (3,) [m]

    Returns
    -------
    inertia : Inertia
        In link axes.
    """
    return _solid(mass, com, np.full(3, 0.4 * number("mass", mass) * number("radius", radius) ** 2))


@check_types
def cylinder(
    mass: float,
    radius: float,
    length: float,
    axis: Literal["x", "y", "z"] = "z",
    com: Sequence[float] = (0.0, 0.0, 0.0),
) -> Inertia:
    """Compute the inertia of a uniform solid cylinder.

    Parameters
    ----------
    mass : float [kg]
    radius : float [m]
    length
        Length along the axis [m].
    axis
        "x", "y" or "z".
    com : (3,) [m]

    Returns
    -------
    inertia : Inertia
        In link axes.
    """
    around = number("mass", mass) * number("radius", radius) ** 2
    moments = np.full(3, (3.0 * around + mass * number("length", length) ** 2) / 12.0)
    moments[_AXIS[axis]] = 0.5 * around
    return _solid(mass, com, moments)


@check_types
def box(mass: float, size: Sequence[float], com: Sequence[float] = (0.0, 0.0, 0.0)) -> Inertia:
    """Compute the inertia of a uniform solid box.

    Parameters
    ----------
    mass : float [kg]
    size
        Full lengths (x, y, z) [m].
    com : (3,) [m]

    Returns
    -------
    inertia : Inertia
        In link axes.
    """
    squares = np.square(vector("size", size, 3))
    return _solid(mass, com, number("mass", mass) / 12.0 * (squares.sum() - squares))


@check_types
def principal(mass: float, com: Sequence[float], moments: Sequence[float]) -> Inertia:
    """Create the inertia whose principal axes are the link axes.

    Parameters
    ----------
    mass : float [kg]
    com : (3,) [m]
    moments
        Moments (Ixx, Iyy, Izz) about the CoM [kg m^2].

    Returns
    -------
    inertia : Inertia
        In link axes.
    """
    return _solid(mass, com, vector("moments", moments, 3))


@check_types
def symmetric(xx: float, yy: float, zz: float, xy: float = 0.0, xz: float = 0.0, yz: float = 0.0) -> Array:
    """Create a symmetric 3x3 matrix from its six entries.

    Parameters
    ----------
    xx, yy, zz, xy, xz, yz
        Entries of the matrix [kg m^2], off-diagonal ones with their sign.

    Returns
    -------
    matrix : (3, 3) array
    """
    return numbers("entries", [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], 3, 3)


@check_types
def about_origin(inertia: Inertia) -> Array:
    """Compute the rotational inertia about the origin of the link frame (parallel-axis theorem).

    Parameters
    ----------
    inertia : Inertia

    Returns
    -------
    matrix : (3, 3) array
        [kg m^2]
    """
    return inertia.matrix + inertia.mass * _offset(inertia.com)


@check_types
def combine(parts: Iterable[Inertia]) -> Inertia:
    """Compute the inertia of rigidly connected bodies.

    Parameters
    ----------
    parts
        Inertias of the bodies, all in one frame.

    Returns
    -------
    inertia : Inertia
        Inertia of the whole, in the same frame.
    """
    bodies = list_of("parts", parts, Inertia, "inertias")
    mass = sum(body.mass for body in bodies)
    if mass == 0.0:
        raise InputError(f"the masses of {len(bodies)} parts must not add up to 0: the rest has no CoM, got 0")
    com: Array = np.sum([body.mass * body.com for body in bodies], axis=0) / mass
    origin: Array = np.sum([about_origin(body) for body in bodies], axis=0)
    return Inertia(mass, com, origin - mass * _offset(com))


@check_types
def remove(whole: Inertia, parts: Iterable[Inertia]) -> Inertia:
    """Compute the inertia that remains when parts are removed from a body.

    Parameters
    ----------
    whole
        Inertia of the body.
    parts
        Inertias of the parts, in the same frame.

    Returns
    -------
    inertia : Inertia
        Inertia of the rest, in the same frame.
    """
    removed = list_of("parts", parts, Inertia, "inertias")
    negatives = [Inertia(-part.mass, part.com, -part.matrix) for part in removed]
    return combine([whole, *negatives])


@check_types
def is_physically_consistent(inertia: Inertia, tolerance: float = 1e-9) -> bool:
    """Return whether some distribution of positive mass has this inertia.

    Parameters
    ----------
    inertia : Inertia
    tolerance
        Allowed excess, relative to the sum of the moments.

    Returns
    -------
    consistent : bool
        True if the mass and the principal moments are positive and no moment exceeds the sum of the other two.
    """
    if not inertia.mass > 0.0:
        return False
    moments = np.linalg.eigvalsh(inertia.matrix)
    slack = tolerance * float(moments.sum())
    return bool(moments[0] > 0.0 and moments[2] <= moments[0] + moments[1] + slack)


def _solid(mass: float, com: ArrayLike, moments: Array) -> Inertia:
    """Create an inertia from the moments (3,) about the CoM."""
    return Inertia(number("mass", mass), vector("com", com, 3).copy(), np.diag(moments))


def _offset(com: Array) -> Array:
    """Return the inertia per kilogram of a point mass at `com` about the origin."""
    return float(com @ com) * np.eye(3) - np.outer(com, com)
