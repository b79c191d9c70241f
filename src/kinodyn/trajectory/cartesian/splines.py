"""Splines through poses."""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose
from kinodyn.description.types import Description, Inertia, Joint, JointKind, Link
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_quaternion, from_quaternion
from kinodyn.trajectory.cartesian.limits import NO_LIMITS, CartesianLimits
from kinodyn.trajectory.cartesian.poses import PoseTrajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.spline import Ends, cubic_spline, quintic_spline


class PoseSpline(PoseTrajectory):
    """A spline of poses: the trajectory of a free body (`body`), whose configuration is position and quaternion."""

    def __init__(self, body: PiecewisePolynomial) -> None:
        self.body, self.duration = body, body.duration
        assert body.robot is not None
        self.coupled = body.robot.joints[0].kind == "floating"

    @property
    def knots(self) -> Array:
        """Times at which the spline passes the poses [s]."""
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
        if self.coupled:  # a twist in body axes: its rate plus omega x v is the classical acceleration
            if order == 2:
                linear = linear + np.cross(v[..., 3:], v[..., :3])
            linear = (R @ linear[..., None])[..., 0]
        return np.concatenate([linear, angular], axis=-1)


@check_types
def spline(
    poses: MatrixLike,
    times: ArrayLike | None = None,
    limits: CartesianLimits = NO_LIMITS,
    *,
    degree: Literal[3, 5] = 3,
    ends: Ends = "clamped",
    coupled: bool = False,
) -> PoseSpline:
    """Interpolate poses with continuous velocity and acceleration.

    Parameters
    ----------
    poses : (n, 4, 4)
        Poses T_world_frame.
    times : (n,), optional
        Times of the poses [s]. Without them they follow from the distances and are stretched by one factor until the
        limits are just met.
    limits : CartesianLimits, optional
        Limits of velocity and acceleration, instead of times; jerk limits are ignored.
    degree : 3 or 5
        As in `cubic_spline` and `quintic_spline`; 5 has a smoother acceleration.
    ends : "clamped", "natural", "periodic" or "not-a-knot"
        End conditions; "clamped" is at rest.
    coupled : bool
        False: positions are an ordinary spline, independent of the rotations. True: the curve is one of SE(3), in
        exponential coordinates between poses, so that a screw with constant twist stays one.

    Returns
    -------
    PoseTrajectory
    """
    if degree not in (3, 5):
        raise InputError(f"degree must be 3 or 5, got {degree!r}")
    T = as_pose(poses, "poses")
    if T.ndim != 3 or len(T) < 2:
        raise InputError(f"poses must be two or more poses (n, 4, 4), got shape {T.shape}")
    if (times is None) != limits.is_limited:
        raise InputError("give either times, or limits such as linear_velocity and linear_acceleration")
    q = np.concatenate([T[:, :3, 3], as_quaternion(T[:, :3, :3])], axis=1)
    make = cubic_spline if degree == 3 else quintic_spline
    if times is not None:
        return PoseSpline(make(q, times, ends=ends, robot=_free_body(coupled)))
    first = PoseSpline(make(q, ends=ends, robot=_free_body(coupled)))
    linear, angular = limits.linear_velocity, limits.angular_velocity
    most = np.array([linear, angular, limits.linear_acceleration, limits.angular_acceleration])
    factors = (first.peaks() / most) ** np.array([1.0, 1.0, 0.5, 0.5])
    if not factors.max() > 0.0:
        raise InputError("no limit applies: give linear limits where the origin moves, angular ones where it rotates")
    return PoseSpline(first.body.stretched(float(factors.max()) * (1.0 + 1e-9)))


@cache
def _free_body(coupled: bool) -> Robot:
    """Make a body whose configuration is position and quaternion: a floating joint, or three prismatic and a ball."""
    axes = np.eye(3)
    kinds: tuple[JointKind, ...] = ("floating",) if coupled else ("prismatic", "prismatic", "prismatic", "ball")
    links = [Link(f"l{i}", Inertia(1.0, np.zeros(3), np.eye(3))) for i in range(len(kinds) + 1)]
    joints = [Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", np.eye(4), axes[min(i, 2)]) for i, kind in enumerate(kinds)]
    return Robot(Description("free body", tuple(links), tuple(joints)))
