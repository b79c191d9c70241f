"""The protocol that every simulator offers, whichever physics engine it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.errors import KinodynError
from kinodyn.model.robot import Robot
from kinodyn.sim.imu import Imu


class Diverged(KinodynError, ArithmeticError):
    """A simulation that diverged.

    Attributes
    ----------
    time : float
        When [s]; the simulator stays at the last valid state before it.
    joint : str
        The fastest joint.
    reason : str
    """

    def __init__(self, time: float, joint: str, reason: str) -> None:
        self.time, self.joint, self.reason = time, joint, reason
        super().__init__(f"diverged at {time:.6g} s, joint {joint!r}: {reason}")

    def __reduce__(self) -> tuple[object, ...]:
        return Diverged, (self.time, self.joint, self.reason)


@runtime_checkable
class Simulator(Protocol):
    """A robot that is stepped in time under torques, with sensors.

    `sim.simulate` and `walking.walk` run on any object that offers this protocol; `NativeSimulator` and
    `MujocoSimulator` do. `q`, `v` and `time` are the current state; `dt` is the time step of the physics [s].
    """

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
        """Return to time 0.

        Parameters
        ----------
        q
            Configuration (..., nq), by default neutral.
        v
            Velocity (..., nv), by default zero.
        """
        ...

    def step(self, tau: ArrayLike, wrenches: Mapping[str, ArrayLike] | None = None, *, steps: int = 1) -> None:
        """Advance by a number of time steps under constant torques.

        Parameters
        ----------
        tau
            Torques (..., nv) [N m, N].
        wrenches
            External wrenches, frame -> (..., 6), "local_world_aligned" [N, N m].
        steps
            Number of time steps.

        Raises
        ------
        Diverged
            If the state becomes invalid.
        """
        ...

    def contact_forces(self) -> dict[str, Array]:
        """Return the contact wrench (..., 6) on each frame over the last step, "local_world_aligned"."""
        ...

    def read_imu(self) -> Imu:
        """Return the mean reading of the base's IMU since the previous call."""
        ...
