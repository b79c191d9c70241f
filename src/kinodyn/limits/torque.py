"""Limits on joint torques."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.limits.bounds import UNLIMITED, JointBounds, by_joint
from kinodyn.limits.limit import MagnitudeLimit
from kinodyn.model.robot import Robot


@displayed
class TorqueLimit(MagnitudeLimit):
    """Keep joint torques within limits in `InverseDynamicsQP`; not applicable to inverse kinematics.

    Parameters
    ----------
    values
        Maximum torques [N m or N]: one number, one for each velocity (nv,), or a dict of joint -> limit that overrides
        the robot's. None: those of the robot.
    """

    name = "torque"

    def __init__(self, values: ArrayLike | Mapping[str, float] | None = None) -> None:
        self.values = values

    def check_velocity_level(self) -> None:
        raise InputError("a TorqueLimit does not apply to inverse kinematics; use it in control.InverseDynamicsQP")

    def bounds(self, robot: Robot) -> Array:
        own = np.minimum(robot.limits.effort, UNLIMITED)
        if self.values is None:
            return own
        return np.minimum(by_joint(robot, "torque limits", self.values, own), UNLIMITED)

    def narrow(self, robot: Robot, bounds: JointBounds) -> None:
        np.minimum(bounds.effort, self.bounds(robot), out=bounds.effort)
