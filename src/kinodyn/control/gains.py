"""Gains: stiffness and damping of a feedback loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers, shown
from kinodyn.display import displayed
from kinodyn.errors import InputError


@check_types
@displayed
@dataclass(frozen=True, eq=False)
class Gains:
    """Stiffness and damping of a feedback loop, one number for all coordinates or one each.

    Controllers that command accelerations (computed torque, task space, operational space) take them per unit of
    inertia: [1/s^2] and [1/s]. Controllers that command torques (PD, impedance, adaptive, robust) take [N m/rad or
    N/m] and [N m s/rad or N s/m]; gains made from a frequency are multiplied there by the inertia of each joint.

    Attributes
    ----------
    stiffness, damping : () or (n,) array
        Not negative.
    per_inertia : bool
        Whether they are per unit of inertia, as those made from a frequency are.

    Examples
    --------
    >>> gains = Gains.from_frequency(10.0, damping_ratio=0.7)
    >>> print(gains.stiffness, gains.damping)
    100.0 14.0
    """

    stiffness: Array
    damping: Array
    per_inertia: bool = False

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping"):
            given = numbers(name, getattr(self, name))
            if given.ndim > 1 or (given < 0).any():
                raise InputError(f"{name} must be one number or (n,) numbers, none negative, got {given.tolist()}")
            object.__setattr__(self, name, given)

    @classmethod
    def from_frequency(cls, frequency: ArrayLike, *, damping_ratio: ArrayLike = 1.0) -> Gains:
        """Make gains from a natural frequency and a damping ratio: w^2 and 2 ratio w, per unit of inertia.

        Parameters
        ----------
        frequency : () or (n,)
            Natural frequency w [rad/s], above 0.
        damping_ratio : () or (n,)
            1 is critically damped.

        Returns
        -------
        Gains
        """
        omega, ratio = numbers("frequency", frequency), numbers("damping_ratio", damping_ratio)
        if (omega <= 0).any() or (ratio < 0).any():
            raise InputError(
                f"frequency must be above 0 and damping_ratio not below, got {omega.tolist()} and {ratio.tolist()}"
            )
        return cls(omega**2, 2.0 * ratio * omega, per_inertia=True)

    @check_types
    def broadcast(self, n: int, what: str) -> tuple[Array, Array]:
        """Return stiffness and damping of n coordinates.

        Parameters
        ----------
        n : int
        what : str
            Names the coordinates in an error.

        Returns
        -------
        stiffness, damping : (n,) array
        """
        for name in ("stiffness", "damping"):
            if getattr(self, name).shape not in ((), (n,)):
                shape = getattr(self, name).shape
                raise InputError(f"{name} of {what} must be one number or ({n},), got shape {shape}")
        return np.full(n, self.stiffness), np.full(n, self.damping)

    @check_types
    def for_inertia(self, inertia: ArrayLike, what: str) -> tuple[Array, Array]:
        """Return stiffness and damping in units of force.

        Parameters
        ----------
        inertia : (..., n)
            Of the coordinates [kg m^2, kg].
        what : str
            Names the coordinates in an error.

        Returns
        -------
        stiffness, damping : (..., n) array
        """
        known = numbers("inertia", inertia)
        if not known.ndim:
            raise InputError(f"inertia must have shape (..., n), got {shown(inertia)}")
        stiffness, damping = self.broadcast(known.shape[-1], what)
        return (stiffness * known, damping * known) if self.per_inertia else (stiffness, damping)


def require_gains(gains: object, what: str) -> Gains:
    """Return `gains`, or raise unless they are Gains."""
    if not isinstance(gains, Gains):
        raise InputError(
            f"{what} must be Gains, got {type(gains).__name__}; make them by Gains.from_frequency(...) or"
            " Gains(stiffness, damping)"
        )
    return gains
