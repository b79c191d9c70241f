"""Limits on joint velocities."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.display import displayed
from kinodyn.limits.bounds import UNLIMITED, JointBounds, by_joint
from kinodyn.limits.limit import LimitedMotion, MagnitudeLimit, Reaction
from kinodyn.model.robot import Robot


@displayed
class VelocityLimit(MagnitudeLimit):
    """Keep joint velocities within limits.

    Parameters
    ----------
    values
        Maximum velocities [rad/s or m/s]: one number, one for each velocity (nv,), or a dict of joint -> limit that
        overrides the robot's. None: those of the robot.
    scale
        Factor on all of them.
    """

    name = "velocity"
    order = 1

    @check_types
    def __init__(self, values: ArrayLike | Mapping[str, float] | None = None, *, scale: float = 1.0) -> None:
        self.values = values
        self.scale = positive("scale", scale)

    def bounds(self, robot: Robot) -> Array:
        own = np.minimum(robot.limits.velocity, UNLIMITED)
        return np.minimum(self.scale * by_joint(robot, "velocity limits", self.values, own), UNLIMITED)

    def narrow(self, robot: Robot, bounds: JointBounds) -> None:
        np.minimum(bounds.velocity, self.bounds(robot), out=bounds.velocity)

    def reactions(self, motion: LimitedMotion) -> list[Reaction]:
        if motion.dt is None:
            return []
        largest = self.bounds(motion.robot) * motion.dt * (1 - 1e-9)
        return [
            motion.stop(joint, k, 1 if motion.x[k] < 0 else -1, "velocity")
            for joint, k, _ in list(motion.columns())
            if abs(motion.x[k]) >= largest[k]
        ]
