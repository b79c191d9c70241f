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


def together(inertia: object, external: object, base: int) -> None:
    """Raise unless an inertia to be felt comes with a measured force, on a robot with a fixed base."""
    if (inertia is None) != (external is None):
        raise InputError("inertia and external belong together: another inertia is felt only by measuring the force")
    if inertia is not None and base:
        raise InputError("inertia can be shaped only where the base is fixed")
