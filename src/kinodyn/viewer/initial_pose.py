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
MIN_MARGIN = (
    0.1  # from a limit, as a fraction of the range: a joint whose neutral position is nearer starts in mid-range
)


def initial_configuration(robot: Robot) -> Array:
    """Return the configuration (nq,) that is shown first: a named one, or neutral within limits.

    An arm without a named configuration is bent slightly: a straight arm is singular and cannot be dragged inwards. A
    joint of an arm whose neutral position is at or beyond a limit, such as an elbow that would fold the arm onto
    itself, is in the middle of its range.
    """
    known = {name.lower(): name for name in robot.configurations}
    for name in PREFERRED_NAMES:
        if name in known:
            return robot.configuration(known[name])
    q = robot.neutral()
    lower, upper = robot.limits.lower, robot.limits.upper
    if robot.base == "fixed":
        for joint in robot.joints:
            if joint.kind in ROTARY and joint.mimic is None:
                q[joint.q] = _bent(float(q[joint.q][0]), float(lower[joint.q][0]), float(upper[joint.q][0]))
    return np.clip(q, lower, upper)


def _bent(neutral: float, lower: float, upper: float) -> float:
    """Return the neutral position plus a small angle, or the middle of the range where neutral is near a limit."""
    margin = MIN_MARGIN * (upper - lower) if np.isfinite([lower, upper]).all() else 0.0
    return neutral + BEND_ANGLE if lower + margin <= neutral <= upper - margin else 0.5 * (lower + upper)


def grounded(robot: Robot, q: Array, visual: RobotVisual) -> Array:
    """Change the height of a floating base so that the lowest point that is drawn touches the ground."""
    placed = np.array(q)
    if robot.base == "floating":
        placed[2] -= float(visual.bounding_box(q)[0, 2])
    return placed
