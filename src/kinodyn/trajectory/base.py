"""Trajectories: a call with times, a duration, samples; and a path with a timing law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.space import Space

Figure: TypeAlias = Any  # of matplotlib, which only plotting imports


@displayed
class Samples(NamedTuple):
    """Samples of a trajectory.

    Attributes
    ----------
    time : (n,) array
        [s]
    q : (n, nq) array
        Configurations.
    v, a : (n, nv) array
        Velocities and accelerations.
    """

    time: Array
    q: Array
    v: Array
    a: Array


def evaluate_at(curve: Callable[[Array, int], Array], duration: float, t: ArrayLike, order: int) -> Array:
    """Evaluate a curve over [0, duration] at any times (...) [s]; before and after that it is at rest."""
    times = numbers("t", t)
    inside = np.asarray(np.minimum(np.maximum(times, 0.0), duration))
    value = curve(inside, order)
    if order:
        outside = inside != times
        if outside.any():
            value[outside] = 0.0
    return value


@runtime_checkable
class Trajectory(Protocol):
    """The protocol that controllers and checks need; any object with these members is a trajectory."""

    @property
    def duration(self) -> float:
        """Duration [s]."""
        ...

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute q (..., nq), or with order 1 and 2 v and a (..., nv), at times t (...) [s]."""
        ...

    def sample(self, dt: float) -> Samples:
        """Sample q, v and a.

        Parameters
        ----------
        dt : float
            Time between samples [s].

        Returns
        -------
        Samples
        """
        ...


@displayed
class JointTrajectory(ABC):
    """Base class of trajectories of a robot, or of a plain vector where `robot` is None.

    Attributes
    ----------
    space : Space
        Configuration space: of the robot, or of vectors.
    duration : float [s]
    robot : Robot or None
    """

    @check_types
    def __init__(self, space: Space, duration: float) -> None:
        self.space = space
        self.robot: Robot | None = space.robot
        self.duration = float(duration)

    @property
    def knots(self) -> Array:
        """Times (k,) at which a derivative may jump, both ends included [s]."""
        return np.array([0.0, self.duration])

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Evaluate the trajectory.

        Before the start and after the end the robot is at rest: derivatives are 0. At knots the value from the right is
        returned.

        Parameters
        ----------
        t : (...)
            Times [s].
        order : 0, 1, 2 or 3
            0 for configurations, 1 for velocities, 2 for accelerations, 3 for jerks, which only polynomials of
            vectors have.

        Returns
        -------
        (..., nq) or (..., nv) array
        """
        return evaluate_at(self._evaluate, self.duration, t, integer("order", order, 0, 3))

    @abstractmethod
    def _evaluate(self, t: Array, order: int) -> Array:
        """Evaluate at times within [0, duration]; returns a new array."""

    def sample(self, dt: float) -> Samples:
        """Sample q, v and a.

        Parameters
        ----------
        dt : float
            Time between samples [s]; the last step, to the end, may be shorter.

        Returns
        -------
        Samples
        """
        times = sample_times(dt, self.duration)
        return Samples(times, self(times), self(times, 1), self(times, 2))

    def stretched(self, factor: float) -> JointTrajectory:
        """Slow down the same path by a factor: velocities shrink by it, accelerations by its square.

        Parameters
        ----------
        factor : float
            New duration over the old.

        Returns
        -------
        JointTrajectory
        """
        return _Stretched(self, positive("factor", factor))

    @check_types
    def along(self, law: JointTrajectory) -> TimedPath:
        """Follow the same path with another timing law.

        Parameters
        ----------
        law : JointTrajectory
            Trajectory of one number, s(t), non-decreasing from 0 to the duration of this trajectory.

        Returns
        -------
        TimedPath
        """
        return TimedPath(self, law)

    @check_types
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
        """Plot one panel for each order, and one for torques, over time, with dashed limits.

        Parameters
        ----------
        path : str, optional
            Image file to write.
        orders : tuple of int
            0 for position, 1 for velocity, 2 for acceleration, 3 for jerk.
        joints : tuple of str, optional
            By default all that move.
        torque : bool
            Whether to plot torques.
        velocity, acceleration
            Limits, as in `check`; by default the robot's.

        Returns
        -------
        matplotlib Figure
        """
        from kinodyn.trajectory.plots import plot_motion  # import cycle: plots are built on trajectories

        return plot_motion(self, path, orders, joints, torque, {"velocity": velocity, "acceleration": acceleration})

    def __repr__(self) -> str:
        what = f"{self.space.nq} numbers" if self.robot is None else self.robot.name
        return f"{type(self).__name__}({what}, {self.duration:.4g} s)"


class _Stretched(JointTrajectory):
    """A trajectory slowed down by a factor."""

    def __init__(self, path: JointTrajectory, factor: float) -> None:
        super().__init__(path.space, factor * path.duration)
        self.path, self.factor = path, factor

    @property
    def knots(self) -> Array:
        """Knots of the path at the new times [s]."""
        return self.factor * self.path.knots

    def _evaluate(self, t: Array, order: int) -> Array:
        return np.asarray(self.path(np.minimum(t / self.factor, self.path.duration), order) / self.factor**order)


@displayed
class TimedPath(JointTrajectory):
    """A path with a timing law: at time t it is where `path` is at its own time s = law(t).

    By the chain rule v = v_path(s) ds/dt and a = a_path(s) (ds/dt)^2 + v_path(s) d2s/dt2, on manifolds too.

    Parameters
    ----------
    path : JointTrajectory
    law : JointTrajectory
        Trajectory of one number, s(t), non-decreasing from 0 to the duration of the path.
    """

    @check_types
    def __init__(self, path: JointTrajectory, law: JointTrajectory) -> None:
        if law.space.nq != 1 or law.robot is not None:
            raise InputError("law must be a trajectory of a plain vector of one number")
        s = law(np.linspace(0.0, law.duration, 200))[:, 0]
        tolerance = 1e-9 * max(1.0, path.duration)
        if s.min() < -tolerance or s.max() > path.duration + tolerance:
            raise InputError(f"law must be from 0 to {path.duration:.6g}, got {s.min():.6g} to {s.max():.6g}")
        if (np.diff(s) < -tolerance).any():
            raise InputError("law must not decrease")
        super().__init__(path.space, law.duration)
        self.path, self.law = path, law
        self._knots: Array | None = None

    @property
    def knots(self) -> Array:
        """Times at which the law has a knot or passes one of the path [s]."""
        if self._knots is None:
            self._knots = np.union1d(self.law.knots, self.times_at(self.path.knots[1:-1]))
        return self._knots

    def times_at(self, s: ArrayLike) -> Array:
        """Find the times at which the law reaches given values, by bisection.

        Parameters
        ----------
        s : (n,)
            Times of the path [s].

        Returns
        -------
        (n,) array
            [s]
        """
        places = numbers("s", s)
        if places.ndim != 1:
            raise InputError(f"s must have shape (n,), got {places.shape}")
        low, high = np.zeros(len(places)), np.full(len(places), self.law.duration)
        for _ in range(60 if len(places) else 0):
            middle = 0.5 * (low + high)
            before = self.law(middle)[:, 0] < places
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        return high

    def _evaluate(self, t: Array, order: int) -> Array:
        if order == 3:
            raise InputError("order 3, the jerk, is available for piecewise polynomials only")
        s = np.clip(self.law(t)[..., 0], 0.0, self.path.duration)
        if order == 0:
            return self.path(s)
        rate = self.law(t, 1)
        if order == 1:
            return np.asarray(self.path(s, 1) * rate)
        return np.asarray(self.path(s, 2) * rate**2 + self.path(s, 1) * self.law(t, 2))


def sample_times(dt: float, duration: float) -> Array:
    """Compute the times 0, dt, 2 dt, ... and the end [s]."""
    step = positive("dt", dt)
    count = int(np.ceil(duration / step * (1.0 - 1e-12)))
    if count > 100_000_000:
        raise InputError(f"dt is {dt!r}: {count} samples of {duration:.3g} s are too many; give a longer dt")
    return np.asarray(np.minimum(np.arange(count + 1) * step, duration))
