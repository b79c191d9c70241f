"""kinodyn bench: how fast this machine computes."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from kinodyn.cli import reading
from kinodyn.cli.answer import Answer, Table
from kinodyn.cli.command import command
from kinodyn.cli.options import Base, RobotOrHumanoid, Seed, option
from kinodyn.cli.pictures import bars
from kinodyn.cli.working import Work, working

if TYPE_CHECKING:
    from kinodyn.model.robot import Robot


@command("bench", examples=["kinodyn bench panda --seconds 0.02"])
def bench(
    robot: RobotOrHumanoid = "humanoid",
    batch: Annotated[int, option("states in one call", min=1)] = 4096,
    seconds: Annotated[float, option("to measure each figure [s]", min=1e-4)] = 0.2,
    base: Base = None,
    seed: Seed = 0,
) -> Answer:
    """Measure the engine on this machine: time per state of each function, alone and in a batch.

    The best of several runs counts. benchmarks/ in the repository compares with other libraries.
    """
    import kinodyn as kd

    loaded = reading.load(robot, base)
    rows: list[dict[str, Any]] = []
    work_list = _functions(loaded, seed)
    with working("measuring") as work:
        for k, (name, function) in enumerate(work_list.items()):
            alone, together = (_time(function, states, seconds, work) for states in (1, batch))
            if work.interrupted:
                break
            rows.append({"function": name, "single_us": 1e6 * alone, "batch_us": 1e6 * together / batch})
            work(k + 1, len(work_list))
    machine = {
        "build": kd.__build__,
        "threads": kd.get_threads(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
    }
    names = [row["function"] for row in rows]
    shown = [(row["function"], row["single_us"], row["batch_us"], round(1e6 / row["batch_us"])) for row in rows]
    return Answer(
        f"{loaded.name}, nv = {loaded.nv}: {kd.__build__}, {kd.get_threads()} threads",
        {"nv": loaded.nv, "batch": batch, "rows": rows, **machine},
        {"robot": robot, "batch": batch, "seconds": seconds, "seed": seed},
        [Table("", ("function", "one call [us]", f"in a batch of {batch} [us]", "states per second"), shown)],
        samples={key: np.array([row[key] for row in rows]) for key in ("function", "single_us", "batch_us")},
        pictures={"Time per state": lambda: bars("in a batch", names, np.array([r["batch_us"] for r in rows]), "us")},
        interrupted=work.interrupted,
    )


def _functions(robot: Robot, seed: int) -> dict[str, Callable[[int], Any]]:
    """List what is measured: functions of the number of states."""
    from kinodyn import dynamics, kinematics

    frame = robot.frame_names[-1]
    rng = np.random.default_rng(seed)
    states: dict[int, tuple[Any, ...]] = {}

    def of(n: int) -> tuple[Any, ...]:
        if n not in states:
            q = robot.random(None if n == 1 else n, seed=seed)
            states[n] = (q, *(rng.normal(size=(*q.shape[:-1], robot.nv)) for _ in range(2)))
        return states[n]

    return {
        "poses of all frames": lambda n: kinematics.poses(robot, of(n)[0]),
        "jacobian": lambda n: kinematics.jacobian(robot, of(n)[0], frame),
        "centre of mass": lambda n: kinematics.com(robot, of(n)[0]),
        "inverse dynamics": lambda n: dynamics.inverse(robot, *of(n)),
        "forward dynamics": lambda n: dynamics.forward(robot, *of(n)),
        "mass matrix": lambda n: dynamics.mass_matrix(robot, of(n)[0]),
        "inverse derivatives": lambda n: dynamics.inverse_derivatives(robot, *of(n)),
    }


def _time(function: Callable[[int], Any], states: int, seconds: float, work: Work) -> float:
    """Give the shortest time of a call [s], over runs that last `seconds` in all."""
    function(states)
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end and not work.interrupted:
        begin = time.perf_counter()
        function(states)
        best = min(best, time.perf_counter() - begin)
    return float(best)
