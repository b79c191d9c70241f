"""Robots, configurations and motions that the tests of controllers share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array

CONFIGURATIONS = {
    "panda": [0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5],
    "ur5": [0.2, -1.2, 1.4, -1.0, 1.1, 0.3],
    "puma560": [0.1, 0.8, -2.5, 0.2, 0.7, -0.4],
    "planar2r": [0.4, 0.9],
    "scara": [0.3, 0.8, 0.1, 0.2],
}
FRAMES = {
    "panda": ("panda_hand_tcp", "all"),
    "ur5": ("wrist_3_link", "all"),
    "puma560": ("link6", "all"),
    "planar2r": ("link2", "x y"),
    "scara": ("link4", "x y z rz"),
    "humanoid arm": ("left_palm", "all"),
}


class Sine:
    """q0 + amplitude * sin(frequency t), for joints of a single axis; scalar times only."""

    def __init__(self, q0: Array, amplitude: float, frequency: float) -> None:
        self.q0, self.amplitude, self.frequency = q0, amplitude, frequency

    def __call__(self, t: float, order: int = 0) -> Array:
        w = self.frequency
        sine = (np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t))[order]
        return (self.q0 if order == 0 else 0.0) + self.amplitude * sine * np.ones_like(self.q0)


@cache
def loaded(name: str) -> tuple[kd.Robot, Array]:
    """Load a robot and a configuration away from singularities."""
    if name == "humanoid arm":
        human = kd.load("humanoid")
        standing = human.configuration("standing")
        arm = kd.identification.sub_robot(human, human.description.chains["left_arm"], standing)
        return arm, np.array([0.2, 0.35, 0.2, -1.1, 0.2, 0.2, 0.2])  # elbow bent
    if name == "humanoid":
        human = kd.load("humanoid")
        return human, human.configuration("standing")
    return kd.load(name), np.array(CONFIGURATIONS[name])


@pytest.fixture(params=[*CONFIGURATIONS, "humanoid arm"])
def arm(request: pytest.FixtureRequest) -> tuple[kd.Robot, Array, str, str]:
    """Return each arm in turn: robot, configuration, frame, and the rows that the arm can move."""
    robot, q = loaded(request.param)
    return robot, q, *FRAMES[request.param]


@pytest.fixture
def load() -> Callable[[str], tuple[kd.Robot, Array]]:
    """Return the function that loads a robot and a configuration by name."""
    return loaded


@pytest.fixture
def sine() -> type[Sine]:
    """Return the class of sinusoidal motions."""
    return Sine
