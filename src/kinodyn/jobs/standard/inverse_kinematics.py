"""Inverse kinematics for any number of targets, as a job."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import ik
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import vector
from kinodyn.errors import InputError
from kinodyn.jobs.result import JobResult
from kinodyn.jobs.run import map
from kinodyn.jobs.standard.common import job_parameters
from kinodyn.model.robot import Robot

CHECKED_AT_ONCE = 100_000  # targets


@check_types
def inverse_kinematics(
    robot: Robot,
    targets: ArrayLike,
    frame: str,
    *,
    out: str | os.PathLike[str],
    q0: ArrayLike | None = None,
    engine: Any = "processes",
    workers: int | None = None,
    shard: int | None = None,
    progress: bool = False,
    **options: Any,
) -> JobResult:
    """Solve inverse kinematics for many poses of a frame, by a job that can be resumed.

    Parameters
    ----------
    robot : Robot
    targets : (n, 4, 4)
        Poses of the frame in the world; may be mapped from a file (`numpy.load(..., mmap_mode="r")`).
    frame : str
    out
        Folder of the job; see `jobs.map`.
    q0 : (nq,), optional
        Initial guess; by default the middle of the limits.
    engine, workers, shard, progress
        See `jobs.map`.
    options
        Options of `ik.solve` that are numbers or strings, such as method, prefer, tolerance, position_only and seed.

    Returns
    -------
    JobResult
        Columns q (n, nq), success, status, distance [m] and angle [rad] of the remaining errors.

    Examples
    --------
    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import kinodyn as kd
    >>> robot = kd.load("ur5")
    >>> T = kd.kinematics.pose(robot, robot.random(200), "wrist_3_link")
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as threads:
    ...     job = kd.jobs.inverse_kinematics(robot, T, "wrist_3_link", out=folder, engine=threads)
    ...     int(job.read()["success"].sum())
    200
    """
    T = np.asanyarray(targets)
    if T.ndim != 3 or T.shape[1:] != (4, 4) or T.dtype.kind not in "fiu":
        raise InputError(f"targets must be poses (n, 4, 4), got {T.dtype} {T.shape}")
    settings = job_parameters(robot, options)
    start = None if q0 is None else vector("q0", q0, robot.nq)
    _require_poses(T)
    if len(T):
        solve_targets(T[:1], robot, frame, start, options)  # wrong options fail before the job starts
    return map(
        functools.partial(solve_targets, robot=robot, frame=frame, q0=start, options=options),
        T,
        out=out,
        engine=engine,
        workers=workers,
        shard=shard,
        parameters={**settings, "frame": frame, "q0": None if start is None else start.tolist()},
        progress=progress,
    )


def _require_poses(T: Array) -> None:
    """Raise for the first target that is not finite: it would fail all others of its shard."""
    for begin in range(0, len(T), CHECKED_AT_ONCE):
        bad = ~np.isfinite(T[begin : begin + CHECKED_AT_ONCE]).all(axis=(1, 2))
        if bad.any():
            raise InputError(f"targets must be finite, row {begin + int(bad.argmax())} is not")


def solve_targets(
    T: Array, robot: Robot, frame: str, q0: Array | None, options: dict[str, Any]
) -> dict[str, NDArray[Any]]:
    """Solve inverse kinematics for the targets of a shard."""
    found = ik.solve(robot, {frame: T}, q0, **options)
    return {
        "q": np.asarray(found.q),
        "success": np.asarray(found.success),
        "status": np.asarray(found.status),
        "distance": np.asarray(found.residual)[:, 0],
        "angle": np.asarray(found.residual)[:, 1],
    }
