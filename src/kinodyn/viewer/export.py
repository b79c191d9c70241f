"""A recording as one HTML file that opens offline: the page, the robot and its motion are all in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.viewer.overlays import Switches, main_frame
from kinodyn.viewer.playback import Given, Take, tracks
from kinodyn.viewer.server import HERE, close_server, open_server
from kinodyn.viewer.stage import Stage
from kinodyn.viewer.troupe import Troupe

LONGEST = 20_000  # pictures in one file


def export_html(
    robot: Robot,
    recording: Given,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    show: Iterable[str] = (),
    frame: str | None = None,
) -> Path:
    """Write a recording, or several side by side, to one HTML file with timeline, speed and loop.

    The file needs nothing else: no server, no network. `show` names layers to draw with it, such as "com", "zmp",
    "forces" or "support"; `frame` is whose ellipsoid and workspace are meant.

    Parameters
    ----------
    fps
        Pictures for each second of the motion.

    Example
    -------
    >>> import kinodyn as kd, tempfile, pathlib
    >>> robot = kd.load("planar2r")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = kd.viewer.export_html(robot, kd.sim.simulate(robot, None, 0.2), pathlib.Path(folder) / "fall.html")
    ...     path.stat().st_size > 100_000
    True
    """
    parts = tracks(robot, recording)
    duration = max(track.recording.duration for track in parts)
    count = _pictures(duration, fps)
    switches = Switches(set(), frame or main_frame(robot))
    robot.frame_index(switches.frame)
    for layer in show:
        switches.set(layer, True)
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"the folder {str(target.parent)!r} does not exist; make it first")
    page = _page(robot, parts, switches, np.linspace(0.0, duration, count))
    part = target.with_name(target.name + ".part")  # the file appears whole or not at all
    part.write_text(page, encoding="utf-8")
    part.replace(target)
    return target


def _page(robot: Robot, parts: Sequence[Take], switches: Switches, times: Array) -> str:
    """Play the motion on a stage that nobody sees, and keep what would have been sent."""
    server = open_server(HERE, None, robot.name)
    try:
        stage = Stage(server)
        troupe = Troupe(server.scene, robot, parts[0].recording.q[0])
        troupe.cast(parts)
        stage.level(troupe.lowest)
        troupe.show([track.at(0.0) for track in parts], switches)
        if "workspace" in switches.on:
            for overlay in troupe.overlays:
                overlay.cloud.wait()
            troupe.show(troupe.moments, switches)
        follows = robot.base == "floating"
        if follows:
            stage.follow(parts[0].recording.q[0])
        stage.aim_camera(troupe.framed() if follows else _swept(troupe, parts, times))
        recorder = server.get_scene_serializer()
        for step, t in zip(np.diff(times), times[1:], strict=True):
            recorder.insert_sleep(float(step))
            troupe.show([track.at(float(t)) for track in parts], switches)
            if follows:
                stage.follow(troupe.moments[0].q)
        return recorder.as_html()
    finally:
        close_server(server)


def _swept(troupe: Troupe, parts: Sequence[Take], times: Array) -> Array:
    """Find the corners (2, 3) of what the robots pass through [m]."""
    extents = [
        figure.extent(track.at(float(t)).q) + figure.offset
        for figure, track in zip(troupe.figures, parts, strict=True)
        for t in times[:: max(1, len(times) // 8)]
    ]
    return np.array([np.min(extents, axis=0)[0], np.max(extents, axis=0)[1]])


def _pictures(duration: float, fps: float) -> int:
    if isinstance(fps, bool) or not isinstance(fps, int | float | np.number) or not 0 < fps <= 240:
        raise InputError(f"fps must be above 0 and at most 240, got {fps!r}")
    count = 1 + max(1, round(duration * fps)) if duration > 0 else 1
    if count > LONGEST:
        raise InputError(f"{duration:g} s at {fps:g} pictures a second are {count}; at most {LONGEST}: give less fps")
    return count
