"""Valid objects of many public classes, from which arguments are taken."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import kinodyn as kd
from kinodyn.display import attributes

MAX_DEPTH = 3  # of attributes in which further objects are found


@functools.cache
def samples() -> dict[type, list[Any]]:
    """Return objects by class: those of `MAKERS`, and those that they hold."""
    found: dict[type, list[Any]] = {}
    for make in MAKERS:
        for value in make():
            _collect(value, found, 0)
    return found


def sample(cls: type) -> Any:
    """Return an object of a class or of a subclass, None if there is none."""
    found = [*samples().get(cls, ()), *(group[0] for kind, group in samples().items() if cls in kind.__mro__)]
    return found[0] if found else None


def _collect(value: Any, found: dict[type, list[Any]], depth: int) -> None:
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        for each in value[:3]:
            _collect(each, found, depth)
    elif type(value).__module__.startswith("kinodyn") and not isinstance(value, type):
        known = found.setdefault(type(value), [])
        if len(known) >= 3:
            return
        known.append(value)
        for _, part in attributes(value) if depth < MAX_DEPTH else ():
            _collect(part, found, depth + 1)


def _arm() -> Iterator[Any]:
    robot = kd.load("panda")
    q = robot.configuration("ready")
    T = kd.kinematics.pose(robot, q, "panda_link8")
    world = kd.collision.World()
    world.add_box("box", (0.1, 0.1, 0.1), np.eye(4))
    world.add_sphere("ball", 0.1, (1.0, 1.0, 1.0))
    yield from (robot, kd.State(robot, q), world, world.snapshot())
    yield kd.ik.solve(robot, {"panda_link8": T}, q0=q)
    yield kd.ik.analytic(robot, T, "panda_link8", q0=q)
    yield kd.ik.track(robot, T[None], "panda_link8", q)
    yield kd.planning.plan(robot, q, q + 0.1, world)
    yield from (kd.planning.PoseRegion(T), kd.planning.PlannerSettings(), kd.collision.robot_spheres(robot))
    yield kd.sim.simulate(robot, None, 0.02)
    yield kd.kinematics.workspace(robot, "panda_link8", samples=200)
    yield from (kd.qp.solve(np.eye(3), np.ones(3)), kd.jobs.Samples(3))


def _motions() -> Iterator[Any]:
    robot = kd.load("panda")
    q = robot.configuration("ready")
    path = kd.trajectory.quintic(q, q + 0.1, duration=1.0)
    yield from (path, kd.trajectory.cubic_spline([q, q + 0.1, q], [0.0, 0.5, 1.0]))
    states = robot.interpolate(q, q + 0.1, np.linspace(0.0, 1.0, 9))
    yield kd.trajectory.time_optimal(states, velocity=1.0, acceleration=2.0)
    T = kd.kinematics.pose(robot, q, "panda_link8")
    moved = T.copy()
    moved[2, 3] -= 0.02
    line = kd.trajectory.cartesian.line(T, moved, duration=1.0, law="minimum_jerk")
    yield from (line, line.follow(robot, "panda_link8", q))
    gains = kd.control.Gains(np.ones(robot.nv), np.ones(robot.nv))
    yield from (gains, kd.control.PDGravity(robot, q, gains), kd.control.ComputedTorque(robot, q, gains))
    tasks = [kd.tasks.FrameTask("panda_link8"), kd.tasks.PostureTask(), kd.tasks.ComTask()]
    limits = [kd.limits.PositionLimit(), kd.limits.VelocityLimit()]
    solver = kd.ik.WholeBody(robot, tasks, limits)
    yield from (tasks, limits, solver, solver.step(q, 0.01))


def _humanoid() -> Iterator[Any]:
    robot = kd.load("humanoid")
    body = kd.walking.Biped.from_robot(robot)
    contacts = [kd.contact.Contact("left_sole"), kd.contact.Contact("right_sole")]
    still = np.zeros(robot.nv)
    yield from (robot, body, contacts, kd.walking.GaitSettings.from_robot(body), *kd.balance.biped_feet(robot))
    yield from (kd.contact.dynamics(robot, body.q, still, still, contacts), kd.State(robot, body.q))
    yield kd.contact.Loop("left_hand", "right_hand")


MAKERS: tuple[Callable[[], Iterator[Any]], ...] = (_arm, _motions, _humanoid)
