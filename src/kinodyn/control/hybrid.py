"""Hybrid control: force along some axes, motion along the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike, matvec
from kinodyn.checks import as_rotation, nonnegative, numbers
from kinodyn.control.controller import Signals
from kinodyn.control.equations import transposed
from kinodyn.control.forces import WrenchSource, measured_wrench, require_source
from kinodyn.control.frame_controller import FrameController
from kinodyn.control.frame_torques import FrameTorques
from kinodyn.control.gains import Gains, require_gains
from kinodyn.control.integral import Integral
from kinodyn.control.operational_space import MAX_MASS
from kinodyn.control.references import FrameTarget
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.model.state import State

Axes: TypeAlias = MatrixLike | str | Callable[[float, State], Any]


@displayed
class HybridForceMotion(FrameController):
    """Exert a desired wrench along the axes that `selection` marks, and follow a motion along the others.

    tau = J^T (Lambda y + mu + p + S f) + N^T tau0 with y = (I - S) (a_ref + D e' + K e) - S d x', and the force
    f = w + gain (w - measured) + integral. S is the selection matrix, rotated into world axes.

    Signals, in the axes of the selection: "force" (..., 6) that the robot exerts, "force_error" (..., 6), zero where
    motion is controlled, "error" (..., 6) of the motion, zero where force is, "integral"; and "damped".

    Parameters
    ----------
    robot : Robot
    frame : str or int
    target : (..., 4, 4) array or trajectory
        Desired pose, or `traj(t, order)`, for the motion-controlled directions.
    wrench : (6,)
        Desired wrench of the robot on its environment, in the axes of the selection [N, N m].
    selection : (6,) or (6, 6)
        True or 1 where force is controlled; or the diagonal matrix.
    measured : function of (t, state)
        Returns the measured wrench (..., 6) of the environment on the frame in world axes: that of a force sensor, or
        of the contact in a simulation.
    gains : Gains
        Of the motion [1/s^2] and [1/s], one number or (6,), in the axes of the selection.
    axes : (3, 3), str, or function of (t, state), optional
        Axes of the selection: a rotation R_world_axes, the name of a frame of the robot, whose axes then move with it,
        or a function that returns the rotation. By default those of the world.
    force_gain : float
        Proportional gain of the force error.
    force_integral : float
        Integral gain of the force error [1/s].
    force_limit : float
        Maximum output of the integral [N, N m].
    force_damping : float
        d, damping of motion along the force-controlled directions [1/s].
    posture, posture_gains, max_mass, torque_limits
        As for `OperationalSpaceControl`.

    Notes
    -----
    M. H. Raibert and J. J. Craig, "Hybrid position/force control of manipulators", 1981; O. Khatib, "A unified
    approach for motion and force control of robot manipulators: the operational space formulation", 1987, eq. 38.
    """

    @check_types
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
        self.torques = FrameTorques(self.frame, self.posture, self.torque_limits, self.min_mobility)
        self.stiffness, self.damping = require_gains(gains, "gains").broadcast(6, "the frame")
        self.wrench, self.selection = numbers("wrench", wrench, 6), _selection(selection)
        require_source(measured, "measured")
        self.measured, self._axes = measured, _axes(robot, axes)
        self.force_gain = nonnegative("force_gain", force_gain)
        self.force_damping = nonnegative("force_damping", force_damping)
        limit = nonnegative("force_limit", force_limit)
        self.integral = Integral(6, nonnegative("force_integral", force_integral), limit, anti_windup=False)

    def reset(self) -> None:
        """Clear the integral and the time."""
        super().reset()
        self.integral.reset()

    def _law(self, t: float, state: State) -> tuple[Array, Signals]:
        found = self.frame.measure(t, state)
        X_world_axes = self._rotation(t, state)
        error, error_rate, velocity, acceleration, force = (
            matvec(transposed(X_world_axes), x)
            for x in (
                found.error,
                found.error_rate,
                found.velocity,
                found.setpoint.acceleration,
                -measured_wrench(self.measured, t, state, "measured"),
            )
        )
        S = self.selection
        motion = acceleration + self.damping * error_rate + self.stiffness * error
        y = np.where(S, -self.force_damping * velocity, motion)
        force_error = np.where(S, self.wrench - force, 0.0)
        command = np.where(S, self.wrench, 0.0) + self.force_gain * force_error + self.integral.value
        tau, damped = self.accelerate(state, matvec(X_world_axes, y), matvec(X_world_axes, command))
        signals = {
            "force": force,
            "force_error": force_error,
            "error": np.where(S, 0.0, error),
            "integral": self.integral.value + np.zeros_like(error),
            "damped": damped,
        }
        # anti-windup: the integral pauses while a motor is at its limit
        unsaturated = (np.abs(tau) <= self.torque_limits).all(axis=-1, keepdims=True)
        self.integral.integrate(t, np.where(unsaturated, force_error, 0.0), command, self.integral.limit)
        return tau, signals

    def _rotation(self, t: float, state: State) -> Array:
        """Compute the block rotation (..., 6, 6) from the axes of the selection to those of the world."""
        if isinstance(self._axes, int):
            R = state.pose(self._axes)[..., :3, :3]
        elif callable(self._axes):
            R = as_rotation(self._axes(t, state), "axes")
        else:
            R = self._axes
        X = np.zeros((*R.shape[:-2], 6, 6))
        X[..., :3, :3] = X[..., 3:, 3:] = R
        return X


def _selection(given: ArrayLike) -> Array:
    marks = np.asarray(given)
    if marks.shape == (6, 6) and np.array_equal(marks, np.diag(np.diag(marks))):
        marks = np.diag(marks)
    if marks.shape != (6,) or not np.isin(marks, (0, 1)).all():
        raise InputError(f"selection must be six booleans, or a diagonal matrix of zeros and ones, got {given!r}")
    return marks.astype(bool)


def _axes(robot: Robot, axes: Axes | None) -> Any:
    if axes is None:
        return np.eye(3)
    if isinstance(axes, str):
        return robot.frame_index(axes)
    return axes if callable(axes) else as_rotation(axes, "axes")
