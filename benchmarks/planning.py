"""Measure the planning of walks: one MPC plan, one update of the planner, one reference of a control tick.

python benchmarks/planning.py [--robot humanoid] [--json]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np

import kinodyn as kd
from kinodyn import qp
from kinodyn.walking.horizon import Horizon
from kinodyn.walking.mpc_qp import MPCProblem

walking = kd.walking


def microseconds(calls: Sequence[Callable[[], object]]) -> dict[str, float]:
    """Call each function once, and return the computation time: median, 99 % and least."""
    taken = []
    for call in calls:
        start = time.perf_counter()
        call()
        taken.append(1e6 * (time.perf_counter() - start))
    return {"median": float(np.median(taken)), "p99": float(np.percentile(taken, 99)), "least": float(min(taken))}


def measure_mpc(
    schedule: walking.ContactSchedule, limits: walking.StepLimits | None, n: int
) -> dict[str, dict[str, float]]:
    """Measure the MPC as a whole, and its QP with the checks of the solution."""
    rng, mpc = np.random.default_rng(0), walking.MPC(limits=limits)
    states = []
    for t in rng.uniform(0.0, schedule.end, n):
        nominal = schedule.nominal.at(t)
        states.append((t, nominal.com, nominal.velocity + 0.03 * rng.normal(size=2)))
    whole = microseconds([lambda s=s: mpc(schedule, *s) for s in states])  # type: ignore[misc]
    omega, dt, problems = schedule.body.omega, 0.2 * schedule.settings.single_support, []
    for t, com, velocity in states:
        grid = Horizon(schedule, t, 16, dt, 0 if limits is None else 2)
        problem = MPCProblem(grid, walking.MPCWeights(), omega, com + velocity / omega, None)
        problems.append((problem.H, problem.g, *problem.constraints(limits, np.inf)))
    return {"whole": whole, "QP": microseconds([lambda p=p: qp.solve(*p) for p in problems])}  # type: ignore[misc]


def measure(name: str, n: int) -> dict[str, dict[str, float]]:
    """Measure everything on one robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(name)
    start = time.perf_counter()
    body = walking.Biped.from_robot(robot)
    limits, settings = walking.StepLimits.from_robot(body), walking.GaitSettings.from_robot(body)
    setup = 1e6 * (time.perf_counter() - start)
    plan = walking.footsteps_from_velocity(body, [0.3, 0.0, 0.1], steps=8, limits=limits, step_time=settings.step_time)
    schedule = walking.ContactSchedule(body, walking.standing_feet(body), plan, settings)
    results = {"Biped and StepLimits": {"median": setup}}
    for label, own in (("MPC", None), ("MPC with footsteps", limits)):
        for part, figures in measure_mpc(schedule, own, n).items():
            results[f"{label}, {part}"] = figures
    planner = walking.Planner(body, limits=limits)
    planner.command([0.3, 0.0, 0.0])
    results["Planner.update"] = microseconds([lambda k=k: planner.update(0.025 * k) for k in range(n)])  # type: ignore[misc]
    last = 0.025 * (n - 1)
    results["Planner.reference"] = microseconds(
        [lambda t=t: planner.reference(t) for t in np.arange(last, last + 0.6, 0.6 / n)]  # type: ignore[misc]
    )
    return results


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robot", default="humanoid")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = measure(options.robot, options.calls)
    if options.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{options.robot}: microseconds {'median':>29} {'99 %':>8} {'least':>8}")
    for name, figures in results.items():
        print(f"{name:42}" + "".join(f" {figures[key]:8.0f}" for key in ("median", "p99", "least") if key in figures))


if __name__ == "__main__":
    main()
