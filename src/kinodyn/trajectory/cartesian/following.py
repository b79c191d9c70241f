"""From a motion of a frame to a motion of the joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.ik.track import track
from kinodyn.ik.tracking.result import Track
from kinodyn.model.robot import Robot
from kinodyn.spatial.lie import log_rotation
from kinodyn.trajectory.cartesian.poses import PoseTrajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import positive
from kinodyn.trajectory.spline import cubic_spline

MOST = 8000  # samples


@dataclass(frozen=True, eq=False)
class Followed:
    """What `PoseTrajectory.follow` found. True in an `if` when the whole motion is followed.

    Attributes
    ----------
    trajectory : PiecewisePolynomial or None
        The joint motion; None if the path breaks.
    status : str
        "solved"; or that of the break, as in `kinodyn.ik.Track`: "limits", "unreachable", "singular", "step"; or
        "coarse": followed at all samples, but between them not within the tolerance.
    reason : str
        Where and why it breaks; empty if it does not.
    broke_at : float or None
        When the break is [s].
    error : (2,) array
        The greatest distance [m] and angle [rad] from the motion, at samples and halfway between; NaN if it breaks.
    track : Track
        The joint path, sample by sample.
    """

    trajectory: PiecewisePolynomial | None
    status: str
    reason: str
    broke_at: float | None
    error: Array
    track: Track

    @property
    def success(self) -> bool:
        """Tell whether the whole motion is followed."""
        return self.status == "solved"

    def __bool__(self) -> bool:
        return self.success


def follow(
    motion: PoseTrajectory,
    robot: Robot,
    frame: str,
    q0: ArrayLike | None,
    tolerance: float,
    samples: int | None,
    options: dict[str, object],
) -> Followed:
    """Follow a motion with a frame; see `PoseTrajectory.follow`."""
    near = positive("tolerance", tolerance)
    count = max(30, int(np.ceil(motion.duration / 0.02))) if samples is None else samples
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 4:
        raise InputError(f"samples is {samples!r}; give a whole number of at least 4")
    while True:
        times = np.linspace(0.0, motion.duration, int(count))
        path = track(robot, motion(times), frame, q0, **options)  # type: ignore[arg-type]
        if not path.success:
            at = float(times[int(path.reached)])
            reason = f"at {at:.4g} s, {path.reasons.item()}"
            return Followed(None, str(path.status), reason, at, np.full(2, np.nan), path)
        joints = _through(robot, motion, times, path.q)
        error = _error(robot, motion, frame, joints, times, options)
        if error.max() <= near:
            return Followed(joints, "solved", "", None, error, path)
        if 2 * count > MOST:
            reason = f"with {count} samples the frame is still {error[0]:.2g} m or {error[1]:.2g} rad off between them"
            return Followed(joints, "coarse", reason, None, error, path)
        count = 2 * count - 1


def _through(robot: Robot, motion: PoseTrajectory, times: Array, q: Array) -> PiecewisePolynomial:
    """Join the joint path; one that starts and ends at rest does so exactly."""
    rest = np.abs(motion(np.array([0.0, motion.duration]), 1)).max() < 1e-9
    return cubic_spline(q, times, ends="clamped" if rest else "not-a-knot", robot=robot)


def _error(
    robot: Robot,
    motion: PoseTrajectory,
    frame: str,
    joints: PiecewisePolynomial,
    times: Array,
    options: dict[str, object],
) -> Array:
    """Measure the greatest distance and angle at samples and halfway between, in the directions that count."""
    t = np.sort(np.concatenate([times, 0.5 * (times[:-1] + times[1:])]))
    given = options.get("weights")
    weights = np.ones(6) if given is None else np.asarray(given, dtype=float)
    counted = (weights > 0.0) & np.repeat([True, not options.get("position_only", False)], 3)
    found, wanted = kinematics.pose(robot, joints(t), frame), motion(t)
    distance = (wanted[:, :3, 3] - found[:, :3, 3]) * counted[:3]
    turn = log_rotation(wanted[:, :3, :3] @ np.swapaxes(found[:, :3, :3], -2, -1)) * counted[3:]
    return np.array([np.linalg.norm(part, axis=-1).max() for part in (distance, turn)])
