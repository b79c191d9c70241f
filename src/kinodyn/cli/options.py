"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer
from rich.markup import escape


def argument(text: str, **more: Any) -> Any:
    """Declare a positional argument; the help text may contain units in brackets."""
    return typer.Argument(help=escape(text), **more)


def option(text: str, *names: str, **more: Any) -> Any:
    """Declare an option; the help text may contain units in brackets."""
    return typer.Option(*names, help=escape(text), **more)


def _robot_names(incomplete: str) -> list[str]:
    import kinodyn as kd

    return [name for name in kd.robots() if name.startswith(incomplete)]


RobotName: TypeAlias = Annotated[
    str,
    argument("robot name (see `kinodyn robots`) or path of a URDF, MJCF or SDF file", autocompletion=_robot_names),
]
RobotOrHumanoid: TypeAlias = Annotated[str, argument("robot name or path of its file", autocompletion=_robot_names)]
Base: TypeAlias = Annotated[
    Literal["fixed", "floating"] | None, option("fixed or floating base; by default that of the description")
]
Packages: TypeAlias = Annotated[
    list[Path] | None,
    option("folder that is or contains a ROS package named in package:// URIs; repeatable", metavar="FOLDER"),
]
Frame: TypeAlias = Annotated[str | None, option("frame name; by default the first end effector, or the last frame")]
Resolution: TypeAlias = Annotated[
    float | None,
    option("how far the spheres that cover the robot may extend beyond its shapes [m]; by default 0.015", min=1e-6),
]
Seed: TypeAlias = Annotated[int, option("seed of the random number generator", min=0)]

Q_TEXT = (
    "configuration: numbers '0.1,0.2,...', pairs 'joint=0.1,...' (others neutral), a name such as 'neutral', "
    "'standing', 'random' or 'random:100', or a file of rows (.csv, .json, .npz, .parquet)"
)
V_TEXT = "numbers, pairs 'joint=0.1,...' (others 0), 'zero', 'random' or 'random:100', or a file of rows"
Q: TypeAlias = Annotated[str, option(Q_TEXT, "--q")]

# Added to every command by the decorator `command`.
Json: TypeAlias = Annotated[bool, option("print a JSON document on stdout instead of tables", "--json")]
Out: TypeAlias = Annotated[Path | None, option("write the numbers to a file")]  # `command` names the suffixes
Plot: TypeAlias = Annotated[Path | None, option("write a figure: .png, .svg or .pdf")]
ReportFile: TypeAlias = Annotated[
    Path | None, option("write an HTML report with inputs, tables and figures", "--report")
]
Debug: TypeAlias = Annotated[bool, option("print the traceback of an error", "--debug")]
