"""Compare the methods of `kinodyn.ik.solve` on one arm: success rate and time.

    python benchmarks/ik_methods.py                 # panda, 1000 poses
    python benchmarks/ik_methods.py ur5 --poses 200

Targets are poses of random configurations within the limits, the initial guess is the middle of the limits, the
tolerance is the default. Success is counted from one start and with the default restarts. SciPy takes one pose at a
time and gets a tenth of the poses.
"""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

import numpy as np

import ik_chains
import kinodyn as kd
from setups import Array

METHODS = ("auto", "lm", "dls", "pinv", "newton", "transpose", "optimise")
SINGLES = 50


def measure(robot: kd.Robot, frame: str, T: Array, method: Any) -> list[str]:
    """Return a row: name, success from one start and with restarts, batch time with restarts and single time [us]."""
    T = T[: len(T) // 10] if method == "optimise" else T
    alone = kd.ik.solve(robot, {frame: T}, method=method, restarts=0).success.mean()
    begin = perf_counter()
    again = kd.ik.solve(robot, {frame: T}, method=method).success.mean()
    batch = (perf_counter() - begin) / len(T)
    times = []
    for target in T[:SINGLES]:
        begin = perf_counter()
        kd.ik.solve(robot, {frame: target}, method=method)
        times.append(perf_counter() - begin)
    return [f'`"{method}"`', f"{alone:.1%}", f"{again:.1%}", f"{1e6 * batch:.0f}", f"{1e6 * np.median(times):.0f}"]


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robot", nargs="?", default="panda", choices=ik_chains.CHAINS)
    parser.add_argument("--poses", type=int, default=1000)
    options = parser.parse_args()
    chain = ik_chains.named(options.robot)
    robot, frame = chain.robot, chain.frame
    kd.set_threads(1)
    T = kd.kinematics.pose(robot, robot.random(options.poses, seed=1), frame)
    kd.ik.solve(robot, {frame: T[:10]})
    print(
        "| method | one start | with restarts | us per pose, batch | us, single call (median) |\n|---|---|---|---|---|"
    )
    for method in METHODS:
        print(f"| {' | '.join(measure(robot, frame, T, method))} |", flush=True)


if __name__ == "__main__":
    main()
