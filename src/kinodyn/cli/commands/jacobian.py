"""kinodyn jacobian: how a frame moves with the joints."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from kinodyn.cli import reading
from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, Frame, Q, RobotName, Seed, option
from kinodyn.cli.pictures import matrix_picture
from kinodyn.cli.reading import labels

ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


@command(
    "jacobian",
    examples=["kinodyn jacobian panda --q ready", "kinodyn jacobian humanoid --q standing --com --json"],
)
def jacobian(
    robot: RobotName,
    q: Q = "neutral",
    frame: Frame = None,
    reference: Annotated[
        Literal["aligned", "local", "world"],
        option("at the frame along the world's axes; in the frame; of the point at the world's origin"),
    ] = "aligned",
    com: Annotated[bool, option("of the centre of mass instead of a frame", "--com")] = False,
    base: Base = None,
    seed: Seed = 0,
) -> Answer:
    """The Jacobian of a frame: its twist, linear part first, is J v. With manipulability and singular values.

    A condition number that is large or infinite tells of a singularity.
    """
    from kinodyn import kinematics

    loaded = reading.load(robot, base)
    at = reading.configurations(loaded, q, seed=seed)
    name = "centre of mass" if com else reading.end_frame(loaded, frame)
    J = kinematics.com_jacobian(loaded, at) if com else kinematics.jacobian(loaded, at, name, reference=reference)
    rows, columns = ROWS[: J.shape[-2]], labels(loaded).v
    all_J = J.reshape(-1, *J.shape[-2:])
    first = all_J[0]
    values = np.linalg.svd(J, compute_uv=False)
    figures: dict[str, Any] = {"singular_values": values}
    if not com:
        figures["manipulability"] = kinematics.manipulability(loaded, at, name)
        figures["condition_number"] = kinematics.condition_number(loaded, at, name)
    shown = [(key.replace("_", " "), _text(value)) for key, value in figures.items()]
    table = [(joint, *first[:, k]) for k, joint in enumerate(columns)]
    title = f"Jacobian of {name}" + (f", row 1 of {len(J)}" if J.ndim > 2 else "")
    return Answer(
        f"{loaded.name}: Jacobian of {name}, {reference}",
        {"J": J, "rows": rows, "columns": columns, **figures},
        {"robot": robot, "q": at, "frame": name, "reference": reference, "seed": seed},
        [Table(title, ("joint", *rows), table, 60), Table("", ("figure", "value"), shown)],
        samples={"J": all_J, **{key: np.reshape(value, (len(all_J), -1)) for key, value in figures.items()}},
        columns={"J": [f"{row}.{joint}" for row in rows for joint in columns]},
        pictures={title: lambda: matrix_picture(title, first, rows, columns)},
    )


def _text(value: Any) -> str:
    return ", ".join(f"{number:.4g}" for number in np.ravel(value)[:6])
