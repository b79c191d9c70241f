"""kinodyn view: the robot in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kinodyn.cli import reading
from kinodyn.cli.answer import Answer
from kinodyn.cli.command import command
from kinodyn.cli.files import check_target
from kinodyn.cli.options import Base, RobotName, option
from kinodyn.cli.viewing import open_viewer
from kinodyn.errors import InputError

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.recording import Recording


@command(
    "view",
    examples=["kinodyn view humanoid", "kinodyn view humanoid --recording walk.npz"],
    without=("out", "plot", "report", "json"),
)
def view(
    robot: RobotName,
    recording: Annotated[
        list[Path] | None,
        option("play this: .npz, .parquet or .csv, as walk --save writes it; repeatable, they stand side by side"),
    ] = None,
    host: Annotated[
        str, option("address to listen at; others than this machine can see it if you say so")
    ] = "127.0.0.1",
    export: Annotated[Path | None, option("write the recording to this HTML file instead; it opens offline")] = None,
    port: Annotated[int | None, option("a free one unless given", min=1, max=65535)] = None,
    base: Base = None,
) -> Answer:
    """Show a robot in the browser: sliders, draggable hands and feet, playback of recordings. Ctrl-C ends it."""
    from kinodyn.recording import Recording

    check_target(export, (".html", ".htm"))
    loaded = reading.load(robot, base)
    played = {str(path): Recording.load(path) for path in recording} if recording else None
    settings: dict[str, Any] = {"host": host, "port": port, "recording": played}
    if export is not None:
        return _exported(loaded, played, export)
    given = {name: value for name, value in settings.items() if value is not None}
    return Answer(f"{loaded.name}: Ctrl-C ends the viewer", {}, then=lambda: open_viewer(loaded, **given))


def _exported(robot: Robot, recordings: dict[str, Recording] | None, path: Path) -> Answer:
    from kinodyn.viewer import export_html

    if recordings is None:
        raise InputError("--export needs a --recording to write")
    export_html(robot, recordings, path)
    longest = max(recording.duration for recording in recordings.values())
    return Answer(f"{robot.name}: {longest:.3g} s in {path}", {})
