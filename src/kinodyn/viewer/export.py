"""Export a recording to one HTML file that works offline: it contains the page, the robot and its motion."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tables.output import write_text
from kinodyn.viewer.overlays import Layers, main_frame
from kinodyn.viewer.playback import Recordings, Track, make_tracks
from kinodyn.viewer.robot_group import RobotGroup
from kinodyn.viewer.server import LOCALHOST, close_server, open_server
from kinodyn.viewer.stage import Stage

MAX_FRAMES = 20_000  # animation frames in one file


@check_types
def export_html(
    robot: Robot,
    recording: Recordings,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    show: Iterable[str] = (),
    frame: str | None = None,
) -> Path:
    """Write a recording, or several side by side, to a self-contained HTML file with timeline, speed and loop.

    Parameters
    ----------
    robot : Robot
    recording : Recording, or a list or dict of them
    path : path-like
    fps : float
        Animation frames per second of the motion [Hz].
    show : iterable of str
        Layers to draw, see `Viewer.layer`.
    frame : str, optional
        The frame of the layers "ellipsoid" and "workspace".

    Returns
    -------
    Path
        The file that was written.

    Examples
    --------
    >>> import kinodyn as kd, tempfile, pathlib
    >>> robot = kd.load("planar2r")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = kd.viewer.export_html(robot, kd.sim.simulate(robot, None, 0.2), pathlib.Path(folder) / "fall.html")
    ...     path.stat().st_size > 100_000
    True
    """
    tracks = make_tracks(robot, recording)
    duration = max(track.recording.duration for track in tracks)
    count = _frame_count(duration, fps)
    layers = Layers(set(), frame or main_frame(robot))
    robot.frame_index(layers.frame)
    for layer in show:
        layers.set(layer, True)
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"the folder {str(target.parent)!r} does not exist; create it first")
    page = _render(robot, tracks, layers, np.linspace(0.0, duration, count))
    write_text(target, page)
    return target


def _render(robot: Robot, tracks: Sequence[Track], layers: Layers, times: Array) -> str:
    """Play the motion on a server without clients and record the messages it would send."""
    server = open_server(LOCALHOST, None, robot.name)
    try:
        stage = Stage(server)
        group = RobotGroup(server.scene, robot, tracks[0].recording.q[0])
        group.set_tracks(tracks)
        stage.hide_ground_below(group.lowest)
        group.draw([track.at(0.0) for track in tracks], layers)
        if "workspace" in layers.on:
            for overlay in group.overlays:
                overlay.cloud.wait()
            group.draw(group.snapshots, layers)
        follows = robot.base == "floating"
        if follows:
            stage.follow(tracks[0].recording.q[0])
        stage.aim_camera(group.bounding_box() if follows else _swept_box(group, tracks, times))
        recorder = server.get_scene_serializer()
        for step, t in zip(np.diff(times), times[1:], strict=True):
            recorder.insert_sleep(float(step))
            group.draw([track.at(float(t)) for track in tracks], layers)
            if follows:
                stage.follow(group.snapshots[0].q)
        return recorder.as_html()
    finally:
        close_server(server)


def _swept_box(group: RobotGroup, tracks: Sequence[Track], times: Array) -> Array:
    """Return the corners (2, 3) of a box around the whole motion [m]."""
    boxes = [
        visual.bounding_box(track.at(float(t)).q) + visual.offset
        for visual, track in zip(group.visuals, tracks, strict=True)
        for t in times[:: max(1, len(times) // 8)]
    ]
    return np.array([np.min(boxes, axis=0)[0], np.max(boxes, axis=0)[1]])


def _frame_count(duration: float, fps: float) -> int:
    if isinstance(fps, bool) or not isinstance(fps, int | float | np.number) or not 0 < fps <= 240:
        raise InputError(f"fps must be above 0 and at most 240, got {fps!r}")
    count = 1 + max(1, round(duration * fps)) if duration > 0 else 1
    if count > MAX_FRAMES:
        raise InputError(
            f"{duration:g} s at {fps:g} fps are {count} frames, at most {MAX_FRAMES} are possible; reduce fps"
        )
    return count
