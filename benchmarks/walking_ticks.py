"""Measure the longest control ticks of walks: on level ground, pushed by 0.5 m/s of CoM velocity, and up stairs.

A walk repeated is the same to the bit: each tick is measured in several repetitions, and the least CPU time counts,
which excludes other processes and interrupts. The first repetition, as users see it, also contains whatever takes
longer at a first call; for it the wall time of the longest tick is given too, which includes other processes.

OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/walking_ticks.py [humanoid talos g1] [--repeat 3]
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any
from unittest.mock import patch

import numpy as np

import kinodyn as kd
from kinodyn.walking import WalkingController
from walking_scenarios import NOISE

PUSHED_AT, DIRECTION, SPEED = 3.1, 1.0, 0.5  # [s], [rad], [m/s]
STAIRS = {"humanoid": 0.185, "g1": 0.08}  # rise [m]
USUAL_RISE = 0.1


@contextmanager
def timed_ticks() -> Iterator[list[tuple[float, float]]]:
    """Collect CPU time and wall time of each control tick [s]."""
    act, ticks = WalkingController.act, list[tuple[float, float]]()

    def timed(self: WalkingController, observation: kd.sim.Observation) -> np.ndarray:
        cpu, wall = thread_time(), perf_counter()
        tau = act(self, observation)
        ticks.append((thread_time() - cpu, perf_counter() - wall))
        return tau

    with patch.object(WalkingController, "act", timed):
        yield ticks


def walks(name: str, body: kd.walking.Biped) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what is measured for a robot, and the options of `walk`."""
    level = {"velocity": (SPEED, 0.0, 0.0), "duration": 7.0}
    push = kd.walking.impulse_push(body, DIRECTION, 0.5 * body.robot.mass, start=PUSHED_AT)
    rise, tread = STAIRS.get(name, USUAL_RISE), 0.24 if name == "humanoid" else 0.3
    yield "", level
    yield ", pushed", level | {"pushes": [push]}
    yield f", stairs of {100 * rise:g} cm", {"terrain": f"stairs:{rise},{tread},5", "goal": (2.4, 0.0, 0.0)}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=["humanoid", "talos", "g1"], help="names or files")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    print("ticks, CPU time [ms]           median    99 %   worst   first walk, worst     wall time   real time")
    for robot in options.robots:
        body = kd.walking.Biped.from_robot(kd.load(robot, base="floating"))
        for kind, walk in walks(robot, body):
            times, factor = [], 0.0
            for _ in range(options.repeat):
                with timed_ticks() as ticks:
                    try:
                        result = kd.walking.walk(body, noise=NOISE, seed=1, **walk)
                    except kd.KinodynError as refusal:
                        print(f"{body.robot.name + kind:<30} refused: {refusal}"[:160])
                        break
                times.append(1e3 * np.array(ticks))
                factor = max(factor, result.real_time)
            else:
                least = np.array([run[:, 0] for run in times]).min(axis=0)
                median, late = np.quantile(least, [0.5, 0.99])
                print(
                    f"{body.robot.name + kind:<30} {median:>6.2f} {late:>7.2f} {least.max():>7.2f} "
                    f"{times[0][:, 0].max():>19.2f} {times[0][:, 1].max():>13.2f} {factor:>11.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
