"""Hybrid control: force along some axes, motion along the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_rotation, numbers
from kinodyn.control.checks import nonnegative
from kinodyn.control.forces import WrenchSource, require_source, wrench_at
from kinodyn.control.frame_law import FrameLaw
from kinodyn.control.frame_loop import FrameLoop
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.integral import Integral
from kinodyn.control.plant import apply, transposed
from kinodyn.control.protocol import Clock, Signals
from kinodyn.control.quantities import MAX_MASS
from kinodyn.control.references import FrameTarget
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

Axes: TypeAlias = MatrixLike | str | Callable[[float, State], Any]


class HybridForceMotion(FrameLoop):
    """Push with a given wrench along the axes that `selection` marks, and follow a motion along the others.

    tau = J^T (Lambda y + mu + p + S f) + N^T tau0 with y = (I - S) (a_ref + D e' + K e) - S d x', and the force
    f = w + gain (w - measured) + integral (M. H. Raibert and J. J. Craig, "Hybrid position/force control of
    manipulators", 1981; O. Khatib, 1987, eq. 38). S is the selection, turned into world axes.

    Signals, along the selection's axes: "force" (..., 6) that the robot exerts, "force_error" (..., 6), zero where
    motion is controlled, "error" (..., 6) of the motion, zero where force is, "integral"; and "damped".

    Parameters
    ----------
    robot
    frame
    target
        Pose (..., 4, 4) or trajectory for the directions of motion.
    wrench
        (6,) that the robot is to exert, along the selection's axes [N, N m].
    selection
        Six values true or false, or the diagonal matrix (6, 6) of ones and zeros: where force is controlled.
    measured
        Function of (t, state) that gives the wrench (..., 6) of the surroundings on the frame, aligned: that of a
        force sensor, or of the contact in a simulation.
    gains
        Of the motion [1/s^2] and [1/s], one number or (6,), along the selection's axes.
    axes
        In which the selection is given: a rotation R_world_axes (3, 3), the name of a frame of the robot, whose axes
        it then moves with, or a function of (t, state) that gives the rotation. By default the world's.
    force_gain
        Share of the force's error that is added at once.
    force_integral
        [1/s]; bounded by `force_limit`.
    force_limit
        What the integral gives at most [N, N m].
    force_damping
        d, against motion along the directions of force [1/s].
    posture, posture_gains, max_mass, torque_limits
        As for `OperationalSpaceControl`.
    """

    def __init__(
        self,
        robot: Robot,
        frame: str | int,
        target: FrameTarget,
        wrench: ArrayLike,
        selection: ArrayLike,
        measured: WrenchSource,
        gains: Gains,
        *,
        axes: Axes | None = None,
        force_gain: float = 0.0,
        force_integral: float = 5.0,
        force_limit: float = 50.0,
        force_damping: float = 20.0,
        posture: ArrayLike | None = None,
        posture_gains: Gains | None = None,
        max_mass: float = MAX_MASS,
        torque_limits: ArrayLike | None = None,
    ) -> None:
        super().__init__(robot, frame, target, "all", posture, posture_gains, max_mass, torque_limits)
        self.core = FrameLaw(self.frame, self.posture, self.torque_limits, self.least_mobility)
        self.stiffness, self.damping = require_gains(gains, "gains").sized(6, "the frame")
        self.wrench, self.selection = numbers("wrench", wrench, 6), _selection(selection)
        require_source(measured, "measured")
        self.measured, self._axes = measured, _axes(robot, axes)
        self.force_gain = nonnegative("force_gain", force_gain)
        self.force_damping = nonnegative("force_damping", force_damping)
        limit = nonnegative("force_limit", force_limit)
        self.integral = Integral(6, nonnegative("force_integral", force_integral), limit, anti_windup=False)
        self._clock = Clock()

    def reset(self) -> None:
        """Forget the integral and the time."""
        super().reset()
        self.integral.reset()
        self._clock = Clock()

    def law(self, t: float, state: State) -> tuple[Array, Signals]:
        """Compute torques (..., n) and signals."""
        found = self.frame.measure(t, state)
        T = self._turn(t, state)
        error, rate_error, rate, wanted, pushed = (
            apply(transposed(T), x)
            for x in (
                found.error,
                found.rate_error,
                found.rate,
                found.reference.acceleration,
                -wrench_at(self.measured, t, state, "measured"),
            )
        )
        S = self.selection
        moving = wanted + self.damping * rate_error + self.stiffness * error
        y = np.where(S, -self.force_damping * rate, moving)
        force_error = np.where(S, self.wrench - pushed, 0.0)
        push = np.where(S, self.wrench, 0.0) + self.force_gain * force_error + self.integral.value
        tau, damped = self.accelerate(state, apply(T, y), apply(T, push))
        signals = {
            "force": pushed,
            "force_error": force_error,
            "error": np.where(S, 0.0, error),
            "integral": self.integral.value + np.zeros_like(error),
            "damped": damped,
        }
        # the integral rests while a motor is at its limit: more force is not to be had
        dt = self._clock.step(t)
        free = (np.abs(tau) <= self.torque_limits).all(axis=-1, keepdims=True)
        self.integral.advance(dt, np.where(free, force_error, 0.0), push, self.integral.limit)
        return tau, signals

    def _turn(self, t: float, state: State) -> Array:
        """Give the rotation (..., 6, 6) from the selection's axes to the world's."""
        if isinstance(self._axes, int):
            R = state.pose(self._axes)[..., :3, :3]
        elif callable(self._axes):
            R = as_rotation(self._axes(t, state), "axes")
        else:
            R = self._axes
        T = np.zeros((*R.shape[:-2], 6, 6))
        T[..., :3, :3] = T[..., 3:, 3:] = R
        return T


def _selection(given: ArrayLike) -> Array:
    marks = np.asarray(given)
    if marks.shape == (6, 6) and np.array_equal(marks, np.diag(np.diag(marks))):
        marks = np.diag(marks)
    if marks.shape != (6,) or not np.isin(marks, (0, 1)).all():
        raise InputError(f"selection must be six values true or false, or a diagonal matrix of them, got {given!r}")
    return marks.astype(bool)


def _axes(robot: Robot, axes: Axes | None) -> Any:
    if axes is None:
        return np.eye(3)
    if isinstance(axes, str):
        return robot.frame_index(axes)
    return axes if callable(axes) else as_rotation(axes, "axes")
