"""Equations of motion for controllers, and an operational space inertia that stays bounded at singularities."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from kinodyn.arrays import Array, matvec
from kinodyn.errors import SingularError

Flags: TypeAlias = NDArray[np.bool_] | bool

CHARACTERISTIC_LENGTH = 0.1  # metres that count as one radian when the distance to a singularity is measured


def flags(numbers: Array) -> Flags:
    """Return which numbers (...) of the core, 0 or 1, are 1; a single one without NumPy's cost of 0.4 us."""
    return numbers.item() != 0.0 if numbers.ndim == 0 else numbers != 0.0


class Equations(NamedTuple):
    """M a + h = tau of the actuated joints; J a + drift is the acceleration of the controlled rows of a frame."""

    M: Array
    h: Array
    J: Array
    drift: Array


class DampedInertia(NamedTuple):
    """M^-1 J^T (..., n, k), the damped inverse Lambda (..., k, k) of J M^-1 J^T, and whether damping was needed."""

    M_inv_JT: Array
    Lambda: Array
    damped: Flags


def transposed(A: Array) -> Array:
    """Swap the last two axes."""
    return A.T if A.ndim == 2 else np.swapaxes(A, -1, -2)


def eliminate_base(equations: Equations) -> Equations:
    """Eliminate a floating base on which only gravity acts: its acceleration follows from that of the joints.

    Y. Umetani and K. Yoshida, "Resolved motion rate control of space manipulators with generalized Jacobian matrix",
    1989; collocated partial feedback linearisation: M. W. Spong, 1994.
    """
    M, h, J, drift = equations
    M_joints_base, J_base = M[..., 6:, :6], J[..., :, :6]
    right = np.concatenate([M[..., :6, 6:], h[..., :6, None]], axis=-1)
    base = solve_mass(M[..., :6, :6], right)
    K, k = base[..., :-1], base[..., -1]  # a_base = -K a_joints - k
    return Equations(
        M[..., 6:, 6:] - M_joints_base @ K,
        h[..., 6:] - matvec(M_joints_base, k),
        J[..., :, 6:] - J_base @ K,
        drift - matvec(J_base, k),
    )


def solve_mass(M: Array, B: Array) -> Array:
    """Solve M X = B for positive definite M (..., n, n) and B (..., n, k)."""
    if M.ndim == 2 and B.ndim == 2:
        _, X, info = lapack.dposv(M.T, B)  # M is symmetric; its transpose is in LAPACK's memory order
        if info == 0:
            return np.asarray(X)
    else:
        try:
            return np.asarray(np.linalg.solve(M, B))
        except np.linalg.LinAlgError:
            pass
    raise SingularError("the mass matrix is not positive definite: a joint moves no inertia")


def damped_inertia(M: Array, J: Array, min_mobility: float, weights: Array) -> DampedInertia:
    """Invert A = J M^-1 J^T; the weights (k,) of its rows make metres and radians comparable.

    With rows and columns of A divided by the square roots of the weights, an eigenvalue x below `min_mobility` gives
    x / min_mobility^2 in place of 1 / x. So the weighted inverse never exceeds 1 / min_mobility, is exact where all
    eigenvalues are above it, and goes to zero along a direction that is lost altogether.
    """
    X = solve_mass(M, transposed(J))
    if J.ndim == 2:
        A = J.dot(X)
        factor, info = lapack.dpotrf(A.T)
        if info == 0:
            root, info = lapack.dtrtri(factor)
            inverse = root.dot(root.T)
            # The trace of the inverse bounds its largest eigenvalue, which settles most cases.
            if info == 0 and inverse.ravel("K")[:: len(weights) + 1].dot(weights) * min_mobility <= 1.0:
                return DampedInertia(X, inverse, False)
    else:
        A = J @ X
    scale = weights**-0.5
    values, U = np.linalg.eigh(scale[:, None] * A * scale)
    small = values < min_mobility
    damped = np.maximum(values, 0.0) / min_mobility / min_mobility
    inverted = np.where(small, damped, 1.0 / np.where(small, 1.0, values))
    root = scale[:, None] * U
    return DampedInertia(X, (root * inverted[..., None, :]) @ transposed(root), small[..., 0])
