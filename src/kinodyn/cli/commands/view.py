"""kinodyn view: show a robot in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.launch import open_viewer
from kinodyn.cli.options import Base, RobotName, option
from kinodyn.cli.result import CommandResult
from kinodyn.cli.scenes import GOAL_TEXT, SceneFile, read_goal, read_surroundings
from kinodyn.errors import InputError
from kinodyn.tables import check_writable

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.recording import Recording
    from kinodyn.viewer import Viewer


@command(
    "view",
    examples=[
        "kinodyn view humanoid",
        "kinodyn view humanoid --recording walk.npz",
        "kinodyn view panda --scene scene.yaml --to ready",
    ],
    without=("out", "plot", "report", "json"),
)
def view(
    robot: RobotName,
    recording: Annotated[
        list[Path] | None,
        option("recording to play: .npz, .parquet or .csv, as written by walk --save; repeatable, shown side by side"),
    ] = None,
    host: Annotated[
        str, option("address to listen on; with any other than 127.0.0.1, other machines can connect")
    ] = "127.0.0.1",
    export: Annotated[Path | None, option("write the recording to a self-contained HTML file instead")] = None,
    scene: SceneFile = None,
    to: Annotated[list[str] | None, option(f"plan to a {GOAL_TEXT}", "--to", metavar="GOAL")] = None,
    group: Annotated[str | None, option("joints that a plan moves: a group of the SRDF file; by default all")] = None,
    port: Annotated[int | None, option("port to listen on; by default a free one", min=1, max=65535)] = None,
    base: Base = None,
) -> CommandResult:
    """Show a robot in the browser: joint sliders, draggable hands and feet, playback of recordings. Ctrl-C stops it.

    With --scene the obstacles of the scene are shown, and the robot is in the state of the scene. The goal and the
    obstacles can be dragged, and the plan in the tab Plan is updated.
    """
    from kinodyn.recording import Recording

    check_writable(export, (".html", ".htm"))
    loaded = args.load(robot, base)
    recordings = {str(path): Recording.load(path) for path in recording} if recording else None
    settings: dict[str, Any] = {"host": host, "port": port, "recording": recordings}
    if export is not None:
        return _export(loaded, recordings, export)
    if scene is not None or to is not None or group is not None:
        settings |= _planning(loaded, scene, to, group)
    given = {name: value for name, value in settings.items() if value is not None}
    return CommandResult(f"{loaded.name}: Ctrl-C closes the viewer", {}, on_finish=lambda: open_viewer(loaded, **given))


def _planning(robot: Robot, scene: Path | None, to: list[str] | None, group: str | None) -> dict[str, Any]:
    """Return the settings of a viewer in which a plan follows its goal and the obstacles."""
    from kinodyn.collision import World
    from kinodyn.planning.groups import group_joints

    group_joints(robot, group)  # an unknown group is an error before the viewer opens
    around = read_surroundings(robot, scene)
    goal = None if to is None else read_goal(robot, to)
    stated = scene is not None and not np.array_equal(around.q, read_surroundings(robot, None).q)

    def prepare(viewer: Viewer) -> None:
        viewer.plan(goal, group=group, allowed=around.allowed)

    return {
        "world": World() if around.world is None else around.world,
        "q": around.q if stated else None,
        "prepare": prepare,
    }


def _export(robot: Robot, recordings: dict[str, Recording] | None, path: Path) -> CommandResult:
    from kinodyn.viewer import export_html

    if recordings is None:
        raise InputError("--export needs a --recording")
    export_html(robot, recordings, path)
    longest = max(recording.duration for recording in recordings.values())
    return CommandResult(f"{robot.name}: {longest:.3g} s in {path}", {})
