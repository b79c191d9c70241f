"""The torques that move a frame, computed in one pass of the core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.control.controlled_frame import ControlledFrame
from kinodyn.control.posture import Posture
from kinodyn.control.references import Setpoint
from kinodyn.model.state import State

INERTIA_WEIGHTED, FREE_FLYING = 64, 128  # mode bits of the core, above one bit for each controlled row
NO_LIMIT = np.finfo(float).max  # stands for infinity: the core takes finite numbers only


class FrameControl(NamedTuple):
    """Result of the core.

    Attributes
    ----------
    desired, tau : (..., nv)
        Generalised forces before and within the torque limits.
    error, error_rate : (..., k)
        Tracking errors of the controlled rows.
    numbers : (..., 3)
        1 if damped, else 0; the Lyapunov function of unit masses on springs; its rate.
    """

    desired: Array
    tau: Array
    error: Array
    error_rate: Array
    numbers: Array


class FrameTorques:
    """Torques for x'' = y in the k rows of a frame, y = a_ref + D e' + K e, with a posture in the null space.

    With `inertia_weighted` they are J^T (Lambda y + mu + p + F) + N^T (M a0 + h); without, M a + h + J^T F, where
    a = J^+ (y - dJ/dt v) + (I - J^+ J) a0. A floating base is taken to be in free flight. A = J M^-1 J^T, or J J^T, is
    inverted with damping: with its rows and columns divided by the square roots of the frame's weights, an eigenvalue
    x below `min_eigenvalue` gives x / min_eigenvalue^2 in place of 1 / x. So the weighted inverse never exceeds
    1 / min_eigenvalue, is exact where all eigenvalues are above it, and goes to zero along a direction that is lost.
    """

    def __init__(
        self,
        frame: ControlledFrame,
        posture: Posture,
        torque_limits: Array,
        min_eigenvalue: float,
        *,
        stiffness: Array | float = 0.0,
        damping: Array | float = 0.0,
        inertia_weighted: bool = True,
    ) -> None:
        robot, k, n = frame.robot, frame.k, torque_limits.shape
        self.robot, self.index = robot, frame.index
        controlled = np.zeros(6, dtype=int)
        controlled[frame.rows] = 1
        self.mode = int(controlled @ 2 ** np.arange(6))
        self.mode += (INERTIA_WEIGHTED if inertia_weighted else 0) + (FREE_FLYING if robot.base == "floating" else 0)
        self.gains = np.concatenate(
            [np.broadcast_to(stiffness, k), np.broadcast_to(damping, k), frame.weights**-0.5, [min_eigenvalue]]
        )
        self.posture, self._neutral = posture, robot.neutral()
        pull = np.zeros(n) if posture.target is None else np.broadcast_to(posture.stiffness, n)
        brake = np.broadcast_to(posture.damping, n)
        self.joints = np.concatenate([pull, brake, np.minimum(torque_limits, NO_LIMIT)])

    def __call__(self, state: State, setpoint: Setpoint, wrench: Array) -> FrameControl:
        """Compute the torques that follow a setpoint, pose (..., 4, 4) and rates (..., 6), and add a wrench."""
        return FrameControl(
            *_core.frame_control(
                self.robot,
                state.q,
                state.v,
                state.mass_matrix,
                state.bias,
                setpoint.position,
                setpoint.velocity,
                setpoint.acceleration,
                wrench,
                self.gains,
                self._neutral if self.posture.target is None else self.posture.target,  # may change between calls
                self.joints,
                self.index,
                self.mode,
            )
        )
