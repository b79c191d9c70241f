"""Arguments and options that several commands have, each spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from rich.markup import escape


def argument(text: str, **more: Any) -> Any:
    """Describe an argument; its text may have units in brackets."""
    return typer.Argument(help=escape(text), **more)


def option(text: str, *names: str, **more: Any) -> Any:
    """Describe an option; its text may have units in brackets."""
    return typer.Option(*names, help=escape(text), **more)


def _robot_names(incomplete: str) -> list[str]:
    import kinodyn as kd

    return [name for name in kd.robots() if name.startswith(incomplete)]


RobotName: TypeAlias = Annotated[
    str,
    argument(
        "name of a robot (see `kinodyn robots`) or path of a URDF, MJCF or xacro file", autocompletion=_robot_names
    ),
]
RobotOrHumanoid: TypeAlias = Annotated[
    str, argument("name of a robot or path of its file", autocompletion=_robot_names)
]
Base: TypeAlias = Annotated[
    Literal["fixed", "floating"] | None, option("bolted down or free; as the robot's file says unless given")
]
Frame: TypeAlias = Annotated[str | None, option("name of a frame; the end of the robot unless given")]
Seed: TypeAlias = Annotated[int, option("start of random numbers", min=0)]

Q_TEXT = (
    "configuration: numbers '0.1,0.2,...', pairs 'joint=0.1,...' (others neutral), a name such as 'neutral', "
    "'standing', 'random' or 'random:100', or a file of rows (.csv, .json, .npz, .parquet)"
)
V_TEXT = "numbers, pairs 'joint=0.1,...' (others 0), 'zero', 'random' or 'random:100', or a file of rows"
Q: TypeAlias = Annotated[str, option(Q_TEXT, "--q")]

# What `command` adds to every command.
Json: TypeAlias = Annotated[bool, option("print one JSON document on stdout instead of tables", "--json")]
Out: TypeAlias = Annotated[Path | None, option("write the numbers to a .json, .csv, .npz or .parquet file")]
Plot: TypeAlias = Annotated[Path | None, option("draw a picture: .png, .svg or .pdf")]
ReportFile: TypeAlias = Annotated[
    Path | None, option("write an HTML report with inputs, figures and pictures", "--report")
]
Debug: TypeAlias = Annotated[bool, option("show the traceback of an error", "--debug")]
