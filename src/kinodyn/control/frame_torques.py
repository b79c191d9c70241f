"""The torques that move a frame, computed in one pass of the core."""

from __future__ import annotations

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.control.controlled_frame import ControlledFrame
from kinodyn.control.posture import Posture
from kinodyn.control.references import Setpoint
from kinodyn.layouts import layout
from kinodyn.model.state import State

NO_LIMIT = np.finfo(float).max  # stands for infinity: the core takes finite numbers only


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
        robot, k = frame.robot, frame.k
        self.robot, self.index = robot, frame.index
        controlled = np.zeros(6, dtype=int)
        controlled[frame.rows] = 1
        self.settings = np.zeros(1, dtype=layout("frame_control_settings"))
        self.settings["min_eigenvalue"] = min_eigenvalue
        self.settings["directions"] = controlled @ 2 ** np.arange(6)
        self.settings["by_inertia"], self.settings["free_base"] = inertia_weighted, robot.base == "floating"
        gains = np.zeros(1, dtype=layout("frame_gains", rows=k))
        gains["stiffness"], gains["damping"], gains["scale"] = stiffness, damping, frame.weights**-0.5
        self.gains = gains.view(float)
        self.posture, self._neutral = posture, robot.neutral()
        joints = np.zeros(1, dtype=layout("joint_gains", motors=len(torque_limits)))
        joints["stiffness"] = 0.0 if posture.target is None else posture.stiffness
        joints["damping"], joints["torque_limit"] = posture.damping, np.minimum(torque_limits, NO_LIMIT)
        self.joint_gains = joints.view(float)

    def __call__(self, state: State, setpoint: Setpoint, wrench: Array) -> _core.FrameControl:
        """Compute the torques that follow a setpoint, pose (..., 4, 4) and rates (..., 6), and add a wrench."""
        return _core.frame_control(
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
            self.joint_gains,
            self.index,
            self.settings,
        )
