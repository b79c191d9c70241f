"""Recordings for Rerun's viewer (extra `rerun`); adapter to rerun, the only module that imports it."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.collision.fitting import placed_triangles
from kinodyn.collision.geometry import robot_geometry
from kinodyn.errors import InputError, KinodynError
from kinodyn.identification.columns import labels
from kinodyn.model.robot import Robot
from kinodyn.recording import Recording
from kinodyn.spatial import as_quaternion

__all__ = ["save"]

TOLERANCE = 2e-3  # [m] of the triangles of round shapes
TIMELINE = "time"
COLOUR = (180, 184, 194)


def __dir__() -> list[str]:
    return list(__all__)


def _rerun() -> ModuleType:
    try:
        return import_module("rerun")
    except ImportError as cause:
        raise KinodynError("Rerun needs its library: pip install 'kinodyn[rerun]'") from cause


@check_types
def save(recording: Recording, robot: Robot, path: str | os.PathLike[str]) -> None:
    """Write a recording with the robot for Rerun's viewer: `rerun run.rrd` shows it.

    Entities: `robot/<link>` with the collision shapes of each link and its pose over time, and `q`, `v`, `tau`,
    `signals` with a curve for each column.

    Parameters
    ----------
    recording
        A single recording, not a batch.
    robot
        The robot that moves.
    path
        File that ends in .rrd, which is replaced.

    Raises
    ------
    InputError
        If the recording is a batch or has other joints than the robot.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> kd.interop.rerun.save(kd.sim.simulate(robot, None, 0.1), robot, "run.rrd")  # doctest: +SKIP
    """
    if recording.batch:
        raise InputError(f"recording must be a single one, got a batch of {recording.batch}; save each member()")
    if labels(robot).q != recording.q_names:
        raise InputError(f"robot must have the joints of the recording, got {robot.name!r}")
    if Path(path).suffix != ".rrd":
        raise InputError(f"path must end in .rrd, got {path}")
    rr = _rerun()
    stream = rr.RecordingStream(f"kinodyn {robot.name}")
    stream.save(str(path))
    try:
        _log_links(rr, stream, recording, robot)
        _log_curves(rr, stream, recording)
    finally:
        stream.flush()
        stream.disconnect()


def _log_links(rr: ModuleType, stream: Any, recording: Recording, robot: Robot) -> None:
    """Log the shapes of links once, and their poses over time."""
    stream.log("robot", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    frames = {name: k for k, name in enumerate(robot.frame_names)}
    T = kinematics.poses(robot, recording.q)
    drawn: dict[str, int] = {}
    for part in robot_geometry(robot):
        mesh = placed_triangles(part, TOLERANCE)
        shape = rr.Mesh3D(
            vertex_positions=mesh.vertices.astype(np.float32),
            triangle_indices=mesh.faces.astype(np.uint32),
            albedo_factor=COLOUR,
        )
        stream.log(f"robot/{part.link}/{drawn.get(part.link, 0)}", shape, static=True)
        drawn[part.link] = drawn.get(part.link, 0) + 1
    for link in drawn:
        _send(rr, stream, f"robot/{link}", recording, _transforms(rr, T[:, frames[link]]))


def _transforms(rr: ModuleType, T: Array) -> Any:
    return rr.Transform3D.columns(translation=T[:, :3, 3], quaternion=as_quaternion(T[:, :3, :3]))


def _log_curves(rr: ModuleType, stream: Any, recording: Recording) -> None:
    for group, names in (("q", recording.q_names), ("v", recording.v_names), ("tau", recording.v_names)):
        for name, column in zip(names, recording.array(group).T, strict=True):
            _send(rr, stream, f"{group}/{name}", recording, rr.Scalars.columns(scalars=column))
    for name, array in recording.signals.items():
        for k, column in enumerate(array.reshape(len(recording), -1).T):
            _send(rr, stream, f"signals/{name}/{k}", recording, rr.Scalars.columns(scalars=column))


def _send(rr: ModuleType, stream: Any, entity: str, recording: Recording, columns: Any) -> None:
    index = rr.TimeColumn(TIMELINE, duration=recording.time)
    rr.send_columns(entity, [index], columns, recording=stream)
