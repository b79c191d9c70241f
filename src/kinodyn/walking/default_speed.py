"""The default walking speed of a robot."""

from __future__ import annotations

from math import sqrt

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.model.robot import Robot
from kinodyn.walking.biped import Biped
from kinodyn.walking.feasibility import follows
from kinodyn.walking.planner import Planner
from kinodyn.walking.settings import GaitSettings

FROUDE = 0.02  # speed^2 / (g leg) of a comfortable walk; people change to running near 0.5
LIMIT_FRACTION = 0.5  # of the fastest speed that the step limits allow
SPEED_FACTORS = (1.0, 0.7, 0.5, 0.35)  # factors that are tried until the legs can follow the steps


@check_types
def default_speed(robot: Robot | Biped | Planner, settings: GaitSettings | None = None) -> float:
    """Choose a forward speed that suits a robot.

    It is that of a Froude number v^2 / (g leg) of 0.02, at most half of what the step limits allow, and slower if
    inverse kinematics cannot follow the steps.

    Parameters
    ----------
    robot
        A robot with two feet, its `Biped`, or the planner of its gait.
    settings
        Settings of the gait; by default those of the planner, or `GaitSettings.from_robot(robot)`.

    Returns
    -------
    float
        [m/s]

    Examples
    --------
    >>> import kinodyn as kd
    >>> 0.2 < kd.walking.default_speed(kd.load("humanoid")) < 0.5
    True
    """
    if isinstance(robot, Planner):
        planner = robot
    else:
        body = robot if isinstance(robot, Biped) else Biped.from_robot(robot)
        planner = Planner(body, settings=settings)
    body = planner.body
    typical = sqrt(FROUDE * float(np.linalg.norm(body.robot.gravity)) * body.leg)
    fastest = float(planner.limits.max_velocity(planner.settings.step_time)[0])
    speed = min(typical, LIMIT_FRACTION * fastest)
    for factor in SPEED_FACTORS:
        if follows(planner, (factor * speed, 0.0, 0.0)):
            break
    return factor * speed
