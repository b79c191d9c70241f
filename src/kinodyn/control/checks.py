"""Checks of arguments that several controllers share."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn.checks import numbers
from kinodyn.errors import InputError


def nonnegative(name: str, value: ArrayLike) -> float:
    """Return one number that is not negative, or raise."""
    number = numbers(name, value)
    if number.shape != () or number < 0:
        raise InputError(f"{name} must be one number, not negative, got {value!r}")
    return float(number)


def positive(name: str, value: ArrayLike) -> float:
    """Return one number above zero, or raise."""
    number = nonnegative(name, value)
    if number == 0.0:
        raise InputError(f"{name} must be above 0")
    return number


def check_inertia_shaping(inertia: object, external: object, n_base: int) -> None:
    """Raise unless a desired inertia comes with a measured force, on a robot with a fixed base."""
    if (inertia is None) != (external is None):
        raise InputError("inertia and external go together: shaping the inertia needs the measured force")
    if inertia is not None and n_base:
        raise InputError("inertia can be shaped only where the base is fixed")
