"""Actuators that act between two links: what one feels, the other feels in return."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers
from kinodyn.errors import InputError, SingularError
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_pose, skew

COINCIDE = 1e-9  # ends nearer than this [m] have no direction between them


class _Pair(ABC):
    """Two links and what acts between them. A subclass says where, as rows and as wrenches."""

    size: int  # how many rates and efforts it has

    def __init__(self, frame_a: str, frame_b: str) -> None:
        if frame_a == frame_b:
            raise InputError(f"an actuator acts between two frames, got {frame_a!r} twice")
        self.frame_a, self.frame_b = frame_a, frame_b

    @abstractmethod
    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute B (..., k, nv): rates are B v, and efforts u act as B^T u."""

    def rate(self, robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
        """Compute the rates (..., k) at joint velocities v (..., nv); of a single one (...)."""
        result = np.einsum("...ij,...j->...i", self.rows(robot, q), numbers("v", v, robot.nv))
        return self._squeezed(result)

    def generalised(self, robot: Robot, q: ArrayLike, effort: ArrayLike) -> Array:
        """Compute the generalised forces (..., nv) of an effort (..., k); of a single one (...)."""
        result: Array = np.einsum("...ij,...i->...j", self.rows(robot, q), self._effort(effort))
        return result

    def _effort(self, effort: ArrayLike) -> Array:
        return numbers("effort", effort)[..., None] if self.size == 1 else numbers("effort", effort, self.size)

    def _squeezed(self, values: Array) -> Array:
        return values[..., 0] if self.size == 1 else values

    def _relative(self, robot: Robot, q: ArrayLike, p: Array) -> Array:
        """Jacobian (..., 6, nv) of b's point at the place p in the world, as it moves relative to a's there."""
        return _at(robot, q, self.frame_b, p) - _at(robot, q, self.frame_a, p)

    def _both(
        self, robot: Robot, q: ArrayLike, p_a: Array, p_b: Array, force: Array, moment: Array
    ) -> dict[str, Array]:
        """Wrenches at the frames' origins of a force and a moment on b at p_b, and of their opposites on a at p_a."""
        result = {}
        for frame, p, sign in ((self.frame_a, p_a, -1.0), (self.frame_b, p_b, 1.0)):
            arm = p - kinematics.pose(robot, q, frame)[..., :3, 3]
            turn = np.cross(arm, force) + moment
            result[frame] = sign * np.concatenate([np.broadcast_to(force, turn.shape), turn], axis=-1)
        return result


class BetweenLinks(_Pair):
    """A wrench between two links, force and moment in six directions.

    Parameters
    ----------
    frame_a, frame_b
        The frames: the effort (..., 6), force then moment, acts on b, its opposite on a.
    T_a
        Place (4, 4) in a whose axes the effort is told in; by default the frame itself.
    T_b
        Place (4, 4) in b at whose origin it acts; by default the frame itself.
    """

    size = 6

    def __init__(
        self, frame_a: str, frame_b: str, *, T_a: MatrixLike | None = None, T_b: MatrixLike | None = None
    ) -> None:
        super().__init__(frame_a, frame_b)
        self.T_a = np.eye(4) if T_a is None else as_pose(T_a, "T_a")
        self.T_b = np.eye(4) if T_b is None else as_pose(T_b, "T_b")

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the Jacobian (..., 6, nv) of b's place as seen from a."""
        R, p = self._place(robot, q)
        J = self._relative(robot, q, p)
        Rt = np.swapaxes(R, -1, -2)
        return np.concatenate([Rt @ J[..., :3, :], Rt @ J[..., 3:, :]], axis=-2)

    def wrenches(self, robot: Robot, q: ArrayLike, effort: ArrayLike) -> dict[str, Array]:
        """Compute the wrenches (..., 6) on both frames in the aligned reference, as `kinodyn.dynamics` takes them."""
        R, p = self._place(robot, q)
        w = self._effort(effort)
        force, moment = (np.einsum("...ij,...j->...i", R, part) for part in (w[..., :3], w[..., 3:]))
        return self._both(robot, q, p, p, force, moment)

    def _place(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        R = kinematics.pose(robot, q, self.frame_a)[..., :3, :3] @ self.T_a[:3, :3]
        T = kinematics.pose(robot, q, self.frame_b) @ self.T_b
        return R, T[..., :3, 3]


class TorqueMotor(_Pair):
    """A motor that turns one link against another about an axis, whatever joints lie between them.

    Parameters
    ----------
    frame_a, frame_b
        The frames: a positive torque (...) turns b about the axis, and a the other way.
    axis
        Direction (3,) in a, of any length.
    """

    size = 1

    def __init__(self, frame_a: str, frame_b: str, axis: ArrayLike) -> None:
        super().__init__(frame_a, frame_b)
        direction = numbers("axis", axis, 3)
        length = float(np.linalg.norm(direction))
        if direction.ndim != 1 or not length > COINCIDE:
            raise InputError(f"axis is {axis!r}; give one direction (3,) that is not zero")
        self.axis: Array = direction / length

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the row (..., 1, nv) of the angular velocity of b relative to a about the axis."""
        J = self._relative(robot, q, np.zeros(3))
        return self._direction(robot, q)[..., None, :] @ J[..., 3:, :]

    def wrenches(self, robot: Robot, q: ArrayLike, effort: ArrayLike) -> dict[str, Array]:
        """Compute the wrenches (..., 6) of a torque (...) on both frames, aligned, as `kinodyn.dynamics` takes them."""
        moment = self._effort(effort) * self._direction(robot, q)
        nowhere = np.zeros(3)
        return self._both(robot, q, nowhere, nowhere, np.zeros(3), moment)

    def _direction(self, robot: Robot, q: ArrayLike) -> Array:
        result: Array = kinematics.pose(robot, q, self.frame_a)[..., :3, :3] @ self.axis
        return result


class Piston(_Pair):
    """A linear actuator between a point of one link and a point of another: a piston, a tendon, a spring.

    Parameters
    ----------
    frame_a, frame_b
        The frames: a positive force (...) pushes them apart, a tendon's is negative.
    point_a, point_b
        Ends (3,) in the frames [m].
    """

    size = 1

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
            raise InputError(f"ends have shapes {self.point_a.shape}, {self.point_b.shape}; give one point (3,) each")

    def ends(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
        """Compute where its ends are in the world: (..., 3) on a, (..., 3) on b [m]."""
        T_a, T_b = (kinematics.pose(robot, q, frame) for frame in (self.frame_a, self.frame_b))
        return T_a[..., :3, :3] @ self.point_a + T_a[..., :3, 3], T_b[..., :3, :3] @ self.point_b + T_b[..., :3, 3]

    def length(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute its length (...) [m]; `rate` is the length's."""
        p_a, p_b = self.ends(robot, q)
        result: Array = np.linalg.norm(p_b - p_a, axis=-1)
        return result

    def rows(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the slope (..., 1, nv) of the length. Ends that coincide have none: SingularError."""
        p_a, p_b, along = self._line(robot, q)
        J = (_at(robot, q, self.frame_b, p_b) - _at(robot, q, self.frame_a, p_a))[..., :3, :]
        return along[..., None, :] @ J

    def wrenches(self, robot: Robot, q: ArrayLike, effort: ArrayLike) -> dict[str, Array]:
        """Compute the wrenches (..., 6) of a force (...) on both frames, aligned, as `kinodyn.dynamics` takes them."""
        p_a, p_b, along = self._line(robot, q)
        return self._both(robot, q, p_a, p_b, self._effort(effort) * along, np.zeros(3))

    def _line(self, robot: Robot, q: ArrayLike) -> tuple[Array, Array, Array]:
        p_a, p_b = self.ends(robot, q)
        length = np.linalg.norm(p_b - p_a, axis=-1, keepdims=True)
        if (length < COINCIDE).any():
            raise SingularError(f"the ends on {self.frame_a!r} and {self.frame_b!r} coincide: no direction to push in")
        return p_a, p_b, (p_b - p_a) / length


def _at(robot: Robot, q: ArrayLike, frame: str, p: Array) -> Array:
    """Jacobian (..., 6, nv) of the point of a frame's body that is at p in the world, in world axes."""
    J = kinematics.jacobian(robot, q, frame)
    arm = p - kinematics.pose(robot, q, frame)[..., :3, 3]
    return np.concatenate([J[..., :3, :] - skew(arm) @ J[..., 3:, :], J[..., 3:, :]], axis=-2)
