"""What a simulator is, whichever engine does the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import KinodynError
from kinodyn.model.robot import Robot


class Diverged(KinodynError, ArithmeticError):
    """A simulation that ran away.

    Attributes
    ----------
    time : float
        When [s]; the simulator stands at the last good state before.
    joint : str
        The joint that moved fastest.
    reason : str
    """

    def __init__(self, time: float, joint: str, reason: str) -> None:
        self.time, self.joint, self.reason = time, joint, reason
        super().__init__(f"diverged at {time:.6g} s, joint {joint!r}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        return Diverged, (self.time, self.joint, self.reason)


class Simulator(Protocol):
    """A robot that moves under torques, step by step. `q`, `v` and `time` are where it stands."""

    robot: Robot
    dt: float
    time: float

    @property
    def q(self) -> Array:
        """Configuration (..., nq)."""
        ...

    @property
    def v(self) -> Array:
        """Velocity (..., nv)."""
        ...

    def reset(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Go back to time 0, at q and v; by default neutral and at rest."""
        ...

    def step(self, tau: ArrayLike, wrenches: Mapping[str, ArrayLike] | None = None, *, steps: int = 1) -> None:
        """Advance by `steps` times dt under constant torques and external wrenches; raises Diverged."""
        ...

    def contact_forces(self) -> dict[str, Array]:
        """Tell the wrench (..., 6) of the contacts on each frame over the last step, aligned reference."""
        ...
