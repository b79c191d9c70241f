"""kinodyn derive: the equation of motion in symbols."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from kinodyn.cli import reading
from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.files import write_whole
from kinodyn.cli.options import RobotName, option

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
    parameters: Annotated[Literal["numbers", "symbols"], option("the robot's numbers, or names for them")] = "numbers",
    form: Annotated[Format, option("how to print it", "--format")] = "text",
    up_to: Annotated[list[str] | None, option("leave out what is behind this joint, repeatable")] = None,
) -> Answer:
    """Derive Lagrange's equations of a robot in symbols: energies, M, C, D and g of M qdd + C qd + D qd + g = tau.

    For up to six coordinates on a fixed base; --up-to cuts a larger robot. Files: .txt, .tex, and .py with a function
    tau(q, qd, qdd).
    """
    from kinodyn import derivation

    loaded = reading.load(robot)
    if up_to:
        loaded = derivation.cut(loaded, *up_to)
    model = derivation.lagrange(loaded, parameters=parameters)
    texts: dict[str, str] = {"text": model.text(), "latex": model.latex(), "python": model.code()}

    def saver(name: str) -> Any:
        return lambda path: write_whole(Path(path), (texts[name] + "\n").encode())

    rows = [(name, value) for name, value in model.parameters.items()]
    return Answer(
        f"{loaded.name}: {len(model.q)} coordinates, {', '.join(model.joint_names)}",
        {"joints": model.joint_names, "parameters": dict(model.parameters), **texts},
        {"robot": robot, "parameters": parameters, "up_to": up_to or []},
        [Table("parameters", ("symbol", "value"), rows, 100)] if rows else [],
        text=texts[form],
        savers={".txt": saver("text"), ".tex": saver("latex"), ".py": saver("python")},
    )
