"""Limits on joint positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import nonnegative, numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.limits.bounds import JointBounds
from kinodyn.limits.limit import AT_LIMIT, Limit, LimitedMotion, Reaction
from kinodyn.model.robot import Robot


@displayed
class PositionLimit(Limit):
    """Keep joints within the robot's position limits.

    A joint that starts outside returns as fast as the other limits allow.

    Parameters
    ----------
    margin
        Minimum distance of joints from the robot's limits [rad or m].
    """

    name = "position"

    @check_types
    def __init__(self, margin: float = 0.0) -> None:
        self.margin = nonnegative("margin", margin)

    @check_types
    def bounds(self, robot: Robot) -> tuple[Array, Array]:
        """Return the lowest and the highest configuration (nq,); infinite where there is no limit.

        Parameters
        ----------
        robot

        Returns
        -------
        tuple[Array, Array]
            The limits.
        """
        lower, upper = robot.limits.lower + self.margin, robot.limits.upper - self.margin
        narrow = lower > upper
        if narrow.any():
            names = [joint.name for joint in robot.joints if joint.mimic is None and narrow[joint.q].any()]
            raise InputError(
                f"a margin of {self.margin:g} leaves no position within the limits of {', '.join(names)}; reduce it"
            )
        return lower, upper

    def narrow(self, robot: Robot, bounds: JointBounds) -> None:
        lower, upper = self.bounds(robot)
        np.maximum(bounds.lower, lower, out=bounds.lower)
        np.minimum(bounds.upper, upper, out=bounds.upper)

    def satisfied(self, robot: Robot, q: Array, tolerance: float) -> NDArray[np.bool_]:
        q, within = numbers("q", q, robot.nq), nonnegative("tolerance", tolerance)
        lower, upper = self.bounds(robot)
        return np.asarray(((q >= lower - within) & (q <= upper + within)).all(axis=-1))

    def reactions(self, motion: LimitedMotion) -> list[Reaction]:
        lower, upper = self.bounds(motion.robot)
        result = []
        for joint, k, iq in list(motion.columns()):
            if iq is None:
                continue
            after = motion.q[iq] + motion.x[k]
            side = 1 if after <= lower[iq] + AT_LIMIT else -1 if after >= upper[iq] - AT_LIMIT else 0
            if side:
                result.append(motion.stop(joint, k, side, "position"))
        return result
