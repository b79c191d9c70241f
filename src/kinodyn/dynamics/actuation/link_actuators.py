"""Actuators between two links, with action and reaction."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike, matvec
from kinodyn.checks import numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError, SingularError
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_pose, skew

MIN_LENGTH = 1e-9  # of an axis or between two ends [m]; below it there is no direction


class _LinkActuator(ABC):
    """An actuator between two links; a subclass defines its rows and its wrenches."""

    size: int  # number of rates and efforts

    def __init__(self, frame_a: str, frame_b: str) -> None:
        if frame_a == frame_b:
            raise InputError(f"an actuator acts between two frames, got {frame_a!r} twice; give another frame_b")
        self.frame_a, self.frame_b = frame_a, frame_b

    @abstractmethod
    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the rows of the actuation matrix.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        B : (..., k, nv) array
            Rates are `B @ v`, and efforts u act as `B^T u`.
        """

    def rate(self, robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
        """Compute the rates of the actuator.

        Parameters
        ----------
        robot : Robot
        q, v : (..., nq), (..., nv)

        Returns
        -------
        rate : (..., k) array, (...) for k = 1
        """
        result = matvec(self.rows(robot, q), numbers("v", v, robot.nv))
        return self._squeeze(result)

    def generalised_forces(self, robot: Robot, q: ArrayLike, effort: ArrayLike) -> Array:
        """Compute the generalised forces of an effort.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)
        effort
            Efforts `(..., k)`, `(...)` for k = 1 [N or N m].

        Returns
        -------
        tau : (..., nv) array [N m or N]
        """
        result: Array = np.einsum("...ij,...i->...j", self.rows(robot, q), self._effort(effort))
        return result

    def _effort(self, effort: ArrayLike) -> Array:
        return numbers("effort", effort)[..., None] if self.size == 1 else numbers("effort", effort, self.size)

    def _squeeze(self, values: Array) -> Array:
        return values[..., 0] if self.size == 1 else values

    def _relative(self, robot: Robot, q: ArrayLike, p: Array) -> Array:
        """Compute the Jacobian (..., 6, nv) of b's motion relative to a, at the point p in the world."""
        return _point_jacobian(robot, q, self.frame_b, p) - _point_jacobian(robot, q, self.frame_a, p)

    def _reaction_pair(
        self, robot: Robot, q: ArrayLike, p_a: Array, p_b: Array, force: Array, moment: Array
    ) -> dict[str, Array]:
        """Compute the wrenches at the frames' origins of a force and moment on b at p_b, and of the reaction at p_a."""
        result = {}
        for frame, p, sign in ((self.frame_a, p_a, -1.0), (self.frame_b, p_b, 1.0)):
            arm = p - kinematics.pose(robot, q, frame)[..., :3, 3]
            total = np.cross(arm, force) + moment
            result[frame] = sign * np.concatenate([np.broadcast_to(force, total.shape), total], axis=-1)
        return result


@displayed
class BetweenLinks(_LinkActuator):
    """A wrench between two links, with force and moment in all directions.

    Parameters
    ----------
    frame_a, frame_b
        The frames. The effort `(..., 6)`, force then moment, acts on b, the reaction on a.
    T_a
        Pose (4, 4) in a of the axes in which the effort is expressed; by default the frame itself.
    T_b
        Pose (4, 4) in b of the point at which it acts; by default the frame itself.
    """

    size = 6

    @check_types
    def __init__(
        self, frame_a: str, frame_b: str, *, T_a: MatrixLike | None = None, T_b: MatrixLike | None = None
    ) -> None:
        super().__init__(frame_a, frame_b)
        self.T_a = np.eye(4) if T_a is None else as_pose(T_a, "T_a")
        self.T_b = np.eye(4) if T_b is None else as_pose(T_b, "T_b")

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the Jacobian of b's motion relative to a.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        B : (..., 6, nv) array
        """
        R, p = self._place(robot, q)
        J = self._relative(robot, q, p)
        Rt = np.swapaxes(R, -1, -2)
        return np.concatenate([Rt @ J[..., :3, :], Rt @ J[..., 3:, :]], axis=-2)

    def wrenches(self, robot: Robot, q: ArrayLike, effort: ArrayLike) -> dict[str, Array]:
        """Compute the wrenches on both frames.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)
        effort
            Efforts `(..., 6)`: force [N], then moment [N m].

        Returns
        -------
        wrenches : dict of frame -> (..., 6) array
            At the frames' origins in world axes, as `kinodyn.dynamics` accepts them.
        """
        R, p = self._place(robot, q)
        w = self._effort(effort)
        force, moment = (matvec(R, part) for part in (w[..., :3], w[..., 3:]))
        return self._reaction_pair(robot, q, p, p, force, moment)

    def _place(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        R = kinematics.pose(robot, q, self.frame_a)[..., :3, :3] @ self.T_a[:3, :3]
        T = kinematics.pose(robot, q, self.frame_b) @ self.T_b
        return R, T[..., :3, 3]


@displayed
class TorqueMotor(_LinkActuator):
    """A motor that rotates one link relative to another about an axis, whatever joints are between them.

    Parameters
    ----------
    frame_a, frame_b
        The frames. A positive torque rotates b about the axis, and a the other way.
    axis
        Direction (3,) in a, of any length.
    """

    size = 1

    @check_types
    def __init__(self, frame_a: str, frame_b: str, axis: ArrayLike) -> None:
        super().__init__(frame_a, frame_b)
        direction = numbers("axis", axis, 3)
        length = float(np.linalg.norm(direction))
        if direction.ndim != 1 or not length > MIN_LENGTH:
            raise InputError(f"axis must be one nonzero direction (3,), got {axis!r}")
        self.axis: Array = direction / length

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the row of the angular velocity of b relative to a about the axis.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        B : (..., 1, nv) array
        """
        J = self._relative(robot, q, np.zeros(3))
        return self._direction(robot, q)[..., None, :] @ J[..., 3:, :]

    def wrenches(self, robot: Robot, q: ArrayLike, effort: ArrayLike) -> dict[str, Array]:
        """Compute the wrenches on both frames.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)
        effort : (...) [N m]

        Returns
        -------
        wrenches : dict of frame -> (..., 6) array
            At the frames' origins in world axes, as `kinodyn.dynamics` accepts them.
        """
        moment = self._effort(effort) * self._direction(robot, q)
        zero = np.zeros(3)
        return self._reaction_pair(robot, q, zero, zero, zero, moment)

    def _direction(self, robot: Robot, q: ArrayLike) -> Array:
        result: Array = kinematics.pose(robot, q, self.frame_a)[..., :3, :3] @ self.axis
        return result


@displayed
class Piston(_LinkActuator):
    """A linear actuator between a point of one link and a point of another: a piston, a tendon, a spring.

    Parameters
    ----------
    frame_a, frame_b
        The frames. A positive force pushes them apart; the force of a tendon is negative.
    point_a, point_b
        End points (3,) in the frames [m].
    """

    size = 1

    @check_types
    def __init__(
        self,
        frame_a: str,
        frame_b: str,
        *,
        point_a: ArrayLike = (0.0, 0.0, 0.0),
        point_b: ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        super().__init__(frame_a, frame_b)
        self.point_a, self.point_b = numbers("point_a", point_a, 3), numbers("point_b", point_b, 3)
        if self.point_a.ndim != 1 or self.point_b.ndim != 1:
            raise InputError(
                f"point_a and point_b must have shape (3,), got {self.point_a.shape} and {self.point_b.shape}"
            )

    def ends(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        """Compute the positions of the end points in the world.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        p_a, p_b : (..., 3) arrays
            [m]
        """
        T_a, T_b = (kinematics.pose(robot, q, frame) for frame in (self.frame_a, self.frame_b))
        return T_a[..., :3, :3] @ self.point_a + T_a[..., :3, 3], T_b[..., :3, :3] @ self.point_b + T_b[..., :3, 3]

    def length(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the length; `rate` is its time derivative.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        length : (...) array [m]
        """
        p_a, p_b = self.ends(robot, q)
        result: Array = np.linalg.norm(p_b - p_a, axis=-1)
        return result

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the gradient of the length.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)

        Returns
        -------
        B : (..., 1, nv) array

        Raises
        ------
        SingularError
            Where the end points coincide.
        """
        p_a, p_b, along = self._line(robot, q)
        J = (_point_jacobian(robot, q, self.frame_b, p_b) - _point_jacobian(robot, q, self.frame_a, p_a))[..., :3, :]
        return along[..., None, :] @ J

    def wrenches(self, robot: Robot, q: ArrayLike, effort: ArrayLike) -> dict[str, Array]:
        """Compute the wrenches on both frames.

        Parameters
        ----------
        robot : Robot
        q : (..., nq)
        effort : (...) [N]

        Returns
        -------
        wrenches : dict of frame -> (..., 6) array
            At the frames' origins in world axes, as `kinodyn.dynamics` accepts them.
        """
        p_a, p_b, along = self._line(robot, q)
        return self._reaction_pair(robot, q, p_a, p_b, self._effort(effort) * along, np.zeros(3))

    def _line(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array, Array]:
        p_a, p_b = self.ends(robot, q)
        length = np.linalg.norm(p_b - p_a, axis=-1, keepdims=True)
        if (length < MIN_LENGTH).any():
            raise SingularError(
                f"the ends on {self.frame_a!r} and {self.frame_b!r} coincide, so that the force has no direction"
            )
        return p_a, p_b, (p_b - p_a) / length


def _point_jacobian(robot: Robot, q: ArrayLike, frame: str, p: Array) -> Array:
    """Compute the Jacobian (..., 6, nv) of the point of a frame's body that is at p in the world, in world axes."""
    J = kinematics.jacobian(robot, q, frame)
    arm = p - kinematics.pose(robot, q, frame)[..., :3, 3]
    return np.concatenate([J[..., :3, :] - skew(arm) @ J[..., 3:, :], J[..., 3:, :]], axis=-2)
