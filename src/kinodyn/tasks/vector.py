"""Tasks whose target is a vector with one number for each row."""

from __future__ import annotations

from typing import ClassVar

from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.model.robot import Robot
from kinodyn.tasks.task import Task, weights_of


class VectorTask(Task):
    """A task with `size` rows, whose target and weights have one number each."""

    size: ClassVar[int]

    def check_target(self, value: ArrayLike) -> Array:
        return numbers(f"target of {self.name!r}", value, self.size)

    def check_weights(self, value: ArrayLike) -> Array:
        return weights_of(self.name, value, self.size)

    def row_count(self, robot: Robot) -> int:
        return self.size
