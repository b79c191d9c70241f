"""Measure one tick of InverseDynamicsQP on Talos, against TSID on the same tasks, states and references in one run.

    pip install . 'tsid==1.7.1' 'pin==3.4.0' 'cmeel-urdfdom==4.0.1' 'cmeel-tinyxml2==10.0.0'  # what TSID is linked with
    python benchmarks/control_inverse_dynamics.py             # a table
    python benchmarks/control_inverse_dynamics.py --json      # as JSON

Tasks: centre of mass, both hands, orientation of the torso, posture; two feet with friction cones; torque limits. A
tick sets all references, solves, and reads the torques. States are those of kinodyn's closed loop; the controllers are
timed in alternation. The benchmark stops if their accelerations differ by more than 2 % of the largest.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

import kinodyn as kd
import tables
from control_scene import (
    COM,
    DT,
    FEET,
    FREQUENCY,
    FRICTION,
    HAND,
    HANDS,
    PERIOD,
    POSTURE,
    REGULARISATION,
    SOLE,
    TORSO,
    TURN,
    Motion,
    references,
    talos,
)
from setups import Array

GOAL = 500.0  # time of a tick [us]


class TimedController(Protocol):
    """A controller, ready for any tick of the motion."""

    name: str

    def tick(self, k: int) -> Array:
        """Set the references of tick k, solve, and return the torques."""

    def acceleration(self) -> Array:
        """Return the accelerations of the last tick."""


class Kinodyn:
    """InverseDynamicsQP, weighted or strict, with or without joint limits, which TSID does not have here."""

    def __init__(self, motion: Motion, mode: str = "weighted", *, joint_limits: bool = False) -> None:
        robot, q = motion.robot, motion.start
        self.name = f"kinodyn, {mode}" + (", joint limits too" if joint_limits else "")
        self.ticks = motion.ticks
        self.com = kd.tasks.ComTask(weights=COM, priority=1)
        self.hands = {hand: kd.tasks.FrameTask(hand, weights=HAND, priority=2) for hand in HANDS}
        torso = kd.tasks.FrameTask(
            TORSO, kd.kinematics.pose(robot, q, TORSO), weights=(0.0, 0.0, 0.0, TURN, TURN, TURN), priority=2
        )
        posture = kd.tasks.PostureTask(q, weights=POSTURE, priority=3)
        tasks = [self.com, *self.hands.values(), torso, posture]
        for task in tasks:
            task.frequency = FREQUENCY
        self.controller = kd.control.InverseDynamicsQP(
            robot,
            tasks,
            contacts=[kd.contact.Contact(foot, corners=SOLE, friction=FRICTION * np.sqrt(2.0)) for foot in FEET],
            mode=mode,
            dt=DT,
            limits=None if joint_limits else [],
            acceleration_weight=REGULARISATION,
            force_weight=REGULARISATION,
        )
        self.state = kd.State(robot, q)

    def tick(self, k: int) -> Array:
        """Set the references of tick k, update the state, solve, and return the torques."""
        _, q, v, com, hands = self.ticks[k]
        self.com.track(*com)
        for hand, reference in hands.items():
            self.hands[hand].track(*reference)
        self.result = self.controller.solve(self.state.update(q, v))
        return self.result.tau[6:]

    def acceleration(self) -> Array:
        """Return the accelerations of the last tick."""
        return self.result.a


def record(ticks: int) -> Motion:
    """Simulate Talos swaying under kinodyn's control and record the states."""
    robot = talos()
    q, v = robot.configuration("half_sitting"), np.zeros(robot.nv)
    motion = Motion(robot, q, [])
    driver = Kinodyn(motion)
    feet = [kd.contact.Contact(foot) for foot in FEET]
    for k in range(ticks):
        motion.ticks.append((k * DT, q, v, *references(robot, motion.start, k * DT)))
        driver.tick(k)
        a, _ = kd.contact.dynamics(robot, q, v, driver.result.tau, feet)
        v = v + DT * a
        q = robot.integrate(q, DT * v)
    return motion


def controllers(motion: Motion) -> tuple[list[TimedController], str]:
    """Prepare kinodyn and, if it is installed, TSID; otherwise return the reason."""
    ours: list[TimedController] = [
        Kinodyn(motion),
        Kinodyn(motion, joint_limits=True),
        Kinodyn(motion, "strict"),
    ]
    try:
        from control_tsid import Tsid
    except ImportError as error:
        return ours, f"TSID does not import: {error}"
    return [*ours, Tsid(motion)], ""


def agreement(first: TimedController, second: TimedController, ticks: int) -> float:
    """Return the largest difference of accelerations relative to the largest acceleration; stop above 2 %."""
    worst = largest = 0.0
    for k in range(ticks):
        for controller in (first, second):
            controller.tick(k)
        worst = max(worst, float(np.abs(first.acceleration() - second.acceleration()).max()))
        largest = max(largest, float(np.abs(second.acceleration()).max()))
    if worst > 0.02 * largest:
        raise SystemExit(f"{first.name} and {second.name} disagree: {worst:.3g} of {largest:.3g} rad/s^2")
    return worst / largest


def measure(turns: int = 10, ticks: int = round(PERIOD / DT)) -> dict[str, Any]:
    """Time every tick of the motion for each controller in alternation; the shortest time counts for each tick."""
    motion = record(ticks)
    everyone, missing = controllers(motion)
    agree = agreement(everyone[0], everyone[-1], ticks) if not missing else None
    best = {each.name: np.full(ticks, np.inf) for each in everyone}
    for _ in range(turns):
        for each in everyone:
            times = best[each.name]
            for k in range(ticks):
                start = time.perf_counter()
                each.tick(k)
                times[k] = min(times[k], 1e6 * (time.perf_counter() - start))
    us = {
        name: {"median": round(statistics.median(times.tolist()), 1), "worst": round(float(times.max()), 1)}
        for name, times in best.items()
    }
    ratio = None if missing else round(us["TSID"]["median"] / us["kinodyn, weighted"]["median"], 2)
    return {
        "machine": tables.machine(("kinodyn", "numpy")),
        "ticks": ticks,
        "us": us,
        "without TSID": missing,
        "accelerations differ by": agree,
        "faster than TSID": ratio,
        "under 0.5 ms": us["kinodyn, weighted"]["median"] < GOAL,
    }


def goals(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Evaluate the goals: below half a millisecond, and faster than TSID if it was measured."""
    median, ratio = report["us"]["kinodyn, weighted"]["median"], report["faster than TSID"]
    found = [{"what": "talos: us of an inverse dynamics tick, below 500", "measured": median, "met": median < GOAL}]
    if ratio is not None:
        found.append({"what": "talos: times as fast as TSID, above 1", "measured": ratio, "met": ratio > 1})
    return found


def render(report: dict[str, Any]) -> str:
    """Format the report as a table."""
    lines = [f"{'one tick on Talos [us]':36}{'median':>9}{'worst':>9}"]
    lines += [f"{name:36}{us['median']:9.1f}{us['worst']:9.1f}" for name, us in report["us"].items()]
    if report["without TSID"]:
        lines.append(report["without TSID"])
    else:
        lines.append(f"kinodyn is {report['faster than TSID']} times as fast as TSID")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--turns", type=int, default=10, help="measurements per tick")
    parser.add_argument("--ticks", type=int, default=round(PERIOD / DT), help="number of ticks")
    options = parser.parse_args(arguments)
    report = measure(options.turns, options.ticks)
    print(json.dumps(report, indent=2) if options.json else render(report))


if __name__ == "__main__":
    main()
