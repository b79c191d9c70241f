"""The torques that move a frame, computed in one pass of the core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.control.frame import ControlledFrame
from kinodyn.control.posture import Posture
from kinodyn.control.references import Motion
from kinodyn.model.state import State

BY_INERTIA, FLYING = 64, 128  # beside a bit for each row, as the core has them
ENDLESS = np.finfo(float).max  # the core takes finite numbers only


class Answer(NamedTuple):
    """What the core computes.

    Attributes
    ----------
    wanted, tau : (..., nv)
        Generalised forces before and within the torque limits.
    error, rate_error : (..., k)
        The way to the target and the rate that is missing.
    numbers : (..., 3)
        1 if damped, else 0; the Lyapunov function of unit masses on springs; its rate.
    """

    wanted: Array
    tau: Array
    error: Array
    rate_error: Array
    numbers: Array


class FrameLaw:
    """Torques for x'' = y in the k rows of a frame, y = a_ref + D e' + K e, and joints that strive for a posture.

    With `by_inertia` they are J^T (Lambda y + mu + p + F) + N^T (M a0 + h); without, M a + h + J^T F, where
    a = J^+ (y - dJ/dt v) + (I - J^+ J) a0. A free base is taken to fly. With A = J M^-1 J^T or J J^T, its rows and
    columns divided by the roots of the frame's weights, eigenvalues x below `least` give x / least^2 in place of
    1 / x. So the inverse, weighted, never exceeds 1 / least, is exact where all eigenvalues are above it, and lets go
    of a direction that is lost altogether.
    """

    def __init__(
        self,
        frame: ControlledFrame,
        posture: Posture,
        limits: Array,
        least: float,
        *,
        stiffness: Array | float = 0.0,
        damping: Array | float = 0.0,
        by_inertia: bool = True,
    ) -> None:
        robot, k = frame.robot, frame.k
        self.robot, self.index = robot, frame.index
        marks = np.zeros(6, dtype=int)
        marks[frame.rows] = 1
        self.mode = int(marks @ 2 ** np.arange(6))
        self.mode += (BY_INERTIA if by_inertia else 0) + (FLYING if robot.base == "floating" else 0)
        self.gains = np.concatenate(
            [np.broadcast_to(stiffness, k), np.broadcast_to(damping, k), frame.weights**-0.5, [least]]
        )
        self.held, self._neutral = posture, robot.neutral()
        pull = np.zeros_like(limits) if posture.target is None else np.broadcast_to(posture.stiffness, limits.shape)
        brake = np.broadcast_to(posture.damping, limits.shape)
        self.joints = np.concatenate([pull, brake, np.minimum(limits, ENDLESS)])

    def __call__(self, state: State, target: Motion, wrench: Array) -> Answer:
        """Compute the torques that follow a target, T (..., 4, 4) and rates (..., 6), and exert a wrench (..., 6)."""
        return Answer(
            *_core.frame_control(
                self.robot,
                state.q,
                state.v,
                state.mass_matrix,
                state.bias,
                target.place,
                target.rate,
                target.acceleration,
                wrench,
                self.gains,
                self._neutral if self.held.target is None else self.held.target,  # it may have moved since
                self.joints,
                self.index,
                self.mode,
            )
        )
