"""A frame under control: its pose and twist, the reference, and the Jacobian of the controlled rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array, matvec
from kinodyn.control.equations import CHARACTERISTIC_LENGTH, Equations, eliminate_base
from kinodyn.control.references import FrameReference, FrameTarget, Setpoint, pose_difference
from kinodyn.kinematics.singularities import part_rows
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


class FrameErrors(NamedTuple):
    """Tracking errors (..., k) of the controlled rows in world axes, with the setpoint, the twist and the Jacobian."""

    error: Array
    error_rate: Array
    setpoint: Setpoint
    velocity: Array
    J: Array


class ControlledFrame:
    """A frame, the rows of its twist that are controlled, and the reference that it follows.

    Attributes
    ----------
    index : int
        Index of the frame.
    rows : slice or list
        The controlled rows among the six of the twist.
    k : int
        Number of controlled rows.
    weights : (k,) array
        Make inertias [kg m^2] comparable with masses [kg] where singularities are detected.
    """

    def __init__(self, robot: Robot, frame: str | int, target: FrameTarget, part: str) -> None:
        rows = part_rows(part)
        self.robot, self.index = robot, _core.frame_index(robot, frame)
        self.k, self.angular = len(rows), [i for i, row in enumerate(rows) if row >= 3]
        contiguous = rows == list(range(rows[0], rows[0] + len(rows)))
        self.rows: slice | list[int] = slice(rows[0], rows[0] + len(rows)) if contiguous else rows
        self.all_rows = self.k == 6
        self.weights = np.where(np.array(rows) < 3, 1.0, CHARACTERISTIC_LENGTH**-2)
        self.reference = FrameReference(target, bool(self.angular))
        self._zero_acceleration = np.zeros(robot.nv)

    def measure(self, t: float, state: State) -> FrameErrors:
        """Compute tracking errors and the Jacobian (..., k, nv) of the controlled rows."""
        J, desired = self.jacobian(state), self.reference.at(t)
        T = state.poses[..., self.index, :, :] if state.q.ndim > 1 else state.poses[self.index]
        velocity = matvec(J, state.v)
        error = pose_difference(T, desired.position) if self.angular else desired.position[..., :3, 3] - T[..., :3, 3]
        if not self.all_rows:
            error = error[..., self.rows]
        return FrameErrors(error, self.select(desired.velocity) - velocity, desired, velocity, J)

    def select(self, twist: Array) -> Array:
        """Take the controlled rows of a twist or wrench (..., 6)."""
        part: Array = twist if self.all_rows else twist[..., self.rows]
        return part

    def expand(self, part: Array) -> Array:
        """Put values (..., k) of the controlled rows into six rows, zeros elsewhere."""
        if self.all_rows:
            return part
        twist = np.zeros((*part.shape[:-1], 6))
        twist[..., self.rows] = part
        return twist

    def jacobian(self, state: State) -> Array:
        """Take the controlled rows (..., k, nv) of the Jacobian."""
        J = state.jacobian(self.index)
        return J if self.all_rows else J[..., self.rows, :]

    def drift(self, state: State) -> Array:
        """Compute the acceleration (..., k) of the rows when joints do not accelerate, dJ/dt v."""
        zero = self._zero_acceleration
        return self.select(
            _core.acceleration(self.robot, state.q, state.v, zero, self.index, "local_world_aligned", True, None)
        )

    def equations(self, state: State, J: Array) -> Equations:
        """Compute the equations of motion; a floating base is taken to be in free flight."""
        found = Equations(state.mass_matrix, state.bias, J, self.drift(state))
        return eliminate_base(found) if self.robot.base == "floating" else found
