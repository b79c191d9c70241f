"""Cartesian springs, and damping matched to them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, matvec
from kinodyn.checks import one_of, reals, symmetric
from kinodyn.control.equations import transposed
from kinodyn.errors import InputError
from kinodyn.spatial.jacobians import left_jacobian3_inverse

ROTATABLE = ("all", "linear", "angular")


class Spring:
    """A stiffness matrix (k, k), given in the axes of the world or of the target."""

    def __init__(self, stiffness: Array, axes: str, part: str) -> None:
        one_of("axes", axes, ("world", "target"))
        if axes == "target" and part not in ROTATABLE:
            raise InputError(f'axes "target" needs part "all", "linear" or "angular", got {part!r}')
        self.stiffness, self.rotates = stiffness, axes == "target"

    def rotated(self, matrix: Array, R: Array) -> Array:
        """Express a matrix (k, k) in world axes, R (..., 3, 3) the orientation of the target."""
        if not self.rotates:
            return matrix
        k = matrix.shape[-1]
        T = np.zeros((*R.shape[:-2], k, k))
        for start in range(0, k, 3):
            T[..., start : start + 3, start : start + 3] = R
        rotated: Array = T @ matrix @ transposed(T)
        return rotated

    def wrench(self, error: Array, R: Array, angular: list[int]) -> Array:
        """Compute the wrench (..., k) that pulls along the error (..., k), the gradient of `energy`."""
        pull = matvec(self.rotated(self.stiffness, R), error)
        if len(angular) < 3:  # rotation about one axis, or none
            return pull
        pull[..., angular] = _moment(error[..., angular], pull[..., angular])
        return pull

    def energy(self, error: Array, R: Array) -> Array:
        """Compute the potential energy (...) of the spring [J]."""
        energy: Array = 0.5 * (error * matvec(self.rotated(self.stiffness, R), error)).sum(axis=-1)
        return energy


def _moment(phi: Array, pull: Array) -> Array:
    """Multiply pull (..., 3) by the inverse of the left Jacobian of rotations at phi (..., 3)."""
    if phi.ndim > 1 or pull.ndim > 1:
        return matvec(left_jacobian3_inverse(phi), pull)
    (a, b, c), (x, y, z) = phi.tolist(), pull.tolist()  # plain floats take a tenth of the time of arrays
    square = a * a + b * b + c * c
    half = 0.5 * math.sqrt(square)
    factor = (1.0 - half / math.tan(half)) / square if square > 1e-4 else 1.0 / 12.0 + square / 720.0
    u, v, w = b * z - c * y, c * x - a * z, a * y - b * x
    return np.array(
        [
            x - 0.5 * u + factor * (b * w - c * v),
            y - 0.5 * v + factor * (c * u - a * w),
            z - 0.5 * w + factor * (a * v - b * u),
        ]
    )


def spring_matrix(name: str, value: ArrayLike, k: int) -> Array:
    """Return a symmetric positive semidefinite matrix (k, k), given as such or by its diagonal."""
    given = reals(name, value)
    matrix = symmetric(name, np.diag(given) if given.ndim == 1 else given, k)
    if matrix.ndim != 2 or np.linalg.eigvalsh(matrix)[0] < -1e-9 * np.abs(matrix).max(initial=0.0):
        raise InputError(f"{name} must be ({k}, {k}), symmetric and positive semidefinite, or its diagonal ({k},)")
    return matrix


def damping_matrix(stiffness: Array, inertia: Array, ratio: float) -> Array:
    """Compute the damping matrix (..., k, k) that gives every mode of inertia and stiffness this damping ratio.

    With inertia = L L^T and L^-1 K L^-T = U diag(w^2) U^T it is 2 ratio L U diag(w) U^T L^T. At a
    singularity the damped inertia may be singular: L then comes from its eigenvectors, and lost directions drop out.
    """
    values, axes = np.linalg.eigh(inertia)
    root = np.sqrt(np.maximum(values, 0.0))
    regular = root > 1e-9 * root.max(axis=-1, keepdims=True)
    L = axes * root[..., None, :]
    L_inv_T = axes * np.where(regular, 1.0 / np.where(regular, root, 1.0), 0.0)[..., None, :]
    squares, U = np.linalg.eigh(transposed(L_inv_T) @ stiffness @ L_inv_T)
    modes = L @ U
    damping: Array = 2.0 * ratio * (modes * np.sqrt(np.maximum(squares, 0.0))[..., None, :]) @ transposed(modes)
    return damping
