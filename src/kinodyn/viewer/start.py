"""Where a robot stands when the page opens: a named pose, on the ground."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.feet import STANDING
from kinodyn.model.chain import TURNING
from kinodyn.model.robot import Robot
from kinodyn.viewer.figure import Figure

NAMED = (*STANDING, "ready", "bent", "nominal")
BENT = 0.4  # rad


def start_of(robot: Robot) -> Array:
    """Choose the configuration (nq,) that is shown first: a named one, or neutral within limits.

    An arm without a named one is bent a little: a straight one could not be dragged inwards.
    """
    known = {name.lower(): name for name in robot.configurations}
    for name in NAMED:
        if name in known:
            return robot.configuration(known[name])
    q = robot.neutral()
    if robot.base == "fixed":
        for joint in robot.joints:
            if joint.kind in TURNING and joint.mimic is None:
                q[joint.q] += BENT
    return np.clip(q, robot.limits.lower, robot.limits.upper)


def grounded(robot: Robot, q: Array, figure: Figure) -> Array:
    """Raise or lower a floating base until the lowest point that is drawn is on the ground."""
    placed = np.array(q)
    if robot.base == "floating":
        placed[2] -= float(figure.extent(q)[0, 2])
    return placed
