"""kinodyn bench: computation times on this machine."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kinodyn.cli import args
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, RobotOrHumanoid, Seed, option
from kinodyn.cli.plotting import plot_bars
from kinodyn.cli.progress import ProgressBar, progress_bar
from kinodyn.cli.result import CommandResult, Table

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


@command("bench", examples=["kinodyn bench panda --seconds 0.02"])
def bench(
    robot: RobotOrHumanoid = "humanoid",
    batch: Annotated[int, option("states per call", min=1)] = 4096,
    seconds: Annotated[float, option("measuring time per function [s]", min=1e-4)] = 0.2,
    base: Base = None,
    seed: Seed = 0,
) -> CommandResult:
    """Measure computation times on this machine: each function, for a single state and per state of a batch.

    The fastest of several runs is reported. The folder benchmarks/ of the repository compares with other libraries.
    """
    import kinodyn as kd

    loaded = args.load(robot, base)
    rows: list[dict[str, Any]] = []
    functions = _functions(loaded, seed)
    with progress_bar("measuring") as progress:
        for k, (name, function) in enumerate(functions.items()):
            single, batched = (_time(function, states, seconds, progress) for states in (1, batch))
            if progress.interrupted:
                break
            rows.append({"function": name, "single_us": 1e6 * single, "batch_us": 1e6 * batched / batch})
            progress(k + 1, len(functions))
    machine = {
        "build": kd.__build__,
        "threads": kd.get_threads(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
    }
    names = [row["function"] for row in rows]
    shown = [(row["function"], row["single_us"], row["batch_us"], round(1e6 / row["batch_us"])) for row in rows]
    return CommandResult(
        f"{loaded.name}, nv = {loaded.nv}: {kd.__build__}, {kd.get_threads()} threads",
        {"nv": loaded.nv, "batch": batch, "rows": rows, **machine},
        {"robot": robot, "batch": batch, "seconds": seconds, "seed": seed},
        [Table("", ("function", "single call [us]", f"batch of {batch}, per state [us]", "states per second"), shown)],
        samples={key: np.array([row[key] for row in rows]) for key in ("function", "single_us", "batch_us")},
        figures={
            "Time per state": lambda: plot_bars(
                "per state of a batch", names, np.array([r["batch_us"] for r in rows]), "us"
            )
        },
        interrupted=progress.interrupted,
    )


def _functions(robot: Robot, seed: int) -> dict[str, Callable[[int], Any]]:
    """Return the functions to measure, by name; each takes the number of states."""
    from kinodyn import dynamics, kinematics

    frame = robot.frame_names[-1]
    rng = np.random.default_rng(seed)
    states: dict[int, tuple[Any, ...]] = {}

    def states_of(n: int) -> tuple[Any, ...]:
        if n not in states:
            q = robot.random(None if n == 1 else n, seed=seed)
            states[n] = (q, *(rng.normal(size=(*q.shape[:-1], robot.nv)) for _ in range(2)))
        return states[n]

    return {
        "poses of all frames": lambda n: kinematics.poses(robot, states_of(n)[0]),
        "jacobian": lambda n: kinematics.jacobian(robot, states_of(n)[0], frame),
        "centre of mass": lambda n: kinematics.com(robot, states_of(n)[0]),
        "inverse dynamics": lambda n: dynamics.inverse(robot, *states_of(n)),
        "forward dynamics": lambda n: dynamics.forward(robot, *states_of(n)),
        "mass matrix": lambda n: dynamics.mass_matrix(robot, states_of(n)[0]),
        "inverse derivatives": lambda n: dynamics.inverse_derivatives(robot, *states_of(n)),
    }


def _time(function: Callable[[int], Any], states: int, seconds: float, progress: ProgressBar) -> float:
    """Return the shortest time of a call [s] among runs that take `seconds` in total."""
    function(states)
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end and not progress.interrupted:
        begin = time.perf_counter()
        function(states)
        best = min(best, time.perf_counter() - begin)
    return float(best)
