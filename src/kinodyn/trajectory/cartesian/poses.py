"""What every motion of a frame is: poses, twists and their rates over time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.base import Figure, sample_times
from kinodyn.trajectory.extrema import refined_peaks, sampling_times

if TYPE_CHECKING:
    from kinodyn.trajectory.cartesian.following import Followed


class PoseSamples(NamedTuple):
    """Times (n,) [s], with poses (n, 4, 4), twists (n, 6) and accelerations (n, 6) at them."""

    time: Array
    T: Array
    twist: Array
    acceleration: Array


class PoseTrajectory(ABC):
    """A motion of a frame in the world.

    Attributes
    ----------
    duration : float
        [s]
    """

    duration: float

    @property
    @abstractmethod
    def knots(self) -> Array:
        """List the times (k,) at which a derivative may jump, both ends among them [s]."""

    @abstractmethod
    def _evaluate(self, t: Array, order: int) -> Array:
        """Compute what `__call__` gives, at times within [0, duration]."""

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute poses T_world_frame (..., 4, 4) at times t (...) [s], with order 1 or 2 their rates (..., 6).

        Rates are linear first, of the frame's origin and in world axes: order 1 is the velocity [m/s, rad/s], order 2
        the classical acceleration [m/s^2, rad/s^2], as `kinematics.velocity` and `acceleration` give them. Before the
        start and after the end the frame stands still.
        """
        times = numbers("t", t)
        if isinstance(order, bool) or order not in (0, 1, 2):
            raise InputError(f"order is {order!r}; give 0, 1 or 2")
        value = self._evaluate(np.clip(times, 0.0, self.duration), int(order))
        if order:
            value[(times < 0.0) | (times > self.duration)] = 0.0
        return value

    def sample(self, dt: float) -> PoseSamples:
        """Compute poses and rates at 0, dt, 2 dt, ... and at the end, to which the last step may be shorter [s]."""
        times = sample_times(dt, self.duration)
        return PoseSamples(times, self(times), self(times, 1), self(times, 2))

    def peaks(self) -> Array:
        """Find the greatest speed [m/s], angular speed [rad/s], acceleration [m/s^2], angular acceleration: (4,)."""

        def norms(t: Array) -> Array:
            rates = [self(t, order).reshape(-1, 2, 3) for order in (1, 2)]
            return np.concatenate([np.linalg.norm(rate, axis=-1) for rate in rates], axis=1)

        return refined_peaks(norms, sampling_times(self.knots))[0]

    def follow(
        self,
        robot: Robot,
        frame: str,
        q0: ArrayLike | None = None,
        *,
        tolerance: float = 1e-4,
        samples: int | None = None,
        **options: object,
    ) -> Followed:
        """Follow it with a frame of a robot: a joint trajectory, or where and why there is none.

        Joint paths come from `kinodyn.ik.track`, which takes `options` too: position_only, weights, max_step,
        null_gain, limits, seed. Between samples the joints go on a cubic spline; samples are doubled until the frame
        stays within `tolerance` [m and rad] of the motion halfway between them. Velocity limits of joints are not
        looked at: see `check` and `retime`.

        Parameters
        ----------
        q0
            Where the robot stands (nq,); if that is not at the first pose, the nearest configuration that is. Without
            it several are tried.
        samples
            How many to begin with; one in each 20 ms if not given, and not less than 30.
        """
        from kinodyn.trajectory.cartesian.following import follow

        return follow(self, robot, frame, q0, tolerance, samples, options)

    def plot(self, path: str | None = None) -> Figure:
        """Draw position and orientation, speeds and accelerations over time; write it to `path` if given."""
        from kinodyn.trajectory.plots import plot_poses

        return plot_poses(self, path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.duration:.4g} s)"
