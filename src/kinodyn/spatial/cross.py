"""Cross-product matrices of vectors, and the inverse map."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError


def skew(vector: ArrayLike) -> Array:
    """Return the cross-product matrices of vectors: `skew(a) @ b` is `a x b`.

    Parameters
    ----------
    vector : (..., 3)

    Returns
    -------
    S : (..., 3, 3) array
        Skew-symmetric matrices.
    """
    return skew_matrix(numbers("vector", vector, 3))


def unskew(matrix: ArrayLike) -> Array:
    """Return the vectors of skew-symmetric matrices: the inverse of `skew`.

    Parameters
    ----------
    matrix
        Skew-symmetric matrices `(..., 3, 3)`.

    Returns
    -------
    vector : (..., 3) array
    """
    S = numbers("matrix", matrix, 3, 3)
    worst = float(np.abs(S + np.swapaxes(S, -2, -1)).max(initial=0.0))
    if worst > 1e-6 * max(1.0, float(np.abs(S).max(initial=0.0))):
        raise InputError(f"matrix is not skew-symmetric, off by {worst:.3g}; pass (matrix - matrix.T) / 2")
    return np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], -1) / 2


def skew_matrix(v: Array) -> Array:
    """Return `skew(v)` without validation."""
    S = np.zeros((*v.shape, 3))
    S[..., 2, 1], S[..., 0, 2], S[..., 1, 0] = v[..., 0], v[..., 1], v[..., 2]
    S[..., 1, 2], S[..., 2, 0], S[..., 0, 1] = -v[..., 0], -v[..., 1], -v[..., 2]
    return S
