"""What the controllers of a frame share: the frame, the posture, and the forces that keep them apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.control.frame import ControlledFrame
from kinodyn.control.frame_law import FrameLaw
from kinodyn.control.gains import Gains
from kinodyn.control.plant import Flags
from kinodyn.control.posture import Posture
from kinodyn.control.protocol import Loop
from kinodyn.control.quantities import least_mobility
from kinodyn.control.references import FrameTarget, Motion
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

NOTHING = np.zeros(6)
_ORIGIN = np.eye(4)


class FrameLoop(Loop):
    """A loop about a frame."""

    core: FrameLaw

    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        target: FrameTarget,
        part: str,
        posture: ArrayLike | None,
        posture_gains: Gains | None,
        max_mass: float,
        torque_limits: ArrayLike | None,
    ) -> None:
        super().__init__(robot, torque_limits)
        self.frame = ControlledFrame(robot, frame, target, part)
        self.posture = Posture(robot, posture, posture_gains)
        self.least_mobility = least_mobility(robot, max_mass)

    def accelerate(self, state: State, y: Array, wrench: Array) -> tuple[Array, Flags]:
        """Compute the torques (..., n) that accelerate the frame by y (..., k) and exert a wrench (..., k) beside it.

        They are J^T (Lambda y + mu + p + wrench) + N^T (M a0 + h), where a0 strives for the posture. Also tells whether
        Lambda was damped. `core` must have no gains of its own.
        """
        found = self.core(state, Motion(_ORIGIN, NOTHING, self.frame.spread(y)), self.frame.spread(wrench))
        wanted, damped = found.wanted, found.numbers[..., 0] != 0.0
        return (wanted[..., self.base :] if self.base else wanted), damped


def dot(a: Array, b: Array) -> Array | float:
    """Multiply vectors (..., n) and add up."""
    return float(a.dot(b)) if a.ndim == b.ndim == 1 else np.asarray((a * b).sum(axis=-1))
