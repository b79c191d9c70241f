"""One whole-body step on Talos, against Placo, Pink and mink: its time, and the errors after a hundred steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

import ik_peers
import kinodyn as kd
from ik_scene import COM, DT, FEET, FOOT, HAND, HANDS, POSTURE, Loop, Scene, talos
from setups import Array

# Peer -> module and class of its loop, imported only if the peer is installed.
LOOPS = {"Placo": ("ik_placo", "Placo"), "Pink": ("ik_pink", "Pink"), "mink": ("ik_mink", "Mink")}

COLLISION = "kinodyn, self-collision"
BY_WEIGHT = ", feet by weight"


class Kinodyn:
    """kinodyn's hierarchy: limits, then feet, then hands and CoM, then posture; or all tasks in one weighted level."""

    def __init__(self, scene: Scene, *, hard: bool = True, collision: bool = False) -> None:
        self.scene = scene
        tasks = strict_tasks(scene) if hard else weighted_tasks(scene)
        limits: list[kd.limits.Limit] = [kd.limits.PositionLimit(), kd.limits.VelocityLimit()]
        if collision:
            limits.append(self_collision(scene))
        self.solver = kd.ik.WholeBody(scene.robot, tasks, limits)
        self.reset()

    def reset(self) -> None:
        self.q = self.scene.start.copy()

    def step(self) -> None:
        self.q = self.solver.step(self.q, DT).q

    def position(self) -> Array:
        return np.asarray(self.q)


def strict_tasks(scene: Scene) -> list[kd.tasks.Task]:
    """Return the tasks with feet first, posture last."""
    return [
        *(kd.tasks.ContactTask(foot) for foot in FEET),
        *(kd.tasks.FrameTask(hand, target=scene.poses[hand], priority=1) for hand in HANDS),
        kd.tasks.ComTask(target=scene.com, priority=1),
        kd.tasks.PostureTask(target=scene.start, priority=2),
    ]


def weighted_tasks(scene: Scene) -> list[kd.tasks.Task]:
    """Return the tasks of one level; weights multiply errors here, and squared errors in the costs of the peers."""
    return [
        *(kd.tasks.FrameTask(foot, target=scene.poses[foot], weights=FOOT**0.5) for foot in FEET),
        *(kd.tasks.FrameTask(hand, target=scene.poses[hand], weights=HAND**0.5) for hand in HANDS),
        kd.tasks.ComTask(target=scene.com, weights=COM**0.5),
        kd.tasks.PostureTask(target=scene.start, weights=POSTURE**0.5, priority=1),
    ]


def self_collision(scene: Scene) -> kd.limits.CollisionLimit:
    """Return the limit of all pairs but those whose spheres are within its margin at the start."""
    allowed: list[tuple[str, str]] = []
    while True:
        limit = kd.limits.CollisionLimit(allowed=allowed)
        nearest = limit.distance(scene.robot, scene.start)
        if nearest.distance > limit.margin:
            return limit
        allowed.append((str(nearest.names[0]), str(nearest.names[1])))


def measure(steps: int, rounds: int) -> dict[str, Any]:
    """Run every solver from the same start to the same targets, and time each of its steps [us]."""
    scene = talos()
    loops: dict[str, Loop] = {
        "kinodyn": Kinodyn(scene),
        "kinodyn" + BY_WEIGHT: Kinodyn(scene, hard=False),
        COLLISION: Kinodyn(scene, collision=True),
    }
    reasons = {}
    for peer, (module, name) in LOOPS.items():
        reason = ik_peers.missing(peer)
        if reason:
            reasons[peer] = reason
            continue
        make: Callable[..., Loop] = getattr(import_module(module), name)
        loops |= {peer: make(scene, hard=True), peer + BY_WEIGHT: make(scene, hard=False)}
    us = best_steps(loops, steps, rounds)
    return {
        "robot": scene.robot.name,
        "steps": steps,
        "dt": DT,
        "start mm": scene.errors(scene.start),
        "us": us,
        "faster": {name: faster(us, name) for name in us if name not in ("kinodyn", "kinodyn" + BY_WEIGHT)},
        "end mm": {name: scene.errors(loop.position()) for name, loop in loops.items()},
        "without": reasons,
    }


def faster(us: Mapping[str, Mapping[str, float]], name: str) -> dict[str, float]:
    """Return the ratio of each time to kinodyn's for the same problem."""
    ours = us["kinodyn" + BY_WEIGHT * name.endswith(BY_WEIGHT)]
    return {kind: value / ours[kind] for kind, value in us[name].items()}


def best_steps(loops: Mapping[str, Loop], steps: int, rounds: int) -> dict[str, dict[str, float]]:
    """Time whole runs in alternation, keep the shortest time of each step, and return three statistics [us].

    All rounds are identical, so the shortest time of a step is its undisturbed cost. During the first tenth some
    twenty joints are at velocity limits; later steps correct little. Hence: the mean of the first tenth, the
    median of all steps, the longest.
    """
    kd.set_threads(1)
    best = {name: np.full(steps, np.inf) for name in loops}
    for _ in range(rounds):
        for name, loop in loops.items():
            loop.reset()
            for index in range(steps):
                begin = time.perf_counter()
                loop.step()
                best[name][index] = min(best[name][index], time.perf_counter() - begin)
    return {
        name: {
            "median": 1e6 * float(np.median(times)),
            "first tenth": 1e6 * float(times[: max(1, steps // 10)].mean()),
            "longest": 1e6 * float(times.max()),
        }
        for name, times in best.items()
    }
