"""Robust control: whatever the load is within its bounds, the torque is enough to overrule it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.control.checks import nonnegative
from kinodyn.control.gains import Gains
from kinodyn.control.payload import Payload, SlidingLoop
from kinodyn.control.plant import apply
from kinodyn.control.protocol import Signals
from kinodyn.control.references import JointTarget
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


class RobustControl(SlidingLoop):
    """Follow a motion with an unknown load, by a bounded sliding term.

    tau = M a_r + C v_r + g + Y pi0 + D s + rho sat(s / layer), with pi0 the middle of the payload's bounds, and
    rho = abs(Y) width / 2 + margin at least what the load can differ by from it (J.-J. E. Slotine and W. Li, "Applied
    Nonlinear Control", 1991, sections 7.2 and 9.1; M. W. Spong, "On the robust control of robot manipulators", 1992).
    Outside the boundary layer s falls; inside, the errors stay in proportion to the layer's width.

    Signals: "error", "s", "bound" rho (..., nv), "sliding" (...): whether any s is beyond the layer, and with `truth`
    "lyapunov" [J], s^T M s / 2, and an upper bound of its rate, "lyapunov_rate" [W]: below zero where every s is
    beyond the layer; within the layer it may rise.

    Parameters
    ----------
    robot
        Without the load.
    target, gains, payload, truth, torque_limits
        As for `AdaptiveControl`.
    layer
        Width of the boundary layer, in s [rad/s, m/s], one number or (nv,). Torques chatter where it is thinner than
        rho dt / inertia, dt the period of the controller.
    margin
        Torque beyond the bound, for whatever else is not in the model [N m, N].
    """

    def __init__(
        self,
        robot: Robot,
        target: JointTarget,
        gains: Gains,
        payload: Payload,
        *,
        layer: ArrayLike = 0.1,
        margin: float = 0.0,
        truth: Robot | None = None,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(robot, target, gains, payload, truth, torque_limits)
        self.layer, self.margin = numbers("layer", layer), nonnegative("margin", margin)
        if self.layer.shape not in ((), (self.n,)) or not (self.layer > 0).all():
            raise InputError(f"layer must be one number above 0 or ({self.n},), got {layer!r}")
        lower, upper = payload.bounds()
        self._middle, self._half = 0.5 * (lower + upper), 0.5 * (upper - lower)

    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute torques (..., nv) and signals."""
        error, s, v_r, a_r = self.errors(t, state)
        tau, Y = self.model(state, v_r, a_r)
        bound = apply(np.abs(Y), self._half) + self.margin
        tau = tau + apply(Y, self._middle) + self.damping * s + bound * np.clip(s / self.layer, -1.0, 1.0)
        signals: Signals = {"error": error, "s": s, "bound": bound}
        signals["sliding"] = (np.abs(s) > self.layer).any(axis=-1)
        if self.truth is not None:
            signals["lyapunov"] = self.kinetic(state, s)
            # within the layer the load may win by what the sliding term lacks there
            lacking = bound * np.maximum(0.0, np.abs(s) - s**2 / self.layer) * (np.abs(s) < self.layer)
            signals["lyapunov_rate"] = (lacking - (self.damping + self.robot.damping) * s**2).sum(axis=-1)
        return tau, signals
