"""Joint impedance control: joints that respond to external forces like masses on springs and dampers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import symmetric
from kinodyn.control.controller import Signals, TorqueController
from kinodyn.control.forces import ForceSource, joint_forces
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.integral import Integral
from kinodyn.control.pd import joint_inertia
from kinodyn.control.references import JointReference, JointTarget
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


@displayed
class JointImpedance(TorqueController):
    """Make the joints respond to external torques by M x'' + (C + D) x' + K x = tau_ext, x the deviation.

    tau = M a_ref + C(q, v) v_ref + g + D e' + K e + I, with e = -x. I integrates `integral` times e: it removes the
    error that a wrong mass causes, and with it the compliance at rest. It is bounded and paused while a torque is
    saturated, so that it does not wind up.

    With `inertia` the joints respond as if that were their mass matrix, by
    tau = M (a_ref + inertia^-1 (D e' + K e + I + tau_ext)) + h - tau_ext; this needs the measured external torques, as
    `external`.

    A floating base is taken to be fixed.

    Signals: "error", "error_rate" (..., n), "integral" [N m, N], and with a fixed base and without integral "lyapunov"
    [J] and "lyapunov_rate" [W], which are valid while no external force acts.

    Parameters
    ----------
    robot : Robot
    target : (..., nq) array or trajectory
        Desired configuration, or `traj(t, order)` that returns q, v and a.
    gains : Gains
        [N m/rad, N/m] and [N m s/rad, N s/m]; those made from a frequency are multiplied by the inertia of each joint
        with the others locked (`joint_inertia`), at the start of the reference.
    integral : () or (n,)
        Integral gain [N m/(rad s), N/(m s)]; 0 for none.
    integral_limit : () or (n,), optional
        Maximum output of the integral [N m, N]; by default half of the torque limits.
    anti_windup : bool
        Whether integration pauses while a torque is saturated.
    inertia : (n, n) or (n,), optional
        Desired mass matrix or its diagonal; by default that of the robot.
    external : (..., nv), dict of frame -> (..., 6), or function of (t, state), optional
        Measured external forces: generalised, or wrenches at frames in world axes; or a function that returns either.
    feedforward : (..., nv), dict of frame -> (..., 6), or function of (t, state), optional
        Forces to add, in the same forms: the weight of a known load, a push against a wall.
    torque_limits : () or (n,), optional
        Of the actuated joints [N m, N]; by default those of the robot.

    Notes
    -----
    B. Paden and R. Panja, "Globally asymptotically stable PD+ controller for robot manipulators", 1988; N. Hogan,
    "Impedance control: an approach to manipulation", 1985.
    """

    @check_types
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
        diagonal = joint_inertia(robot, self.reference.at(0.0).position)[..., self.n_base :]
        self.stiffness, self.damping = require_gains(gains, "gains").for_inertia(diagonal, "the joints")
        check_inertia_shaping(inertia, external, self.n_base)
        self.inertia = None if inertia is None else _matrix(inertia, self.n)
        self.external, self.feedforward = external, feedforward
        limit = 0.5 * self.torque_limits if integral_limit is None else integral_limit
        self.integral = Integral(self.n, integral, limit, anti_windup)

    def reset(self) -> None:
        """Clear the integral and the time."""
        super().reset()
        self.integral.reset()

    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        joints = slice(self.n_base, None)
        q_ref, v_ref, a_ref = self.reference.at(t)
        error = self.robot.difference(state.q, q_ref)[..., joints]
        rate = (v_ref - state.v)[..., joints]
        elastic = self.stiffness * error
        feedback = elastic + self.damping * rate + self.integral.value
        if self.inertia is None:
            tau = self._natural_inertia(state, v_ref, a_ref, feedback)
        else:
            tau = self._shaped_inertia(t, state, a_ref, feedback)
        if self.feedforward is not None:
            tau = tau + joint_forces(self.robot, self.feedforward, t, state, "feedforward")[..., joints]
        signals: Signals = {"error": error, "error_rate": rate, "integral": self.integral.value + np.zeros_like(error)}
        if self.integral.is_zero and not self.n_base:
            M = state.mass_matrix if self.inertia is None else self.inertia
            dissipation = self.damping + (self.robot.damping if self.inertia is None else 0.0)
            signals["lyapunov"] = 0.5 * (rate * matvec(M, rate) + elastic * error).sum(axis=-1)
            signals["lyapunov_rate"] = -(dissipation * rate**2).sum(axis=-1)
        self.integral.integrate(t, error, tau, self.torque_limits)
        return tau, signals

    def _natural_inertia(self, state: State, v_ref: Array, a_ref: Array, feedback: Array) -> Array:
        """Keep the inertia of the robot."""
        joints = slice(self.n_base, None)
        tau = dynamics.gravity(self.robot, state.q)[..., joints] + feedback
        if self.reference.is_constant:
            return tau
        C = dynamics.coriolis_matrix(self.robot, state.q, state.v)
        follow = matvec(state.mass_matrix, a_ref) + matvec(C, v_ref) + self.robot.damping * v_ref
        return tau + follow[..., joints]

    def _shaped_inertia(self, t: float, state: State, a_ref: Array, feedback: Array) -> Array:
        """Give the joints the desired inertia."""
        assert self.inertia is not None and self.external is not None
        external = joint_forces(self.robot, self.external, t, state, "external")
        response = np.linalg.solve(self.inertia, (feedback + external)[..., None])[..., 0]
        return matvec(state.mass_matrix, a_ref + response) + state.bias - external


def _matrix(inertia: ArrayLike, n: int) -> Array:
    given = np.asarray(inertia, dtype=float)
    matrix = symmetric("inertia", np.diag(given) if given.ndim == 1 else given, n)
    if matrix.ndim != 2 or np.linalg.eigvalsh(matrix)[0] <= 0.0:
        raise InputError("inertia must be positive definite, (n, n) or its diagonal (n,)")
    return matrix


def check_inertia_shaping(inertia: object, external: object, n_base: int) -> None:
    """Raise unless a desired inertia comes with a measured force, on a robot with a fixed base."""
    if (inertia is None) != (external is None):
        raise InputError("inertia and external go together: shaping the inertia needs the measured force")
    if inertia is not None and n_base:
        raise InputError("inertia can be shaped only where the base is fixed")
