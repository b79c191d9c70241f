"""PD with gravity compensation: springs and dampers at the joints, and the weight carried."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.arrays import Array
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.plant import apply
from kinodyn.control.protocol import Loop, Signals
from kinodyn.control.references import JointReference, JointTarget
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


class PDGravity(Loop):
    """Pull each joint to its reference: tau = g(q) + K e + D (v_ref - v), e the way to the reference.

    It comes to rest at any constant reference (M. Takegaki and S. Arimoto, 1981); a moving one it follows with a lag.
    Joints of a robot with a free base are held up as if the base were held.

    Signals: "error" (..., n), and at a constant reference of a robot with a fixed base "lyapunov" [J], kinetic energy
    plus that of the springs, and "lyapunov_rate" [W].

    Parameters
    ----------
    robot
    target
        Configuration (..., nq) or trajectory.
    gains
        [N m/rad, N/m] and [N m s/rad, N s/m]; those by frequency are multiplied by the inertia that each joint feels,
        the others locked, at the start of the reference.
    torque_limits
        (n,) for the joints with motors; those of the robot by default.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("ur5")
    >>> hold = kd.control.PDGravity(robot, [0.0, -1.0, 1.0, 0.0, 0.5, 0.0], kd.control.Gains.from_frequency(8.0))
    >>> recording = kd.sim.simulate(robot, hold, 2.0, q0=[0.2, -1.2, 1.0, 0.0, 0.5, 0.0])
    >>> bool(abs(recording.signals["error"][-1]).max() < 1e-3)
    True
    """

    def __init__(
        self, robot: Robot, target: JointTarget, gains: Gains, *, torque_limits: ArrayLike | None = None
    ) -> None:
        super().__init__(robot, torque_limits)
        self.reference = JointReference(robot, target)
        inertia = joint_inertia(robot, self.reference.at(0.0).place)[..., self.base :]
        self.stiffness, self.damping = require_gains(gains, "gains").against(inertia, "the joints")

    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute torques (..., n) and signals."""
        q_ref, v_ref, _ = self.reference.at(t)
        error = self.robot.difference(state.q, q_ref)[..., self.base :]
        rate = (v_ref - state.v)[..., self.base :]
        pull = self.stiffness * error
        tau = dynamics.gravity(self.robot, state.q)[..., self.base :] + pull + self.damping * rate
        signals: Signals = {"error": error}
        if self.reference.is_constant and not self.base:
            kinetic = 0.5 * (state.v * apply(state.mass_matrix, state.v)).sum(axis=-1)
            signals["lyapunov"] = kinetic + 0.5 * (pull * error).sum(axis=-1)
            signals["lyapunov_rate"] = -((self.damping + self.robot.damping) * state.v**2).sum(axis=-1)
        return tau, signals


def joint_inertia(robot: Robot, q: ArrayLike) -> Array:
    """Compute the inertia (..., nv) that each joint feels when the others are locked: the diagonal of M."""
    diagonal: Array = np.diagonal(dynamics.mass_matrix(robot, q), axis1=-2, axis2=-1).copy()
    return diagonal
