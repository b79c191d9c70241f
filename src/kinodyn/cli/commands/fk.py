"""kinodyn fk: forward kinematics."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from kinodyn.cli import args
from kinodyn.cli.args import labels
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, Q, RobotName, Seed, option
from kinodyn.cli.plotting import plot_robot
from kinodyn.cli.poses import ANGLES, POSE_COLUMNS, parts
from kinodyn.cli.result import CommandResult, Table
from kinodyn.errors import InputError

MAX_CONFIGURATIONS = 100  # in a table
HEADINGS = ("x [m]", "y [m]", "z [m]", *ANGLES)


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
    frame: Annotated[
        list[str] | None, option("frame name, repeatable; by default the first end effector, or the last frame")
    ] = None,
    every: Annotated[bool, option("all frames", "--all")] = False,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Compute forward kinematics: poses of frames at one or many configurations.

    Positions in metres; orientation as roll, pitch, yaw about the world axes x, y, z [rad] and as quaternion x y z w.
    """
    from kinodyn import kinematics

    if every and frame:
        raise InputError("--all and --frame exclude each other; use one of them")
    loaded = args.load(robot, base)
    at = args.configurations(loaded, q, seed=seed)
    frames = list(loaded.frame_names) if every else args.frames(loaded, frame)
    T = kinematics.poses(loaded, at, frames=frames)
    position, quaternion, angles = parts(T)
    com = kinematics.com(loaded, at)
    result: dict[str, Any] = {
        name: {
            "T": T[..., k, :, :],
            "position": position[..., k, :],
            "quaternion": quaternion[..., k, :],
            "rpy": angles[..., k, :],
        }
        for k, name in enumerate(frames)
    }
    batched = at.ndim > 1
    shown = np.concatenate([position, angles], axis=-1).reshape(-1, len(frames), 6)
    rows = [
        [*([n] if batched else []), *([name] if len(frames) > 1 or not batched else []), *shown[n, k]]
        for n in range(min(len(shown), MAX_CONFIGURATIONS))
        for k, name in enumerate(frames)
    ]
    headings = [*(["row"] if batched else []), *(["frame"] if len(frames) > 1 or not batched else []), *HEADINGS]
    samples: dict[str, Any] = {"q": np.atleast_2d(at), "com": np.atleast_2d(com)}
    columns = {"q": labels(loaded).q, "com": POSE_COLUMNS[:3]}
    for k, name in enumerate(frames):
        pose = np.concatenate([position[..., k, :], quaternion[..., k, :]], axis=-1)
        samples[name], columns[name] = np.atleast_2d(pose), POSE_COLUMNS
    return CommandResult(
        f"{loaded.name}: " + ", ".join(frames[:4]) + (" ..." if len(frames) > 4 else ""),
        {"q": at, "frames": result, "com": com},
        {"robot": robot, "q": q, "frames": frames, "base": loaded.base, "seed": seed},
        [Table("", headings, rows, total=len(shown) * len(frames))],
        samples=samples,
        columns=columns,
        figures={"Robot": lambda: plot_robot(loaded, at if not batched else at[0], frames)},
    )
