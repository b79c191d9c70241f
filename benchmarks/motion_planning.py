"""Measure motion planning on MoveIt's problem files: worlds, plans, trajectories, checks; compare with OMPL and coal.

    python benchmarks/motion_planning.py                                  # a Panda among boxes
    python benchmarks/motion_planning.py --problems FOLDER --robot panda.urdf --srdf panda.srdf
    python benchmarks/motion_planning.py --problems problems.tar.bz2 --robot ... --limit 70 --verify --peer --json

FOLDER, or a tar archive, has files sceneNNNN.yaml and requestNNNN.yaml in subfolders, as MotionBenchMaker writes them.
The packages of the meshes of the robot are in the folder of its URDF file.

    --limit N   N problems at equal intervals
    --verify    check every path at 16 times the usual density, by coal on the exact shapes
    --peer [N]  N problems by OMPL's RRTConnect with coal on the exact shapes (pip install pin 'kinodyn[planning]')

Worlds are rebuilt for each plan. Problems alternate, and the best time of each counts; compare only numbers of one
run. Everything is measured on one thread; for OMPL, which plans once and for longer, processor time is measured.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import kinodyn as kd
import motion_planning_peer as peer
import motion_planning_tables as tables
import motion_planning_trajectories as trajectories
from kinodyn.arrays import Array
from kinodyn.collision import exact
from motion_planning_parts import Parts
from motion_planning_problems import Problem, problem_parser, selected_problems, spaced
from tables import machine
from timing import Entry, best_of, loop

STEP = 1.0 / 32.0  # [rad or m] L2 norm between checks of a path, usual for arms
DENSER = 16
TOTAL = "all"


@dataclass(frozen=True)
class Effort:
    """How much to measure: rounds of plans, configurations in a batch, rounds of batches, synthetic problems."""

    rounds: int = 3
    batch: int = 100_000
    turns: int = 5
    problems: int = 20


QUICK = Effort(rounds=1, batch=1000, turns=1, problems=4)


@dataclass(frozen=True, eq=False)
class Run:
    """One plan with its times [s]."""

    problem: Problem
    plan: kd.planning.Plan
    world: float
    call: float

    def row(self) -> dict[str, Any]:
        """Return the figures of the report, times in us."""
        seconds = {
            "reading": self.problem.reading,
            "world": self.world,
            "call": self.call,
            "whole": self.world + self.call,
            "planning": self.plan.planning_time,
            "simplification": self.plan.simplification_time,
        }
        named = {"family": self.problem.family, "name": self.problem.name}
        outcome = {"status": self.plan.status, "message": self.plan.message, "length": self.plan.length}
        return {**named, **outcome, **{name: 1e6 * value for name, value in seconds.items()}}


def plan_once(robot: kd.Robot, problem: Problem, seed: int, time_budget: float) -> Run:
    """Build the world and plan in it."""
    begin = time.perf_counter()
    world = problem.world()
    built = time.perf_counter()
    plan = kd.planning.plan(
        robot,
        problem.start,
        problem.goal,
        world,
        group=problem.group,
        allowed=problem.allowed,
        seed=seed,
        time_budget=time_budget,
    )
    return Run(problem, plan, built - begin, time.perf_counter() - built)


def plan_all(robot: kd.Robot, problems: Sequence[Problem], rounds: int, seed: int, time_budget: float) -> list[Run]:
    """Plan every problem once per round; return the fastest run of each."""
    plan_once(robot, problems[0], seed, time_budget)  # fits spheres and finds pairs of links, once for a robot
    runs = [[plan_once(robot, problem, seed, time_budget) for problem in problems] for _ in range(rounds)]
    return [min(own, key=lambda run: run.world + run.call) for own in zip(*runs, strict=True)]


def check_cost(robot: kd.Robot, problems: Sequence[Problem], effort: Effort) -> dict[str, float]:
    """Return the time to check one configuration of a batch, in the first world of each family [us]."""
    q = robot.random(effort.batch, seed=0)
    first = {problem.family: problem for problem in reversed(problems)}
    worlds = {family: (problem.world(), problem.allowed) for family, problem in sorted(first.items())}
    entries = {
        family: Entry(lambda w=world, a=allowed: kd.collision.free(robot, q, w, allowed=a), len(q))  # type: ignore[misc]
        for family, (world, allowed) in worlds.items()
    }
    found = best_of(entries, effort.turns)
    return {**found, TOTAL: float(np.median(list(found.values())))}


def frames_by_pinocchio(robot: kd.Robot, turns: int) -> float | str:
    """Return the time of Pinocchio's poses of all frames from Python [us], or why it is not measured."""
    try:
        import pinocchio as pin

        import pinocchio_model

        model = pinocchio_model.build(robot.description)
    except (ImportError, ValueError) as error:
        return f"not measured: {error}"
    data, states = model.createData(), list(robot.random(1000, seed=0))
    run = loop(lambda q: pin.framesForwardKinematics(model, data, q), states)
    return best_of({"Pinocchio": Entry(run, len(states))}, turns)["Pinocchio"]


def samples(path: Array, step: float) -> Array:
    """Return configurations along a path (n, nq), at most `step` apart."""
    counts = np.ceil(np.linalg.norm(np.diff(path, axis=0), axis=1) / step).astype(int)
    parts = [
        a + (b - a) * (np.arange(n) / n)[:, None] for a, b, n in zip(path, path[1:], counts, strict=False) if n > 0
    ]
    return np.concatenate([*parts, path[-1:]])


def verify(robot: kd.Robot, runs: Sequence[Run]) -> dict[str, Any]:
    """Check all paths densely: by coal on the exact shapes, and by spheres."""
    if not exact.is_available():
        return {"missing": "coal is not installed: pip install 'kinodyn[planning]'"}
    colliding, touching, count = {}, [], 0
    solved = [run for run in runs if run.plan.success]
    for run in solved:
        problem, q = run.problem, samples(run.plan.path, STEP / DENSER)
        name, count = f"{problem.family} {problem.name}", count + len(q)
        pairs = Parts(robot, problem).colliding(q)
        if pairs:
            colliding[name] = sorted(pairs)
        if not kd.collision.free(robot, q, problem.world(), allowed=problem.allowed).all():
            touching.append(name)
    return {
        "paths": len(solved),
        "configurations": count,
        "step": STEP / DENSER,
        "colliding": colliding,
        "spheres touch": touching,
    }


def against_peer(robot: kd.Robot, runs: Sequence[Run], count: int, seed: int) -> dict[str, Any]:
    """Plan some of the problems, at equal intervals, with OMPL and coal; compare those that both solve."""
    reason = peer.missing()
    if reason:
        return {"missing": reason}
    ours = spaced([run for run in runs if run.plan.success and isinstance(run.problem.goal, np.ndarray)], count)
    theirs = [peer.solve(robot, run.problem, seed) for run in ours]
    both = [(their, run) for their, run in zip(theirs, ours, strict=True) if their.success]
    if not both:
        return {"missing": f"OMPL solved none of {len(ours)} problems"}
    times = 1e6 * np.array(
        [(their.planning, run.plan.planning_time, their.whole, run.world + run.call) for their, run in both]
    )
    checks = sum(their.checks for their in theirs)
    return {
        "problems": len(ours),
        "solved": len(both),
        "us per check": 1e6 * sum(their.planning for their in theirs) / checks,
        "planning": compared(times[:, 0], times[:, 1]),
        "whole": compared(times[:, 2], times[:, 3]),
    }


def compared(theirs: Array, ours: Array) -> dict[str, Any]:
    """Return medians and totals of both [us], and how many times faster ours is."""
    ratios = theirs / ours
    return {
        "OMPL": {"median": float(np.median(theirs)), "total": float(theirs.sum())},
        "kinodyn": {"median": float(np.median(ours)), "total": float(ours.sum())},
        "ratio": {
            "of medians": float(np.median(theirs) / np.median(ours)),
            "of totals": float(theirs.sum() / ours.sum()),
        },
        "ratios": {f"{p} %": float(np.percentile(ratios, p)) for p in (5, 25, 50, 75, 95)},
    }


def measure(robot: kd.Robot, problems: Sequence[Problem], options: argparse.Namespace) -> dict[str, Any]:
    """Run all requested measurements."""
    effort = QUICK if options.quick else Effort()
    kd.set_threads(1)
    runs = plan_all(robot, problems, effort.rounds, options.seed, options.time_budget)
    rows = [run.row() for run in runs]
    families = {
        name: tables.summary([row for row in rows if name in (row["family"], TOTAL)])
        for name in [*sorted({row["family"] for row in rows}), TOTAL]
    }
    report: dict[str, Any] = {
        "machine": machine(("kinodyn", "numpy")),
        "robot": robot.name,
        "seed": options.seed,
        "quick": options.quick,
        "families": families,
        "check us": check_cost(robot, problems, effort),
        "Pinocchio, poses of all frames, us": frames_by_pinocchio(robot, effort.turns),
        "trajectories": trajectories.measure(robot, problems, effort.rounds, options.seed, options.time_budget),
        "problems": rows,
    }
    if options.verify:
        report["verification"] = verify(robot, runs)
    if options.peer:
        report["peer"] = against_peer(robot, runs, options.peer, options.seed)
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = problem_parser(__doc__)
    parser.add_argument("--peer", type=int, nargs="?", const=20, metavar="N", help="compare with OMPL on N problems")
    parser.add_argument("--verify", action="store_true", help="check every path densely on the exact shapes")
    parser.add_argument("--quick", action="store_true", help="one round, small batches: a smoke test")
    options = parser.parse_args(arguments)
    if (options.limit is not None and options.limit < 1) or (options.peer is not None and options.peer < 1):
        parser.error("--limit and --peer need a number of at least 1")
    robot, problems = selected_problems(options, (QUICK if options.quick else Effort()).problems)
    report = measure(robot, problems, options)
    print(json.dumps(report, indent=2) if options.json else tables.render(report))


if __name__ == "__main__":
    main()
