"""Snapshot: the state of a robot at one instant, as it is drawn."""

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
class Snapshot:
    """A robot at one instant.

    Attributes
    ----------
    q : (nq,)
    v, a : (nv,) or None
        Velocity and acceleration; None means at rest.
    forces : dict of frame -> (6,)
        Contact wrenches on frames, local_world_aligned [N, N m]; empty if they are not known.
    human : dict of key point -> (3,)
        The human whom the robot follows [m]; empty if there is none.
    """

    q: Array
    v: Array | None = None
    a: Array | None = None
    forces: Mapping[str, Array] = field(default_factory=dict)
    human: Mapping[str, Array] = field(default_factory=dict)


def check_configuration(robot: Robot, q: object) -> Array:
    """Check q and return a copy (nq,), so that no NaN reaches the page."""
    checked = configuration(robot, q)
    if checked.shape != (robot.nq,):
        raise InputError(f"q must be one configuration of shape ({robot.nq},), got {checked.shape}")
    return np.array(checked)


def wxyz_from_matrix(R: Array) -> Array:
    """Convert rotations (..., 3, 3) to quaternions (..., 4), w first as viser has them."""
    flat = Rotation.from_matrix(R.reshape(-1, 3, 3)).as_quat()
    quaternions: Array = flat[:, [3, 0, 1, 2]].reshape(*R.shape[:-2], 4)
    return quaternions


def pose_from_wxyz(wxyz: Array, position: Array) -> Array:
    """Convert a quaternion (4,), w first, and a position (3,) to a pose (4, 4)."""
    w, x, y, z = (float(part) for part in wxyz)
    T = np.eye(4)
    T[:3, :3] = Rotation.from_quat([x, y, z, w]).as_matrix()
    T[:3, 3] = position
    return T
