"""Adaptive control: estimate the parameters of a payload while moving it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import nonnegative
from kinodyn.control.controller import Clock, Signals
from kinodyn.control.equations import transposed
from kinodyn.control.gains import Gains
from kinodyn.control.payload import Payload, SlidingController
from kinodyn.control.references import JointTarget
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


@displayed
class AdaptiveControl(SlidingController):
    """Follow a motion with an unknown payload, adapting its ten inertial parameters so that the error goes to zero.

    tau = M a_r + C v_r + g + Y pi + D s, pi' = G Y^T s - leak pi, with pi kept within the bounds of the payload. The
    error goes to zero whether or not pi converges to the true parameters; pi does only if the motion excites all of
    them.

    Signals: "error", "s" (..., nv), "parameters" (..., 10): mass, mass * CoM, inertia of the payload about the link's
    origin; "lyapunov_rate" [W], and with `true_robot` "lyapunov" [J]: s^T M s / 2 plus the weighted parameter error.
    With a leak, or while a torque is saturated, it may rise.

    Parameters
    ----------
    robot : Robot
        Without the payload; fixed base, joints of one axis.
    target : (..., nq) array or trajectory
        Desired configuration, or `traj(t, order)` that returns q, v and a.
    gains : Gains
        [N m/rad, N/m] and [N m s/rad, N s/m]; those made from a frequency are multiplied by the inertia of each joint
        with the others locked (`joint_inertia`), at the start of the reference.
    payload : Payload
        Its link, maximum mass and radius.
    rate : float
        Adaptation rate [1/(J s)]: G is `rate` times the squared widths of the parameter bounds.
    leak : float
        Decay of the parameters, against drift caused by noise [1/s].
    true_robot : Robot, optional
        The robot with its payload, where known as in a simulation; used for the signal "lyapunov" only.
    torque_limits : () or (n,), optional
        Of the actuated joints [N m, N]; by default those of the robot.

    Notes
    -----
    J.-J. E. Slotine and W. Li, "On the adaptive control of robot manipulators", 1987; projection onto the bounds:
    Slotine and Li, "Applied Nonlinear Control", 1991, section 8.2.
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        target: JointTarget,
        gains: Gains,
        payload: Payload,
        *,
        rate: float = 3.0,
        leak: float = 0.0,
        true_robot: Robot | None = None,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(robot, target, gains, payload, true_robot, torque_limits)
        self.leak = nonnegative("leak", leak)
        self._lower, self._upper = payload.bounds()
        self.adaptation = nonnegative("rate", rate) * (self._upper - self._lower) ** 2
        self._clock = Clock()
        self.parameters: Array = np.zeros(10)
        if true_robot is not None:
            self._true_parameters = (true_robot.inertial_parameters - robot.inertial_parameters)[self._columns]

    def reset(self) -> None:
        """Set the parameters to zero and clear the time."""
        super().reset()
        self._clock, self.parameters = Clock(), np.zeros(10)

    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute joint torques (..., nv) before the torque limits and signals, and adapt."""
        error, s, v_r, a_r = self.errors(t, state)
        tau, Y = self.model(state, v_r, a_r)
        tau = tau + matvec(Y, self.parameters) + self.damping * s
        dissipated = ((self.damping + self.robot.damping) * s**2).sum(axis=-1)
        signals: Signals = {"error": error, "s": s, "parameters": self.parameters + np.zeros((*s.shape[:-1], 10))}
        signals["lyapunov_rate"] = -dissipated
        if self.true_robot is not None and self.adaptation.all():
            parameter_error = self.parameters - self._true_parameters
            signals["lyapunov"] = self.kinetic(state, s) + 0.5 * (parameter_error**2 / self.adaptation).sum(axis=-1)
        self._adapt(self._clock.step(t), Y, s)
        return tau, signals

    def _adapt(self, dt: float, Y: Array, s: Array) -> None:
        """Integrate the adaptation law over dt seconds, within the bounds of the payload."""
        rate = self.adaptation * matvec(transposed(Y), s) - self.leak * self.parameters
        self.parameters = np.clip(self.parameters + dt * rate, self._lower, self._upper)
