"""Moment: what is known of a robot at one instant, for all that is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.chain import configuration
from kinodyn.model.robot import Robot


@dataclass(frozen=True, eq=False)
class Moment:
    """A robot at one instant.

    Attributes
    ----------
    q : (nq,)
    v, a : (nv,) or None
        Velocity and acceleration; None: at rest.
    forces : dict of frame -> (6,)
        Wrenches of the contacts on frames, aligned reference; empty where nothing is measured.
    """

    q: Array
    v: Array | None = None
    a: Array | None = None
    forces: Mapping[str, Array] = field(default_factory=dict)


def one_configuration(robot: Robot, q: object) -> Array:
    """Return q (nq,) as a copy after all checks, so that no NaN ever reaches the page."""
    checked = configuration(robot, q)
    if checked.shape != (robot.nq,):
        raise InputError(f"q must be one configuration of shape ({robot.nq},), got {checked.shape}")
    return np.array(checked)


def wxyz_of(R: Array) -> Array:
    """Write rotations (..., 3, 3) as the page's quaternions (..., 4), w first."""
    flat = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat()
    quaternions: Array = flat[:, [3, 0, 1, 2]].reshape(*R.shape[:-2], 4)
    return quaternions


def pose_of(wxyz: Array, position: Array) -> Array:
    """Make a pose (4, 4) of what the page says."""
    w, x, y, z = (float(part) for part in wxyz)
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat([x, y, z, w]).as_matrix()
    T[:3, 3] = position
    return T
