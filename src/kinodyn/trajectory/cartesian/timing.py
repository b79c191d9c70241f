"""Timing laws along a path of a frame, from Cartesian limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar

from kinodyn.checks import one_of, positive
from kinodyn.errors import InputError
from kinodyn.trajectory.cartesian.limits import CartesianLimits
from kinodyn.trajectory.jerk_limited import jerk_limited
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.polynomial import minimum_jerk
from kinodyn.trajectory.trapezoid import ramp_and_duration, trapezoid

Law: TypeAlias = Literal["trapezoid", "minimum_jerk", "jerk_limited"]


@dataclass(frozen=True)
class PathGeometry:
    """Derivatives of a path p(s), R(s) by its parameter s from 0 to 1, the same all along it.

    Attributes
    ----------
    length : float
        |dp/ds| [m]
    bend : float
        |d2p/ds2| [m], perpendicular to dp/ds: the centripetal acceleration at unit path speed.
    angle : float
        Angle of the whole rotation [rad].
    """

    length: float
    bend: float
    angle: float


def timing_law(path: PathGeometry, limits: CartesianLimits, duration: float | None, law: Law) -> PiecewisePolynomial:
    """Compute s(t) from 0 to 1, from rest to rest, as fast as the limits allow with this kind of law.

    On a bend, the linear acceleration is |(length s'', bend s'^2)|. A trapezoid cruises at the path speed that makes
    the whole motion shortest, and accelerates with what the centripetal acceleration leaves of the limit. The jerk
    limit is along the path.
    """
    one_of("law", law, ("trapezoid", "minimum_jerk", "jerk_limited"))
    if not isinstance(limits, CartesianLimits):
        raise InputError(f"limits must be CartesianLimits, got {type(limits).__name__}")
    if not path.length + path.angle > 0.0:
        raise InputError("the path has no length and no rotation; give two different poses")
    fastest = _fastest(path, limits, law) if limits.is_limited else None
    if duration is None:
        if fastest is None:
            raise InputError("give limits, such as linear_velocity and linear_acceleration, or a duration")
        return fastest
    return _with_duration(fastest, positive("duration", duration), law)


def _with_duration(fastest: PiecewisePolynomial | None, duration: float, law: Law) -> PiecewisePolynomial:
    if fastest is None:
        if law != "minimum_jerk":
            raise InputError(f'law={law!r} needs limits; with a duration alone give law="minimum_jerk"')
        return minimum_jerk([0.0], [1.0], duration)
    if duration < fastest.duration * (1.0 - 1e-9):
        raise InputError(f"duration is {duration:g} s; the limits need at least {fastest.duration:.6g} s")
    return fastest.stretched(duration / fastest.duration)


def _fastest(path: PathGeometry, limits: CartesianLimits, law: Law) -> PiecewisePolynomial:
    if law == "minimum_jerk":
        return _minimum_jerk(path, limits)
    path_speed, acceleration = _cruise(path, limits)
    if not np.isfinite(acceleration):
        raise InputError(f"law={law!r} needs linear_acceleration or angular_acceleration, for what moves")
    if law == "trapezoid":
        return trapezoid([0.0], [1.0], velocity=path_speed, acceleration=acceleration)
    jerk = min(_ratio(limits.linear_jerk, path.length), _ratio(limits.angular_jerk, path.angle))
    if not np.isfinite(jerk):
        raise InputError('law="jerk_limited" needs linear_jerk or angular_jerk, for what moves')
    return jerk_limited([0.0], [1.0], velocity=path_speed, acceleration=acceleration, jerk=jerk)


def _cruise(path: PathGeometry, limits: CartesianLimits) -> tuple[float, float]:
    """Compute the cruising path speed ds/dt and the acceleration d2s/dt2 of the shortest trapezoid."""
    top = min(_ratio(limits.linear_velocity, path.length), _ratio(limits.angular_velocity, path.angle))
    if path.bend > 0.0:
        top = min(top, float(np.sqrt(limits.linear_acceleration / path.bend)) * (1.0 - 1e-9))
    angular = _ratio(limits.angular_acceleration, path.angle)

    def acceleration(path_speed: float) -> float:
        """Compute the d2s/dt2 that the centripetal acceleration at this path speed leaves of the limit."""
        most = limits.linear_acceleration
        if not np.isfinite(most) or path.length == 0.0:
            return angular
        left = most**2 - (path.bend * path_speed**2) ** 2 if path.bend else most**2
        return min(angular, float(np.sqrt(max(left, 0.0))) / path.length)

    def duration(fraction: float) -> float:
        return ramp_and_duration(fraction * top, max(acceleration(fraction * top), 1e-300))[1]

    path_speed = top
    if path.bend > 0.0 and np.isfinite(limits.linear_acceleration):
        best = minimize_scalar(duration, bounds=(1e-6, 1.0), method="bounded", options={"xatol": 1e-10})
        path_speed = top * float(best.x)
    return path_speed, acceleration(path_speed if np.isfinite(path_speed) else 0.0)


def _minimum_jerk(path: PathGeometry, limits: CartesianLimits) -> PiecewisePolynomial:
    """Stretch the law of unit duration by k: rates shrink by k, accelerations and bends by k^2, jerks by k^3."""
    unit = minimum_jerk([0.0], [1.0], 1.0)
    t = np.linspace(0.0, 1.0, 20001)
    rate, acceleration, jerk = (unit(t, order)[:, 0] for order in (1, 2, 3))
    linear = np.hypot(path.length * acceleration, path.bend * rate**2).max() * (1.0 + 1e-8)
    needed = [
        path.length * rate.max() / limits.linear_velocity,
        path.angle * rate.max() / limits.angular_velocity,
        np.sqrt(linear / limits.linear_acceleration),
        np.sqrt(path.angle * 10.0 / np.sqrt(3.0) / limits.angular_acceleration),
        np.cbrt(path.length * np.abs(jerk).max() / limits.linear_jerk),
        np.cbrt(path.angle * np.abs(jerk).max() / limits.angular_jerk),
    ]
    if not max(needed) > 0.0:
        raise InputError("no limit applies: give linear limits where the origin moves, angular ones where it rotates")
    return unit.stretched(float(max(needed)))


def _ratio(limit: float, size: float) -> float:
    return limit / size if size > 0.0 else np.inf
