"""Computed torque control: the model cancels the dynamics of the robot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.control.controller import Signals, TorqueController
from kinodyn.control.equations import Equations, eliminate_base
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.references import JointReference, JointTarget
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


@displayed
class ComputedTorque(TorqueController):
    """Make each joint's error obey e'' + D e' + K e = 0: tau = M (a_ref + D (v_ref - v) + K e) + h.

    Its accuracy is that of the model. A floating base is taken to be in free flight: the joints then obey the same
    equation. With feet on the ground use `InverseDynamicsQP`.

    Signals: "error", "error_rate" (..., n), "lyapunov" and "lyapunov_rate" of unit masses on springs.

    Parameters
    ----------
    robot : Robot
    target : (..., nq) array or trajectory
        Desired configuration, or `traj(t, order)` that returns q, v and a.
    gains : Gains
        [1/s^2] and [1/s].
    torque_limits : () or (n,), optional
        Of the actuated joints [N m, N]; by default those of the robot.

    Notes
    -----
    J. Y. S. Luh, M. W. Walker and R. P. C. Paul, 1980; B. Siciliano et al., "Robotics", 2009, eq. 8.57.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("puma560")
    >>> controller = kd.control.ComputedTorque(robot, robot.neutral(), kd.control.Gains.from_frequency(10.0))
    >>> controller(0.0, kd.State(robot, robot.neutral())).shape
    (6,)
    """

    @check_types
    def __init__(
        self, robot: Robot, target: JointTarget, gains: Gains, *, torque_limits: ArrayLike | None = None
    ) -> None:
        super().__init__(robot, torque_limits)
        self.reference = JointReference(robot, target)
        self.stiffness, self.damping = require_gains(gains, "gains").broadcast(self.n, "the joints")

    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        q_ref, v_ref, a_ref = self.reference.at(t)
        error = self.robot.difference(state.q, q_ref)[..., self.n_base :]
        rate = (v_ref - state.v)[..., self.n_base :]
        pull, brake = self.stiffness * error, self.damping * rate
        M, h = state.mass_matrix, state.bias
        if self.n_base:
            M, h, _, _ = eliminate_base(Equations(M, h, np.zeros((0, self.robot.nv)), np.zeros(0)))
        tau = matvec(M, a_ref[..., self.n_base :] + brake + pull) + h
        signals = {
            "error": error,
            "error_rate": rate,
            "lyapunov": 0.5 * (rate**2 + pull * error).sum(axis=-1),
            "lyapunov_rate": -(brake * rate).sum(axis=-1),
        }
        return tau, signals
