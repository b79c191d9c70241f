"""kinodyn ik: inverse kinematics."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from kinodyn.arrays import Array
from kinodyn.cli import args
from kinodyn.cli.args import labels
from kinodyn.cli.command import command
from kinodyn.cli.jobs import JobEngine, JobOption, job_options
from kinodyn.cli.options import Base, Frame, RobotName, Seed, option
from kinodyn.cli.plotting import plot_robot
from kinodyn.cli.poses import read_pose, read_poses
from kinodyn.cli.progress import progress_bar
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError, KinodynError

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot

CHUNK = 500  # targets per call; Ctrl-C takes effect between calls
MAX_SOLUTIONS = 100  # in a table


class _Solved(NamedTuple):
    """Solutions for n targets."""

    q: Array
    success: Any
    status: Any
    residual: Array


@command(
    "ik",
    examples=[
        "kinodyn ik panda --position 0.4,0.1,0.5 --rpy 3.14159,0,0",
        "kinodyn ik ur5 --position 0.3,0.2,0.4 --rpy 0,1.57,0 --all --json",
        "kinodyn ik ur5 --targets-of random:200 --out solutions.npz",
    ],
)
def ik(
    robot: RobotName,
    frame: Frame = None,
    position: Annotated[str | None, option("target position 'x,y,z' [m]")] = None,
    rpy: Annotated[str | None, option("target orientation 'roll,pitch,yaw' about the world axes [rad]")] = None,
    quaternion: Annotated[str | None, option("target orientation as quaternion 'x,y,z,w', instead of --rpy")] = None,
    targets: Annotated[
        Path | None, option("file of targets: an array T (n, 4, 4), or columns x y z qx qy qz qw")
    ] = None,
    targets_of: Annotated[str | None, option("use the poses of the frame at these configurations as targets")] = None,
    q0: Annotated[str | None, option("initial guess, as --q of fk; by default the middle of the limits")] = None,
    every: Annotated[bool, option("all analytic solutions, for arms that have them", "--all")] = False,
    method: Annotated[
        Literal["auto", "lm", "dls", "pinv", "newton", "transpose", "optimise"], option("method of the numeric solver")
    ] = "auto",
    prefer: Annotated[
        Literal["nearest", "manipulability"] | None, option("how to choose among several solutions")
    ] = None,
    tolerance: Annotated[float, option("largest position and orientation error of a solution [m, rad]")] = 1e-6,
    job: JobOption = None,
    engine: JobEngine = None,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Solve inverse kinematics: configurations within joint limits that bring a frame to one or many poses.

    Without --rpy or --quaternion the orientation is free, except with --all. For a target that cannot be reached the
    nearest configuration is returned, and the exit code is 1. With --job or --engine many targets are solved on all
    cores, or by Dask workers.
    """
    loaded = args.load(robot, base)
    name = args.end_frame(loaded, frame)
    T = _targets(loaded, name, (position, rpy, quaternion), targets, targets_of, seed)
    start = None if q0 is None else args.configurations(loaded, q0, seed=seed, what="q0")
    free = position is not None and rpy is None and quaternion is None
    inputs = {
        "robot": robot,
        "frame": name,
        "T": T if T.ndim == 2 else None,
        "targets": str(targets or targets_of or ""),
        "q0": q0,
        "method": method,
        "prefer": prefer,
        "tolerance": tolerance,
        "seed": seed,
    }
    if every and (job is not None or engine is not None):
        raise InputError("--all is not available with --job and --engine")
    if every:
        return _analytic(loaded, name, T, start, free, inputs)
    settings = {"position_only": free, "method": method, "prefer": prefer, "tolerance": tolerance, "seed": seed}
    if job is not None or engine is not None:
        with job_options(job, engine) as run:
            found = _by_job(loaded, name, T.reshape(-1, 4, 4), start, settings, run)
    else:
        found = _in_chunks(loaded, name, T.reshape(-1, 4, 4), start, settings)
    return _numeric(loaded, name, T, found, settings, inputs)


def _targets(
    robot: Robot,
    frame: str,
    given: tuple[str | None, str | None, str | None],
    file: Path | None,
    configurations: str | None,
    seed: int,
) -> Array:
    from kinodyn import kinematics

    if sum(source is not None for source in (given[0], file, configurations)) != 1:
        raise InputError("no unique target: give exactly one of --position, --targets and --targets-of")
    if given[0] is not None:
        return read_pose(given[0], given[1], given[2])
    if given[1] is not None or given[2] is not None:
        raise InputError("--rpy and --quaternion need --position")
    if file is not None:
        return read_poses(file, frame)
    return kinematics.pose(robot, args.configurations(robot, configurations or "", seed=seed), frame)


def _in_chunks(robot: Robot, frame: str, T: Array, start: Array | None, settings: dict[str, Any]) -> _Solved:
    from kinodyn import ik as solver

    found: list[Any] = []
    with progress_bar("inverse kinematics") as progress:
        for begin in range(0, len(T), CHUNK):
            found.append(solver.solve(robot, {frame: T[begin : begin + CHUNK]}, start, **settings))
            if not progress(min(begin + CHUNK, len(T)), len(T)):
                break
    return _Solved(*(np.concatenate([np.asarray(getattr(part, key)) for part in found]) for key in _Solved._fields))


def _by_job(
    robot: Robot, frame: str, T: Array, start: Array | None, settings: dict[str, Any], run: dict[str, Any]
) -> _Solved:
    from kinodyn import jobs

    done = jobs.inverse_kinematics(robot, T, frame, q0=start, **run, **settings)
    if done.status != "complete":
        raise KinodynError(f"the job is not complete: {done.reason}; run the command again to continue")
    columns = done.read()
    residual = np.column_stack([columns["distance"], columns["angle"]])
    return _Solved(columns["q"], columns["success"], columns["status"], residual)


def _numeric(
    robot: Robot, frame: str, T: Array, found: _Solved, settings: dict[str, Any], inputs: dict[str, Any]
) -> CommandResult:
    q, success, status, residual = found
    count = T.size // 16
    reached = int(success.sum())
    title = (
        f"{robot.name}: {frame} reaches {reached} of {count} targets"
        if T.ndim > 2
        else (
            f"{robot.name}: {frame} " + ("reaches the target" if reached else f"does not reach the target: {status[0]}")
        )
    )
    names = labels(robot).q
    tables = [_one(names, q[0], residual[0], settings["position_only"])] if T.ndim == 2 else [_many(status, residual)]
    return CommandResult(
        title,
        {
            "q": q if T.ndim > 2 else q[0],
            "names": names,
            "success": success,
            "status": status,
            "residual": residual,
            "reached": reached,
            "targets": count,
        },
        inputs,
        tables,
        samples={"q": q, "success": success, "status": status, "distance": residual[:, 0], "angle": residual[:, 1]},
        columns={"q": names},
        figures={"Robot": lambda: plot_robot(robot, q[0], [frame])},
        ok=reached == count,
        interrupted=len(q) < count,
    )


def _one(names: tuple[str, ...], q: Array, residual: Array, free: bool) -> Table:
    rows: list[tuple[str, float]] = [*zip(names, q.tolist(), strict=True)]
    rows += [("position error [m]", float(residual[0]))]
    rows += [] if free else [("orientation error [rad]", float(residual[1]))]
    return Table("", ("joint", "q [rad, m]"), rows, 100)


def _many(status: Any, residual: Array) -> Table:
    kinds, counts = np.unique(status, return_counts=True)
    rows = [
        (str(kind), int(count), float(residual[status == kind, 0].max()), float(residual[status == kind, 1].max()))
        for kind, count in zip(kinds, counts, strict=True)
    ]
    return Table("", ("status", "targets", "largest position error [m]", "largest orientation error [rad]"), rows)


def _analytic(
    robot: Robot, frame: str, T: Array, start: Array | None, free: bool, inputs: dict[str, Any]
) -> CommandResult:
    from kinodyn import ik as solver

    found = solver.analytic(robot, T, frame, q0=start)
    if free and found.family != "planar 2R":
        raise InputError(f"--all needs an orientation for a {found.family} arm; give --rpy or --quaternion")
    names = labels(robot).q
    valid = np.asarray(found.valid)
    target, _ = np.nonzero(valid.reshape(-1, valid.shape[-1]))
    q = found.q[valid]
    rows = [(int(k), *row) for k, row in zip(target[:MAX_SOLUTIONS], q[:MAX_SOLUTIONS], strict=True)]
    return CommandResult(
        f"{robot.name}: {len(q)} analytic solutions ({found.family})",
        {"q": q, "names": names, "target": target, "family": found.family, "status": found.status},
        inputs,
        [Table("", ("target", *names), rows, total=len(q))],
        samples={"target": target, "q": q},
        columns={"q": names},
        figures={"First solution": lambda: plot_robot(robot, q[0], [frame])} if len(q) else {},
        ok=bool(valid.any(axis=-1).all()),
    )
