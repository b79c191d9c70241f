"""Pose goals: regions of poses, and grasps of an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike, copied_on_access
from kinodyn.checks import as_pose, flag, integer, nonnegative
from kinodyn.collision.query import snapshot_of
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.collision.world import World
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.spatial import as_euler, from_euler, inverse

MAX_POSES = 10_000_000  # drawn at once
TOLERANCE = 1e-6  # [m, rad]


@check_types
@displayed
@copied_on_access("pose", "position_tolerance", "rotation_tolerance")
@dataclass(frozen=True, eq=False)
class PoseRegion:
    """A region of acceptable goal poses: those near a pose, within a box and ranges of angles.

    Parameters
    ----------
    pose : (..., 4, 4)
        Centre T_world_frame. Several are alternatives.
    position_tolerance : float or (3,)
        How far the frame may be from the centre, along the axes of `pose`, in both directions [m].
    rotation_tolerance : float or (3,)
        How far it may be rotated, in both directions [rad]: by angles about its x, then its new y, then its new z axis.
        pi leaves the angle about an axis free.
    free_yaw : bool
        Leave the angle about the z axis free.

    Examples
    --------
    The hand points downwards, within 5 cm of a place on the table, turned in any direction:

    >>> import numpy as np
    >>> import kinodyn as kd
    >>> down = kd.spatial.pose([0.5, 0.0, 0.3], kd.spatial.rot_x(np.pi))
    >>> region = kd.planning.PoseRegion(down, position_tolerance=(0.05, 0.05, 0.0), free_yaw=True)
    >>> robot = kd.load("panda")
    >>> plan = kd.planning.plan(robot, robot.configuration("ready"), {"panda_link8": region})
    >>> bool(region.contains(kd.kinematics.pose(robot, plan.path[-1], "panda_link8")))
    True
    """

    pose: Array
    position_tolerance: Array = cast(Array, 0.0)
    rotation_tolerance: Array = cast(Array, 0.0)
    free_yaw: bool = False

    def __post_init__(self) -> None:
        rotation = _tolerance("rotation_tolerance", self.rotation_tolerance)
        if flag("free_yaw", self.free_yaw):
            rotation[2] = np.pi
        values = {
            "pose": np.array(as_pose(cast(MatrixLike, self.pose), "pose of the region")),
            "position_tolerance": _tolerance("position_tolerance", self.position_tolerance),
            "rotation_tolerance": np.minimum(rotation, np.pi),
        }
        if values["pose"].size == 0:
            raise InputError("pose of the region is empty; give at least one pose (4, 4)")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def is_exact(self) -> bool:
        """Whether the region has no extent around its centres."""
        return not self.position_tolerance.any() and not self.rotation_tolerance.any()

    def sample(self, n: int, seed: int | np.random.Generator = 0) -> Array:
        """Draw poses, uniform in the box and in the angles; alternatives take turns.

        Parameters
        ----------
        n
            Number of poses.
        seed
            Seed or random number generator.

        Returns
        -------
        T_world_frame : (n, 4, 4) array
        """
        return draw(self, np.arange(integer("n", n, most=MAX_POSES)), np.random.default_rng(seed))

    def contains(self, T_world_frame: MatrixLike, tolerance: float = TOLERANCE) -> NDArray[np.bool_]:
        """Return which poses are in the region.

        Parameters
        ----------
        T_world_frame : (..., 4, 4)
            Poses of the frame.
        tolerance
            Allowed distance from the region [m, rad].

        Returns
        -------
        inside : (...) bool array
        """
        tolerance = nonnegative("tolerance", tolerance)
        T = as_pose(T_world_frame, "T_world_frame")
        offset = inverse(self.pose.reshape(-1, 4, 4)) @ T[..., None, :, :]
        near = np.abs(offset[..., :3, 3]) <= self.position_tolerance + tolerance
        turned = np.abs(as_euler(offset[..., :3, :3], "XYZ")) <= self.rotation_tolerance + tolerance
        return np.asarray((near & turned).all(axis=-1).any(axis=-1))

    def __repr__(self) -> str:
        count = len(self.pose.reshape(-1, 4, 4))
        box, angles = self.position_tolerance.tolist(), self.rotation_tolerance.tolist()
        return f"PoseRegion({count} pose{'s' * (count > 1)}, +-{box} m, +-{angles} rad)"


def draw(region: PoseRegion, alternatives: NDArray[np.intp], rng: np.random.Generator) -> Array:
    """Draw a pose around each of some alternatives (n,), counted beyond their number: (n, 4, 4)."""
    centres, n = region.pose.reshape(-1, 4, 4), len(alternatives)
    poses: Array = centres[alternatives % len(centres)]
    if region.is_exact:
        return poses
    offsets = np.tile(np.eye(4), (n, 1, 1))
    offsets[:, :3, 3] = region.position_tolerance * rng.uniform(-1, 1, (n, 3))
    offsets[:, :3, :3] = from_euler(region.rotation_tolerance * rng.uniform(-1, 1, (n, 3)), "XYZ")
    return np.asarray(poses @ offsets)


@check_types
def grasp_poses(world: World | WorldSnapshot, name: str, T_object_frame: MatrixLike) -> Array:
    """Return the poses of a frame that grasp an object of a world.

    Parameters
    ----------
    world
        World that contains the object, not attached to the robot.
    name
        Name of the object.
    T_object_frame : (..., 4, 4)
        Grasps: poses of the grasping frame, such as a hand, in the frame of the object.

    Returns
    -------
    T_world_frame : (..., 4, 4) array
        A goal of `plan` for that frame: alternatives.

    Examples
    --------
    >>> import numpy as np
    >>> import kinodyn as kd
    >>> world = kd.collision.World()
    >>> world.add_box("can", (0.06, 0.06, 0.12), ((0.5, 0.2, 0.2), None))
    >>> from_above = kd.spatial.pose([0.0, 0.0, 0.2], kd.spatial.rot_x(np.pi))
    >>> turns = kd.spatial.pose([0.0, 0.0, 0.0], kd.spatial.rot_z(np.arange(0.0, 6.0, 0.5)))
    >>> robot = kd.load("panda")
    >>> goal = {"panda_link8": kd.planning.grasp_poses(world, "can", from_above @ turns)}
    >>> kd.planning.plan(robot, robot.configuration("ready"), goal, world).success
    True
    """
    thing = snapshot_of(world)[name]
    if thing.attached_to is not None:
        raise InputError(f"{name} is attached to {thing.attached_to}; detach it before it can be grasped")
    return np.asarray(thing.pose @ as_pose(T_object_frame, "T_object_frame"))


def _tolerance(name: str, value: ArrayLike) -> Array:
    try:
        result = np.array(np.broadcast_to(np.asarray(value, dtype=float), (3,)))
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"{name} must be one or three numbers, got {value!r}") from cause
    if not np.isfinite(result).all() or (result < 0).any():
        raise InputError(f"{name} must be finite nonnegative numbers, got {value!r}")
    return result
