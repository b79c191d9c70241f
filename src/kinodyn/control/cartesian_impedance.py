"""Cartesian impedance control: a frame that responds to external forces like a mass on springs and dampers."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import _core, dynamics, kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, matvec
from kinodyn.checks import nonnegative
from kinodyn.control.controlled_frame import FrameErrors
from kinodyn.control.controller import Signals
from kinodyn.control.equations import flags
from kinodyn.control.forces import WrenchSource, measured_wrench, require_source
from kinodyn.control.frame_controller import FrameController, dot
from kinodyn.control.frame_torques import FrameTorques
from kinodyn.control.gains import Gains
from kinodyn.control.impedance import check_inertia_shaping
from kinodyn.control.operational_space import MAX_MASS
from kinodyn.control.references import FrameTarget, Setpoint
from kinodyn.control.spring import Spring, damping_matrix, spring_matrix
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.layouts import layout
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


@displayed
class CartesianImpedance(FrameController):
    """Make a frame respond to an external wrench F by Lambda x'' + D x' + K x = F, x the deviation from the target.

    tau = g + J^T (K e + D e') plus, for a moving target, the feedforward of its motion. The frame keeps the inertia
    Lambda that the robot has there, so that no force needs to be measured; the null space is damped, or pulled to a
    posture. With `inertia` the frame responds with that inertia instead: y = a_ref + inertia^-1 (K e + D e' + F), and
    tau is that of operational space control minus J^T F; this needs the measured wrench F, as `external`.

    The stiffness derives from a potential for large rotations too: the moment of a rotation error phi is
    J(phi)^-1 K phi, J the left Jacobian of rotations.

    A floating base is taken to be fixed.

    Signals: "error", "error_rate" (..., k), "wrench" (..., k) of springs and dampers, "damped" (...), and with a
    constant target and without posture, or with `inertia`, "lyapunov" [J] and "lyapunov_rate" [W], which are valid
    while no external force acts.

    Parameters
    ----------
    robot : Robot
    frame : str or int
    target : (..., 4, 4) or (..., 3) array, or trajectory
        Desired pose, or position with part="linear"; or `traj(t, order)` that returns either and its rates in world
        axes.
    stiffness : (k,) or (k, k)
        Of the k controlled rows: diagonal or symmetric matrix [N/m, N/rad, N m/rad].
    damping : (k,) or (k, k), optional
        [N s/m, N s/rad, N m s/rad]; by default from `damping_ratio`.
    damping_ratio : float
        Of each mode of the frame's inertia on the springs.
    axes : "world" or "target"
        Axes of `stiffness`, `damping` and `inertia`; "target" needs part "all", "linear" or "angular".
    inertia : (k,) or (k, k), optional
        Desired inertia [kg, kg m^2]; by default that of the robot.
    external : function of (t, state), optional
        With `inertia`: returns the measured wrench (..., 6) on the frame in world axes [N, N m].
    part, posture, posture_gains, max_mass, torque_limits
        As for `OperationalSpaceControl`.

    Notes
    -----
    C. Ott, "Cartesian Impedance Control of Redundant and Flexible-Joint Robots", 2008, section 3.2; N. Hogan,
    "Impedance control: an approach to manipulation", 1985; damping: A. Albu-Schaffer et al., "Cartesian impedance
    control of redundant robots: recent results with the DLR-light-weight-arms", 2003.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("ur5")
    >>> q = np.array([0.0, -1.0, 1.5, -1.0, 1.0, 0.0])
    >>> T = kd.kinematics.pose(robot, q, "wrist_3_link")
    >>> soft = kd.control.CartesianImpedance(robot, "wrist_3_link", T, stiffness=[500, 500, 1000, 30, 30, 30])
    >>> bool(np.allclose(soft(0.0, kd.State(robot, q)), kd.dynamics.gravity(robot, q)))
    True
    """

    @check_types
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
        self.torques = FrameTorques(self.frame, self.posture, self.torque_limits, self.min_mobility)
        k = self.frame.k
        self.spring = Spring(spring_matrix("stiffness", stiffness, k), axes, part)
        self.damping = None if damping is None else spring_matrix("damping", damping, k)
        self.damping_ratio = nonnegative("damping_ratio", damping_ratio)
        check_inertia_shaping(inertia, external, self.n_base)
        self.inertia = None if inertia is None else spring_matrix("inertia", inertia, k)
        if self.inertia is not None and np.linalg.eigvalsh(self.inertia)[0] <= 0.0:
            raise InputError("inertia must be positive definite")
        if external is not None:
            require_source(external, "external")
        self.external = external
        self._neutral, self._no_damping = robot.neutral(), np.zeros((k, k))
        self._posture_stiffness = np.zeros(self.n) if posture is None else self.posture.stiffness
        controlled = np.zeros(6, dtype=int)
        controlled[self.frame.rows] = 1
        self._settings = np.zeros(1, dtype=layout("impedance_settings"))
        self._settings["min_mobility"] = self.min_mobility
        self._settings["damping_ratio"] = 0.0 if damping is not None else self.damping_ratio
        self._settings["null_damping"] = self.posture.damping.mean()  # one number: N^T M N times it is dissipative
        self._settings["directions"] = controlled @ 2 ** np.arange(6)
        self._settings["free_base"] = self.n_base > 0

    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        if self.inertia is None:
            return self._natural_inertia(state, self.frame.reference.at(t))
        found = self.frame.measure(t, state)
        R = found.setpoint.position[..., :3, :3]
        elastic = self.spring.wrench(found.error, R, self.frame.angular)
        return self._shaped_inertia(t, state, found, elastic, R)

    def _natural_inertia(self, state: State, setpoint: Setpoint) -> tuple[Array, Signals]:
        """Keep the inertia that the robot has at the frame."""
        R = setpoint.position[..., :3, :3]
        found = _core.cartesian_impedance(
            self.robot,
            state.q,
            state.v,
            state.mass_matrix,
            setpoint.position,
            setpoint.velocity,
            self.spring.rotated(self.spring.stiffness, R),
            self._no_damping if self.damping is None else self.spring.rotated(self.damping, R),
            self.frame.weights,
            self._neutral if self.posture.target is None else self.posture.target,  # may change between calls
            self._posture_stiffness,
            self.frame.index,
            self._settings,
        )
        constant = self.frame.reference.is_constant
        tau = found.tau[..., self.n_base :] if self.n_base else found.tau
        if not constant:
            tau = tau + self._feedforward(state, setpoint, found.Jbar)
        signals: Signals = {
            "error": found.error,
            "error_rate": found.error_rate,
            "wrench": found.wrench,
            "damped": flags(found.damped),
        }
        if constant and not self.n_base and self.posture.target is None:
            signals["lyapunov"] = found.energy
            signals["lyapunov_rate"] = -found.loss - dot(self.robot.damping * state.v, state.v)
        return tau, signals

    def _feedforward(self, state: State, setpoint: Setpoint, Jbar: Array) -> Array:
        """Compute the torques (..., n) for the motion of the target: M a + C v of joints that follow it."""
        joints = slice(self.n_base, None)
        J_dot = kinematics.jacobian_dot(self.robot, state.q, state.v, self.frame.index)[..., self.frame.rows, joints]
        v_ref = matvec(Jbar, self.frame.select(setpoint.velocity))
        a_ref = matvec(Jbar, self.frame.select(setpoint.acceleration) - matvec(J_dot, v_ref))
        C = dynamics.coriolis_matrix(self.robot, state.q, state.v)[..., joints, joints]
        viscous = self.robot.damping[joints] * v_ref
        return matvec(state.mass_matrix[..., joints, joints], a_ref) + matvec(C, v_ref) + viscous

    def _shaped_inertia(
        self, t: float, state: State, found: FrameErrors, elastic: Array, R: Array
    ) -> tuple[Array, Signals]:
        """Give the frame the desired inertia."""
        assert self.inertia is not None and self.external is not None
        inertia = self.spring.rotated(self.inertia, R)
        external = self.frame.select(measured_wrench(self.external, t, state, "external"))
        damping = matvec(self._damping(R, inertia), found.error_rate)
        response = np.linalg.solve(inertia, (elastic + damping + external)[..., None])[..., 0]
        y = self.frame.select(found.setpoint.acceleration) + response
        tau, damped = self.accelerate(state, y, -external)
        signals = {
            "error": found.error,
            "error_rate": found.error_rate,
            "wrench": elastic + damping,
            "damped": damped,
            "lyapunov": 0.5 * dot(found.error_rate, matvec(inertia, found.error_rate))
            + self.spring.energy(found.error, R),
            "lyapunov_rate": -dot(damping, found.error_rate),
        }
        return tau, signals

    def _damping(self, R: Array, inertia: Array) -> Array:
        if self.damping is not None:
            return self.spring.rotated(self.damping, R)
        return damping_matrix(self.spring.rotated(self.spring.stiffness, R), inertia, self.damping_ratio)
