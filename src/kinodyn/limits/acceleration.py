"""Limits on joint accelerations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.limits.bounds import UNLIMITED, JointBounds, by_joint
from kinodyn.limits.limit import LimitedMotion, MagnitudeLimit, Reaction
from kinodyn.model.robot import Robot


@displayed
class AccelerationLimit(MagnitudeLimit):
    """Keep joint accelerations, or changes of velocity between steps, within limits.

    Joints then brake in time before their position limits.

    Parameters
    ----------
    values
        Maximum accelerations [rad/s^2 or m/s^2]: one number for all joints, one for each velocity (nv,), or a dict of
        joint -> limit. A floating base has no limit unless (nv,) or the dict gives it one.
    """

    name = "acceleration"
    order = 2

    def __init__(self, values: ArrayLike | Mapping[str, float]) -> None:
        self.values = values

    def bounds(self, robot: Robot) -> Array:
        result = by_joint(robot, "acceleration limits", self.values, np.full(robot.nv, UNLIMITED))
        if robot.base == "floating" and not isinstance(self.values, Mapping) and np.ndim(self.values) == 0:
            result[:6] = UNLIMITED
        return result

    def narrow(self, robot: Robot, bounds: JointBounds) -> None:
        limit = self.bounds(robot)
        np.minimum(bounds.acceleration, limit, out=bounds.acceleration)
        bounds.braking[...] = np.where(limit < UNLIMITED, bounds.acceleration, bounds.braking)

    def reactions(self, motion: LimitedMotion) -> list[Reaction]:
        if motion.dt is None or motion.at_bound is None:
            return []
        return [
            motion.stop(joint, k, int(motion.at_bound[k]), "acceleration")
            for joint, k, _ in list(motion.columns())
            if motion.at_bound[k]
        ]
