"""Common parts of the controllers of a frame: frame, posture of the null space, damping at singularities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.control.controlled_frame import ControlledFrame
from kinodyn.control.controller import TorqueController
from kinodyn.control.equations import Flags, flags
from kinodyn.control.frame_torques import FrameTorques
from kinodyn.control.gains import Gains
from kinodyn.control.operational_space import min_mobility
from kinodyn.control.posture import Posture
from kinodyn.control.references import FrameTarget, Setpoint
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

NO_WRENCH = np.zeros(6)
_ORIGIN = np.eye(4)


class FrameController(TorqueController):
    """Base class of the controllers of one frame."""

    torques: FrameTorques

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
        self.min_mobility = min_mobility(robot, max_mass)

    def accelerate(self, state: State, y: Array, wrench: Array) -> tuple[Array, Flags]:
        """Compute the torques (..., n) that accelerate the frame by y (..., k) and add a wrench (..., k).

        They are J^T (Lambda y + mu + p + wrench) + N^T (M a0 + h), where a0 pulls to the posture. The second result is
        whether Lambda was damped. `self.torques` must not have gains.
        """
        setpoint = Setpoint(_ORIGIN, NO_WRENCH, self.frame.expand(y))
        found = self.torques(state, setpoint, self.frame.expand(wrench))
        desired, damped = found.desired, flags(found.damped)
        return (desired[..., self.n_base :] if self.n_base else desired), damped


def dot(a: Array, b: Array) -> Array | float:
    """Compute inner products of vectors (..., n)."""
    return float(a.dot(b)) if a.ndim == b.ndim == 1 else np.asarray((a * b).sum(axis=-1))
