"""The ten inertial parameters of a link, their pseudo-inertia and physical consistency.

The pseudo-inertia P = [[S, h], [h^T, m]] contains the second moments S of the mass about the origin of the link, the
first moments h = m c and the mass m. A distribution of positive mass has it if and only if P is positive semidefinite
(P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically consistent inertial parameter
identification", 2018).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.description.types import Inertia
from kinodyn.errors import InputError

NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
SYMMETRIC_INDICES = ([0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2])  # indices of xx xy yy xz yz zz in a matrix

SMALLEST_MASS = 1e-4  # minimum mass of a link in a prior, as a fraction of the robot's mass
SMALLEST_RADIUS = 5e-3  # minimum radius of gyration of a link in a prior [m]


def _basis() -> Array:
    """Return the ten matrices (10, 4, 4) that the parameters multiply in the pseudo-inertia."""
    E = np.zeros((10, 4, 4))
    E[0, 3, 3] = 1.0
    for k in range(3):
        E[1 + k, k, 3] = E[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(zip(*SYMMETRIC_INDICES, strict=True), start=4):
        if i == j:  # S = trace(I) / 2 - I
            E[k, :3, :3] = 0.5 * np.eye(3)
            E[k, i, i] -= 1.0
        else:
            E[k, i, j] = E[k, j, i] = -1.0
    return E


BASIS = _basis()


def pseudo_inertia(parameters: ArrayLike) -> Array:
    """Return the pseudo-inertias of links.

    Parameters
    ----------
    parameters : (..., 10 n)
        In the order of `Robot.inertial_parameters`.

    Returns
    -------
    (..., n, 4, 4)

    Examples
    --------
    >>> import kinodyn as kd
    >>> P = pseudo_inertia(kd.load("panda").inertial_parameters)
    >>> P.shape, bool((np.linalg.eigvalsh(P) > 0).all())
    ((7, 4, 4), True)
    """
    flat = numbers("parameters", parameters)
    if flat.ndim == 0 or flat.shape[-1] % 10:
        raise InputError(f"parameters must be ten numbers for each link, got shape {flat.shape}")
    P: Array = np.tensordot(flat.reshape(*flat.shape[:-1], -1, 10), BASIS, axes=1)
    return P


def parameters_of(P: ArrayLike) -> Array:
    """Return the ten inertial parameters of a pseudo-inertia, the inverse of `pseudo_inertia`.

    Parameters
    ----------
    P : (..., 4, 4)

    Returns
    -------
    (..., 10)
    """
    matrix = numbers("pseudo-inertia", P, 4, 4)
    second = matrix[..., :3, :3]
    inertia = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    return np.concatenate(
        [matrix[..., 3, 3:], matrix[..., :3, 3], inertia[..., SYMMETRIC_INDICES[0], SYMMETRIC_INDICES[1]]], axis=-1
    )


def is_physically_consistent(parameters: ArrayLike) -> NDArray[np.bool_]:
    """Return whether a body of positive mass can have the parameters of each link.

    Parameters
    ----------
    parameters : (..., 10 n)
        In the order of `Robot.inertial_parameters`.

    Returns
    -------
    (..., n) bool
        Eigenvalues of the pseudo-inertia may be negative by rounding, 1e-12 of the largest.
    """
    P = pseudo_inertia(parameters)
    values = np.linalg.eigvalsh(P)
    return np.asarray((P[..., 3, 3] > 0.0) & (values[..., 0] >= -1e-12 * values[..., -1]))


def as_inertia(parameters: Array) -> Inertia:
    """Return mass, CoM and inertia about the CoM of ten parameters."""
    mass, com = float(parameters[0]), parameters[1:4] / parameters[0]
    matrix = np.zeros((3, 3))
    matrix[SYMMETRIC_INDICES] = matrix[SYMMETRIC_INDICES[::-1]] = parameters[4:]
    return Inertia(mass, com, matrix - mass * (com @ com * np.eye(3) - np.outer(com, com)))


def regularised(parameters: Array) -> Array:
    """Make the pseudo-inertias of parameters (10 n,) invertible, because the distance from a prior uses their inverse.

    Each link has at least `SMALLEST_MASS` of the mass of the robot and a radius of gyration of at least
    `SMALLEST_RADIUS` along each principal axis. Links above these bounds are unchanged.
    """
    P = pseudo_inertia(parameters)
    least = SMALLEST_MASS * max(float(np.abs(P[:, 3, 3]).sum()), 1.0)
    mass = np.maximum(P[:, 3, 3], least)
    light = P[:, 3, 3] < least
    com = np.where(light[:, None], 0.0, P[:, :3, 3] / mass[:, None])
    about_com = P[:, :3, :3] - mass[:, None, None] * com[:, :, None] * com[:, None, :]
    values, axes = np.linalg.eigh(about_com)
    floor = mass[:, None] * SMALLEST_RADIUS**2
    raised = (axes * np.maximum(values, floor)[:, None, :]) @ np.swapaxes(axes, -2, -1)
    fine = ~light & (values >= floor).all(axis=-1)
    result = P.copy()
    result[:, :3, :3] = raised + mass[:, None, None] * com[:, :, None] * com[:, None, :]
    result[:, :3, 3] = result[:, 3, :3] = mass[:, None] * com
    result[:, 3, 3] = mass
    return np.where(fine[:, None], parameters.reshape(-1, 10), parameters_of(result)).ravel()
