"""kinodyn fk: where frames are."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from kinodyn.cli import reading
from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, Q, RobotName, Seed, option
from kinodyn.cli.pictures import robot_picture
from kinodyn.cli.poses import ANGLES, PLACE, parts
from kinodyn.cli.reading import labels
from kinodyn.errors import InputError

MOST = 100  # configurations in a table
HEADS = ("x [m]", "y [m]", "z [m]", *ANGLES)


@command(
    "fk",
    examples=[
        "kinodyn fk panda --q ready",
        "kinodyn fk humanoid --q standing --frame left_hand --frame right_hand",
        "kinodyn fk ur5 --q random:1000 --seed 1 --out poses.csv",
    ],
)
def fk(
    robot: RobotName,
    q: Q = "neutral",
    frame: Annotated[list[str] | None, option("name of a frame, repeatable; the robot's end unless given")] = None,
    every: Annotated[bool, option("all frames", "--all")] = False,
    base: Base = None,
    seed: Seed = 0,
) -> Answer:
    """Forward kinematics: where frames are at a configuration, or at many.

    Positions in metres; orientation as roll, pitch, yaw about the world's x, y, z [rad] and as a quaternion x y z w.
    """
    from kinodyn import kinematics

    if every and frame:
        raise InputError("--all takes all frames and --frame some; give one of them")
    loaded = reading.load(robot, base)
    at = reading.configurations(loaded, q, seed=seed)
    frames = list(loaded.frame_names) if every else reading.frames(loaded, frame)
    T = kinematics.poses(loaded, at, frames=frames)
    place, quaternion, angles = parts(T)
    com = kinematics.com(loaded, at)
    result: dict[str, Any] = {
        name: {
            "T": T[..., k, :, :],
            "position": place[..., k, :],
            "quaternion": quaternion[..., k, :],
            "rpy": angles[..., k, :],
        }
        for k, name in enumerate(frames)
    }
    many = at.ndim > 1
    shown = np.concatenate([place, angles], axis=-1).reshape(-1, len(frames), 6)
    rows = [
        [*([n] if many else []), *([name] if len(frames) > 1 or not many else []), *shown[n, k]]
        for n in range(min(len(shown), MOST))
        for k, name in enumerate(frames)
    ]
    heads = [*(["row"] if many else []), *(["frame"] if len(frames) > 1 or not many else []), *HEADS]
    samples: dict[str, Any] = {"q": np.atleast_2d(at), "com": np.atleast_2d(com)}
    columns = {"q": labels(loaded).q, "com": PLACE[:3]}
    for k, name in enumerate(frames):
        whole = np.concatenate([place[..., k, :], quaternion[..., k, :]], axis=-1)
        samples[name], columns[name] = np.atleast_2d(whole), PLACE
    return Answer(
        f"{loaded.name}: " + ", ".join(frames[:4]) + (" ..." if len(frames) > 4 else ""),
        {"q": at, "frames": result, "com": com},
        {"robot": robot, "q": q, "frames": frames, "base": loaded.base, "seed": seed},
        [Table("", heads, rows, total=len(shown) * len(frames))],
        samples=samples,
        columns=columns,
        pictures={"The robot": lambda: robot_picture(loaded, at if not many else at[0], frames)},
    )
