"""Straight lines and screws."""

from __future__ import annotations

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import one_pose
from kinodyn.spatial import log, log3
from kinodyn.spatial.cross import skew_matrix
from kinodyn.spatial.lie import exp_rotation_vector
from kinodyn.trajectory.cartesian.limits import NO_LIMITS, CartesianLimits
from kinodyn.trajectory.cartesian.poses import PoseTrajectory
from kinodyn.trajectory.cartesian.timing import Law, PathGeometry, timing_law
from kinodyn.trajectory.piecewise import PiecewisePolynomial


class SingleAxisMotion(PoseTrajectory):
    """A motion that rotates about one fixed axis while its origin moves on a line, a circle or a helix.

    At the path parameter s the rotation is R0 exp(s rotation) and the origin is
    p0 + s translation + (exp(s winding) - I) arm: `winding` (3,) [rad] in world axes rotates the `arm` (3,) [m].
    """

    def __init__(
        self, T0: Array, rotation: Array, translation: Array, winding: Array, arm: Array, law: PiecewisePolynomial
    ) -> None:
        self.T0, self.rotation, self.translation = T0, rotation, translation
        self.winding, self.arm, self.law = winding, arm, law
        self.duration, self._skew = law.duration, skew_matrix(winding)

    @property
    def knots(self) -> Array:
        """Times at which the acceleration may jump [s]."""
        return self.law.knots

    def _evaluate(self, t: Array, order: int) -> Array:
        s = self.law(t)
        arm = (exp_rotation_vector(s * self.winding) @ self.arm[:, None])[..., 0]
        if order == 0:
            T = np.zeros((*t.shape, 4, 4))
            T[..., :3, :3] = self.T0[:3, :3] @ exp_rotation_vector(s * self.rotation)
            T[..., :3, 3] = self.T0[:3, 3] + s * self.translation + arm - self.arm
            T[..., 3, 3] = 1.0
            return T
        linear = self.translation + arm @ self._skew.T
        angular = np.broadcast_to(self.T0[:3, :3] @ self.rotation, linear.shape)
        tangent = np.concatenate([linear, angular], axis=-1)
        if order == 1:
            return np.asarray(tangent * self.law(t, 1))
        bend = np.concatenate([arm @ (self._skew @ self._skew).T, 0.0 * angular], axis=-1)
        return np.asarray(tangent * self.law(t, 2) + bend * self.law(t, 1) ** 2)


@check_types
def line(
    T0: MatrixLike,
    T1: MatrixLike,
    limits: CartesianLimits = NO_LIMITS,
    *,
    duration: float | None = None,
    law: Law = "trapezoid",
) -> SingleAxisMotion:
    """Move from pose T0 to T1 on a straight line, rotating about one axis, from rest to rest.

    Parameters
    ----------
    T0, T1 : (4, 4)
    limits : CartesianLimits, optional
        The motion is as fast as they allow. Without them a duration is needed.
    duration : float, optional
        Duration [s], not shorter than the limits allow.
    law : "trapezoid", "jerk_limited" or "minimum_jerk"
        Timing law: trapezoidal velocity, the same with limited jerk (needs a jerk limit), or a quintic, which is
        slower and smooth.

    Returns
    -------
    PoseTrajectory

    Examples
    --------
    >>> T0, T1 = np.eye(4), np.eye(4)
    >>> T1[0, 3] = 2.0
    >>> motion = line(T0, T1, CartesianLimits(linear_velocity=1.0, linear_acceleration=1.0))
    >>> print(motion.duration, motion(1.5)[:3, 3], motion(1.5, 1))
    3.0 [1. 0. 0.] [1. 0. 0. 0. 0. 0.]
    """
    start, end = one_pose("T0", T0), one_pose("T1", T1)
    rotation, translation = log3(start[:3, :3].T @ end[:3, :3]), end[:3, 3] - start[:3, 3]
    path = PathGeometry(float(np.linalg.norm(translation)), 0.0, float(np.linalg.norm(rotation)))
    timing = timing_law(path, limits, duration, law)
    return SingleAxisMotion(start, rotation, translation, np.zeros(3), np.zeros(3), timing)


@check_types
def screw(
    T0: MatrixLike,
    T1: MatrixLike,
    limits: CartesianLimits = NO_LIMITS,
    *,
    duration: float | None = None,
    law: Law = "trapezoid",
) -> SingleAxisMotion:
    """Move from pose T0 to T1 on a screw: the twist has a constant direction, the origin moves on a helix.

    `spatial.interpolate` gives the same poses.

    Parameters
    ----------
    T0, T1 : (4, 4)
    limits, duration, law
        As in `line`.

    Returns
    -------
    PoseTrajectory
    """
    start, end = one_pose("T0", T0), one_pose("T1", T1)
    twist = log(np.linalg.inv(start) @ end)
    R, rotation = start[:3, :3], twist[3:]
    winding, linear = R @ rotation, R @ twist[:3]
    square = float(winding @ winding)
    translation = linear if square == 0.0 else winding * float(winding @ linear) / square
    arm = np.zeros(3) if square == 0.0 else -np.cross(winding, linear) / square  # from the screw axis to the origin
    bend = float(np.linalg.norm(winding)) ** 2 * float(np.linalg.norm(arm))
    path = PathGeometry(float(np.linalg.norm(linear)), bend, float(np.linalg.norm(rotation)))
    return SingleAxisMotion(start, rotation, translation, winding, arm, timing_law(path, limits, duration, law))
