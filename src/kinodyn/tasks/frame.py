"""Frame tasks: reach a pose or a position, or maintain a contact."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike, copied_on_access
from kinodyn.checks import numbers, positions, shape_of
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_pose
from kinodyn.spatial.poses import inverse_pose
from kinodyn.tasks.task import Task, weights_of


@displayed
@copied_on_access("point")
class FrameTask(Task):
    """Bring a frame to a pose, or a point of it to a position.

    The error of a pose is the logarithm log(T_frame^-1 T_target) on SE(3): the twist in the frame's own axes, linear
    [m] first, then angular [rad], that leads to the target along a screw. The error of a position is target - position
    [m], in the axes of the world or of `relative_to`.

    Parameters
    ----------
    frame
        Name of the frame.
    target
        Pose (..., 4, 4) or position (..., 3), in the world or in `relative_to`. None: its pose at the first
        configuration.
    relative_to
        Another frame of the robot in which the target is expressed, for example one hand relative to the other.
    point
        Controlled point (3,), in the frame.
    weights
        One number or one for each row of the error.
    priority, gain, required, name
        See `Task`.

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("humanoid")
    >>> task = kd.tasks.FrameTask("left_palm", [0.3, 0.2, 1.0])
    >>> print(task, task.error(robot, robot.neutral()).shape)
    FrameTask('left_palm', priority=1) (3,)
    """

    @check_types
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
        super().__init__(str(frame) if name is None else name, priority, gain, required)
        self.frame = frame
        self.relative_to = relative_to
        self.point = np.array(numbers(f"point of {self.name!r}", point, 3))
        self.is_point = _is_position(target)
        self.target = target
        self.weights = weights

    def check_target(self, value: MatrixLike) -> Array:
        what = f"target of {self.name!r}"
        return positions(what, value) if self.is_point else as_pose(value, what)

    def check_weights(self, value: ArrayLike) -> Array:
        return weights_of(self.name, value, 3 if self.is_point else 6)

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        T: Array = np.array(kinematics.pose(robot, q, self.frame))
        T[..., :3, 3] += T[..., :3, :3] @ self.point
        if self.relative_to is not None:
            T = inverse_pose(kinematics.pose(robot, q, self.relative_to)) @ T
        return T[..., :3, 3] if self.is_point else T

    @property
    def kind(self) -> str:
        return "point" if self.is_point else "pose"

    def row_count(self, robot: Robot) -> int:
        return 3 if self.is_point else 6

    def frames(self, robot: Robot) -> tuple[int, int]:
        other = -1 if self.relative_to is None else robot.frame_index(self.relative_to)
        return robot.frame_index(self.frame), other

    def own_settings(self) -> dict[str, Any]:
        return {"point": self.point}

    def target_axes(self) -> int:
        return 1 if self.is_point else 2

    def parts(self) -> tuple[slice, slice]:
        return slice(0, 3), slice(3, None)


@displayed
class ContactTask(FrameTask):
    """Keep a frame fixed: a foot on the ground, a hand on a rail.

    A `FrameTask` of priority 0.

    Parameters
    ----------
    frame
        Name of the frame.
    target
        Pose (..., 4, 4) in the world. None: its pose at the first configuration.
    weights, priority, name
        See `FrameTask`.
    """

    @check_types
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
    shape = shape_of(target)
    return len(shape) >= 1 and shape[-1] == 3
