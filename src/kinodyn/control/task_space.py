"""Control of a frame in its own coordinates: resolved acceleration, and operational space control."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.control.checks import positive
from kinodyn.control.frame_law import FrameLaw
from kinodyn.control.frame_loop import NOTHING, FrameLoop
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.protocol import Signals
from kinodyn.control.quantities import MAX_MASS
from kinodyn.control.references import FrameTarget
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

SMALLEST = 0.01


class OperationalSpaceControl(FrameLoop):
    """Make a frame's error obey e'' + D e' + K e = 0, with forces at the frame that leave the null space alone.

    y = a_ref + D e' + K e, tau = J^T (Lambda y + mu + p) + N^T tau0 (O. Khatib, "A unified approach for motion and
    force control of robot manipulators: the operational space formulation", 1987, eqs. 15 and 49), where
    tau0 = M a0 + h holds the posture. Near singularities Lambda is damped: a direction along which the frame weighs
    more than `max_mass` robots is let go by degrees, and the posture acts there; the signal "damped" tells.

    A free base is taken to fly, nothing touching it. With feet on the ground take InverseDynamicsQP.

    Signals: "error" (..., k) [m, rad] in world axes, "error_rate", "damped" (...), and "lyapunov", "lyapunov_rate" of
    unit masses on springs, which hold where the frame can follow and one gain serves all angles.

    Parameters
    ----------
    robot
    frame
    target
        Pose (..., 4, 4), or position (..., 3) with part="linear", or a trajectory of either.
    gains
        [1/s^2] and [1/s], one number or (k,).
    part
        Which rows are controlled: "all", "linear", "angular", or names such as "x y rz". The rest is free.
    posture
        Configuration (nq,) that the null space strives for; None: it is only braked.
    posture_gains
        [1/s^2] and [1/s].
    max_mass
        A direction whose effective mass exceeds this many masses of the robot is damped; 0.1 m count as a radian.
    torque_limits
        (n,) for the joints with motors; those of the robot by default.

    Example
    -------
    >>> import numpy as np
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> q = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])
    >>> T = kd.kinematics.pose(robot, q, "panda_hand_tcp")
    >>> controller = kd.control.OperationalSpaceControl(
    ...     robot, "panda_hand_tcp", T, kd.control.Gains.from_frequency(10.0), posture=q)
    >>> tau = controller(0.0, kd.State(robot, q))  # at the target and at rest it carries the weight, no more
    >>> bool(np.allclose(tau, kd.dynamics.gravity(robot, q)))
    True
    """

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
        self.stiffness, self.damping = require_gains(gains, "gains").sized(self.frame.k, f"part {part!r}")
        self.core = self._law_of(self.least_mobility, by_inertia=True)

    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute torques (..., n), not yet limited, and signals."""
        wanted, _, signals = self.limited(t, state)
        return wanted[..., self.base :], signals

    def limited(self, t: float, state: State) -> tuple[Array, Array, Signals]:
        """Compute generalised forces (..., nv), those within the torque limits, and signals."""
        found = self.core(state, self.frame.reference.at(t), NOTHING)
        numbers = found.numbers
        damped, energy, rate = numbers.tolist() if numbers.ndim == 1 else np.moveaxis(numbers, -1, 0)
        signals = {
            "error": found.error,
            "error_rate": found.rate_error,
            "damped": damped != 0.0,
            "lyapunov": energy,
            "lyapunov_rate": rate,
        }
        return found.wanted, found.tau, signals

    def _law_of(self, least: float, *, by_inertia: bool) -> FrameLaw:
        return FrameLaw(
            self.frame,
            self.posture,
            self.torque_limits,
            least,
            stiffness=self.stiffness,
            damping=self.damping,
            by_inertia=by_inertia,
        )


class TaskSpaceControl(OperationalSpaceControl):
    """Make a frame's error obey e'' + D e' + K e = 0, with the joint accelerations of least norm.

    y = a_ref + D e' + K e, a = J^+ (y - dJ/dt v) + (I - J^+ J) a0, tau = M a + h (resolved acceleration: J. Y. S. Luh,
    M. W. Walker and R. P. C. Paul, "Resolved-acceleration control of mechanical manipulators", 1980). a0 holds the
    posture in the null space. The frame moves as with OperationalSpaceControl; the joints share the motion by their
    number, not by their inertia. Near singularities J^+ is damped: a direction whose singular value is below `smallest`
    is let go by degrees.

    Parameters and signals as those of OperationalSpaceControl, but `smallest` in place of `max_mass`: the singular
    value of J below which a direction is damped [m per unit of joint rate; 0.1 m count as a radian].
    """

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
        smallest: float = SMALLEST,
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
        self.smallest = positive("smallest", smallest)
        self.core = self._law_of(self.smallest**2, by_inertia=False)
