"""Errors of an estimated floating base."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import broadcast, numbers, shape_of
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.spatial import from_quaternion


@displayed
class BaseErrors(NamedTuple):
    """Estimate minus truth of a floating base.

    Attributes
    ----------
    tilt : (...)
        Angle between the estimated and the true vertical [rad], 0 or more.
    heading : (...)
        Rotation about the vertical [rad].
    velocity : (..., 3)
        In base axes [m/s].
    position : (..., 3)
        In the world [m].
    """

    tilt: Array
    heading: Array
    velocity: Array
    position: Array


def base_errors(q: ArrayLike, v: ArrayLike, q_estimated: ArrayLike, v_estimated: ArrayLike) -> BaseErrors:
    """Compare estimates of a floating base with the truth.

    Parameters
    ----------
    q, v
        True configurations (..., nq) and velocities (..., nv).
    q_estimated, v_estimated
        Estimates of the same shapes.

    Returns
    -------
    BaseErrors

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> q, v = robot.neutral(), np.zeros(robot.nv)
    >>> leaning = robot.integrate(q, np.r_[np.zeros(3), 0.1, np.zeros(robot.nv - 4)])
    >>> round(float(kd.estimation.base_errors(q, v, leaning, v).tilt), 6)
    0.1
    """
    nq, nv = (shape_of(value)[-1:] or (0,) for value in (q, v))
    if nq[0] < 7 or nv[0] < 6:
        raise InputError(f"q must be (..., nq) and v (..., nv) of a floating base, got {shape_of(q)} and {shape_of(v)}")
    true, seen = broadcast((numbers("q", q, *nq), 1), (numbers("q_estimated", q_estimated, *nq), 1))
    true_v, seen_v = broadcast((numbers("v", v, *nv), 1), (numbers("v_estimated", v_estimated, *nv), 1))
    R, R_seen = from_quaternion(true[..., 3:7]), from_quaternion(seen[..., 3:7])
    up, up_seen = R[..., 2, :], R_seen[..., 2, :]
    tilt = np.arctan2(np.linalg.norm(np.cross(up, up_seen), axis=-1), np.einsum("...i,...i", up, up_seen))
    M = R_seen @ np.swapaxes(R, -1, -2)
    heading = np.arctan2(M[..., 1, 0] - M[..., 0, 1], M[..., 0, 0] + M[..., 1, 1])
    return BaseErrors(tilt, heading, (seen_v - true_v)[..., :3], (seen - true)[..., :3])
