"""The configuration shown when the page opens: a named one, on the ground."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.balance.feet import STANDING
from kinodyn.model.chain import ROTARY
from kinodyn.model.robot import Robot
from kinodyn.viewer.robot_visual import RobotVisual

PREFERRED_NAMES = (*STANDING, "ready", "bent", "nominal")
BEND_ANGLE = 0.4  # angle added to each joint of an arm without a named configuration [rad]


def initial_configuration(robot: Robot) -> Array:
    """Return the configuration (nq,) that is shown first: a named one, or neutral within limits.

    An arm without a named configuration is bent slightly: a straight arm is singular and cannot be dragged inwards.
    """
    known = {name.lower(): name for name in robot.configurations}
    for name in PREFERRED_NAMES:
        if name in known:
            return robot.configuration(known[name])
    q = robot.neutral()
    if robot.base == "fixed":
        for joint in robot.joints:
            if joint.kind in ROTARY and joint.mimic is None:
                q[joint.q] += BEND_ANGLE
    return np.clip(q, robot.limits.lower, robot.limits.upper)


def grounded(robot: Robot, q: Array, visual: RobotVisual) -> Array:
    """Change the height of a floating base so that the lowest point that is drawn touches the ground."""
    placed = np.array(q)
    if robot.base == "floating":
        placed[2] -= float(visual.bounding_box(q)[0, 2])
    return placed
