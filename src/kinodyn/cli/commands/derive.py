"""kinodyn derive: symbolic equations of motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.options import RobotName, option
from kinodyn.cli.result import CommandResult, Table
from kinodyn.tables import write_file

Format = Literal["text", "latex", "python"]


@command(
    "derive",
    examples=[
        "kinodyn derive planar2r",
        "kinodyn derive planar2r --parameters symbols --format latex",
        "kinodyn derive puma560 --up-to joint2 --out torques.py",
    ],
    without=("plot",),
    out=(".json", ".txt", ".tex", ".py"),
)
def derive(
    robot: RobotName,
    parameters: Annotated[
        Literal["numbers", "symbols"], option("use the robot's numerical parameters, or symbols for them")
    ] = "numbers",
    form: Annotated[Format, option("output format", "--format")] = "text",
    up_to: Annotated[list[str] | None, option("remove everything beyond this joint, repeatable")] = None,
) -> CommandResult:
    """Derive Lagrange's equations symbolically: energies, M, C, D and g of M qdd + C qd + D qd + g = tau.

    For up to six coordinates on a fixed base; --up-to truncates a larger robot. Files: .txt, .tex, and .py with a
    function tau(q, qd, qdd).
    """
    from kinodyn import derivation

    loaded = args.load(robot)
    if up_to:
        loaded = derivation.cut(loaded, *up_to)
    model = derivation.lagrange(loaded, parameters=parameters)
    texts: dict[str, str] = {"text": model.text(), "latex": model.latex(), "python": model.code()}

    def saver(name: str) -> Any:
        return lambda path: write_file(Path(path), lambda stream: stream.write((texts[name] + "\n").encode()))

    rows = [(name, value) for name, value in model.parameters.items()]
    return CommandResult(
        f"{loaded.name}: {len(model.q)} coordinates, {', '.join(model.joint_names)}",
        {"joints": model.joint_names, "parameters": dict(model.parameters), **texts},
        {"robot": robot, "parameters": parameters, "up_to": up_to or []},
        [Table("parameters", ("symbol", "value"), rows, 100)] if rows else [],
        text=texts[form],
        writers={".txt": saver("text"), ".tex": saver("latex"), ".py": saver("python")},
    )
