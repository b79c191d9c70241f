"""Measure the longest control ticks of walks, of which one is pushed by 0.5 m/s of CoM velocity.

A walk repeated is the same to the bit: each tick is measured in several repetitions, and the least time counts, which
excludes interruptions by other processes. The first repetition also has whatever takes longer at a first call.

OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/walking_ticks.py [humanoid talos g1] [--repeat 3]
"""

from __future__ import annotations

import argparse
import warnings
from time import perf_counter

import numpy as np

import kinodyn as kd
from kinodyn.walking.simulation import run_controller
from walking_scenarios import NOISE

DURATION, PUSHED_AT, DIRECTION, SPEED = 5.0, 3.1, 1.0, 0.5  # [s], [s], [rad], [m/s]


class Timed:
    """A walking controller whose ticks are measured."""

    def __init__(self, controller: kd.walking.WalkingController) -> None:
        self.controller, self.times = controller, list[float]()

    @property
    def signals(self) -> dict[str, object]:
        return self.controller.signals

    @property
    def rolling_feet(self) -> tuple[str, ...]:
        return self.controller.rolling_feet

    def act(self, observation: kd.sim.Observation) -> np.ndarray:
        begin = perf_counter()
        tau = self.controller.act(observation)
        self.times.append(perf_counter() - begin)
        return tau


def walk(body: kd.walking.Biped, pushes: list[kd.sim.Push]) -> tuple[list[float], float]:
    """Walk once; return the time of each tick [s], and the real-time factor of physics and control."""
    simulator = kd.walking.make_simulator(body, "mujoco")
    controller = kd.walking.WalkingController(body)
    controller.command((SPEED, 0.0, 0.0), at=0.5)
    timed, begin = Timed(controller), perf_counter()
    run_controller(simulator, controller, DURATION, acting=timed, pushes=pushes, noise=NOISE, seed=1)
    return timed.times, DURATION / (perf_counter() - begin)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", default=["humanoid", "talos", "g1"])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    print("ticks [ms]             median    99 %   worst  worst of the first walk   real time")
    for name in options.robots:
        body = kd.walking.Biped.from_robot(kd.load(name, base="floating"))
        push = kd.walking.impulse_push(body, DIRECTION, 0.5 * body.robot.mass, start=PUSHED_AT)
        for kind, pushes in (("", []), (", pushed", [push])):
            walks = [walk(body, pushes) for _ in range(options.repeat)]
            times = 1e3 * np.array([ticks for ticks, _ in walks])
            least = times.min(axis=0)
            median, late = np.quantile(least, [0.5, 0.99])
            print(
                f"{name + kind:<22} {median:>6.2f} {late:>7.2f} {least.max():>7.2f} {times[0].max():>12.2f}"
                f" {max(factor for _, factor in walks):>23.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
