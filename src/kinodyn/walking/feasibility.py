"""Checks before a walk: whether the robot is strong enough, and whether its legs reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.dynamics import contact
from kinodyn.errors import KinodynError
from kinodyn.walking.biped import Biped
from kinodyn.walking.footsteps import standing_feet
from kinodyn.walking.pattern import walking_pattern
from kinodyn.walking.planner import Planner

TRIAL_STEPS = 4
TRIAL_INTERVAL = 0.1  # [s] between the configurations that are solved for
POSITION_TOLERANCE = 5e-3  # [m]


def require_strong(body: Biped, friction: float = 0.5) -> None:
    """Raise KinodynError, with the reason, unless the robot can stand on each foot alone within its torque limits."""
    robot, still = body.robot, np.zeros(body.robot.nv)
    feet = standing_feet(body)
    soles = {side: foot.pose for side, foot in feet.items()}
    for side, foot in body.feet.items():
        over = soles[side][:2, 3] + foot.middle
        found = body.solve_posture(soles, np.array([*over, body.com_height]), np.zeros(()))
        if not found.success:
            why = "; ".join(str(conflict) for conflict in found.conflicts)
            raise KinodynError(f"{robot.name!r} cannot walk: its CoM does not reach its {side} foot: {why}")
        effort = contact.inverse(
            robot, found.q, still, still, [foot.contact(friction)], method="qp", torque_limits=True
        )
        if str(effort.status) != "solved":
            why = str(effort.limiting) or str(effort.status)
            raise KinodynError(f"{robot.name!r} cannot walk: too weak to stand on its {side} foot alone: {why}")


def require_feasible(planner: Planner, velocity: ArrayLike) -> None:
    """Raise KinodynError, with the reason, unless inverse kinematics can follow a few steps at a velocity (3,)."""
    body = planner.body
    pattern = walking_pattern(
        body, velocity=velocity, steps=TRIAL_STEPS, limits=planner.limits, settings=planner.settings
    )
    found = pattern.check(every=TRIAL_INTERVAL, tolerance=POSITION_TOLERANCE)
    if not found.success:
        raise KinodynError(f"{body.robot.name!r} cannot walk at {np.asarray(velocity).tolist()}: {found.status}")
