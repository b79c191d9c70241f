"""Cases shared by the tests of `kd.interop.torch` and `kd.interop.jax`: every function, and arguments for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

Case = tuple[Callable[..., Any], str]


def tool(robot: Robot) -> str:
    """Return the last frame."""
    return robot.frame_names[-1]


def some(robot: Robot) -> list[str]:
    """Return the last frame, one in the middle, and the root, which does not move."""
    names = robot.frame_names
    return [names[-1], names[len(names) // 2], names[0]]


# name: the function of (module, robot, *arrays), and what each array is: a configuration, a velocity or a wrench
CASES: dict[str, Case] = {
    "pose": (lambda m, r, q: m.pose(r, q, tool(r)), "q"),
    "poses": (lambda m, r, q: m.poses(r, q), "q"),
    "some poses": (lambda m, r, q: m.poses(r, q, frames=some(r)), "q"),
    "com": (lambda m, r, q: m.com(r, q), "q"),
    "aligned velocity": (lambda m, r, q, v: m.velocity(r, q, v, tool(r)), "qv"),
    "local velocity": (lambda m, r, q, v: m.velocity(r, q, v, tool(r), reference="local"), "qv"),
    "world velocity": (lambda m, r, q, v: m.velocity(r, q, v, tool(r), reference="world"), "qv"),
    "inverse": (lambda m, r, q, v, a: m.inverse(r, q, v, a), "qvv"),
    "inverse with wrenches": (
        lambda m, r, q, v, a, f, g: m.inverse(r, q, v, a, {tool(r): f, r.frame_names[0]: g}),
        "qvvff",
    ),
    "forward": (lambda m, r, q, v, tau: m.forward(r, q, v, tau), "qvv"),
    "forward with wrenches": (lambda m, r, q, v, tau, f: m.forward(r, q, v, tau, {tool(r): f}), "qvvf"),
    "integrate": (lambda m, r, q, v: m.integrate(r, q, v), "qv"),
    "difference": (lambda m, r, q0, q1: m.difference(r, q0, q1), "qq"),
}


# independent constraints, by the name of a robot of the zoo
CONTACTS: dict[str, list[kd.contact.Contact]] = {
    "one free body": [kd.contact.Contact("l1", kind="point", point=[0.1, 0.2, -0.3])],
    "every kind": [kd.contact.Contact("tool", point=[0.1, 0.2, -0.3]), kd.contact.Contact("l3", kind="point")],
    "mimics on a free base": [kd.contact.Contact("root", point=[0.1, 0.0, 0.0])],
    "two free bodies": [kd.contact.Contact("one"), kd.contact.Contact("two", kind="point", point=[0.0, 0.1, 0.2])],
    "humanoid": [
        kd.contact.Contact("left_sole"),
        kd.contact.Contact("right_sole", kind="point", point=[0.1, 0.0, 0.0]),
        kd.contact.Contact("left_hand", corners=[[0.0, 0.1, 0.0]]),
    ],
}


class NumpyFunctions:
    """The functions of the same names over NumPy arrays."""

    @staticmethod
    def contact_dynamics(*arguments: Any) -> Array:
        return kd.contact.dynamics(*arguments)[0]

    pose, poses, com, velocity = kd.kinematics.pose, kd.kinematics.poses, kd.kinematics.com, kd.kinematics.velocity
    inverse, forward = kd.dynamics.inverse, kd.dynamics.forward
    integrate, difference = Robot.integrate, Robot.difference


def draw(robot: Robot, kinds: str, batch: tuple[int, ...] = (2,), seed: int = 0) -> list[Array]:
    """Draw an array of the right kind for each argument."""
    rng = np.random.default_rng(seed)
    sizes = {"v": robot.nv, "f": 6}
    return [robot.random(batch, seed=rng) if kind == "q" else rng.normal(size=(*batch, sizes[kind])) for kind in kinds]


def cut(array: Array, batch: tuple[int, ...]) -> Array:
    """Return a part of an array with batch axes (3, 2): another batch that broadcasts to it."""
    part: Array = array[(0,) * (2 - len(batch))][tuple(slice(n) for n in batch)]
    return part
