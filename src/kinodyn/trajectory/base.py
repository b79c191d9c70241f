"""What every trajectory is: a call with times, a duration, samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.space import Space, positive

if TYPE_CHECKING:
    from kinodyn.trajectory.timed import TimedPath

Figure: TypeAlias = Any  # of matplotlib, which only drawing needs


class Samples(NamedTuple):
    """Times (n,) [s], with configurations (n, nq), velocities (n, nv) and accelerations (n, nv) at them."""

    time: Array
    q: Array
    v: Array
    a: Array


@runtime_checkable
class Trajectory(Protocol):
    """What controllers and simulators ask of a motion; any object that has these will do."""

    @property
    def duration(self) -> float:
        """Tell how long it takes [s]."""
        ...

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute q (..., nq), or with order 1 and 2 v and a (..., nv), at times t (...) [s]."""
        ...

    def sample(self, dt: float) -> Samples:
        """Compute all three at times `dt` apart [s]."""
        ...


class JointTrajectory(ABC):
    """A motion of a robot, or of a plain vector where `robot` is None. Base of those that this package makes.

    Attributes
    ----------
    duration : float
        [s]
    robot : Robot or None
    """

    def __init__(self, space: Space, duration: float) -> None:
        self.space = space
        self.robot: Robot | None = space.robot
        self.duration = float(duration)

    @property
    def knots(self) -> Array:
        """List the times (k,) at which a derivative may jump, both ends among them [s]."""
        return np.array([0.0, self.duration])

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute q (..., nq) at times t (...) [s], with order 1 or 2 its velocity or acceleration (..., nv).

        Before the start and after the end it stands still: the configuration is that of the end, derivatives are 0.
        At knots the value from the right is given. Order 3, the jerk, is given by polynomials where q is a vector.
        """
        times = numbers("t", t)
        if isinstance(order, bool) or not isinstance(order, int | np.integer) or not 0 <= order <= 3:
            raise InputError(f"order is {order!r}; give 0, 1 or 2, or 3 for the jerk")
        inside = np.minimum(np.maximum(times, 0.0), self.duration)
        value = self._evaluate(np.asarray(inside), int(order))
        if order:
            outside = inside != times
            if outside.any():
                value[outside] = 0.0
        return value

    @abstractmethod
    def _evaluate(self, t: Array, order: int) -> Array:
        """Compute a new array of what `__call__` gives, at times within [0, duration]."""

    def sample(self, dt: float) -> Samples:
        """Compute time, q, v and a at 0, dt, 2 dt, ... and at the end, to which the last step may be shorter."""
        times = sample_times(dt, self.duration)
        return Samples(times, self(times), self(times, 1), self(times, 2))

    def stretched(self, factor: float) -> JointTrajectory:
        """Make the same path `factor` times as long in time: velocities shrink by it, accelerations by its square."""
        from kinodyn.trajectory.timed import stretched_path

        return stretched_path(self, positive("factor", factor))

    def along(self, law: JointTrajectory) -> TimedPath:
        """Make the motion that is at time t where this one is at time law(t); `law` is a vector of one number."""
        from kinodyn.trajectory.timed import TimedPath

        return TimedPath(self, law)

    def plot(
        self,
        path: str | None = None,
        *,
        orders: tuple[int, ...] = (0, 1, 2),
        joints: tuple[str, ...] | None = None,
        torque: bool = False,
        velocity: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
    ) -> Figure:
        """Draw a panel for each order, and one for torques, over time, limits dashed; write it to `path` if given.

        Limits of position, velocity and torque are the robot's, unless given as in `check`.
        """
        from kinodyn.trajectory.plots import plot_motion

        return plot_motion(self, path, orders, joints, torque, {"velocity": velocity, "acceleration": acceleration})

    def __repr__(self) -> str:
        what = f"{self.space.nq} numbers" if self.robot is None else self.robot.name
        return f"{type(self).__name__}({what}, {self.duration:.4g} s)"


def sample_times(dt: float, duration: float) -> Array:
    """List 0, dt, 2 dt, ... and the end [s]."""
    step = positive("dt", dt)
    count = int(np.ceil(duration / step * (1.0 - 1e-12)))
    if count > 100_000_000:
        raise InputError(f"dt is {dt!r}: {count} samples of {duration:.3g} s are too many; give a longer one")
    return np.asarray(np.minimum(np.arange(count + 1) * step, duration))
