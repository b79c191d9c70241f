"""PD control with gravity compensation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.control.controller import Signals, TorqueController
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.references import JointReference, JointTarget
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


@displayed
class PDGravity(TorqueController):
    """Pull each joint to its reference: tau = g(q) + K e + D (v_ref - v), e the error from q to the reference.

    It comes to rest at any constant reference and lags behind a moving one. A floating base is taken to be fixed.

    Signals: "error" (..., n), and for a constant reference of a robot with a fixed base "lyapunov" [J], kinetic energy
    plus that of the springs, and "lyapunov_rate" [W].

    Parameters
    ----------
    robot : Robot
    target : (..., nq) array or trajectory
        Desired configuration, or `traj(t, order)` that returns q, v and a.
    gains : Gains
        [N m/rad, N/m] and [N m s/rad, N s/m]; those made from a frequency are multiplied by the inertia of each joint
        with the others locked (`joint_inertia`), at the start of the reference.
    torque_limits : () or (n,), optional
        Of the actuated joints [N m, N]; by default those of the robot.

    Notes
    -----
    M. Takegaki and S. Arimoto, "A new feedback method for dynamic control of manipulators", 1981.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("ur5")
    >>> hold = kd.control.PDGravity(robot, [0.0, -1.0, 1.0, 0.0, 0.5, 0.0], kd.control.Gains.from_frequency(8.0))
    >>> recording = kd.sim.simulate(robot, hold, 2.0, q0=[0.2, -1.2, 1.0, 0.0, 0.5, 0.0])
    >>> bool(abs(recording.signals["error"][-1]).max() < 1e-3)
    True
    """

    @check_types
    def __init__(
        self, robot: Robot, target: JointTarget, gains: Gains, *, torque_limits: ArrayLike | None = None
    ) -> None:
        super().__init__(robot, torque_limits)
        self.reference = JointReference(robot, target)
        inertia = joint_inertia(robot, self.reference.at(0.0).position)[..., self.n_base :]
        self.stiffness, self.damping = require_gains(gains, "gains").for_inertia(inertia, "the joints")

    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        q_ref, v_ref, _ = self.reference.at(t)
        error = self.robot.difference(state.q, q_ref)[..., self.n_base :]
        rate = (v_ref - state.v)[..., self.n_base :]
        pull = self.stiffness * error
        tau = dynamics.gravity(self.robot, state.q)[..., self.n_base :] + pull + self.damping * rate
        signals: Signals = {"error": error}
        if self.reference.is_constant and not self.n_base:
            kinetic = 0.5 * (state.v * matvec(state.mass_matrix, state.v)).sum(axis=-1)
            signals["lyapunov"] = kinetic + 0.5 * (pull * error).sum(axis=-1)
            signals["lyapunov_rate"] = -((self.damping + self.robot.damping) * state.v**2).sum(axis=-1)
        return tau, signals


@check_types
def joint_inertia(robot: Robot, q: ArrayLike) -> Array:
    """Compute the inertia of each joint with the others locked: the diagonal of the mass matrix.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
        Configurations.

    Returns
    -------
    (..., nv) array
        [kg m^2, kg]
    """
    diagonal: Array = np.diagonal(dynamics.mass_matrix(robot, q), axis1=-2, axis2=-1).copy()
    return diagonal
