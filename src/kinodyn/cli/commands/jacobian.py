"""kinodyn jacobian: geometric Jacobian and manipulability."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np

from kinodyn.cli import args
from kinodyn.cli.args import labels
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, Frame, Q, RobotName, Seed, option
from kinodyn.cli.plotting import plot_matrix
from kinodyn.cli.result import CommandResult, Table
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
        Literal["local_world_aligned", "aligned", "local", "world"],
        option("frame in which the twist is expressed: at the frame with world axes, the frame itself, or the world"),
    ] = "local_world_aligned",
    part: Annotated[
        str,
        option("directions counted by manipulability: all, linear, angular, or some of 'x y z rx ry rz'"),
    ] = "all",
    com: Annotated[bool, option("Jacobian of the centre of mass instead of a frame", "--com")] = False,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Compute the Jacobian J of a frame (twist = J v, linear part first), its singular values and manipulability.

    A large or infinite condition number indicates a singularity. An arm with fewer than six joints cannot move in all
    six directions: select the relevant ones with --part, such as 'x y' for a planar arm. Units: m/s and rad/s.
    """
    from kinodyn import kinematics

    if com and (frame is not None or part != "all"):
        raise InputError("--com cannot be combined with --frame or --part")

    loaded = args.load(robot, base)
    at = args.configurations(loaded, q, seed=seed)
    name = "centre of mass" if com else args.end_frame(loaded, frame)
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
    return CommandResult(
        f"{loaded.name}: Jacobian of {name}, {reference}",
        {"J": J, "rows": rows, "columns": columns, **figures},
        {"robot": robot, "q": at, "frame": name, "reference": reference, "part": part, "seed": seed},
        [Table(title, ("joint", *rows), table, 60), Table("", ("quantity", "value"), shown)],
        samples={"J": all_J, **{key: np.reshape(value, (len(all_J), -1)) for key, value in figures.items()}},
        columns={"J": [f"{row}.{joint}" for row in rows for joint in columns]},
        notes=_rank_note(figures["singular_values"], len(columns)),
        figures={title: lambda: plot_matrix(title, first, rows, columns)},
    )


def _rank_note(singular_values: Any, joints: int) -> list[str]:
    directions = np.shape(singular_values)[-1]
    if joints >= directions:
        return []
    return [f"{joints} joints cannot move in {directions} independent directions; --part selects the relevant ones"]


def _text(value: Any) -> str:
    return ", ".join(f"{number:.4g}" for number in np.ravel(value)[:6])
