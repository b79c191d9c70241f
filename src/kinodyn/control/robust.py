"""Robust control: a sliding mode term that exceeds the effect of the unknown payload."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import nonnegative, numbers
from kinodyn.control.controller import Signals
from kinodyn.control.gains import Gains
from kinodyn.control.payload import Payload, SlidingController
from kinodyn.control.references import JointTarget
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


@displayed
class RobustControl(SlidingController):
    """Follow a motion with an unknown payload by a sliding mode term with a boundary layer.

    tau = M a_r + C v_r + g + Y pi0 + D s + rho sat(s / layer), with pi0 the middle of the payload's bounds, and
    rho = abs(Y) width / 2 + margin, the largest torque by which the payload can differ from pi0. Outside the boundary
    layer s decreases; inside, the error is proportional to the width of the layer.

    Signals: "error", "s", "bound" rho (..., nv), "sliding" (...): whether any s is outside the layer, and with
    `true_robot` "lyapunov" [J], s^T M s / 2, and an upper bound of its rate, "lyapunov_rate" [W]: negative where every
    s is outside the layer; inside the layer it may rise.

    Parameters
    ----------
    robot : Robot
        Without the payload; fixed base, joints of one axis.
    target, gains, payload, true_robot, torque_limits
        As for `AdaptiveControl`.
    layer : () or (nv,)
        Width of the boundary layer, in s [rad/s, m/s]. Torques chatter where it is thinner than rho dt / inertia, dt
        the period of the controller.
    margin : float
        Torque added to the bound for other model errors [N m, N].

    Notes
    -----
    J.-J. E. Slotine and W. Li, "Applied Nonlinear Control", 1991, sections 7.2 and 9.1; M. W. Spong, "On the robust
    control of robot manipulators", 1992.
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        target: JointTarget,
        gains: Gains,
        payload: Payload,
        *,
        layer: ArrayLike = 0.1,
        margin: float = 0.0,
        true_robot: Robot | None = None,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(robot, target, gains, payload, true_robot, torque_limits)
        self.layer, self.margin = numbers("layer", layer), nonnegative("margin", margin)
        if self.layer.shape not in ((), (self.n,)) or not (self.layer > 0).all():
            raise InputError(f"layer must be a positive number or ({self.n},), got {layer!r}")
        lower, upper = payload.bounds()
        self._middle, self._half = 0.5 * (lower + upper), 0.5 * (upper - lower)

    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        error, s, v_r, a_r = self.errors(t, state)
        tau, Y = self.model(state, v_r, a_r)
        bound = matvec(np.abs(Y), self._half) + self.margin
        tau = tau + matvec(Y, self._middle) + self.damping * s + bound * np.clip(s / self.layer, -1.0, 1.0)
        signals: Signals = {"error": error, "s": s, "bound": bound}
        signals["sliding"] = (np.abs(s) > self.layer).any(axis=-1)
        if self.true_robot is not None:
            signals["lyapunov"] = self.kinetic(state, s)
            # inside the layer the sliding term is smaller than the bound: the payload may prevail by the rest
            shortfall = bound * np.maximum(0.0, np.abs(s) - s**2 / self.layer) * (np.abs(s) < self.layer)
            signals["lyapunov_rate"] = (shortfall - (self.damping + self.robot.damping) * s**2).sum(axis=-1)
        return tau, signals
