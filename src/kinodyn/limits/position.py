"""Joint positions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.limits.bounds import JointBounds
from kinodyn.limits.limit import AT_LIMIT, Limit, LimitedMotion, Reaction
from kinodyn.model.robot import Robot


class PositionLimit(Limit):
    """Keep joints within the robot's position limits.

    A joint that starts outside comes back as fast as the other limits allow.

    Parameters
    ----------
    margin
        How far inside of the robot's limits joints stay [rad or m].
    """

    name = "position"

    def __init__(self, margin: float = 0.0) -> None:
        if not isinstance(margin, int | float | np.number) or not 0 <= margin < np.inf:
            raise InputError(f"margin must be a number from 0 on, got {margin!r}")
        self.margin = float(margin)

    def bounds(self, robot: Robot) -> tuple[Array, Array]:
        """Return the lowest and the highest configuration (nq,); infinite where there is no limit.

        Parameters
        ----------
        robot
            The robot.

        Returns
        -------
        tuple[Array, Array]
            The limits.
        """
        lower, upper = robot.limits.lower + self.margin, robot.limits.upper - self.margin
        narrow = lower > upper
        if narrow.any():
            names = [joint.name for joint in robot.joints if joint.mimic is None and narrow[joint.q].any()]
            raise InputError(f"a margin of {self.margin:g} leaves no room between the limits of {', '.join(names)}")
        return lower, upper

    def narrow(self, robot: Robot, bounds: JointBounds) -> None:
        """Narrow the bounds of positions.

        Parameters
        ----------
        robot
            The robot.
        bounds
            Bounds of joints, narrowed in place.
        """
        lower, upper = self.bounds(robot)
        np.maximum(bounds.lower, lower, out=bounds.lower)
        np.minimum(bounds.upper, upper, out=bounds.upper)

    def satisfied(self, robot: Robot, q: Array, tolerance: float) -> NDArray[np.bool_]:
        """Tell whether all joints are within their limits.

        Parameters
        ----------
        robot
            The robot.
        q
            Configurations (..., nq).
        tolerance
            Largest violation [m, rad] that is accepted.

        Returns
        -------
        NDArray[np.bool_]
            Whether each configuration (...) satisfies the limit.
        """
        lower, upper = self.bounds(robot)
        return np.asarray(((q >= lower - 1e-9) & (q <= upper + 1e-9)).all(axis=-1))

    def reactions(self, motion: LimitedMotion) -> list[Reaction]:
        """Name the joints that the motion brings to their limits.

        Parameters
        ----------
        motion
            The motion.

        Returns
        -------
        list[Reaction]
            Reactions with the names that conflicts show.
        """
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
