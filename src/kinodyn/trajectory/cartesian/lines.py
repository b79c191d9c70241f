"""Straight lines and screws."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose
from kinodyn.errors import InputError
from kinodyn.spatial import log, log3
from kinodyn.spatial.cross import skew_matrix
from kinodyn.spatial.lie import exp_rotation_vector
from kinodyn.trajectory.cartesian.laws import Law, PathSizes, frame_limits, time_law
from kinodyn.trajectory.cartesian.poses import PoseTrajectory
from kinodyn.trajectory.piecewise import PiecewisePolynomial


class TurningPath(PoseTrajectory):
    """A motion whose frame turns about one fixed axis, while its origin goes on a line, a circle or a helix.

    At the share s of the way the rotation is R0 exp(s turn) and the origin is
    start + s along + (exp(s winding) - I) arm: `winding` (3,) [rad] in world axes turns the `arm` (3,) [m].
    """

    def __init__(
        self, T0: Array, turn: Array, along: Array, winding: Array, arm: Array, law: PiecewisePolynomial
    ) -> None:
        self.T0, self.turn, self.along, self.winding, self.arm, self.law = T0, turn, along, winding, arm, law
        self.duration, self._wind = law.duration, skew_matrix(winding)

    @property
    def knots(self) -> Array:
        """List the times at which the acceleration may jump [s]."""
        return self.law.knots

    def _evaluate(self, t: Array, order: int) -> Array:
        s = self.law(t)
        arm = (exp_rotation_vector(s * self.winding) @ self.arm[:, None])[..., 0]
        if order == 0:
            T = np.zeros((*t.shape, 4, 4))
            T[..., :3, :3] = self.T0[:3, :3] @ exp_rotation_vector(s * self.turn)
            T[..., :3, 3] = self.T0[:3, 3] + s * self.along + arm - self.arm
            T[..., 3, 3] = 1.0
            return T
        first = self.along + arm @ self._wind.T
        spin = np.broadcast_to(self.T0[:3, :3] @ self.turn, first.shape)
        tangent = np.concatenate([first, spin], axis=-1)
        if order == 1:
            return np.asarray(tangent * self.law(t, 1))
        bend = np.concatenate([arm @ (self._wind @ self._wind).T, 0.0 * spin], axis=-1)
        return np.asarray(tangent * self.law(t, 2) + bend * self.law(t, 1) ** 2)


def line(
    T0: MatrixLike,
    T1: MatrixLike,
    *,
    speed: float | None = None,
    acceleration: float | None = None,
    jerk: float | None = None,
    angular_speed: float | None = None,
    angular_acceleration: float | None = None,
    angular_jerk: float | None = None,
    duration: float | None = None,
    law: Law = "trapezoid",
) -> TurningPath:
    """Go from pose T0 to T1 (4, 4): the origin on a straight line, the rotation about one axis, from rest to rest.

    It takes as long as the limits ask for, in metres and in radians, or `duration` [s] if that is longer.
    `law` is "trapezoid" (of speed), "jerk_limited" (needs jerk too) or "minimum_jerk" (slower, smooth).

    >>> T0, T1 = np.eye(4), np.eye(4)
    >>> T1[0, 3] = 2.0
    >>> motion = line(T0, T1, speed=1.0, acceleration=1.0)
    >>> print(motion.duration, motion(1.5)[:3, 3], motion(1.5, 1))
    3.0 [1. 0. 0.] [1. 0. 0. 0. 0. 0.]
    """
    start, end = one_pose("T0", T0), one_pose("T1", T1)
    turn, along = log3(start[:3, :3].T @ end[:3, :3]), end[:3, 3] - start[:3, 3]
    limits = frame_limits(
        speed=speed,
        acceleration=acceleration,
        jerk=jerk,
        angular_speed=angular_speed,
        angular_acceleration=angular_acceleration,
        angular_jerk=angular_jerk,
    )
    sizes = PathSizes(float(np.linalg.norm(along)), 0.0, float(np.linalg.norm(turn)))
    return TurningPath(start, turn, along, np.zeros(3), np.zeros(3), time_law(sizes, limits, duration, law))


def screw(
    T0: MatrixLike,
    T1: MatrixLike,
    *,
    speed: float | None = None,
    acceleration: float | None = None,
    jerk: float | None = None,
    angular_speed: float | None = None,
    angular_acceleration: float | None = None,
    angular_jerk: float | None = None,
    duration: float | None = None,
    law: Law = "trapezoid",
) -> TurningPath:
    """Go from pose T0 to T1 (4, 4) on a screw, as a body with a constant twist does: the origin goes on a helix.

    Arguments are as in `line`; `spatial.interpolate` gives the same poses.
    """
    start, end = one_pose("T0", T0), one_pose("T1", T1)
    twist = log(np.linalg.inv(start) @ end)
    R, turn = start[:3, :3], twist[3:]
    winding, linear = R @ turn, R @ twist[:3]
    square = float(winding @ winding)
    along = linear if square == 0.0 else winding * float(winding @ linear) / square
    arm = np.zeros(3) if square == 0.0 else -np.cross(winding, linear) / square  # from the axis to the origin
    limits = frame_limits(
        speed=speed,
        acceleration=acceleration,
        jerk=jerk,
        angular_speed=angular_speed,
        angular_acceleration=angular_acceleration,
        angular_jerk=angular_jerk,
    )
    bend = float(np.linalg.norm(winding)) ** 2 * float(np.linalg.norm(arm))
    sizes = PathSizes(float(np.linalg.norm(linear)), bend, float(np.linalg.norm(turn)))
    return TurningPath(start, turn, along, winding, arm, time_law(sizes, limits, duration, law))


def one_pose(what: str, T: MatrixLike) -> Array:
    """Read one pose (4, 4)."""
    pose = as_pose(T, what)
    if pose.shape != (4, 4):
        raise InputError(f"{what} has shape {pose.shape}; give one pose (4, 4)")
    return pose
