"""Adapter to toppra: the largest path speed within linear constraints on s'' and s'^2."""

from __future__ import annotations

from typing import Any

import numpy as np
from toppra import algorithm
from toppra.constraint import (
    ConstraintType,
    DiscretizationType,
    LinearConstraint,
    canlinear_colloc_to_interpolate,
)

from kinodyn.arrays import Array
from kinodyn.trajectory.piecewise import PiecewisePolynomial


class _Path:
    """A curve behind toppra's interface of geometric paths."""

    def __init__(self, curve: PiecewisePolynomial) -> None:
        self.curve, self.dof = curve, curve.space.nv
        self.path_interval = np.array([0.0, curve.duration])
        self.duration = curve.duration

    def __call__(self, s: Array, order: int = 0) -> Array:
        """Evaluate the path or a derivative."""
        return self.curve(s, order)


def max_path_speed(
    curve: PiecewisePolynomial, s: Array, rows: tuple[Array, Array, Array], limit: Array, max_squared_speed: Array
) -> tuple[Array | None, int]:
    """Compute the largest path speed ds/dt at grid points s (n,), from rest to rest.

    Parameters
    ----------
    curve
    s : (n,)
        Grid on [0, duration] of the curve.
    rows : three (n, m)
        a, b, c of |a s'' + b s'^2 + c| <= limit.
    limit : (m,)
    max_squared_speed : (n,)
        Bound of s'^2.

    Returns
    -------
    path_speed : (n,) or None
        None where there is no solution.
    failed : int
        The grid point at which it fails.
    """
    xbound = np.stack([np.zeros(len(s)), max_squared_speed], axis=1)
    F, g = np.concatenate([np.eye(len(limit)), -np.eye(len(limit))]), np.concatenate([limit, limit])

    def parameters(*_: object) -> Any:
        if not len(limit):
            return *(None,) * 5, None, xbound
        return (*canlinear_colloc_to_interpolate(*rows, F, g, None, None, s, identical=True)[:5], None, xbound)

    constraint = LinearConstraint()
    constraint.constraint_type = ConstraintType.CanonicalLinear
    constraint.discretization_type = DiscretizationType.Interpolation
    constraint.identical, constraint.dof = True, curve.space.nv
    constraint.compute_constraint_params = parameters
    solver = algorithm.TOPPRA([constraint], _Path(curve), gridpoints=s, solver_wrapper="seidel")
    _, path_speed, _, sets = solver.compute_parameterization(0.0, 0.0, return_data=True)
    if path_speed is None or np.isnan(path_speed).any():
        unknown = np.flatnonzero(np.isnan(np.atleast_2d(sets)).any(axis=1))
        return None, int(unknown[-1]) if len(unknown) else 0
    return np.asarray(path_speed), 0
