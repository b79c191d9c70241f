"""Joint impedance: the joints answer outside forces like masses on springs, wherever the reference goes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.arrays import Array
from kinodyn.checks import symmetric
from kinodyn.control.checks import together
from kinodyn.control.forces import ForceSource, joint_forces
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.integral import Integral
from kinodyn.control.pd import joint_inertia
from kinodyn.control.plant import apply
from kinodyn.control.protocol import Clock, Loop, Signals
from kinodyn.control.references import JointReference, JointTarget
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


class JointImpedance(Loop):
    """Make the joints answer an outside force by M x'' + (C + D) x' + K x = tau_ext, x away from the reference.

    tau = M a_ref + C(q, v) v_ref + g + D e' + K e + I, with e = -x the way to the reference (B. Paden and R. Panja,
    "Globally asymptotically stable PD+ controller for robot manipulators", 1988). I is the integral of `integral` times
    e: it removes the error that a wrong weight leaves, and with it the stiffness at rest. So that it does not wind up,
    it is bounded, and waits while a torque is at its limit.

    With `inertia` the joints answer as if that were their mass matrix, by
    tau = M (a_ref + inertia^-1 (D e' + K e + I + tau_ext)) + h - tau_ext (N. Hogan, "Impedance control", 1985); that
    needs the outside force measured, as `external`.

    Joints of a robot with a free base are controlled as if the base were held.

    Signals: "error", "error_rate" (..., n), "integral" [N m, N], and where the base is fixed and nothing is integrated
    "lyapunov" [J] and "lyapunov_rate" [W], which hold while no force acts from outside.

    Parameters
    ----------
    robot
    target
        Configuration (..., nq) or trajectory.
    gains
        [N m/rad, N/m] and [N m s/rad, N s/m]; those by frequency are multiplied by the inertia that each joint feels,
        the others locked, at the start of the reference.
    integral
        [N m/(rad s), N/(m s)], one number or (n,); 0: none.
    integral_limit
        What the integral gives at most [N m, N]; by default half of the torque limits.
    anti_windup
        Whether integration stops while a torque is at its limit.
    inertia
        Mass matrix (n, n) or its diagonal (n,) to be felt; None: that of the robot itself.
    external
        Measured outside forces: (..., nv), or a dict frame -> wrench (..., 6), or a function of (t, state) that gives
        either.
    feedforward
        Forces to be given besides, in the same forms: the weight of a known load, a push against a wall.
    torque_limits
        (n,) for the joints with motors; those of the robot by default.
    """

    def __init__(
        self,
        robot: Robot,
        target: JointTarget,
        gains: Gains,
        *,
        integral: ArrayLike = 0.0,
        integral_limit: ArrayLike | None = None,
        anti_windup: bool = True,
        inertia: ArrayLike | None = None,
        external: ForceSource | None = None,
        feedforward: ForceSource | None = None,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(robot, torque_limits)
        self.reference = JointReference(robot, target)
        felt = joint_inertia(robot, self.reference.at(0.0).place)[..., self.base :]
        self.stiffness, self.damping = require_gains(gains, "gains").against(felt, "the joints")
        together(inertia, external, self.base)
        self.inertia = None if inertia is None else _matrix(inertia, self.n)
        self.external, self.feedforward = external, feedforward
        half = 0.5 * self.torque_limits if integral_limit is None else integral_limit
        self.integral = Integral(self.n, integral, half, anti_windup)
        self._clock = Clock()

    def reset(self) -> None:
        """Forget the integral and the time."""
        super().reset()
        self.integral.reset()
        self._clock = Clock()

    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute torques (..., n) and signals."""
        joints = slice(self.base, None)
        q_ref, v_ref, a_ref = self.reference.at(t)
        error = self.robot.difference(state.q, q_ref)[..., joints]
        rate = (v_ref - state.v)[..., joints]
        elastic, brake = self.stiffness * error, self.damping * rate
        pull = elastic + brake + self.integral.value
        tau = self._natural(state, v_ref, a_ref, pull) if self.inertia is None else self._shaped(t, state, a_ref, pull)
        if self.feedforward is not None:
            tau = tau + joint_forces(self.robot, self.feedforward, t, state, "feedforward")[..., joints]
        signals: Signals = {"error": error, "error_rate": rate, "integral": self.integral.value + np.zeros_like(error)}
        if self.integral.is_zero and not self.base:
            M = state.mass_matrix if self.inertia is None else self.inertia
            friction = self.damping + (self.robot.damping if self.inertia is None else 0.0)
            signals["lyapunov"] = 0.5 * (rate * apply(M, rate) + elastic * error).sum(axis=-1)
            signals["lyapunov_rate"] = -(friction * rate**2).sum(axis=-1)
        self.integral.advance(self._clock.step(t), error, tau, self.torque_limits)
        return tau, signals

    def _natural(self, state: State, v_ref: Array, a_ref: Array, pull: Array) -> Array:
        """Let the robot keep its own inertia."""
        joints = slice(self.base, None)
        tau = dynamics.gravity(self.robot, state.q)[..., joints] + pull
        if self.reference.is_constant:
            return tau
        C = dynamics.coriolis_matrix(self.robot, state.q, state.v)
        follow = apply(state.mass_matrix, a_ref) + apply(C, v_ref) + self.robot.damping * v_ref
        return tau + follow[..., joints]

    def _shaped(self, t: float, state: State, a_ref: Array, pull: Array) -> Array:
        """Give it another inertia."""
        assert self.inertia is not None and self.external is not None
        outside = joint_forces(self.robot, self.external, t, state, "external")
        answer = np.linalg.solve(self.inertia, (pull + outside)[..., None])[..., 0]
        return apply(state.mass_matrix, a_ref + answer) + state.bias - outside


def _matrix(inertia: ArrayLike, n: int) -> Array:
    given = np.asarray(inertia, dtype=float)
    matrix = symmetric("inertia", np.diag(given) if given.ndim == 1 else given, n)
    if matrix.ndim != 2 or np.linalg.eigvalsh(matrix)[0] <= 0.0:
        raise InputError("inertia must be positive definite, (n, n) or its diagonal (n,)")
    return matrix
