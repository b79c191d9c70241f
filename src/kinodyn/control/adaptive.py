"""Adaptive control: the load is learnt while it is moved."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.control.checks import nonnegative
from kinodyn.control.gains import Gains
from kinodyn.control.payload import Payload, SlidingLoop
from kinodyn.control.plant import apply, transposed
from kinodyn.control.protocol import Clock, Signals
from kinodyn.control.references import JointTarget
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


class AdaptiveControl(SlidingLoop):
    """Follow a motion with an unknown load, whose ten parameters are adapted so that the errors go to zero.

    tau = M a_r + C v_r + g + Y pi + D s, pi' = G Y^T s - leak pi, pi kept within the bounds of the payload
    (J.-J. E. Slotine and W. Li, "On the adaptive control of robot manipulators", 1987; projection: Slotine and Li,
    "Applied Nonlinear Control", 1991, section 8.2). The errors go to zero whether or not pi goes to the truth; that it
    does only if the motion shows every parameter.

    Signals: "error", "s" (..., nv), "parameters" (..., 10): mass, mass * com, inertia of the load, about the link's
    origin; "lyapunov_rate" [W], and with `truth` "lyapunov" [J]: s^T M s / 2 and the distance of pi from the truth.
    With a leak, or on a motor's limit, it may rise.

    Parameters
    ----------
    robot
        Without the load.
    target
        Configuration (..., nq) or trajectory.
    gains
        [N m/rad, N/m] and [N m s/rad, N s/m]; those by frequency are multiplied by the inertia that each joint feels,
        the others locked, at the start of the reference.
    payload
        Where the load is, and what it is at most.
    rate
        How fast it is learnt [1/(J s)]: G is `rate` times the squared widths of the bounds.
    leak
        Share of the parameters that is forgotten each second, against drift by noise [1/s].
    truth
        The robot with its load, where that is known as in a simulation: for "lyapunov" only.
    torque_limits
        (n,) those of the robot by default.
    """

    def __init__(
        self,
        robot: Robot,
        target: JointTarget,
        gains: Gains,
        payload: Payload,
        *,
        rate: float = 3.0,
        leak: float = 0.0,
        truth: Robot | None = None,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(robot, target, gains, payload, truth, torque_limits)
        self.leak = nonnegative("leak", leak)
        self._lower, self._upper = payload.bounds()
        self.adaptation = nonnegative("rate", rate) * (self._upper - self._lower) ** 2
        self._clock = Clock()
        self.parameters: Array = np.zeros(10)
        if truth is not None:
            self._load = (truth.inertial_parameters - robot.inertial_parameters)[self._columns]

    def reset(self) -> None:
        """Forget the load and the time."""
        super().reset()
        self._clock, self.parameters = Clock(), np.zeros(10)

    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute torques (..., nv) and signals, and adapt."""
        error, s, v_r, a_r = self.errors(t, state)
        tau, Y = self.model(state, v_r, a_r)
        tau = tau + apply(Y, self.parameters) + self.damping * s
        loss = ((self.damping + self.robot.damping) * s**2).sum(axis=-1)
        signals: Signals = {"error": error, "s": s, "parameters": self.parameters + np.zeros((*s.shape[:-1], 10))}
        signals["lyapunov_rate"] = -loss
        if self.truth is not None and self.adaptation.all():
            miss = self.parameters - self._load
            signals["lyapunov"] = self.kinetic(state, s) + 0.5 * (miss**2 / self.adaptation).sum(axis=-1)
        self._adapt(self._clock.step(t), Y, s)
        return tau, signals

    def _adapt(self, dt: float, Y: Array, s: Array) -> None:
        """Learn for dt seconds, and stay within what the load can be."""
        change = self.adaptation * apply(transposed(Y), s) - self.leak * self.parameters
        self.parameters = np.clip(self.parameters + dt * change, self._lower, self._upper)
