"""Path tracking: a continuous joint path for a path of poses, or where and why it breaks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, integer, nonnegative, numbers, positive
from kinodyn.errors import InputError
from kinodyn.ik.tracking.result import TrackResult
from kinodyn.ik.tracking.starts import Search
from kinodyn.ik.tracking.tracked_frame import TrackedFrame
from kinodyn.ik.tracking.tracker import Tracker
from kinodyn.model.chain import configuration, frame_name
from kinodyn.model.robot import Robot


@check_types
def track(
    robot: Robot,
    T_path: MatrixLike,
    frame: str | int,
    q0: ArrayLike | None = None,
    *,
    position_only: bool = False,
    weights: ArrayLike | None = None,
    max_step: ArrayLike = 0.5,
    null_gain: float = 1.0,
    tolerance: float = 1e-6,
    limits: bool = True,
    seed: int = 0,
) -> TrackResult:
    """Compute a continuous joint path that moves a frame along a path of poses, without jumps between branches.

    Between samples the path is the screw from one pose to the next. It is tracked there too, in steps so small that
    only one solution is near the last one. Joints rotate continuously beyond pi where their limits allow.

    An arm without redundancy that starts at q0 has only one such joint path until it meets a singularity, where
    branches meet and one of them is chosen. If tracking breaks, unless the pose is unreachable, all solutions of all
    samples are searched for the joint path that gets farthest with the least motion; a break is reported only if none
    gets farther. A step of such a path must stay within a tenth of its length of the path of poses, and be smooth
    across singularities. A redundant arm moves away from its limits, and before a break is reported other motions in
    the null space are tried.

    Parameters
    ----------
    robot : Robot
    T_path : (..., L, 4, 4)
        Poses T_world_frame; leading axes are a batch of paths.
    frame : str or int
    q0 : (..., nq), optional
        Current configuration. If it is not at the first pose, the joint path starts with the nearest configuration that
        is. Without q0 several starts are tried, all closed-form solutions where there are any; of the joint paths that
        get farthest the one with least motion is returned.
    position_only : bool
        Leave all orientations free.
    weights : (6,), optional
        Linear first, in world axes: directions of weight 0 are free, all others are tracked exactly.
    max_step : () or (nv,)
        Maximum joint motion from one sample to the next [rad or m]; may be infinite.
    null_gain : float
        How fast a redundant arm moves away from limits, relative to the motion along the path; 0 gives the motion of
        least norm.
    tolerance : float
        Maximum residual [m, rad].
    limits : bool
        False ignores joint limits.
    seed : int
        Seed of the numeric starts.

    Returns
    -------
    TrackResult
        Valid up to `reached` samples; `reasons` explains a break.

    Notes
    -----
    E. L. Allgower and K. Georg, "Introduction to Numerical Continuation Methods", 2003, chapters 2 and 6.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> q0 = [0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5]
    >>> T_path = np.tile(kd.kinematics.pose(robot, q0, "panda_link8"), (200, 1, 1))
    >>> T_path[:, 0, 3] += np.linspace(0.0, 0.6, 200)  # too far
    >>> path = kd.ik.track(robot, T_path, "panda_link8", q0)
    >>> bool(path.success), str(path.status), path.q[: path.reached].shape
    (False, 'unreachable', (88, 7))
    """
    name = frame_name(robot, frame)
    T = as_pose(T_path, "T_path")
    if T.ndim < 3 or 0 in T.shape:
        raise InputError(f"T_path must have shape (..., L, 4, 4) with at least one pose for each path, got {T.shape}")
    weighted = _weights(weights, position_only)
    tracked = TrackedFrame(robot, name, weighted > 0, limits)
    start = None if q0 is None else configuration(robot, q0)
    batch = T.shape[:-3] if start is None else _common(T.shape[:-3], start.shape[:-1])
    paths = np.ascontiguousarray(np.broadcast_to(T, (*batch, *T.shape[-3:])).reshape(-1, *T.shape[-3:]))
    if start is not None:
        start = np.ascontiguousarray(np.broadcast_to(start, (*batch, robot.nq)).reshape(-1, robot.nq))
    search = Search(tracked, weighted, positive("tolerance", tolerance), limits, integer("seed", seed))
    tracker = Tracker(search, paths, _steps(robot, max_step)[tracked.columns], nonnegative("null_gain", null_gain))
    tracker.start(start)
    if tracked.redundancy:
        tracker.retry_null_space()
    tracker.explain()
    if not tracked.redundancy:
        tracker.search_branches()
    return tracker.result(batch)


def _weights(weights: ArrayLike | None, position_only: bool) -> Array:
    given = np.ones(6) if weights is None else numbers("weights", weights, 6)
    if given.shape != (6,) or (given < 0).any():
        raise InputError(f"weights must be six nonnegative numbers, linear first, got {weights!r}")
    result = given * np.repeat([1.0, 0.0 if position_only else 1.0], 3)
    if not result.any():
        raise InputError("weights and position_only leave no direction to track; at least one weight must be positive")
    return np.asarray(result)


def _steps(robot: Robot, max_step: ArrayLike) -> Array:
    try:
        steps = np.broadcast_to(np.asarray(max_step, dtype=float), (robot.nv,))
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError(f"max_step must be one number or ({robot.nv},) [rad or m], got {max_step!r}") from cause
    if not (steps > 0.0).all():
        raise InputError(f"max_step must be positive [rad or m], got {max_step!r}")
    return steps


def _common(paths: tuple[int, ...], starts: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(paths, starts)
    except ValueError as cause:
        raise InputError(f"the batch axes of T_path {paths} and q0 {starts} are not compatible") from cause
