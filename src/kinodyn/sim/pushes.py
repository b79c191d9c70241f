"""Pushes: external wrenches on a frame over a time interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import list_of, nonnegative, numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot


@displayed
class Push:
    """A force on a frame from `start` on for `duration` seconds, rounded to whole time steps.

    Parameters
    ----------
    frame
        Frame on which it acts.
    force
        (3,) force [N] at the frame's origin, or (6,) wrench, in world axes. For a batch (..., 3) or (..., 6).
    start, duration
        [s]

    Examples
    --------
    >>> import kinodyn as kd
    >>> kd.sim.Push("torso", [50.0, 0.0, 0.0], start=1.0, duration=0.1)
    Push('torso', [50.0, 0.0, 0.0], start=1, duration=0.1)
    """

    @check_types
    def __init__(self, frame: str, force: ArrayLike, *, start: float = 0.0, duration: float) -> None:
        given = numbers("force of the push", force)
        if given.ndim == 0 or given.shape[-1] not in (3, 6):
            raise InputError(f"force of the push must be (..., 3) or (..., 6), got {given.shape}")
        nonnegative("start of the push", start)
        self.frame, self.force = frame, given
        self.start, self.duration = float(start), positive("duration of the push", duration)

    def wrench(self) -> Array:
        """Return the wrench (..., 6)."""
        if self.force.shape[-1] == 6:
            return self.force
        return np.concatenate([self.force, np.zeros_like(self.force)], axis=-1)

    def __repr__(self) -> str:
        return f"Push({self.frame!r}, {self.force.tolist()}, start={self.start:g}, duration={self.duration:g})"


class PushSchedule:
    """Which pushes act in which time step."""

    def __init__(self, robot: Robot, pushes: Sequence[Push], dt: float) -> None:
        self._pushes = []
        for push in list_of("pushes", pushes, Push, "Push objects"):
            robot.frame_index(push.frame)
            first, last = round(push.start / dt), round((push.start + push.duration) / dt)
            if last == first:
                raise InputError(f"{push!r} is shorter than half a time step of {dt:g} s and would have no effect")
            self._pushes.append((first, last, push))

    def require_before(self, end: float) -> None:
        """Raise if a push starts after the end of a run [s], where it would have no effect."""
        for _, _, push in self._pushes:
            if push.start >= end:
                raise InputError(f"a push must start before the end of the run at {end:g} s, got {push!r}")

    def edges(self) -> list[int]:
        """List the steps at which a push starts or ends."""
        return sorted({step for first, last, _ in self._pushes for step in (first, last)})

    def acting(self, step: int) -> dict[str, Array]:
        """Sum the wrenches on each frame in a step."""
        total: dict[str, Array] = {}
        for first, last, push in self._pushes:
            if first <= step < last:
                total[push.frame] = total.get(push.frame, np.zeros(6)) + push.wrench()
        return total
