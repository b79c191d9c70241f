"""Long runs of whole-body inverse kinematics with `CollisionLimit` towards random far targets.

    python benchmarks/collision_limit.py --steps 1000000

Humanoid, Talos and G1 stand on both feet; their hands track targets that jump, most of them out of reach or
inside the body. Printed: the smallest distance minus the margin over all steps [m], which must not be negative; the
time of a step with the limit and without it, in a batch on one thread; how far hands move towards each target.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass

import numpy as np

import kinodyn as kd
from setups import Array

DT = 0.005  # [s]
PERIOD = 100  # steps between new targets
BATCH = 100


@dataclass(frozen=True)
class Robot:
    """A robot by name: its start, feet and hands."""

    name: str
    start: str | None
    feet: tuple[str, str]
    hands: tuple[str, str]


ROBOTS = (
    Robot("humanoid", "standing", ("left_sole", "right_sole"), ("left_palm", "right_palm")),
    Robot(
        "talos",
        "half_sitting",
        ("left_sole_link", "right_sole_link"),
        ("gripper_left_base_link", "gripper_right_base_link"),
    ),
    Robot("g1", None, ("left_ankle_roll_link", "right_ankle_roll_link"), ("left_rubber_hand", "right_rubber_hand")),
)


def hand_positions(robot: kd.Robot, which: Robot, q: Array) -> Array:
    """Return the positions of the hands (..., 2, 3) [m]."""
    return np.stack([kd.kinematics.pose(robot, q, hand)[..., :3, 3] for hand in which.hands], axis=-2)


def run(which: Robot, steps: int, seed: int) -> str:
    """Run one robot, and return a line of results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load(which.name, base="floating")
        start = robot.neutral() if which.start is None else robot.configuration(which.start)
        limit = kd.limits.CollisionLimit(reference=start)
        reduced = limit.reduced_margins(robot)
    com, rng = kd.kinematics.com(robot, start), np.random.default_rng(seed)
    hands = [kd.tasks.FrameTask(hand, com, priority=1) for hand in which.hands]
    tasks = [
        *(kd.tasks.ContactTask(foot) for foot in which.feet),
        *hands,
        kd.tasks.ComTask(com, priority=1),
        kd.tasks.PostureTask(start, priority=2),
    ]
    joints = [kd.limits.PositionLimit(), kd.limits.VelocityLimit()]
    solver, free = (kd.ik.WholeBody(robot, tasks, limits) for limits in ([*joints, limit], joints))
    q = np.tile(start, (BATCH, 1))
    worst, seconds, seconds_free = np.inf, 0.0, 0.0
    positions, distances = hand_positions(robot, which, q), []
    for k in range(max(1, steps // BATCH)):
        if k % PERIOD == 0:
            before, positions = positions, hand_positions(robot, which, q)
            distances.append(np.linalg.norm(positions - before, axis=-1).mean())
            for hand in hands:
                hand.target = com + rng.uniform([-0.7, -0.9, -0.8], [1.0, 0.9, 0.9], size=(BATCH, 3))
        begin = time.perf_counter()
        following = solver.step(q, DT).q
        seconds += time.perf_counter() - begin
        if k % 20 == 0:
            begin = time.perf_counter()
            free.step(q, DT)
            seconds_free += 20 * (time.perf_counter() - begin)
        q = following
        worst = min(worst, float(limit.margins(robot, q).min()))
    done = BATCH * max(1, steps // BATCH)
    travelled = float(np.mean(distances[1:])) if len(distances) > 1 else 0.0
    each, each_free = 1e6 * seconds / done, 1e6 * seconds_free / done
    return (
        f"{which.name}: {done} steps, smallest distance - margin {worst:.3g} m, {len(reduced)} margins reduced; "
        f"{each:.1f} us a step, {each_free:.1f} us without the limit; hands moved {travelled:.2f} m on average"
    )


def main() -> None:
    """Run all robots that are installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="in all")
    parser.add_argument("--robots", nargs="+", choices=[which.name for which in ROBOTS], help="by default all")
    parser.add_argument("--seed", type=int, default=0, help="of the targets: long runs can be divided")
    options = parser.parse_args()
    kd.set_threads(1)
    chosen = [which for which in ROBOTS if which.name in (options.robots or kd.robots())]
    for which in chosen:
        print(run(which, options.steps // len(chosen), options.seed), flush=True)


if __name__ == "__main__":
    main()
