"""Splines through poses."""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose
from kinodyn.description.types import Description, Inertia, Joint, JointKind, Link
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_quaternion, from_quaternion
from kinodyn.trajectory.cartesian.laws import frame_limits
from kinodyn.trajectory.cartesian.poses import PoseTrajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.spline import Ends, cubic_spline, quintic_spline


class PoseSpline(PoseTrajectory):
    """A spline of poses: that of a free body (`body`), whose configuration is position and quaternion."""

    def __init__(self, body: PiecewisePolynomial) -> None:
        self.body, self.duration = body, body.duration
        assert body.robot is not None
        self.coupled = body.robot.joints[0].kind == "floating"

    @property
    def knots(self) -> Array:
        """List the times at which the spline passes the poses [s]."""
        return self.body.knots

    def _evaluate(self, t: Array, order: int) -> Array:
        q = self.body(t)
        R = from_quaternion(q[..., 3:])
        if order == 0:
            T = np.zeros((*t.shape, 4, 4))
            T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, q[..., :3], 1.0
            return T
        v, rate = self.body(t, 1), self.body(t, order)
        linear, angular = rate[..., :3], (R @ rate[..., 3:, None])[..., 0]
        if self.coupled:  # a twist in the body's axes; the linear part of its rate misses omega x v
            if order == 2:
                linear = linear + np.cross(v[..., 3:], v[..., :3])
            linear = (R @ linear[..., None])[..., 0]
        return np.concatenate([linear, angular], axis=-1)


def spline(
    poses: MatrixLike,
    times: ArrayLike | None = None,
    *,
    degree: Literal[3, 5] = 3,
    ends: Ends = "clamped",
    coupled: bool = False,
    speed: float | None = None,
    acceleration: float | None = None,
    angular_speed: float | None = None,
    angular_acceleration: float | None = None,
) -> PoseSpline:
    """Go through poses (n, 4, 4) at times (n,) [s], velocity and acceleration continuous.

    Without times, they are chosen by the distances and stretched as a whole until the limits, in metres and radians,
    are just kept.

    Parameters
    ----------
    degree
        3, or 5 for a smoother acceleration: `cubic_spline` and `quintic_spline`.
    ends
        "clamped" (at rest), "natural", "periodic" or "not-a-knot".
    coupled
        False: the positions are an ordinary spline, whatever the rotations do. True: the curve is one of SE(3), in
        exponential coordinates between poses, so that a constant twist, a screw, stays one.
    """
    if degree not in (3, 5):
        raise InputError(f"degree is {degree!r}; give 3 or 5")
    T = as_pose(poses, "poses")
    if T.ndim != 3 or len(T) < 2:
        raise InputError(f"poses has shape {T.shape}; give at least two poses (n, 4, 4)")
    limits = frame_limits(
        speed=speed,
        acceleration=acceleration,
        angular_speed=angular_speed,
        angular_acceleration=angular_acceleration,
    )
    most = np.array([limits.speed, limits.angular_speed, limits.acceleration, limits.angular_acceleration])
    if (times is None) != bool(np.isfinite(most).any()):
        raise InputError("give either times, or limits such as speed and acceleration")
    q = np.concatenate([T[:, :3, 3], as_quaternion(T[:, :3, :3])], axis=1)
    make = cubic_spline if degree == 3 else quintic_spline
    if times is not None:
        return PoseSpline(make(q, times, ends=ends, robot=_free_body(coupled)))
    first = PoseSpline(make(q, ends=ends, robot=_free_body(coupled)))
    needed = (first.peaks() / most) ** np.array([1.0, 1.0, 0.5, 0.5])
    if not needed.max() > 0.0:
        raise InputError("none of the limits concerns what moves: give speed for metres, angular_speed for radians")
    return PoseSpline(first.body.stretched(float(needed.max()) * (1.0 + 1e-9)))


@cache
def _free_body(coupled: bool) -> Robot:
    """Make a body whose configuration is position and quaternion: one floating joint, or three slides and a ball."""
    axes = np.eye(3)
    kinds: tuple[JointKind, ...] = ("floating",) if coupled else ("prismatic", "prismatic", "prismatic", "ball")
    links = [Link(f"l{i}", Inertia(1.0, np.zeros(3), np.eye(3))) for i in range(len(kinds) + 1)]
    joints = [Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", np.eye(4), axes[min(i, 2)]) for i, kind in enumerate(kinds)]
    return Robot(Description("free body", tuple(links), tuple(joints)))
