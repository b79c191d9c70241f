"""Measure whole-body planning: humanoids reach under tables and into shelves, standing, without touching anything.

    python benchmarks/whole_body_planning.py [--robots humanoid g1] [--count 100] [--verify] [--quick] [--json]

Goals are poses of a hand, of random configurations that stand, are collision-free, and have the hand in the scene
(whole_body_scenes.py). The best time of --rounds calls counts, from Python, inverse kinematics and checks included;
what is computed once for a robot (spheres, allowed pairs) is not. CPU time is that of all threads; it
is less than the time on a loaded machine.

    --verify    check every path at 16 samples of each motion: feet, CoM, and collisions by coal on the exact shapes
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np

import kinodyn as kd
from tables import machine
from whole_body_scenes import SCENES, Humanoid, Reach, humanoid, random_reach

LIMIT = 0.2  # [s]
BUDGET = 1.0  # [s]
SAMPLES = 16  # of a motion
PERCENTILES = (50, 90, 95, 100)


def solve(body: Humanoid, reach: Reach, budget: float) -> tuple[kd.planning.Plan, float, float]:
    """Return a plan, the time of the call and its CPU time [s]."""
    goal = {body.hand: reach.T_world_hand}
    begin, cpu = time.perf_counter(), time.process_time()
    constraints = [kd.planning.Standing()]
    plan = kd.planning.plan(body.robot, body.start, goal, reach.world, constraints=constraints, time_budget=budget)
    return plan, time.perf_counter() - begin, time.process_time() - cpu


def verify(body: Humanoid, reach: Reach, plan: kd.planning.Plan) -> dict[str, float]:
    """Return the largest motion of a foot, the smallest margin of the CoM, and how many samples collide."""
    from kinodyn.collision.exact_checks import ExactChecks
    from kinodyn.collision.query import Query

    robot, feet = body.robot, kd.balance.feet(body.robot)
    s = np.linspace(0.0, 1.0, SAMPLES + 1)
    q = np.concatenate([robot.interpolate(a, b, s) for a, b in zip(plan.path[:-1], plan.path[1:], strict=True)])
    soles = [foot.sole_pose(robot, q)[:, :3, 3] for foot in feet]
    moved = max(float(np.linalg.norm(p - p[0], axis=1).max()) for p in soles)
    polygon = kd.balance.support_polygon(robot, body.start, feet)
    margin = kd.balance.margin(polygon, kd.kinematics.com(robot, q)[:, :2])
    links = kd.planning.Standing().fixed_links(robot)
    allowed = frozenset(frozenset((link, name)) for link in links for name in reach.world.names)
    checks = ExactChecks(Query(robot, reach.world.snapshot(), allowed), allowed)
    colliding = sum(bool(checks.colliding(row)) for row in q)
    return {"foot_moves": moved, "com_margin": float(margin.min()), "colliding": colliding}


def measure(body: Humanoid, scene: str, args: argparse.Namespace) -> dict[str, Any]:
    """Plan all problems of a scene."""
    reaches = [random_reach(body, scene, seed) for seed in range(args.count)]
    solve(body, reaches[0], 0.1)
    times, cpu_times, plans = [], [], []
    for reach in reaches:
        runs = [solve(body, reach, BUDGET) for _ in range(args.rounds)]
        plans.append(runs[0][0])
        times.append(min(seconds for _, seconds, _ in runs))
        cpu_times.append(min(seconds for _, _, seconds in runs))
    solved = np.array([plan.success for plan in plans])
    result: dict[str, Any] = {
        "robot": body.name,
        "scene": scene,
        "problems": args.count,
        "solved": int(solved.sum()),
        "within_limit": float((solved & (np.array(times) <= LIMIT)).mean()),
        "within_limit_cpu": float((solved & (np.array(cpu_times) <= LIMIT)).mean()),
        **{f"p{p}_ms": 1e3 * float(np.percentile(times, p)) for p in PERCENTILES},
        **{f"p{p}_cpu_ms": 1e3 * float(np.percentile(cpu_times, p)) for p in PERCENTILES},
        "unsolved": [seed for seed, plan in enumerate(plans) if not plan.success],
        "slow": [seed for seed, seconds in enumerate(times) if seconds > LIMIT],
        "vertices": float(np.median([len(plan.path) for plan in plans])),
        "statuses": sorted({plan.status for plan in plans}),
    }
    if args.verify:
        checks = [verify(body, reach, plan) for reach, plan in zip(reaches, plans, strict=True) if plan.success]
        result["foot_moves_mm"] = 1e3 * max(check["foot_moves"] for check in checks)
        result["com_margin_mm"] = 1e3 * min(check["com_margin"] for check in checks)
        result["colliding_samples"] = sum(check["colliding"] for check in checks)
    return result


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="+", default=["humanoid", "g1"])
    parser.add_argument("--count", type=int, default=100, help="problems for each robot and scene")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--quick", action="store_true", help="few problems of the humanoid")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.quick:
        args.robots, args.count, args.rounds = ["humanoid"], 3, 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        bodies = [humanoid(name) for name in args.robots]
        rows = [measure(body, scene, args) for body in bodies for scene in SCENES]
    if args.json:
        print(json.dumps({"machine": machine(("kinodyn", "numpy")), "results": rows}, indent=2))
        return
    print(f"{'':18}solved   within {LIMIT:g} s   " + "".join(f"{f'{p} %':>9}" for p in PERCENTILES) + "  [ms]")
    for row in rows:
        times = "".join(f"{row[f'p{p}_ms']:9.1f}" for p in PERCENTILES)
        fraction = f"{100 * row['within_limit']:.0f} %"
        print(f"{row['robot']:10}{row['scene']:8}{row['solved']:3} of {row['problems']:<4}{fraction:>10}   {times}")
        cpu = "".join(f"{row[f'p{p}_cpu_ms']:9.1f}" for p in PERCENTILES)
        print(f"{'':18}CPU time      {100 * row['within_limit_cpu']:3.0f} %   {cpu}")
        if args.verify:
            print(
                f"{'':18}feet move {row['foot_moves_mm']:.2g} mm, CoM margin {row['com_margin_mm']:.3g} mm, "
                f"{row['colliding_samples']} samples collide"
            )


if __name__ == "__main__":
    main()
