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
from kinodyn.errors import InputError

ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


@command(
    "jacobian",
    examples=[
        "kinodyn jacobian panda --q ready",
        "kinodyn jacobian planar2r --q 0.3,0.5 --part 'x y'",
        "kinodyn jacobian humanoid --q standing --com --json",
    ],
)
def jacobian(
    robot: RobotName,
    q: Q = "neutral",
    frame: Frame = None,
    reference: Annotated[
        Literal["aligned", "local", "world"],
        option("at the frame along the world's axes; in the frame; of the point at the world's origin"),
    ] = "aligned",
    part: Annotated[
        str,
        option("directions that manipulability counts: all, linear, angular, or some of 'x y z rx ry rz'"),
    ] = "all",
    com: Annotated[bool, option("of the centre of mass instead of a frame", "--com")] = False,
    base: Base = None,
    seed: Seed = 0,
) -> Answer:
    """The Jacobian of a frame: its twist, linear part first, is J v. With manipulability and singular values.

    A condition number that is large or infinite tells of a singularity. An arm with few joints never moves in all six
    directions: choose those that count with --part, such as 'x y' for a planar arm. Velocities in m/s and rad/s.
    """
    from kinodyn import kinematics

    if com and (frame is not None or part != "all"):
        raise InputError("--com is the Jacobian of the centre of mass; --frame and --part do not go with it")

    loaded = reading.load(robot, base)
    at = reading.configurations(loaded, q, seed=seed)
    name = "centre of mass" if com else reading.end_frame(loaded, frame)
    J = kinematics.com_jacobian(loaded, at) if com else kinematics.jacobian(loaded, at, name, reference=reference)
    rows, columns = ROWS[: J.shape[-2]], labels(loaded).v
    all_J = J.reshape(-1, *J.shape[-2:])
    first = all_J[0]
    if com:
        figures: dict[str, Any] = {"singular_values": np.linalg.svd(J, compute_uv=False)}
    else:
        figures = {
            "singular_values": kinematics.singular_values(loaded, at, name, part=part),
            "manipulability": kinematics.manipulability(loaded, at, name, part=part),
            "condition_number": kinematics.condition_number(loaded, at, name, part=part),
        }
    shown = [(key.replace("_", " "), _text(value[0] if J.ndim > 2 else value)) for key, value in figures.items()]
    table = [(joint, *first[:, k]) for k, joint in enumerate(columns)]
    title = f"Jacobian of {name}" + (f", row 1 of {len(J)}" if J.ndim > 2 else "")
    return Answer(
        f"{loaded.name}: Jacobian of {name}, {reference}",
        {"J": J, "rows": rows, "columns": columns, **figures},
        {"robot": robot, "q": at, "frame": name, "reference": reference, "part": part, "seed": seed},
        [Table(title, ("joint", *rows), table, 60), Table("", ("figure", "value"), shown)],
        samples={"J": all_J, **{key: np.reshape(value, (len(all_J), -1)) for key, value in figures.items()}},
        columns={"J": [f"{row}.{joint}" for row in rows for joint in columns]},
        notes=_few(figures["singular_values"], len(columns)),
        pictures={title: lambda: matrix_picture(title, first, rows, columns)},
    )


def _few(singular_values: Any, joints: int) -> list[str]:
    directions = np.shape(singular_values)[-1]
    if joints >= directions:
        return []
    return [f"{joints} joints never move in {directions} directions at once; --part chooses those that count"]


def _text(value: Any) -> str:
    return ", ".join(f"{number:.4g}" for number in np.ravel(value)[:6])
