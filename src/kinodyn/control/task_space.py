"""Motion control of a frame: operational space control and resolved acceleration."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.control.controller import Signals
from kinodyn.control.equations import flags
from kinodyn.control.frame_controller import NO_WRENCH, FrameController
from kinodyn.control.frame_torques import FrameTorques
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.operational_space import MAX_MASS
from kinodyn.control.references import FrameTarget
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

MIN_SINGULAR_VALUE = 0.01  # of J [m per unit of joint rate]; 0.1 m count as a radian


@displayed
class OperationalSpaceControl(FrameController):
    """Make a frame's error obey e'' + D e' + K e = 0 by forces at the frame, with a posture in the null space.

    y = a_ref + D e' + K e, tau = J^T (Lambda y + mu + p) + N^T tau0, where tau0 = M a0 + h pulls to the posture. Near
    singularities Lambda is damped: the force along a direction whose effective mass exceeds `max_mass` fades out, and
    the posture acts there instead; the signal "damped" shows when.

    A floating base is taken to be in free flight. With feet on the ground use `InverseDynamicsQP`.

    Signals: "error" (..., k) [m, rad] in world axes, "error_rate", "damped" (...), and "lyapunov", "lyapunov_rate" of
    unit masses on springs, which are valid where the frame can follow and all angular rows have the same gains.

    Parameters
    ----------
    robot : Robot
    frame : str or int
    target : (..., 4, 4) or (..., 3) array, or trajectory
        Desired pose, or position with part="linear"; or `traj(t, order)` that returns either and its rates in world
        axes.
    gains : Gains
        [1/s^2] and [1/s], one number or (k,).
    part : str
        Controlled rows: "all", "linear", "angular", or names such as "x y rz". The others are free.
    posture : (nq,), optional
        Configuration to which the null space is pulled; without it motion there is only damped.
    posture_gains : Gains, optional
        [1/s^2] and [1/s]; by default those of 5 rad/s.
    max_mass : float
        A direction whose effective mass exceeds this many masses of the robot is damped; 0.1 m count as a radian.
    torque_limits : () or (n,), optional
        Of the actuated joints [N m, N]; by default those of the robot.

    Notes
    -----
    O. Khatib, "A unified approach for motion and force control of robot manipulators: the operational space
    formulation", 1987, eqs. 15 and 49.

    Examples
    --------
    >>> import numpy as np
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> q = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
    >>> T = kd.kinematics.pose(robot, q, "panda_hand_tcp")
    >>> controller = kd.control.OperationalSpaceControl(
    ...     robot, "panda_hand_tcp", T, kd.control.Gains.from_frequency(10.0), posture=q)
    >>> tau = controller(0.0, kd.State(robot, q))  # gravity compensation alone: at the target, at rest
    >>> bool(np.allclose(tau, kd.dynamics.gravity(robot, q)))
    True
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        target: FrameTarget,
        gains: Gains,
        *,
        part: str = "all",
        posture: ArrayLike | None = None,
        posture_gains: Gains | None = None,
        max_mass: float = MAX_MASS,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(robot, frame, target, part, posture, posture_gains, max_mass, torque_limits)
        self.stiffness, self.damping = require_gains(gains, "gains").broadcast(self.frame.k, f"part {part!r}")
        self.torques = self._frame_torques(self.min_mobility, inertia_weighted=True)

    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        desired, _, signals = self._saturate(t, state)
        return desired[..., self.n_base :], signals

    def _saturate(self, t: float, state: State) -> tuple[Array, Array, Signals]:
        """Compute generalised forces (..., nv) before and within the torque limits, and signals."""
        desired, tau, error, error_rate, damped, lyapunov, lyapunov_rate = self.torques(
            state, self.frame.reference.at(t), NO_WRENCH
        )
        signals = {
            "error": error,
            "error_rate": error_rate,
            "damped": flags(damped),
            "lyapunov": lyapunov,
            "lyapunov_rate": lyapunov_rate,
        }
        return desired, tau, signals

    def _frame_torques(self, min_eigenvalue: float, *, inertia_weighted: bool) -> FrameTorques:
        return FrameTorques(
            self.frame,
            self.posture,
            self.torque_limits,
            min_eigenvalue,
            stiffness=self.stiffness,
            damping=self.damping,
            inertia_weighted=inertia_weighted,
        )


@displayed
class TaskSpaceControl(OperationalSpaceControl):
    """Make a frame's error obey e'' + D e' + K e = 0 by the joint accelerations of least norm (resolved acceleration).

    y = a_ref + D e' + K e, a = J^+ (y - dJ/dt v) + (I - J^+ J) a0, tau = M a + h; a0 pulls to the posture in the null
    space. The frame moves as with `OperationalSpaceControl`, but the motion is shared among the joints irrespective of
    their inertia. Near singularities J^+ is damped.

    Signals are those of `OperationalSpaceControl`.

    Parameters
    ----------
    robot, frame, target, gains, part, posture, posture_gains, torque_limits
        As for `OperationalSpaceControl`.
    min_singular_value : float
        A direction whose singular value of J is below this fades out [m per unit of joint rate; 0.1 m count as a
        radian].

    Notes
    -----
    J. Y. S. Luh, M. W. Walker and R. P. C. Paul, "Resolved-acceleration control of mechanical manipulators", 1980.
    """

    @check_types
    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        target: FrameTarget,
        gains: Gains,
        *,
        part: str = "all",
        posture: ArrayLike | None = None,
        posture_gains: Gains | None = None,
        min_singular_value: float = MIN_SINGULAR_VALUE,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(
            robot,
            frame,
            target,
            gains,
            part=part,
            posture=posture,
            posture_gains=posture_gains,
            torque_limits=torque_limits,
        )
        self.min_singular_value = positive("min_singular_value", min_singular_value)
        self.torques = self._frame_torques(self.min_singular_value**2, inertia_weighted=False)
