"""Measure walking in MuJoCo: falls, speed, heading, slip, pushes survived, real-time factor.

Every scenario is run with many seeds: sensor noise, mass errors up to 5 %, friction between 0.5 and 1.0, all unknown to
the controller. Prints a table, with --json one JSON document.

python benchmarks/walking.py [--seeds 20] [--scenarios "forward 0.3 m/s" ...] [--pushes] [--processes 2] [--json]
python benchmarks/walking.py --terrain [--seeds 20]: stairs, slopes, stones, boxes, blind walks
python benchmarks/walking.py --commands [--seeds 3]: random commands for a minute, humanoid, G1 and Talos
python benchmarks/walking.py --all-robots [--files t1.xml h1.xml] [--duration 8]: every humanoid, as a table in Markdown
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

import kinodyn as kd
from walking_commands import ENVELOPES, run_commands
from walking_robots import HEAD as ROBOTS_HEAD
from walking_robots import ROBOTS, RULE, markdown_row, walk_robots
from walking_scenarios import NOISE, Scenario
from walking_scenarios import SCENARIOS as LEVEL
from walking_terrain import TERRAIN

SCENARIOS = (*LEVEL, *TERRAIN)
Job = tuple[int, int]  # scenario and seed


def run(job: Job) -> dict[str, Any]:
    """Walk one scenario with one seed."""
    warnings.simplefilter("ignore", kd.DescriptionWarning)
    scenario, seed = SCENARIOS[job[0]], job[1]
    robot = kd.load(scenario.robot, base="floating", height=scenario.height, mass=scenario.mass)
    rng = np.random.default_rng(seed)
    errors = {"mass_scale": rng.uniform(0.95, 1.05), "friction": rng.uniform(0.5, 1.0)}
    noise = dict(NOISE)
    if scenario.options.get("estimate"):
        noise |= {"gyro": 0.01, "accelerometer": 0.1}
    extra: dict[str, Any] = {**scenario.options, **errors, **scenario.extra(kd.walking.Biped.from_robot(robot), rng)}
    result = kd.walking.walk(robot, scenario.velocity, noise=noise, seed=seed, **extra)
    return {"seed": seed, **errors, **result.summary()}


def summarise(scenario: Scenario, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Combine the runs of a scenario, and evaluate its requirements."""
    walked = [entry for entry in runs if entry["walked"]]
    figures: dict[str, Any] = {
        "scenario": scenario.name,
        "runs": len(runs),
        "walked": len(walked),
        "needed": scenario.fraction,
        "failed": {entry["seed"]: entry["reason"] for entry in runs if not entry["walked"]},
    }
    met = len(walked) >= scenario.fraction * len(runs)
    for name, reduce in (("speed", np.mean), ("slip", max), ("torque", max), ("least_margin", min)):
        values = [entry[name] for entry in walked if entry[name] is not None]
        figures[name] = float(reduce(values)) if values else None
    figures["heading_drift"] = max((abs(entry["heading_drift"] or 0.0) for entry in walked), default=None)
    for name in ("real_time", "tick_median", "tick_99", "plan_median", "plan_99", "mpc_median", "mpc_99"):
        figures[name] = float(np.median([entry[name] for entry in runs]))
    commanded = float(np.hypot(*scenario.velocity[:2]))
    if scenario.steady and walked:
        error = max(abs(entry["speed"] / commanded - 1.0) for entry in walked)
        figures["worst_speed_error"] = error
        met = met and error < 0.1 and figures["heading_drift"] < np.deg2rad(5.0) and figures["slip"] < 0.01
    return figures | {"met": bool(met and (figures["torque"] or 0.0) <= 1.0 + 1e-9)}


def walks(
    scenarios: Sequence[int], seeds: int, processes: int
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Run all scenarios with all seeds; yields figures and single runs scenario by scenario."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # one core for one walk
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for scenario in scenarios:
            runs = list(pool.map(run, [(scenario, seed) for seed in range(seeds)]))
            yield summarise(SCENARIOS[scenario], runs), runs


def push_maps(processes: int, resolution: float) -> list[dict[str, Any]]:
    """Map the pushes that the standing humanoid survives, without and with steps."""
    robot, found = kd.load("humanoid"), []
    for stepping, needed in ((False, 0.7), (True, 3.0)):
        pushes = kd.walking.push_map(robot, 8, stepping=stepping, resolution=resolution, processes=processes)
        found.append({**pushes.summary(), "needed": needed, "met": bool(pushes.ratio.min() >= needed)})
    return found


def print_commands(seeds: int, processes: int) -> None:
    """Print which robots fall under random commands."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for found in pool.map(run_commands, [(name, seed) for name in ENVELOPES for seed in range(seeds)]):
            end = "upright" if found["fallen"] is None else f"fell after {found['fallen']:.2f} s"
            print(f"{found['robot']:<10} seed {found['seed']}, {found['commands']} commands: {end}", flush=True)


HEAD = "scenario               walked    speed  worst  heading   slip  torque  real time   tick   plan    mpc"


def row(figures: dict[str, Any]) -> str:
    """Format one scenario as a line."""

    def number(name: str, factor: float, form: str) -> str:
        value = figures.get(name)
        return "-" if value is None else format(factor * value, form)

    return (
        f"{figures['scenario']:<21} {figures['walked']:>3}/{figures['runs']:<3} {number('speed', 1, '.3f'):>8} "
        f"{number('worst_speed_error', 100, '.1f'):>5}% {number('heading_drift', 57.2958, '.1f'):>6}° "
        f"{number('slip', 1e3, '.1f'):>5}mm {number('torque', 100, '.0f'):>5}% {number('real_time', 1, '.2f'):>9} "
        f"{number('tick_median', 1e3, '.2f'):>5}ms {number('plan_median', 1e3, '.2f'):>4}ms "
        f"{number('mpc_median', 1e3, '.2f'):>4}ms"
        f"{'' if figures['met'] else '  not met'}"
    )


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20, help="runs of each scenario")
    parser.add_argument("--scenarios", nargs="*", help="names of scenarios; by default all")
    parser.add_argument("--terrain", action="store_true", help="the scenarios over terrain")
    parser.add_argument("--pushes", action="store_true", help="also map the pushes on the standing humanoid")
    parser.add_argument("--resolution", type=float, default=0.05, help="of that map, as a fraction of the bound")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="parallel walks")
    parser.add_argument("--json", action="store_true", help="every run, as JSON")
    parser.add_argument("--commands", action="store_true", help="random commands for a minute")
    parser.add_argument("--all-robots", action="store_true", help="walk every humanoid with no setting given")
    parser.add_argument(
        "--files", nargs="*", default=[], help="URDF or MJCF files of further robots, after --all-robots"
    )
    parser.add_argument("--duration", type=float, default=8.0, help="of each robot's walk [s]")
    options = parser.parse_args()
    if options.commands:
        print_commands(options.seeds, options.processes)
        return
    if options.all_robots:
        print(ROBOTS_HEAD, RULE, sep="\n")
        for found in walk_robots([*ROBOTS, *options.files], options.duration, options.processes):
            print(markdown_row(found), flush=True)
        return
    names = [scenario.name for scenario in SCENARIOS if scenario.terrain or not options.terrain]
    for name in options.scenarios or []:
        if name not in names:
            parser.error(f"unknown scenario {name!r}; there are {', '.join(names)}")
    wanted = names if options.scenarios is None else options.scenarios
    chosen = [k for k, scenario in enumerate(SCENARIOS) if scenario.name in wanted]
    results: dict[str, Any] = {"scenarios": [], "pushes": []}
    out = sys.stderr if options.json else sys.stdout
    print(HEAD, file=out)
    for figures, runs in walks(chosen, options.seeds, options.processes):
        print(row(figures), file=out, flush=True)
        for seed, reason in figures["failed"].items():
            print(f"    seed {seed}: {reason}", file=out, flush=True)
        results["scenarios"].append({**figures, "single": runs})
    if options.pushes:
        results["pushes"] = push_maps(options.processes, options.resolution)
        for found in results["pushes"]:
            ratios = ", ".join(f"{100 * ratio:.0f}" for ratio in found["ratio"])
            condition = "with steps" if found["stepping"] else "without a step"
            end = "" if found["met"] else "  not met"
            print(f"standing pushes {condition}, % of the pendulum's bound in 8 directions: {ratios}{end}", file=out)
    if options.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
