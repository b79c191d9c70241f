"""The equations of motion as controllers use them, and the inverse that stays bounded at a singularity."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from kinodyn.arrays import Array
from kinodyn.errors import SingularError

Flags: TypeAlias = NDArray[np.bool_] | bool
LENGTH = 0.1  # metres that count as much as a radian when it is judged how near a singularity is


class Equations(NamedTuple):
    """M a + h = tau for the joints with motors, and J a + drift the acceleration of a frame's rows."""

    M: Array
    h: Array
    J: Array
    drift: Array


class Inverse(NamedTuple):
    """A damped inverse of J M^-1 J^T: M^-1 J^T (..., n, k), the inverse (..., k, k), and whether it was damped."""

    X: Array
    inverse: Array
    damped: Flags


def apply(A: Array, x: Array) -> Array:
    """Multiply a matrix (..., m, n) and a vector (..., n)."""
    if A.ndim == 2 and x.ndim == 1:
        single: Array = A.dot(x)  # a third of the time of @
        return single
    result: Array = (A @ x[..., None])[..., 0]
    return result


def transposed(A: Array) -> Array:
    """Swap the last two axes."""
    return A.T if A.ndim == 2 else np.swapaxes(A, -1, -2)


def flying(equations: Equations) -> Equations:
    """Leave out a free base on which nothing acts but gravity: its acceleration follows from that of the joints.

    Y. Umetani and K. Yoshida, "Resolved motion rate control of space manipulators with generalized Jacobian matrix",
    1989; collocated partial feedback linearisation: M. W. Spong, 1994.
    """
    M, h, J, drift = equations
    to_joints, J_base = M[..., 6:, :6], J[..., :, :6]
    both = np.concatenate([M[..., :6, 6:], h[..., :6, None]], axis=-1)
    base = solve_mass(M[..., :6, :6], both)
    K, k = base[..., :-1], base[..., -1]
    return Equations(
        M[..., 6:, 6:] - to_joints @ K,
        h[..., 6:] - apply(to_joints, k),
        J[..., :, 6:] - J_base @ K,
        drift - apply(J_base, k),
    )


def solve_mass(M: Array, B: Array) -> Array:
    """Solve M X = B for positive definite M (..., n, n) and B (..., n, k)."""
    if M.ndim == 2 and B.ndim == 2:
        _, X, info = lapack.dposv(M.T, B)  # M is symmetric; its transpose lies in memory as LAPACK wants it
        if info == 0:
            return np.asarray(X)
    else:
        try:
            return np.asarray(np.linalg.solve(M, B))
        except np.linalg.LinAlgError:
            pass
    raise SingularError("the mass matrix is not positive definite: some joint moves nothing that has inertia")


def damped_inverse(M: Array, J: Array, least: float, weights: Array) -> Inverse:
    """Invert A = J M^-1 J^T; weights (k,) of the inverse's rows make metres and radians comparable.

    With rows and columns of A divided by the weights' roots, eigenvalues x below `least` give x / least^2 in place of
    1 / x. So the inverse, weighted, never exceeds 1 / least, is exact where all eigenvalues are above it, and lets go
    of a direction that is lost altogether.
    """
    J_T = transposed(J)
    X = solve_mass(M, J_T)
    if J.ndim == 2:
        A = J.dot(X)
        factor, info = lapack.dpotrf(A.T)
        if info == 0:
            root, info = lapack.dtrtri(factor)
            inverse = root.dot(root.T)
            # The trace of the inverse bounds its greatest eigenvalue: most often nothing else needs to be known.
            if info == 0 and inverse.ravel("K")[:: len(weights) + 1].dot(weights) * least <= 1.0:
                return Inverse(X, inverse, False)
    else:
        A = J @ X
    scale = weights**-0.5
    values, U = np.linalg.eigh(scale[:, None] * A * scale)
    small = values < least
    kept = np.where(small, np.maximum(values, 0.0) / least**2, 1.0 / np.where(small, 1.0, values))
    root = scale[:, None] * U
    return Inverse(X, (root * kept[..., None, :]) @ transposed(root), small[..., 0])
