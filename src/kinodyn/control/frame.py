"""A frame that a controller moves: where it is, where it should be, and how the joints move it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.control.plant import LENGTH, Equations, apply, flying
from kinodyn.control.references import FrameReference, FrameTarget, Motion, pose_difference
from kinodyn.kinematics.singularities import part_rows
from kinodyn.model.robot import Robot
from kinodyn.model.state import State


class Measured(NamedTuple):
    """Of the k rows that are controlled, in world axes: how far to go, the missing rate, the reference, the rate."""

    error: Array
    rate_error: Array
    reference: Motion
    rate: Array
    J: Array


class ControlledFrame:
    """A frame, the rows of its twist that count, and what it should follow.

    Attributes
    ----------
    index : int
        Of the frame.
    rows : slice or list
        Of the six, those that are controlled.
    k : int
        How many.
    weights : (k,)
        Make inertias [kg m^2] comparable with masses [kg], for the judgement of singularities.
    """

    def __init__(self, robot: Robot, frame: str | int, target: FrameTarget, part: str) -> None:
        rows = part_rows(part)
        self.robot, self.index = robot, _core.frame_index(robot, frame)
        self.k, self.angular = len(rows), [i for i, row in enumerate(rows) if row >= 3]
        contiguous = rows == list(range(rows[0], rows[0] + len(rows)))
        self.rows: slice | list[int] = slice(rows[0], rows[0] + len(rows)) if contiguous else rows
        self.whole = self.k == 6
        self.weights = np.where(np.array(rows) < 3, 1.0, LENGTH**-2)
        self.reference = FrameReference(target, bool(self.angular))
        self._rest = np.zeros(robot.nv)

    def measure(self, t: float, state: State) -> Measured:
        """Compute errors and the Jacobian (..., k, nv) of the rows."""
        J, wanted = self.jacobian(state), self.reference.at(t)
        T = state.poses[..., self.index, :, :] if state.q.ndim > 1 else state.poses[self.index]
        rate = apply(J, state.v)
        error = pose_difference(T, wanted.place) if self.angular else wanted.place[..., :3, 3] - T[..., :3, 3]
        if not self.whole:
            error = error[..., self.rows]
        return Measured(error, self.row(wanted.rate) - rate, wanted, rate, J)

    def row(self, twist: Array) -> Array:
        """Take the controlled rows of something (..., 6)."""
        part: Array = twist if self.whole else twist[..., self.rows]
        return part

    def spread(self, part: Array) -> Array:
        """Put values (..., k) of the controlled rows among six, zeros elsewhere."""
        if self.whole:
            return part
        twist = np.zeros((*part.shape[:-1], 6))
        twist[..., self.rows] = part
        return twist

    def jacobian(self, state: State) -> Array:
        """Take the controlled rows (..., k, nv) of the Jacobian."""
        J = state.jacobian(self.index)
        return J if self.whole else J[..., self.rows, :]

    def drift(self, state: State) -> Array:
        """Compute the acceleration (..., k) of the rows when joints do not accelerate, dJ/dt v."""
        return self.row(_core.acceleration(self.robot, state.q, state.v, self._rest, self.index, "aligned", True, None))

    def equations(self, state: State, J: Array) -> Equations:
        """Put together the equations of motion; a free base is taken to fly."""
        found = Equations(state.mass_matrix, state.bias, J, self.drift(state))
        return flying(found) if self.robot.base == "floating" else found
