"""kinodyn bag: topics of ROS 2 bags, and recordings converted between files, bags and Rerun."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, argument, option
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot
    from kinodyn.recording import Recording


@command(
    "bag",
    examples=["kinodyn bag walk.npz --save walk.mcap --robot humanoid", "kinodyn bag walk.mcap --save again.npz"],
    without=("plot", "out"),
)
def bag(
    file: Annotated[Path, argument("an .mcap or .db3 file, a rosbag2 folder, or a recording (.npz, .parquet)")],
    save: Annotated[
        Path | None,
        option("convert to .mcap, .npz, .parquet, .csv, .rrd (Rerun, needs --robot), or a new rosbag2 folder"),
    ] = None,
    robot: Annotated[
        str | None, option("robot name or file: joints are in its order, and its links are written for viewers")
    ] = None,
    base: Base = None,
) -> CommandResult:
    """List the topics of a ROS 2 bag, and convert recordings to and from bags. Needs the extra `ros`."""
    from kinodyn.recording import Recording, files

    loaded = None if robot is None else args.load(robot, base)
    tables: list[Table] = []
    values: dict[str, Any] = {"file": str(file)}
    if files.is_bag(file):
        topics = _topics(file)
        values["topics"] = topics
        rows = [(each["topic"], each["type"], each["messages"]) for each in topics]
        tables.append(Table("topics", ("topic", "type", "messages"), rows, 200))
    if save is not None:
        recording = Recording.load(file, robot=loaded if files.is_bag(file) else None)
        _convert(recording, save, loaded)
        values |= {"saved": str(save), "rows": len(recording), "duration": recording.duration}
        figures = [("saved", str(save)), ("rows", len(recording)), ("duration [s]", recording.duration)]
        tables.append(Table("", ("", ""), figures))
    elif not tables:
        raise InputError(f"{file} must be a bag to list its topics, got another file; --save converts it")
    return CommandResult(f"{file.name}", values, {"file": str(file), "robot": robot}, tables)


def _topics(file: Path) -> list[dict[str, Any]]:
    from kinodyn.rosmsgs.bags import read_bag

    with read_bag(file) as opened:
        return [
            {"topic": topic, "type": kind, "messages": opened.counts[topic]} for topic, kind in opened.topics.items()
        ]


def _convert(recording: Recording, target: Path, robot: Robot | None) -> None:
    if target.suffix != ".rrd":
        recording.save(target, robot=robot)
        return
    if robot is None:
        raise InputError("--robot must be given to write an .rrd file, got none")
    from kinodyn.interop import rerun

    rerun.save(recording, robot, target)
