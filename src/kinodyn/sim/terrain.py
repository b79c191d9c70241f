"""Uneven ground for MuJoCo: slopes, height fields, and blocks on the ground."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import mujoco as mj
import numpy as np
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.dynamics.contact.ground import HeightField, Plane
from kinodyn.errors import InputError

FLOOR = "floor"
GroundShape = Plane | HeightField
GROUND_DEPTH = 0.1  # [m] how far the ground and the blocks on it extend downwards
_MIN_HEIGHT = 1e-6  # [m] MuJoCo rejects a height field of zero height


class Block(NamedTuple):
    """A box on the ground, such as a step that the controller does not know of.

    On a plane it is aligned with the plane, its length along the slope of x; on a height field it is level, `height`
    above the ground below its centre.

    Attributes
    ----------
    x, y : float
        Centre, seen from above [m].
    length, width : float
        Sides along x and y [m].
    height : float
        Height of the upper side above the ground [m].
    """

    x: float
    y: float
    length: float
    width: float
    height: float


def checked_ground(ground: object) -> None:
    """Raise InputError unless MuJoCo can represent this ground."""
    if ground is not None and not isinstance(ground, Plane | HeightField):
        raise InputError(f"ground must be None, a contact.Plane or a contact.HeightField, got {ground!r}")
    if isinstance(ground, Plane) and ground.normal[2] < 1e-3:
        raise InputError(f"the normal of the ground must point upwards, got {ground.normal.tolist()}")


def checked_blocks(blocks: object) -> tuple[Block, ...]:
    """Convert rows of five numbers to blocks; the error names the row that is not one."""
    if not isinstance(blocks, Iterable):
        raise InputError(f"blocks must be a sequence of sim.Block, got {blocks!r}")
    found = []
    for k, row in enumerate(blocks):
        try:
            block = Block(*(float(value) for value in row))
        except (TypeError, ValueError) as cause:
            raise InputError(f"blocks[{k}] must be x, y, length, width, height [m], got {row!r}") from cause
        if not np.isfinite(block).all() or min(block[2:]) <= 0:
            raise InputError(f"blocks[{k}] must be finite, with length, width and height above 0, got {row!r}")
        found.append(block)
    return tuple(found)


def ground_geom(spec: mj.MjSpec, ground: GroundShape | None, name: str = FLOOR) -> dict[str, Any]:
    """Describe the ground as a geom of the world; None is level at z = 0."""
    plane = {"name": name, "type": mj.mjtGeom.mjGEOM_PLANE, "size": [0.0, 0.0, GROUND_DEPTH]}
    if ground is None:
        return plane
    if isinstance(ground, Plane):
        return {**plane, "pos": ground.point, "quat": _quaternion(ground.normal)}
    heights, (nx, ny) = ground.heights, ground.heights.shape
    lowest, half = float(heights.min()), 0.5 * ground.spacing * (np.array([nx, ny]) - 1)
    spec.add_hfield(
        name=name,
        nrow=ny,
        ncol=nx,
        size=[*half, max(float(np.ptp(heights)), _MIN_HEIGHT), GROUND_DEPTH],
        userdata=(heights - lowest).T.ravel(),  # rows run along y
    )
    place = [*(ground.origin + half), lowest]
    return {"name": name, "type": mj.mjtGeom.mjGEOM_HFIELD, "hfieldname": name, "pos": place}


def block_geom(block: Block, name: str, ground: GroundShape | None) -> dict[str, Any]:
    """Describe a block as a geom of the world. It extends below the ground, so that no foot gets under it."""
    normal, below = np.array([0.0, 0.0, 1.0]), np.array([block.x, block.y, 0.0])
    if isinstance(ground, Plane):
        normal = ground.normal
        below[2] = -float(ground.heights(below)) / normal[2]
    elif isinstance(ground, HeightField):
        below[2] = -float(ground.height_and_normal(below)[0] / ground.height_and_normal(below)[1][2])
    sides = 0.5 * np.array([block.length, block.width, block.height + GROUND_DEPTH])
    centre = below + (block.height - sides[2]) * normal
    quaternion = _quaternion(normal)
    return {"name": name, "type": mj.mjtGeom.mjGEOM_BOX, "size": sides, "pos": centre, "quat": quaternion}


def axes_on(normal: Array) -> Array:
    """Compute axes (3, 3), in columns, with z along the normal and x in the world's x-z plane."""
    x = np.array([normal[2], 0.0, -normal[0]]) / np.hypot(normal[0], normal[2])
    return np.column_stack([x, np.cross(normal, x), normal])


def _quaternion(normal: Array) -> Array:
    """Compute the quaternion of these axes, w first."""
    quaternion: Array = Rotation.from_matrix(axes_on(normal)).as_quat()[[3, 0, 1, 2]]
    return quaternion
