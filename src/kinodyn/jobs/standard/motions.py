"""Torque and feasibility statistics of recorded motions, as a job."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid

from kinodyn import dynamics, identification, kinematics, tables
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance import Foot, biped_feet
from kinodyn.checks import positive
from kinodyn.dynamics import contact
from kinodyn.errors import InputError
from kinodyn.identification.columns import labels
from kinodyn.jobs.files import Files
from kinodyn.jobs.manifest import is_shard
from kinodyn.jobs.result import JobResult
from kinodyn.jobs.standard.common import job_parameters, map_files
from kinodyn.model.robot import Robot
from kinodyn.recording import Recording
from kinodyn.recording.body import require_same_body

CONTACT_HEIGHT = 0.01  # [m] below which a sole may be in contact, where the recording does not say
CONTACT_SPEED = 0.1  # [m/s] below which it is
BALLISTIC = 0.02  # wrench on a base without contacts, as a fraction of the weight, up to which its flight is ballistic
BASE = 6  # degrees of freedom of a floating base


@check_types
def motion_statistics(
    robot: Robot,
    motions: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    cutoff: float | None = None,
    friction: float = 0.7,
    engine: Any = "processes",
    workers: int | None = None,
    progress: bool = False,
) -> JobResult:
    """Compute the torques that recorded motions take, and whether the robot can produce them, by a job.

    The torques of a fixed base are those of inverse dynamics. A biped needs contact forces as well: its feet bear it
    where the recording says so, or where a sole is on the ground and still; forces stay within friction cones and
    torques within limits, if the motion allows it (`contact.inverse`).

    Parameters
    ----------
    robot : Robot
    motions
        Files of `Recording.save`, or folders of them, or the folder of a job of `jobs.retarget`; each is a shard.
    out
        Folder of the job; see `jobs.map`.
    cutoff : float, optional
        Of the low-pass filter before differentiation [Hz]; see `identification.prepare`. Without it the noise of the
        recording is in the accelerations.
    friction : float
        Coefficient of the feet.
    engine, workers, progress
        See `jobs.map`.

    Returns
    -------
    JobResult
        A row for each joint coordinate of each file: columns file, joint, frames, duration [s], feasible (fraction of
        the frames in which the motion is possible within torque limits and friction), rms_torque, peak_torque
        [N m or N], torque_ratio (peak over limit; 0 without one), peak_speed [rad/s or m/s], speed_ratio,
        beyond_limits (frames with a position beyond its limits) and energy, the integral of the absolute power [J].

    Notes
    -----
    Accelerations jump at touchdown and lift-off; a filter spreads them over frames before and after, some of which then
    count as infeasible.
    """
    settings = job_parameters(robot, {"cutoff": cutoff, "friction": positive("friction", friction)})
    if cutoff is not None:
        positive("cutoff", cutoff)
    feet = biped_feet(robot) if robot.base == "floating" else ()
    return map_files(
        functools.partial(analyse_motion, robot=robot, feet=feet, cutoff=cutoff, friction=friction),
        Files(motions, tables.SUFFIXES),
        settings,
        out=out,
        engine=engine,
        workers=workers,
        progress=progress,
    )


class _Motion(NamedTuple):
    time: Array
    q: Array
    v: Array
    a: Array


def analyse_motion(
    paths: list[Path], robot: Robot, feet: Sequence[Foot], cutoff: float | None, friction: float
) -> dict[str, NDArray[Any]]:
    """Compute the statistics of the motion of a shard."""
    (file,) = paths
    name, recording = _read(file, robot)
    _require_robot(recording, robot, file)
    motion = _differentiated(recording, robot, cutoff)
    if robot.base == "floating":
        tau, possible = _with_contacts(motion, recording, robot, feet, friction)
    else:
        tau = dynamics.inverse(robot, *motion[1:])
        possible = np.all(np.abs(tau) <= robot.limits.effort, axis=-1)
    return _statistics(name, robot, motion, tau, possible)


def _read(file: Path, robot: Robot) -> tuple[str, Recording]:
    """Read a recording, or a clip from the output of `jobs.retarget`; also return its name."""
    if file.suffix.lower() != ".parquet" or not is_shard(file):
        return file.name, Recording.load(file)
    columns = tables.read(file).columns
    if not {"clip", "time", "q", "left", "right"} <= set(columns):
        raise InputError(f"{file} must be a recording or a clip of jobs.retarget, got the columns {list(columns)}")
    time, q = columns["time"], columns["q"]
    if q.ndim != 2 or q.shape[1] != robot.nq:
        raise InputError(f"{file} must have {robot.nq} coordinates as {robot.name} has, got q {q.shape}")
    still = np.zeros((len(q), robot.nv))
    contacts = {f"{side}_foot": columns[side] for side in ("left", "right")}
    return str(columns["clip"][0]), Recording.from_robot(robot, time, q, still, still, contacts=contacts)


def _require_robot(recording: Recording, robot: Robot, file: Path) -> None:
    """Raise unless a recording has the coordinates of a robot."""
    if recording.batch:
        raise InputError(f"{file} has a batch of {recording.batch} simulations; save them one by one")
    if recording.q.shape[-1] != robot.nq:
        raise InputError(f"{file} has {recording.q.shape[-1]} coordinates; {robot.name} has {robot.nq}")
    require_same_body(recording, robot, str(file))
    named = not recording.q_names[0].isdigit()
    for theirs, ours in zip(recording.q_names, labels(robot).q, strict=True):
        if named and theirs != ours:
            raise InputError(f"{file} is of {recording.robot}: it has {theirs!r} where {robot.name} has {ours!r}")


def _differentiated(recording: Recording, robot: Robot, cutoff: float | None) -> _Motion:
    data = identification.measurements(robot, recording.time, recording.q, recording.tau)
    smooth = identification.prepare(data, cutoff=cutoff)
    v, a = smooth.rates()
    return _Motion(smooth.time, smooth.q, v, a)


def _with_contacts(
    motion: _Motion, recording: Recording, robot: Robot, feet: Sequence[Foot], friction: float
) -> tuple[Array, NDArray[np.bool_]]:
    """Return torques (n, nv), and in which frames the motion is possible (n,)."""
    tau, possible = np.zeros_like(motion.v), np.zeros(len(motion.time), dtype=bool)
    down = np.array([_in_contact(foot, motion, recording, robot) for foot in feet])
    for combination in np.unique(down, axis=1).T:
        rows = (down == combination[:, None]).all(axis=0)
        q, v, a = (each[rows] for each in motion[1:])
        if not combination.any():
            full = dynamics.inverse(robot, q, v, a)
            weight = robot.mass * np.linalg.norm(robot.gravity)
            ballistic = np.linalg.norm(full[:, :3], axis=1) <= BALLISTIC * weight
            tau[rows, BASE:] = full[:, BASE:]
            possible[rows] = ballistic & (np.abs(full) <= robot.limits.effort)[:, BASE:].all(axis=1)
            continue
        contacts = [_contact(foot, friction) for foot, touches in zip(feet, combination, strict=True) if touches]
        effort = contact.inverse(robot, q, v, a, contacts, method="qp", torque_limits=True)
        tau[rows], possible[rows] = effort.tau, effort.status == "solved"
    return tau, possible


def _contact(foot: Foot, friction: float) -> contact.Contact:
    corners = np.column_stack([foot.corners, np.zeros(len(foot.corners)), np.ones(len(foot.corners))])
    in_frame = (corners @ foot.T_frame_sole.T)[:, :3]
    return contact.Contact(foot.frame, kind="point", corners=in_frame, friction=friction)


def _in_contact(foot: Foot, motion: _Motion, recording: Recording, robot: Robot) -> NDArray[np.bool_]:
    """Return in which frames a foot is in contact (n,): as recorded, or where its sole is on the ground and still."""
    for name in (foot.frame, f"{foot.side}_foot"):
        if name in recording.contacts:
            nearest = np.searchsorted(recording.time, motion.time).clip(max=len(recording) - 1)
            recorded: NDArray[np.bool_] = np.asarray(recording.contacts[name], dtype=bool)[nearest]
            return recorded
    T = kinematics.pose(robot, motion.q, foot.frame) @ foot.T_frame_sole
    speed = np.linalg.norm(np.gradient(T[:, :3, 3], motion.time, axis=0), axis=1)
    low: NDArray[np.bool_] = (T[:, 2, 3] < CONTACT_HEIGHT) & (speed < CONTACT_SPEED)
    return low


def _statistics(
    name: str, robot: Robot, motion: _Motion, tau: Array, possible: NDArray[np.bool_]
) -> dict[str, NDArray[Any]]:
    first = BASE if robot.base == "floating" else 0
    joints = np.arange(first, robot.nv)
    peak, speed = np.abs(tau).max(axis=0), np.abs(motion.v).max(axis=0)
    beyond = np.zeros(robot.nv, dtype=np.int64)
    for joint in robot.joints:
        if joint.mimic is None and joint.q.stop - joint.q.start == joint.v.stop - joint.v.start:
            q, low, high = (each[..., joint.q] for each in (motion.q, robot.limits.lower, robot.limits.upper))
            beyond[joint.v] = ((q < low) | (q > high)).sum(axis=0)
    limits = robot.limits
    columns = {
        "frames": np.full(robot.nv, len(motion.time)),
        "duration": np.full(robot.nv, motion.time[-1] - motion.time[0]),
        "feasible": np.full(robot.nv, possible.mean()),
        "rms_torque": np.sqrt(np.mean(tau**2, axis=0)),
        "peak_torque": peak,
        "torque_ratio": _ratio(peak, limits.effort),
        "peak_speed": speed,
        "speed_ratio": _ratio(speed, limits.velocity),
        "beyond_limits": beyond,
        "energy": trapezoid(np.abs(tau * motion.v), motion.time, axis=0),
    }
    names = np.array(labels(robot).v)
    where = {"file": np.full(len(joints), name), "joint": names[joints]}
    return {**where, **{name: column[joints] for name, column in columns.items()}}


def _ratio(peak: Array, limit: Array) -> Array:
    """Return peaks relative to limits, 0 where there is none and infinite where nothing is allowed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(peak > 0.0, peak / limit, 0.0)
