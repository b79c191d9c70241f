"""kinodyn push: the map of pushes that a robot survives."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, Seed, argument, option


@command("push", examples=["kinodyn push humanoid --directions 2 --plot pushes.png"])
def push(
    robot: Annotated[str, argument("name of a robot or path of its file")] = "humanoid",
    directions: Annotated[int, option("evenly round the robot, the first from behind", min=1)] = 8,
    stepping: Annotated[bool, option("the robot may step", "--stepping/--standing")] = False,
    base: Base = None,
    seed: Seed = 0,
) -> Answer:
    """Push a standing robot ever harder in MuJoCo and map the impulses [N s] that it survives.

    Beside them stands the bound of the linear inverted pendulum: what no controller of its feet alone can exceed.
    """
    import kinodyn as kd

    loaded = kd.load(robot, base=base or "floating")
    push_map: Any = getattr(kd.walking, "push_map")  # noqa: B009
    found = push_map(loaded, directions=directions, stepping=stepping, seed=seed, progress=True)
    angles = np.degrees(np.asarray(found.directions, dtype=float))
    survived, bound = np.asarray(found.survived, dtype=float), np.asarray(found.bound, dtype=float)
    rows = list(zip(angles.tolist(), survived.tolist(), bound.tolist(), (survived / bound).tolist(), strict=True))
    return Answer(
        f"{loaded.name}: survives {survived.min():.3g} to {survived.max():.3g} N s",
        found.summary(),
        {"robot": robot, "directions": directions, "stepping": stepping, "seed": seed},
        [Table("", ("direction [deg]", "survived [N s]", "bound [N s]", "ratio"), rows)],
        samples={"direction": found.directions, "survived": survived, "bound": bound},
        pictures={"Impulses survived": lambda: found.plot(None)},
        interrupted=bool(getattr(found, "interrupted", False)),
    )
