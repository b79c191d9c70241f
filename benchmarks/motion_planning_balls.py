"""Throw balls at a Panda that rests or moves, and count those that hit it.

    python benchmarks/motion_planning_balls.py                 # 75 balls at rest, 75 in motion
    python benchmarks/motion_planning_balls.py --count 20 --json

Each ball flies towards a random point of a random link, and is observed 0.5 to 0.9 s before it would arrive there. A
hit could be known in time if, at the first observation, a motion exists that the ball does not touch: from the state
of that moment, within the limits of velocity, acceleration and jerk, to rest at one of many random configurations, and
free until the ball has passed. A hit is certain if a sphere of the robot cannot leave the path of the ball in time even
if every joint moves as fast as its limits allow and all of them together move the sphere straight away. Decisions take
as long as they need, so that the result does not depend on the machine.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision.refinement import robot_spheres
from kinodyn.planning import MovingObstacle, ReactiveMotion, ReactiveStep
from kinodyn.planning.timing import motion_limits

ROBOT = kd.load("panda")
GRAVITY = np.array([0.0, 0.0, -9.81])
LEFT, RIGHT = np.array([[turn, -0.19, 0.0, -2.06, 0.0, 1.57, 0.79] for turn in (0.9, -0.9)])
RADIUS = 0.06  # [m] of a ball
LINKS = [f"panda_link{k}" for k in range(2, 8)]  # at which balls are thrown
MOVING = {joint.child for joint in ROBOT.description.joints}  # a ball that hits the base cannot be evaded
AFTER = 0.4  # [s] from the arrival of a ball until it has passed
STEP = 2e-3  # [s] between the times at which distances are measured
TARGETS = 3000  # random configurations, to which the robot could evade
REACHES = (0.2, 0.5, 1.0, 2.0)  # [rad] how far they are


def clock() -> float:
    """Return a time that stands still: decisions have all the time they need."""
    return 0.0


def gaps(q: Array, ball: MovingObstacle, t: Array) -> Array:
    """Return the distance of a ball from the spheres of moving links at configurations (n, nq) and times (n,)."""
    spheres, found, centre = robot_spheres(ROBOT), np.full(len(t), np.inf), ball.at(t)
    links = [link for link in spheres.links if link in MOVING]
    for link, T in zip(links, np.moveaxis(kd.kinematics.poses(ROBOT, q, frames=links), 1, 0), strict=True):
        rows = spheres.of_link(link)
        centres = np.einsum("tij,sj->tsi", T[:, :3, :3], rows[:, :3]) + T[:, None, :3, 3]
        found = np.minimum(found, (np.linalg.norm(centres - centre[:, None], axis=-1) - rows[:, 3]).min(axis=1))
    return found - ball.radius


def thrown(rng: np.random.Generator, q: Array, arrival: float) -> MovingObstacle:
    """Throw a ball at a point of a link at q (nq,), from 3 m away."""
    flight = rng.uniform(0.5, 0.9)
    spheres, link = robot_spheres(ROBOT), rng.choice(LINKS)
    x, y, z, _ = rng.choice(spheres.of_link(link))
    target = (kd.kinematics.pose(ROBOT, q, link) @ [x, y, z, 1.0])[:3] + 0.02 * rng.normal(size=3)
    angle = rng.uniform(0.0, 2 * np.pi)
    start = target + 3.0 * np.array([np.cos(angle), np.sin(angle), rng.uniform(-0.2, 0.4)])
    velocity = (target - start) / flight - 0.5 * flight * GRAVITY
    return MovingObstacle(start, velocity, RADIUS, GRAVITY, arrival - flight)


def evadable(motion: ReactiveMotion, ball: MovingObstacle, rng: np.random.Generator) -> bool:
    """Return whether a motion from the end of the next period on is known that the ball does not touch."""
    state = motion._joints.state(motion._motion, motion.time + motion.period - motion._start)
    spheres = kd.planning.moving_obstacles.sphere_records([ball], motion.time, motion.margin)
    for k in range(TARGETS):
        reach = REACHES[k % len(REACHES)]
        target = np.clip(state[0] + rng.uniform(-reach, reach, ROBOT.nq), ROBOT.limits.lower, ROBOT.limits.upper)
        candidate = motion._joints.to(state, target)
        if candidate is not None and motion._safety.level(candidate, spheres) == 2:
            return True
    return False


def certainly_hit(motion: ReactiveMotion, ball: MovingObstacle) -> bool:
    """Return whether a sphere of the robot is hit whatever the joints do within their limits from the next period on.

    From the sphere to the base: a joint that turns by an angle moves a point by at most the angle times its distance
    from the axis, which is the distance now and what the joints between them have moved the point.
    """
    begin = motion.time + motion.period
    q, v, a = motion._joints.state(motion._motion, begin - motion._start)
    t = np.arange(begin, begin + 1.5, STEP)
    turned, centre = largest_displacements(np.abs(v), np.abs(a), t - begin), ball.at(t)
    joints = [joint for joint in ROBOT.description.joints if joint.kind == "revolute"]
    frames = kd.kinematics.poses(ROBOT, q, frames=[joint.child for joint in joints])
    for k, link in enumerate((joint.child for joint in joints), start=1):
        if link not in robot_spheres(ROBOT).links:
            continue
        rows, T = robot_spheres(ROBOT).of_link(link), kd.kinematics.pose(ROBOT, q, link)
        x = rows[:, :3] @ T[:3, :3].T + T[:3, 3]
        moved = np.zeros((len(t), len(x)))
        for j in reversed(range(k)):
            axis = frames[j, :3, :3] @ joints[j].axis
            moved += (np.linalg.norm(np.cross(x - frames[j, :3, 3], axis), axis=1) + moved) * turned[:, j, None]
        if (np.linalg.norm(x - centre[:, None], axis=-1) + moved < rows[:, 3] + ball.radius).any():
            return True
    return False


def largest_displacements(v: Array, a: Array, t: Array) -> Array:
    """Return bounds (times, joints) of how far joints with speed v and acceleration a get within their limits."""
    bounds = motion_limits(ROBOT, None, None, None, False).bounds
    acceleration = np.minimum(bounds.acceleration, a + bounds.jerk * t[:, None])
    velocity = np.minimum(bounds.velocity, v + np.cumsum(acceleration, axis=0) * STEP)
    return np.asarray(np.cumsum(velocity, axis=0) * STEP)


def throw(seed: int, moving: bool) -> dict[str, Any]:
    """Throw one ball; return whether it would have hit a robot that ignores it, and whether it did hit."""
    rng = np.random.default_rng(seed)
    motion = ReactiveMotion(ROBOT, LEFT if moving else resting(rng), horizon=1.4, clock=clock, seed=seed)
    found = motion.go_to(RIGHT) if moving else None
    blind = found.trajectory(torque=False) if found is not None else None
    arrival = rng.uniform(0.9, 1.3)
    aimed = blind(arrival) if blind is not None else motion(0.0)
    ball = thrown(rng, aimed, arrival)
    t = np.arange(max(ball.time, 0.0), arrival + AFTER, STEP)
    ignoring = blind(t) if blind is not None else np.tile(aimed, (len(t), 1))
    row: dict[str, Any] = {"seed": seed, "moving": moving, "aimed": bool((gaps(ignoring, ball, t) < 0.0).any())}
    hit, announced, first = follow(motion, ball, arrival + AFTER)
    row |= {"hit": hit, "announced": announced, "arrived": not moving or motion.arrived}
    known = bool(hit) and first is not None and evadable(first, ball, rng)
    certain = bool(hit) and not known and first is not None and certainly_hit(first, ball)
    return {**row, "known in time": known, "certain": certain}


def resting(rng: np.random.Generator) -> Array:
    """Return a random free configuration."""
    q = ROBOT.random(64, seed=rng)
    return np.asarray(q[kd.collision.free(ROBOT, q)][0])


def follow(motion: ReactiveMotion, ball: MovingObstacle, end: float) -> tuple[str, bool, ReactiveMotion | None]:
    """Run until the ball has passed; return how it hit ("" if not), whether that was announced, and the first state."""
    hit, steps, first = "", [], None
    while motion.time < end or (motion._goal is not None and not motion.arrived and motion.time < end + 4.0):
        seen = motion.time >= ball.time
        if seen and first is None:
            first = snapshot(motion)
        steps.append(motion.step([ball] if seen else []))
        t = motion.time - motion.period + np.linspace(0.0, motion.period, 1 + round(motion.period / STEP))[1:]
        touches = (gaps(motion(t), ball, t) < 0.0) & (t > ball.time)
        if not hit and touches.any():
            fast = bool((np.abs(motion(t[touches], 1)).max(axis=1) > 1e-9).any())
            hit = "moving" if fast else "at rest"
    return hit, is_announced(steps), first


def snapshot(motion: ReactiveMotion) -> ReactiveMotion:
    """Return a copy of the state of a motion."""
    copied = object.__new__(ReactiveMotion)
    copied.__dict__.update(motion.__dict__)
    return copied


def is_announced(steps: Sequence[ReactiveStep]) -> bool:
    """Return whether a step reported a threat."""
    return any(step.threats or not step.safe for step in steps)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Count the balls."""
    hits = [row for row in rows if row["hit"]]
    return {
        "balls": len(rows),
        "would hit a robot that ignores them": sum(row["aimed"] for row in rows),
        "hit": len(hits),
        "hit while it moves": sum(row["hit"] == "moving" for row in hits),
        "known in time, yet hit": [row["seed"] for row in hits if row["known in time"]],
        "certain whatever it does": sum(row["certain"] for row in hits),
        "not announced": [row["seed"] for row in hits if not row["announced"]],
        "goal not reached": [row["seed"] for row in rows if not row["arrived"]],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark and print the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=75, help="balls at a robot at rest, and as many at a moving one")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    rows = [throw(seed, moving) for moving in (False, True) for seed in range(options.count)]
    report = {
        name: summary([row for row in rows if row["moving"] == moving])
        for name, moving in (("at rest", False), ("in motion", True))
    }
    if options.json:
        print(json.dumps({**report, "rows": rows}, indent=2))
        return
    for name, part in report.items():
        print(f"{name}: " + "; ".join(f"{what} {value}" for what, value in part.items()))


if __name__ == "__main__":
    main()
