"""Constraint forces by name, with rank and consistency of the constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import reals
from kinodyn.display import displayed
from kinodyn.dynamics.contact.constraints import Constraint
from kinodyn.errors import InputError

_CONSISTENT = 1e-8  # largest residual due to rounding, as a fraction of the accelerations


@displayed
class Forces(Mapping[str, Array]):
    """Constraint forces on the robot by the name of the constraint.

    For a point (..., 3); for a surface (..., 6), force and moment about its point; for corners (..., n, 3); all in
    world axes. For a loop (..., k), one number for each constrained direction, on `frame`, in the axes of `T_other`.

    Parameters
    ----------
    contacts : sequence of Constraint
    vector : (..., rows)
        All forces in one array, in the order of `contact.jacobian`.
    rank : (...)
        Rank of the constraint Jacobian.
    residual : (..., rows), optional
        Errors of the constrained accelerations [m/s^2, rad/s^2], after an impact of velocities: rounding, unless
        constraints contradict each other.
    missed : (...), optional
        The largest residual as a fraction of the accelerations.
    """

    __slots__ = ("_contacts", "_missed", "_rank", "residual", "vector")

    @check_types
    def __init__(
        self,
        contacts: Sequence[Constraint],
        vector: Array,
        rank: Array,
        residual: Array | None = None,
        missed: Array | None = None,
    ) -> None:
        vector = reals("vector", vector)
        if not vector.ndim:
            raise InputError(f"vector must have shape (..., rows), got {float(vector)}")
        self._contacts, self.vector, self._rank = contacts, vector, rank
        self.residual: Array = np.zeros_like(vector) if residual is None else residual
        self._missed: Array = np.zeros(vector.shape[:-1]) if missed is None else missed

    @property
    def rows(self) -> int:
        """Number of rows of all constraints."""
        return int(self.vector.shape[-1])

    @property
    def rank(self) -> NDArray[np.int_]:
        """Rank (...) of the constraints.

        Below `rows` the forces are not unique, and those of least norm are returned; the accelerations are unique.
        """
        return np.asarray(self._rank).astype(int)

    @property
    def consistent(self) -> NDArray[np.bool_]:
        """Whether (...) all constraints can hold at once: False where they contradict each other."""
        consistent: NDArray[np.bool_] = np.logical_or(self.rank == self.rows, self._missed <= _CONSISTENT)
        return consistent

    def __getitem__(self, name: str) -> Array:
        start = 0
        for contact in self._contacts:
            shape = contact.shape()
            size = int(np.prod(shape))
            if contact.name == name:
                part: Array = self.vector[..., start : start + size].reshape(*self.vector.shape[:-1], *shape)
                return part
            start += size
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (contact.name for contact in self._contacts)

    def __len__(self) -> int:
        return len(self._contacts)

    def __repr__(self) -> str:
        return "Forces(" + ", ".join(f"{name!r}: {force}" for name, force in self.items()) + ")"
