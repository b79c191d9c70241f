"""A joint path for a path of poses: continuous, on one branch, within limits; or where and why it must break."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, numbers
from kinodyn.errors import InputError
from kinodyn.ik.tracking.result import TrackResult
from kinodyn.ik.tracking.starts import Search
from kinodyn.ik.tracking.task import FrameTask
from kinodyn.ik.tracking.ways import Ways
from kinodyn.model.chain import configuration, frame_name
from kinodyn.model.robot import Robot


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
    """Follow a path of poses with a frame, without a jump to another branch.

    Between samples the path is the screw motion from one pose to the next, and is followed there too, in steps so small
    that the solution next to the last one is the only one near it. An arm without redundancy that starts at q0 has but
    one such way as long as it meets no singularity. In a singularity branches meet and one of them is taken. Where
    such an arm breaks, unless the pose is out of reach, all solutions of all samples are searched for the way that
    comes farthest, with least motion; the break is told only if none comes farther. A step of such a way counts if the
    frame stays within a tenth of its length from the path, and if it goes on smoothly where it passes a singularity.
    A redundant arm keeps away from its limits on the way, and before it gives up it tries other motions in its null
    space. Joints turn on beyond pi where their limits allow.

    Reference: E. L. Allgower and K. Georg, "Introduction to Numerical Continuation Methods", 2003, chapters 2 and 6.

    Parameters
    ----------
    T_path : (..., L, 4, 4)
        Poses T_world_frame; leading axes are a batch of paths.
    q0 : (..., nq)
        Where the robot stands. If that is not at the first pose, the path begins with the nearest configuration found
        that is. Without q0 several are tried, all branches where there is a closed form, and of the ways that
        come farthest the one with least motion is taken.
    position_only
        Leaves all orientations free.
    weights
        Six numbers, linear first, world axes: directions with weight 0 are free, all others count in full.
    max_step
        How far a joint may move from one sample to the next [rad or m], one number or (nv,); may be infinite.
    null_gain
        How fast a redundant arm moves away from limits, next to the motion that the path asks for; 0: not at all, and
        of all motions the smallest.
    tolerance
        In metres and in radians; the path is usually much nearer.
    limits
        False ignores the joint limits.
    seed
        For starts that are found numerically.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> q0 = [0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5]
    >>> T_path = np.tile(kd.kinematics.pose(robot, q0, "panda_link8"), (200, 1, 1))
    >>> T_path[:, 0, 3] += np.linspace(0.0, 0.6, 200)  # too far
    >>> path = kd.ik.track(robot, T_path, "panda_link8", q0)
    >>> bool(path.success), str(path.status), path.q[: path.reached].shape
    (False, 'unreachable', (88, 7))
    """
    if not isinstance(robot, Robot):
        raise InputError(f"robot must be a kinodyn.Robot, got {type(robot).__name__}")
    name = frame_name(robot, frame)
    T = as_pose(T_path, "T_path")
    if T.ndim < 3 or 0 in T.shape:
        raise InputError(f"T_path has shape {T.shape}; give at least one pose for each path: (..., L, 4, 4)")
    counted = _weights(weights, position_only)
    task = FrameTask(robot, name, counted > 0, limits)
    start = None if q0 is None else configuration(robot, q0)
    batch = T.shape[:-3] if start is None else _common(T.shape[:-3], start.shape[:-1])
    paths = np.ascontiguousarray(np.broadcast_to(T, (*batch, *T.shape[-3:])).reshape(-1, *T.shape[-3:]))
    if start is not None:
        start = np.ascontiguousarray(np.broadcast_to(start, (*batch, robot.nq)).reshape(-1, robot.nq))
    search = Search(task, counted, _positive("tolerance", tolerance), limits, _whole("seed", seed))
    ways = Ways(search, paths, _steps(robot, max_step)[task.columns], _gain(null_gain))
    ways.begin(start)
    if task.redundancy:
        ways.try_others()
    ways.say_why()
    if not task.redundancy:
        ways.try_branches()
    return ways.answer(batch)


def _weights(weights: ArrayLike | None, position_only: bool) -> Array:
    given = np.ones(6) if weights is None else numbers("weights", weights, 6)
    if given.shape != (6,) or (given < 0).any():
        raise InputError(f"weights is {weights!r}; give six numbers, linear first, none below 0")
    counted = given * np.repeat([1.0, 0.0 if position_only else 1.0], 3)
    if not counted.any():
        raise InputError("weights leave no direction that counts; give one above 0")
    return np.asarray(counted)


def _steps(robot: Robot, max_step: ArrayLike) -> Array:
    try:
        steps = np.broadcast_to(np.asarray(max_step, dtype=float), (robot.nv,))
    except (TypeError, ValueError) as cause:
        raise InputError(f"max_step is {max_step!r}; give one number or ({robot.nv},) [rad or m]") from cause
    if not (steps > 0.0).all():
        raise InputError(f"max_step is {max_step!r}; give numbers above 0 [rad or m]")
    return steps


def _positive(what: str, value: float) -> float:
    number = numbers(what, value)
    if number.shape != () or not number > 0.0:
        raise InputError(f"{what} is {value!r}; give one number above 0")
    return float(number)


def _gain(value: float) -> float:
    number = numbers("null_gain", value)
    if number.shape != () or number < 0.0:
        raise InputError(f"null_gain is {value!r}; give one number, 0 or more")
    return float(number)


def _whole(what: str, value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise InputError(f"{what} is {value!r}; give a whole number from 0 on")
    return int(value)


def _common(paths: tuple[int, ...], starts: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(paths, starts)
    except ValueError as cause:
        raise InputError(f"there are paths {paths} and q0 {starts}, which do not fit together") from cause
