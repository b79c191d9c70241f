"""A Panda beside a wall, the scene of many planning tests."""

from __future__ import annotations

import numpy as np

import kinodyn as kd
from kinodyn.collision import World

PANDA = kd.load("panda")
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
LEFT, RIGHT = HOME + [0.9, 0.6, 0, 0.3, 0, 0, 0], HOME + [-0.9, 0.6, 0, 0.3, 0, 0, 0]


def wall() -> World:
    """Return a wall between both configurations of the hand."""
    world = World()
    world.add_box("wall", (0.4, 0.04, 0.6), ((0.6, 0.0, 0.3), None))
    return world
