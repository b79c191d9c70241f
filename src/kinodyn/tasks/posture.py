"""The posture task."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Task, weights_of


@displayed
class PostureTask(Task):
    """Bring the joints to a configuration, as a soft task of low priority.

    The error is `robot.difference(q, target)`.

    Parameters
    ----------
    target
        Configuration (..., nq). None: the first configuration.
    weights
        One number for all joints, one for each velocity (nv,), or a dict of joint -> weight for some of them. A
        floating base has no weight unless (nv,) or the dict gives it one.
    priority, gain, required, name
        See `Task`.
    """

    kind = "posture"

    @check_types
    def __init__(
        self,
        target: ArrayLike | None = None,
        *,
        weights: ArrayLike | Mapping[str, float] = 1.0,
        priority: int = 2,
        gain: float = 1.0,
        required: bool = False,
        name: str = "posture",
    ) -> None:
        super().__init__(name, priority, gain, required)
        self.target = target
        self.weights = weights

    def check_target(self, value: ArrayLike) -> Array:
        return numbers(f"target of {self.name!r}", value, *np.shape(value)[-1:])

    def check_weights(self, value: ArrayLike | Mapping[str, float]) -> Array | dict[str, float]:
        if isinstance(value, Mapping):
            if not value:
                raise InputError(f"weights of {self.name!r} must name at least one joint")
            given = weights_of(self.name, [float(numbers(f"weight of {k!r}", w)) for k, w in value.items()], len(value))
            return dict(zip(value, given.tolist(), strict=True))
        return weights_of(self.name, value, np.size(value)).reshape(np.shape(value))

    def measure(self, robot: Robot, q: ArrayLike) -> Array:
        return np.asarray(q, dtype=float)

    def row_weights(self, robot: Robot) -> Array:
        if isinstance(self.weights, Mapping):
            result = np.zeros(robot.nv)
            for name, weight in self.weights.items():
                result[robot.joint(name).v] = weight
            return result
        if np.ndim(self.weights) > 0:
            return weights_of(self.name, self.weights, robot.nv)
        result = np.array(np.broadcast_to(weights_of(self.name, self.weights, 1), (robot.nv,)))
        if robot.base == "floating":
            result[:6] = 0.0
        return result

    def row_count(self, robot: Robot) -> int:
        return robot.nv

    def check(self, robot: Robot) -> None:
        self.row_weights(robot)
        if self.target is not None and self.target.shape[-1] != robot.nq:
            raise InputError(f"target of {self.name!r} must have shape (..., {robot.nq}), got {self.target.shape}")

    def parts(self) -> tuple[slice, slice]:
        return slice(0, 0), slice(0, None)
