"""Cartesian impedance: a frame that answers outside forces like a body on springs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics, kinematics
from kinodyn.arrays import Array
from kinodyn.control.checks import nonnegative, together
from kinodyn.control.forces import WrenchSource, require_source, wrench_at
from kinodyn.control.frame import Measured
from kinodyn.control.frame_law import FrameLaw
from kinodyn.control.frame_loop import FrameLoop, dot
from kinodyn.control.gains import Gains
from kinodyn.control.plant import apply, damped_inverse, transposed
from kinodyn.control.protocol import Signals
from kinodyn.control.quantities import MAX_MASS
from kinodyn.control.references import FrameTarget
from kinodyn.control.spring import Spring, damping_matrix, spring_matrix
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


class CartesianImpedance(FrameLoop):
    """Make a frame answer a wrench F by Lambda x'' + D x' + K x = F, x away from the target.

    tau = g + J^T (K e + D e') and, for a moving target, the forces that its acceleration takes (C. Ott, "Cartesian
    Impedance Control of Redundant and Flexible-Joint Robots", 2008, section 3.2). The frame keeps the inertia that the
    robot gives it, so that nothing needs to be measured; the joints that are free beside it are braked, or drawn to a
    posture. With `inertia` the frame answers as a body of that inertia (N. Hogan, "Impedance control", 1985):
    y = a_ref + inertia^-1 (K e + D e' + F) and tau as in operational space control, less J^T F; that needs the
    outside wrench F measured, as `external`.

    The stiffness derives from a potential for large turns too: the moment of an error angle phi is J(phi)^-1 K phi, J
    the left Jacobian of rotations.

    Of a robot with a free base the joints are controlled as if the base were held.

    Signals: "error", "error_rate" (..., k), "wrench" (..., k) that the springs and dampers ask for, and with a target
    at rest and without posture, or with `inertia`, "lyapunov" [J] and "lyapunov_rate" [W], which hold while no force
    acts from outside.

    Parameters
    ----------
    robot
    frame
    target
        Pose (..., 4, 4), or position (..., 3) with part="linear", or a trajectory of either.
    stiffness
        Of the k rows: (k,) or a symmetric matrix (k, k) [N/m, N/rad, N m/rad].
    damping
        (k,) or (k, k) [N s/m, ...]; by default that of `damping_ratio`.
    damping_ratio
        Of each mode of the frame's inertia on the springs (A. Albu-Schaffer et al., "Cartesian impedance control of
        redundant robots: recent results with the DLR-light-weight-arms", 2003).
    axes
        Along which `stiffness`, `damping` and `inertia` are given: "world", or "target", which needs part "all",
        "linear" or "angular".
    inertia
        (k,) or (k, k) [kg, kg m^2] to be felt; None: that of the robot itself.
    external
        With `inertia`: function of (t, state) that gives the wrench (..., 6) on the frame, aligned.
    part, posture, posture_gains, max_mass, torque_limits
        As for `OperationalSpaceControl`.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("ur5")
    >>> q = np.array([0.0, -1.0, 1.5, -1.0, 1.0, 0.0])
    >>> T = kd.kinematics.pose(robot, q, "wrist_3_link")
    >>> soft = kd.control.CartesianImpedance(robot, "wrist_3_link", T, stiffness=[500, 500, 1000, 30, 30, 30])
    >>> bool(np.allclose(soft(0.0, kd.State(robot, q)), kd.dynamics.gravity(robot, q)))
    True
    """

    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        target: FrameTarget,
        stiffness: ArrayLike,
        *,
        damping: ArrayLike | None = None,
        damping_ratio: float = 1.0,
        axes: Literal["world", "target"] = "world",
        inertia: ArrayLike | None = None,
        external: WrenchSource | None = None,
        part: str = "all",
        posture: ArrayLike | None = None,
        posture_gains: Gains | None = None,
        max_mass: float = MAX_MASS,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(robot, frame, target, part, posture, posture_gains, max_mass, torque_limits)
        self.core = FrameLaw(self.frame, self.posture, self.torque_limits, self.least_mobility)
        k = self.frame.k
        self.spring = Spring(spring_matrix("stiffness", stiffness, k), axes, part)
        self.damping = None if damping is None else spring_matrix("damping", damping, k)
        self.damping_ratio = nonnegative("damping_ratio", damping_ratio)
        together(inertia, external, self.base)
        self.inertia = None if inertia is None else spring_matrix("inertia", inertia, k)
        if self.inertia is not None and np.linalg.eigvalsh(self.inertia)[0] <= 0.0:
            raise InputError("inertia must be positive definite")
        if external is not None:
            require_source(external, "external")
        self.external = external
        self._brake = float(self.posture.damping.mean())  # one number, so that N^T M N times it is a damping

    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute torques (..., n) and signals."""
        found = self.frame.measure(t, state)
        R = found.reference.place[..., :3, :3]
        elastic = self.spring.wrench(found.error, R, self.frame.angular)
        if self.inertia is not None:
            return self._shaped(t, state, found, elastic, R)
        return self._natural(state, found, elastic, R)

    def _natural(self, state: State, found: Measured, elastic: Array, R: Array) -> tuple[Array, Signals]:
        """Let the frame keep its own inertia."""
        joints = slice(self.base, None)
        M, J = state.mass_matrix[..., joints, joints], found.J[..., :, joints]
        X, Lambda, damped = damped_inverse(M, J, self.least_mobility, self.frame.weights)
        Jbar = X @ Lambda
        D = self._damping(R, Lambda)
        brake = apply(D, found.rate_error)
        wrench = elastic + brake
        tau = dynamics.gravity(self.robot, state.q)[..., joints] + apply(transposed(J), wrench)
        if not self.frame.reference.is_constant:
            tau = tau + self._following(state, found, Jbar)
        free, friction = self._free(state, M, J, Jbar)
        signals: Signals = {"error": found.error, "error_rate": found.rate_error, "wrench": wrench, "damped": damped}
        if self.frame.reference.is_constant and not self.base and self.posture.target is None:
            v = state.v
            signals["lyapunov"] = 0.5 * dot(v, apply(M, v)) + self.spring.energy(found.error, R)
            signals["lyapunov_rate"] = -dot(brake, found.rate_error) - friction - dot(self.robot.damping * v, v)
        return tau + free, signals

    def _free(self, state: State, M: Array, J: Array, Jbar: Array) -> tuple[Array, Array | float]:
        """Compute N^T M (posture) - N^T M D N v (..., n) for what the frame leaves free, and the power that is lost."""
        joints = slice(self.base, None)
        v = state.v[..., joints]
        slack = v - apply(Jbar, apply(J, v))  # N v
        brake = apply(M, slack) * self._brake
        tau = -brake
        if self.posture.target is not None:
            tau = tau + apply(M, self.posture.stiffness * self.posture.error(state))
        tau = tau - apply(transposed(J), apply(transposed(Jbar), tau))  # N^T
        return tau, dot(brake, slack)

    def _following(self, state: State, found: Measured, Jbar: Array) -> Array:
        """Compute the torques (..., n) that the motion of the target takes: M a + C v of joints that follow it."""
        joints = slice(self.base, None)
        J_dot = kinematics.jacobian_dot(self.robot, state.q, state.v, self.frame.index)[..., self.frame.rows, joints]
        v_ref = apply(Jbar, self.frame.row(found.reference.rate))
        a_ref = apply(Jbar, self.frame.row(found.reference.acceleration) - apply(J_dot, v_ref))
        C = dynamics.coriolis_matrix(self.robot, state.q, state.v)[..., joints, joints]
        viscous = self.robot.damping[joints] * v_ref
        return apply(state.mass_matrix[..., joints, joints], a_ref) + apply(C, v_ref) + viscous

    def _shaped(self, t: float, state: State, found: Measured, elastic: Array, R: Array) -> tuple[Array, Signals]:
        """Give the frame another inertia."""
        assert self.inertia is not None and self.external is not None
        inertia = self.spring.turned(self.inertia, R)
        outside = self.frame.row(wrench_at(self.external, t, state, "external"))
        brake = apply(self._damping(R, inertia), found.rate_error)
        answer = np.linalg.solve(inertia, (elastic + brake + outside)[..., None])[..., 0]
        y = self.frame.row(found.reference.acceleration) + answer
        tau, damped = self.accelerate(state, y, -outside)
        signals = {
            "error": found.error,
            "error_rate": found.rate_error,
            "wrench": elastic + brake,
            "damped": damped,
            "lyapunov": 0.5 * dot(found.rate_error, apply(inertia, found.rate_error))
            + self.spring.energy(found.error, R),
            "lyapunov_rate": -dot(brake, found.rate_error),
        }
        return tau, signals

    def _damping(self, R: Array, inertia: Array) -> Array:
        if self.damping is not None:
            return self.spring.turned(self.damping, R)
        return damping_matrix(self.spring.turned(self.spring.stiffness, R), inertia, self.damping_ratio)
