"""Joint trajectories that follow a trajectory of a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.checks import integer, positive
from kinodyn.display import displayed
from kinodyn.ik.track import track
from kinodyn.ik.tracking.result import TrackResult
from kinodyn.model.robot import Robot
from kinodyn.spatial.lie import log_rotation
from kinodyn.trajectory.cartesian.smooth import ONE_SIDE, FrameMotion, smooth_trajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.spline import cubic_spline

MAX_SAMPLES = 8000  # after which they are no longer doubled
MAX_GIVEN_SAMPLES = 100_000
NEXT_TO = 1e-6  # knots nearer than this are one, relative to the duration


class PoseFunction(Protocol):
    """A trajectory of poses; `PoseTrajectory` is built on this module."""

    duration: float

    @property
    def knots(self) -> Array:
        """Times (k,) at which a derivative may jump."""
        ...

    def __call__(self, t: ArrayLike, order: int = 0) -> Array:
        """Compute poses (..., 4, 4) or, with order 1 and 2, velocities and accelerations (..., 6)."""
        ...


@displayed
@dataclass(frozen=True, eq=False)
class FollowResult:
    """Result of `PoseTrajectory.follow`; true in a boolean context when the whole trajectory is followed.

    Attributes
    ----------
    trajectory : PiecewisePolynomial or None
        Joint trajectory; None if the path cannot be followed to its end.
    status : str
        "solved"; where tracking fails the status of `kinodyn.ik.TrackResult`: "limits", "unreachable", "singular",
        "step"; or "coarse": tracked at all samples, but not within the tolerance between them.
    reason : str
        Where and why it fails; empty if it does not.
    failure_time : float or None
        Time at which tracking fails [s].
    error : (2,) array
        Maximum distance [m] and angle [rad] from the trajectory of the frame, at samples and halfway between; NaN if
        tracking fails.
    track : TrackResult
        Joint path, sample by sample.
    """

    trajectory: PiecewisePolynomial | None
    status: str
    reason: str
    failure_time: float | None
    error: Array
    track: TrackResult

    @property
    def success(self) -> bool:
        """Whether the whole trajectory is followed."""
        return self.status == "solved"

    def __bool__(self) -> bool:
        return self.success


def follow(
    motion: PoseFunction,
    robot: Robot,
    frame: str,
    q0: ArrayLike | None,
    tolerance: float,
    samples: int | None,
    options: dict[str, object],
) -> FollowResult:
    """Compute a joint trajectory; see `PoseTrajectory.follow`."""
    within = positive("tolerance", tolerance)
    count = max(30, int(min(np.ceil(motion.duration / 0.02), MAX_GIVEN_SAMPLES)))
    if samples is not None:
        count = integer("samples", samples, 4, MAX_GIVEN_SAMPLES)
    while True:
        times = _sample_times(motion, count)
        path = track(robot, motion(times), frame, q0, **options)  # type: ignore[arg-type]
        if not path.success:
            at = float(times[int(path.reached)])
            reason = f"at {at:.4g} s, {path.reasons.item()}"
            return FollowResult(None, str(path.status), reason, at, np.full(2, np.nan), path)
        joints = _interpolate(robot, motion, frame, times, path.q, options)
        error = _error(robot, motion, frame, joints, times, options)
        if error.max() <= within:
            return FollowResult(joints, "solved", "", None, error, path)
        if 2 * count > MAX_SAMPLES:
            reason = f"with {count} samples the error between them is still {error[0]:.2g} m or {error[1]:.2g} rad"
            return FollowResult(joints, "coarse", reason, None, error, path)
        count = 2 * count - 1


def _sample_times(motion: PoseFunction, count: int) -> Array:
    """Return evenly spaced times, and the knots in place of those next to them."""
    times, knots = np.linspace(0.0, motion.duration, count), np.unique(motion.knots)
    knots = knots[np.diff(knots, prepend=-np.inf) > NEXT_TO * motion.duration]
    apart = np.abs(times[:, None] - knots).min(axis=1) > 0.1 * motion.duration / count
    return np.sort(np.concatenate([times[apart], knots]))


def _interpolate(
    robot: Robot, motion: PoseFunction, frame: str, times: Array, q: Array, options: dict[str, object]
) -> PiecewisePolynomial:
    """Interpolate the joint path: with the accelerations of the frame's motion where it determines them.

    Otherwise, near singularities and at limits, by a cubic spline, clamped where the motion starts and ends at rest.
    """
    side = ONE_SIDE * motion.duration
    before, after = (motion(np.clip(times + step, 0.0, motion.duration), 2) for step in (-side, side))
    sampled = FrameMotion(times, motion(times), motion(times, 1), before, after, np.nonzero(_tracked(options))[0])
    smooth = smooth_trajectory(robot, frame, sampled, q, limits=bool(options.get("limits", True)))
    if smooth is not None:
        return smooth
    at_rest = np.abs(motion(np.array([0.0, motion.duration]), 1)).max() < 1e-9
    return cubic_spline(q, times, ends="clamped" if at_rest else "not-a-knot", robot=robot)


def _error(
    robot: Robot,
    motion: PoseFunction,
    frame: str,
    joints: PiecewisePolynomial,
    times: Array,
    options: dict[str, object],
) -> Array:
    """Compute the largest distance and angle at samples and halfway between, along the tracked directions."""
    t = np.sort(np.concatenate([times, 0.5 * (times[:-1] + times[1:])]))
    tracked = _tracked(options)
    actual, desired = kinematics.pose(robot, joints(t), frame), motion(t)
    distance = (desired[:, :3, 3] - actual[:, :3, 3]) * tracked[:3]
    angle = log_rotation(desired[:, :3, :3] @ np.swapaxes(actual[:, :3, :3], -2, -1)) * tracked[3:]
    return np.array([np.linalg.norm(part, axis=-1).max() for part in (distance, angle)])


def _tracked(options: dict[str, object]) -> NDArray[np.bool_]:
    """Return which directions (6,) are tracked."""
    given = options.get("weights")
    weights = np.ones(6) if given is None else np.asarray(given, dtype=float)
    tracked: NDArray[np.bool_] = (weights > 0.0) & np.repeat([True, not options.get("position_only", False)], 3)
    return tracked
