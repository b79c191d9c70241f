"""The posture of the joints in the null space of a frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.control.gains import Gains, require_gains
from kinodyn.errors import InputError
from kinodyn.model.chain import configuration
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

DEFAULT_GAINS = Gains.from_frequency(5.0)


class Posture:
    """A configuration that the joints are pulled to with gains (n,); without one their motion is only damped."""

    def __init__(self, robot: Robot, target: ArrayLike | None, gains: Gains | None) -> None:
        self.robot, self.n_base = robot, 6 if robot.base == "floating" else 0
        chosen = DEFAULT_GAINS if gains is None else require_gains(gains, "posture_gains")
        self.stiffness, self.damping = chosen.broadcast(robot.nv - self.n_base, "the posture")
        self.target = None if target is None else np.array(configuration(robot, target))
        if self.target is not None and self.target.shape != (robot.nq,):
            raise InputError(f"posture must be one configuration ({robot.nq},), got shape {self.target.shape}")

    def error(self, state: State) -> Array:
        """Compute the difference (..., n) from the state to the posture."""
        assert self.target is not None
        error = self.robot.difference(state.q, self.target)
        return error[..., self.n_base :] if self.n_base else error
