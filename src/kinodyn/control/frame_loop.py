"""What the controllers of a frame share: the frame, the posture, and the forces that keep them apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.control.frame import ControlledFrame
from kinodyn.control.gains import Gains
from kinodyn.control.plant import Equations, Flags, apply, damped_inverse, transposed
from kinodyn.control.posture import Posture
from kinodyn.control.protocol import Loop
from kinodyn.control.quantities import least_mobility
from kinodyn.control.references import FrameTarget
from kinodyn.description.types import Array
from kinodyn.robot import Robot


class FrameLoop(Loop):
    """A loop about a frame."""

    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        target: FrameTarget,
        part: str,
        posture: ArrayLike | None,
        posture_gains: Gains | None,
        heaviest: float,
        torque_limits: ArrayLike | None,
    ) -> None:
        super().__init__(robot, torque_limits)
        self.frame = ControlledFrame(robot, frame, target, part)
        self.posture = Posture(robot, posture, posture_gains)
        self.least_mobility = least_mobility(robot, heaviest)

    def accelerate(self, plant: Equations, y: Array, a0: Array) -> tuple[Array, Flags]:
        """Compute the torques that accelerate the frame by y (..., k), and the joints by what that leaves of a0.

        They are J^T (Lambda y + mu + p) + N^T (M a0 + h), with what cancels left out. Also tells whether Lambda was
        damped.
        """
        M, h, J, drift = plant
        _, Lambda, damped = damped_inverse(M, J, self.least_mobility, self.frame.weights)
        force = apply(Lambda, y - drift - apply(J, a0))
        return apply(transposed(J), force) + apply(M, a0) + h, damped


def dot(a: Array, b: Array) -> Array | float:
    """Multiply vectors (..., n) and add up."""
    return float(a.dot(b)) if a.ndim == b.ndim == 1 else np.asarray((a * b).sum(axis=-1))
