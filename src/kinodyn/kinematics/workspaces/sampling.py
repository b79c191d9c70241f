"""Find the workspace of a frame by sampling the joints that move it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.kinematics.workspaces.grid import Workspace
from kinodyn.kinematics.workspaces.reach import farthest, refine_reach
from kinodyn.kinematics.workspaces.voxels import MAX_DIRECTIONS, dense_grids, fibonacci_sphere, voxel_keys
from kinodyn.model.chain import (
    ROTARY,
    first_joint_position,
    frame_name,
    moving_joints,
    reach_bounds,
    single_configuration,
)
from kinodyn.model.compile import JointInfo
from kinodyn.model.robot import Robot, _generator

CHUNK = 2**15  # samples per pass; a power of two keeps Sobol's sequence balanced


def workspace(
    robot: Robot,
    frame: str | int,
    *,
    samples: int = 2**18,
    resolution: float | None = None,
    joints: Sequence[str] | None = None,
    q0: ArrayLike | None = None,
    dexterous: bool = True,
    approach: str = "z",
    directions: int = 50,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Workspace:
    """Map where a frame can get, by configurations sampled evenly within the joint limits.

    Parameters
    ----------
    robot : Robot
    frame : str or int
    samples
        Number of configurations, drawn from Sobol's sequence.
    resolution
        Edge of a voxel [m]; by default a sixteenth of the largest reach that the chain's lengths allow.
    joints
        Names of the joints that move; all between base and frame if not given.
    q0
        Configuration `(nq,)` of the other joints and of a floating base; neutral if not given.
    dexterous
        Whether to record from which directions the frame's approach axis is seen in each voxel.
    approach
        Approach axis of the frame: "x", "y" or "z".
    directions
        Number of directions, evenly distributed over the sphere, that dexterity distinguishes.
    seed
        Seed of the random shift of the sequence.
    progress
        Called with (done, samples) after each chunk; if it returns False, sampling stops there.

    Returns
    -------
    workspace : Workspace
        Relative to the base, which does not move.

    Notes
    -----
    Dexterity is the reachability index of F. Zacharias, C. Borst and G. Hirzinger, "Capturing robot workspace
    structure", 2007.

    Examples
    --------
    >>> import kinodyn as kd
    >>> arm = kd.from_dh([kd.DH(a=1.0), kd.DH(a=0.5)])
    >>> ring = kd.kinematics.workspace(arm, "link2", samples=2**15, resolution=0.05)
    >>> round(ring.max_reach, 9), bool(ring.voids().any()), ring.contains([[1.2, 0, 0], [0.1, 0, 0]]).tolist()
    (1.5, True, [True, False])
    """
    start = single_configuration(robot, q0)
    _check_options(samples, approach, directions, progress)
    name, moving = frame_name(robot, frame), moving_joints(robot, frame, joints)
    centre = first_joint_position(robot, name, start, joints)
    ranges = _ranges(robot, moving)
    edge = _edge(resolution, reach_bounds(robot, name, start, joints)[2])

    keys, views, best = [], [], np.zeros((0, robot.nq))
    axis, around = "xyz".index(approach), fibonacci_sphere(directions)
    for done, q in _configurations(start, moving, ranges, samples, seed):
        T = _core.pose(robot, q, name, None)
        key = voxel_keys(T[:, :3, 3] - centre, edge)
        keys.append(key)
        if dexterous:
            nearest = np.argmax(T[:, :3, axis] @ around.T, axis=1)
            views.append(np.unique(key * directions + nearest))
        best = farthest(robot, name, np.vstack([best, farthest(robot, name, q, centre)]), centre)
        if progress is not None and progress(done, samples) is False:
            samples = done
            break

    corner, counts, seen = dense_grids(np.concatenate(keys), np.concatenate(views) if dexterous else None, directions)
    reach, q_reach = refine_reach(robot, name, best, moving, ranges, centre)
    origin = centre + edge * corner
    return Workspace(robot.name, name, origin, edge, samples, counts, seen / directions, centre, reach, q_reach)


def _check_options(samples: int, approach: str, directions: int, progress: object) -> None:
    for what, value, maximum in (("samples", samples, 2**30), ("directions", directions, MAX_DIRECTIONS)):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= maximum:
            raise InputError(f"{what} is {value!r}; give an integer from 1 to {maximum}")
    if approach not in ("x", "y", "z"):
        raise InputError(f'approach is {approach!r}; give "x", "y" or "z"')
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {progress!r}; give a function of (done, samples)")


def _edge(resolution: float | None, max_length: float) -> float:
    if resolution is None:
        if max_length > 0.0:
            return max_length / 16
        raise InputError("the frame does not move with its joints; choose a frame that is not on their axes")
    number = isinstance(resolution, int | float | np.integer | np.floating) and not isinstance(resolution, bool)
    if not number or not 0.0 < float(resolution or 0.0) < np.inf:
        raise InputError(f"resolution is {resolution!r}; give the edge of a voxel [m], above 0")
    return float(resolution or 0.0)


def _ranges(robot: Robot, moving: tuple[JointInfo, ...]) -> tuple[Array, Array]:
    """Find the range of each scalar joint: its limits, but at most one full turn, after which positions repeat."""
    lower, upper = robot.limits.lower.copy(), robot.limits.upper.copy()
    for joint in moving:
        low, high = lower[joint.q], upper[joint.q]
        if joint.kind in ROTARY:
            low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * np.pi, -np.pi))
            lower[joint.q], upper[joint.q] = low, np.minimum(high, low + 2 * np.pi)
        elif joint.kind != "ball" and not (np.isfinite(low) & np.isfinite(high)).all():
            raise InputError(
                f"joint {joint.name!r} slides without limits, so the workspace is unbounded;"
                " give it limits, or list the other joints in joints="
            )
    return lower, upper


def _configurations(
    q0: Array, moving: tuple[JointInfo, ...], ranges: tuple[Array, Array], samples: int, seed: int
) -> Iterator[tuple[int, Array]]:
    """Draw configurations (n, nq) chunk by chunk, with their number so far."""
    from scipy.stats import qmc  # slow to import

    lower, upper = ranges
    dimensions = sum(3 if joint.kind == "ball" else 1 for joint in moving)
    sequence = qmc.Sobol(dimensions, scramble=False)
    shift = _generator(seed).uniform(size=dimensions)
    for start in range(0, samples, CHUNK):
        unit = (sequence.random(CHUNK)[: samples - start] + shift) % 1.0
        q, column = np.tile(q0, (len(unit), 1)), 0
        for joint in moving:
            if joint.kind == "ball":
                q[:, joint.q] = _quaternions(unit[:, column : column + 3])
                column += 3
            else:
                i = joint.q.start
                q[:, i] = lower[i] + unit[:, column] * (upper[i] - lower[i])
                column += 1
        yield start + len(unit), q


def _quaternions(unit: Array) -> Array:
    """Map points (n, 3) of the unit cube to uniform rotations: K. Shoemake, "Uniform random rotations", 1992."""
    a, b = np.sqrt(1.0 - unit[:, 0]), np.sqrt(unit[:, 0])
    first, second = 2 * np.pi * unit[:, 1], 2 * np.pi * unit[:, 2]
    return np.stack([a * np.sin(first), a * np.cos(first), b * np.sin(second), b * np.cos(second)], axis=1)
