"""Frames that are to be somewhere, and feet that are to stay."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import numbers
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_pose, left_jacobian_inverse, log
from kinodyn.spatial.poses import inverse_pose
from kinodyn.tasks.task import Kind, Task, frozen, weights_of


class FrameTask(Task):
    """Bring a frame to a pose, or a point of it to a position.

    A pose is approached along the screw that leads there, the logarithm on SE(3); its six weights, linear first, are
    along the frame's own axes. A position is approached straight; its three weights are along the axes of the world,
    or of `relative_to`.

    Parameters
    ----------
    frame
        Name of the frame.
    target
        Pose (..., 4, 4) or position (..., 3), in the world or in `relative_to`. None: the pose it has when first seen.
    relative_to
        Another frame of the robot, in which the target is meant: a hand seen from the other hand.
    point
        Point (3,) of the frame that is meant, in the frame.

    Example
    -------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> task = kd.tasks.FrameTask("left_palm", [0.3, 0.2, 1.0])
    >>> print(task, task.error(robot, robot.neutral()).shape)
    FrameTask('left_palm', priority=1) (3,)
    """

    def __init__(
        self,
        frame: str,
        target: MatrixLike | None = None,
        *,
        weights: ArrayLike = 1.0,
        priority: int = 1,
        gain: float = 1.0,
        relative_to: str | None = None,
        point: ArrayLike = (0.0, 0.0, 0.0),
        required: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(name or str(frame), priority, gain, required)
        self.frame = frame
        self.relative_to = relative_to
        self.point = frozen(numbers(f"point of {self.name!r}", point, 3))
        self.is_point = _is_position(target)
        self.target = target
        self.weights = weights

    def check_target(self, value: MatrixLike) -> Array:
        """Return the pose or the position."""
        what = f"target of {self.name!r}"
        return numbers(what, value, 3) if self.is_point else as_pose(value, what)

    def check_weights(self, value: ArrayLike) -> Array:
        """Return one weight per row."""
        return weights_of(self.name, value, 3 if self.is_point else 6)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        """Measure the pose or the position of the frame."""
        T: Array = np.array(kinematics.pose(robot, q, self.frame))
        T[..., :3, 3] += T[..., :3, :3] @ self.point
        if self.relative_to is not None:
            T = inverse_pose(kinematics.pose(robot, q, self.relative_to)) @ T
        return T[..., :3, 3] if self.is_point else T

    def error(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute the twist (..., 6) in the frame's axes, or the way (..., 3), to the target."""
        now, wanted = self.measure(robot, q), self._wanted()
        return wanted - now if self.is_point else log(inverse_pose(now) @ wanted)

    def jacobian(self, robot: Robot, q: ArrayLike) -> Array:
        """Compute how joint velocities reduce the error (..., 6 or 3, nv)."""
        T = kinematics.pose(robot, q, self.frame)
        J = self._at_point(kinematics.jacobian(robot, q, self.frame), T[..., :3, :3] @ self.point)
        axes = T[..., :3, :3]
        if self.relative_to is not None:
            T_other = kinematics.pose(robot, q, self.relative_to)
            arm = T[..., :3, 3] + T[..., :3, :3] @ self.point - T_other[..., :3, 3]
            J = J - self._at_point(kinematics.jacobian(robot, q, self.relative_to), arm)
            if self.is_point:
                axes = T_other[..., :3, :3]
        elif self.is_point:
            return J[..., :3, :]
        back = np.swapaxes(axes, -1, -2)
        linear: Array = back @ J[..., :3, :]
        if self.is_point:
            return linear
        twist = np.concatenate([linear, back @ J[..., 3:, :]], axis=-2)
        rows: Array = left_jacobian_inverse(self.error(robot, q)) @ twist
        return rows

    @staticmethod
    def _at_point(J: Array, arm: Array) -> Array:
        """Move the Jacobian's point by `arm`, in world axes."""
        moved: Array = np.array(J)
        moved[..., :3, :] += np.cross(J[..., 3:, :], arm[..., :, None], axisa=-2, axisb=-2, axisc=-2)
        return moved

    def row_weights(self, robot: Robot) -> Array:
        """Return the weights of the rows."""
        weights: Array = self.weights
        return weights

    def integers(self, robot: Robot) -> tuple[int, int, int, int]:
        """Return kind, frames and rows for the core."""
        other = -1 if self.relative_to is None else robot.frame_index(self.relative_to)
        kind, rows = (Kind.POINT, 3) if self.is_point else (Kind.POSE, 6)
        return kind, robot.frame_index(self.frame), other, rows

    def settings(self, robot: Robot) -> Array:
        """Return weights, gain and point for the core."""
        return np.concatenate([self.weights, [self.gain], self.point])

    def target_axes(self) -> int:
        """Return 2 for a pose, 1 for a position."""
        return 1 if self.is_point else 2

    def parts(self) -> tuple[slice, slice]:
        """Return the linear and the angular rows."""
        return slice(0, 3), slice(3, None)

    def _wanted(self) -> Array:
        assert self.target is not None
        return self.target


class ContactTask(FrameTask):
    """Keep a frame where it is: a foot on the ground, a hand on a rail.

    As a FrameTask of priority 0. The place is where the frame stands when it is first seen, unless `target` gives it.
    """

    def __init__(
        self,
        frame: str,
        target: MatrixLike | None = None,
        *,
        weights: ArrayLike = 1.0,
        priority: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(frame, target, weights=weights, priority=priority, name=name)


def _is_position(target: MatrixLike | None) -> bool:
    if target is None or hasattr(target, "as_matrix"):
        return False
    shape = np.shape(target)
    return len(shape) >= 1 and shape[-1] == 3
