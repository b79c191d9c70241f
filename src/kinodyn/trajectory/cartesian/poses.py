"""Trajectories of a frame: poses, twists and accelerations over time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer
from kinodyn.display import displayed
from kinodyn.model.robot import Robot
from kinodyn.trajectory.base import Figure, evaluate_at, sample_times
from kinodyn.trajectory.cartesian.following import FollowResult, follow
from kinodyn.trajectory.extrema import refined_peaks, sampling_times


@displayed
class PoseSamples(NamedTuple):
    """Samples of a trajectory of a frame.

    Attributes
    ----------
    time : (n,) array
        [s]
    T : (n, 4, 4) array
        Poses T_world_frame.
    twist, acceleration : (n, 6) array
        Twist and acceleration of the frame's origin in world axes, linear first.
    """

    time: Array
    T: Array
    twist: Array
    acceleration: Array


@displayed
class PoseTrajectory(ABC):
    """A trajectory of a frame in the world.

    Attributes
    ----------
    duration : float [s]
    """

    duration: float

    @property
    @abstractmethod
    def knots(self) -> Array:
        """Times (k,) at which a derivative may jump, both ends included [s]."""

    @abstractmethod
    def _evaluate(self, t: Array, order: int) -> Array:
        """Evaluate at times within [0, duration]."""

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Evaluate the trajectory; before its start and after its end the frame is at rest.

        Parameters
        ----------
        t : (...)
            Times [s].
        order : 0, 1 or 2
            0 for poses, 1 for velocities, 2 for accelerations.

        Returns
        -------
        (..., 4, 4) or (..., 6) array
            Poses T_world_frame; or velocities [m/s, rad/s] or classical accelerations [m/s^2, rad/s^2] of the frame's
            origin in world axes, linear first, as in `kinematics.velocity` and `kinematics.acceleration`.
        """
        return evaluate_at(self._evaluate, self.duration, t, integer("order", order, 0, 2))

    def sample(self, dt: float) -> PoseSamples:
        """Sample poses, twists and accelerations.

        Parameters
        ----------
        dt : float
            Time between samples [s]; the last step, to the end, may be shorter.

        Returns
        -------
        PoseSamples
        """
        times = sample_times(dt, self.duration)
        return PoseSamples(times, self(times), self(times, 1), self(times, 2))

    def peaks(self) -> Array:
        """Compute the peak linear velocity [m/s], angular velocity [rad/s], linear and angular acceleration: (4,)."""

        def norms(t: Array) -> Array:
            rates = [self(t, order).reshape(-1, 2, 3) for order in (1, 2)]
            return np.concatenate([np.linalg.norm(rate, axis=-1) for rate in rates], axis=1)

        return refined_peaks(norms, sampling_times(self.knots))[0]

    @check_types
    def follow(
        self,
        robot: Robot,
        frame: str,
        q0: ArrayLike | None = None,
        *,
        tolerance: float = 1e-4,
        samples: int | None = None,
        **options: object,
    ) -> FollowResult:
        """Compute a joint trajectory that moves a frame of a robot along this one.

        The joint path comes from `kinodyn.ik.track`. At samples the joints have the velocities and accelerations that
        give the frame those of this trajectory, and between samples they follow quintic polynomials: the acceleration
        jumps only where that of the frame does. Redundant joints follow smooth functions fitted to the path. Near
        singularities and joint limits the joints follow a cubic spline instead. The number of samples is doubled until
        the frame stays within `tolerance` halfway between them too. Velocity limits of the joints are not considered:
        see `check` and `retime`.

        Parameters
        ----------
        robot : Robot
        frame : str
        q0 : (nq,), optional
            Current configuration; if it does not reach the first pose, the nearest configuration that does is used.
            Without it several configurations are tried.
        tolerance : float
            Maximum distance [m] and angle [rad] from this trajectory.
        samples : int, optional
            Initial number of samples; by default one every 20 ms, at least 30.
        options
            Keyword arguments of `kinodyn.ik.track`: position_only, weights, max_step, null_gain, limits, seed.

        Returns
        -------
        FollowResult
            Its `trajectory` is None where the path cannot be followed, and `reason` says where and why.
        """
        return follow(self, robot, frame, q0, tolerance, samples, options)

    @check_types
    def plot(self, path: str | None = None) -> Figure:
        """Plot position, orientation, velocities and accelerations over time.

        Parameters
        ----------
        path : str, optional
            Image file to write.

        Returns
        -------
        matplotlib Figure
        """
        from kinodyn.trajectory.plots import plot_poses  # import cycle: plots are built on trajectories

        return plot_poses(self, path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.duration:.4g} s)"
