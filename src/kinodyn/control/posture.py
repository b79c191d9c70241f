"""What the joints do with the freedom that a frame leaves them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.control.gains import Gains, require_gains
from kinodyn.errors import InputError
from kinodyn.model.chain import configuration
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

DEFAULT = Gains.from_frequency(5.0)


class Posture:
    """A configuration that the joints strive for, with gains (n,), or only a brake on their motion."""

    def __init__(self, robot: Robot, target: ArrayLike | None, gains: Gains | None) -> None:
        self.robot, self.base = robot, 6 if robot.base == "floating" else 0
        chosen = DEFAULT if gains is None else require_gains(gains, "posture_gains")
        self.stiffness, self.damping = chosen.sized(robot.nv - self.base, "the posture")
        self.target = None if target is None else np.array(configuration(robot, target))
        if self.target is not None and self.target.shape != (robot.nq,):
            raise InputError(f"posture has shape {self.target.shape}; give one configuration ({robot.nq},)")

    def error(self, state: State) -> Array:
        """Compute the way (..., n) to the posture."""
        assert self.target is not None
        way = self.robot.difference(state.q, self.target)
        return way[..., self.base :] if self.base else way
