"""kinodyn push: map the pushes that a robot survives."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.gait import EngineOption, GaitOption, gait_settings
from kinodyn.cli.options import Base, RobotOrHumanoid, option
from kinodyn.cli.result import CommandResult, Table


@command("push", examples=["kinodyn push humanoid --directions 2 --resolution 0.5 --plot pushes.png"])
def push(
    robot: RobotOrHumanoid = "humanoid",
    directions: Annotated[int, option("number of directions, evenly around the robot", min=1)] = 8,
    stepping: Annotated[bool, option("the robot may step", "--stepping/--standing")] = False,
    speed: Annotated[float | None, option("push the robot while it walks forward at this speed [m/s]")] = None,
    resolution: Annotated[
        float, option("resolution of the search, as a fraction of the bound", min=0.01, max=1.0)
    ] = 0.05,
    processes: Annotated[int | None, option("parallel simulations; by default one per core", min=1)] = None,
    gait: GaitOption = None,
    engine: EngineOption = "mujoco",
    base: Base = None,
) -> CommandResult:
    """Push a robot, standing or walking, with growing impulses and map those that it survives [N s].

    They are compared with the bound of the linear inverted pendulum without a step.
    """
    import kinodyn as kd

    loaded = args.load(robot, base or "floating")
    conditions: dict[str, Any] = {
        "stepping": stepping,
        "velocity": None if speed is None else (speed, 0.0, 0.0),
        "resolution": resolution,
        "engine": engine,
    }
    settings = gait_settings(loaded, gait or [])
    found = kd.walking.push_map(loaded, directions, settings=settings, processes=processes, progress=True, **conditions)
    survived, bound = found.survived, found.bound
    rows = np.column_stack([np.degrees(found.directions), survived, bound, found.ratio]).tolist()
    return CommandResult(
        f"{loaded.name}: survives {survived.min():.3g} to {survived.max():.3g} N s",
        found.summary(),
        {"robot": robot, "directions": directions, "set": gait or [], **conditions},
        [
            Table(
                "",
                ("direction [deg]", "survived [N s]", "bound [N s]", "ratio"),
                [tuple(row) for row in rows],
            )
        ],
        samples={"direction": found.directions, "survived": survived, "bound": bound},
        figures={"Impulses survived": lambda: found.plot(None)},
        interrupted=found.interrupted,
    )
