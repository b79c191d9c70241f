"""Computed torque: the model cancels the dynamics, and what is left are masses on springs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.plant import Equations, apply, flying
from kinodyn.control.protocol import Loop, Signals
from kinodyn.control.references import JointReference, JointTarget
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


class ComputedTorque(Loop):
    """Make each joint's error obey e'' + D e' + K e = 0: tau = M (a_ref + D (v_ref - v) + K e) + h.

    J. Y. S. Luh, M. W. Walker and R. P. C. Paul, 1980; Siciliano et al., "Robotics", 2009, eq. 8.57. It is as good as
    the model. A free base is taken to fly, nothing touching it: then the joints obey the same equation. With feet on
    the ground take InverseDynamicsQP.

    Signals: "error", "error_rate" (..., n), "lyapunov" and "lyapunov_rate", those of unit masses on springs.

    Parameters
    ----------
    robot
    target
        Configuration (..., nq) or trajectory.
    gains
        [1/s^2] and [1/s].
    torque_limits
        (n,) for the joints with motors; those of the robot by default.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("puma560")
    >>> controller = kd.control.ComputedTorque(robot, robot.neutral(), kd.control.Gains.from_frequency(10.0))
    >>> controller(0.0, kd.State(robot, robot.neutral())).shape
    (6,)
    """

    def __init__(
        self, robot: Robot, target: JointTarget, gains: Gains, *, torque_limits: ArrayLike | None = None
    ) -> None:
        super().__init__(robot, torque_limits)
        self.reference = JointReference(robot, target)
        self.stiffness, self.damping = require_gains(gains, "gains").sized(self.n, "the joints")

    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute torques (..., n) and signals."""
        q_ref, v_ref, a_ref = self.reference.at(t)
        error = self.robot.difference(state.q, q_ref)[..., self.base :]
        rate = (v_ref - state.v)[..., self.base :]
        pull, brake = self.stiffness * error, self.damping * rate
        M, h = state.mass_matrix, state.bias
        if self.base:
            M, h, _, _ = flying(Equations(M, h, np.zeros((0, self.robot.nv)), np.zeros(0)))
        tau = apply(M, a_ref[..., self.base :] + brake + pull) + h
        signals = {
            "error": error,
            "error_rate": rate,
            "lyapunov": 0.5 * (rate**2 + pull * error).sum(axis=-1),
            "lyapunov_rate": -(brake * rate).sum(axis=-1),
        }
        return tau, signals
