"""How fast a frame goes along its path: from limits in metres and radians to a time law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import minimize_scalar

from kinodyn.errors import InputError
from kinodyn.trajectory.jerk_limited import jerk_limited
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.polynomial import minimum_jerk
from kinodyn.trajectory.space import positive
from kinodyn.trajectory.trapezoid import ramp_and_duration, trapezoid

Law: TypeAlias = Literal["trapezoid", "minimum_jerk", "jerk_limited"]


@dataclass(frozen=True)
class PathSizes:
    """What a path of a frame costs, by its share s from 0 to 1, the same all along it.

    `length` [m] is |dp/ds|, `bend` [m] is |d2p/ds2|, at right angles to it; `angle` [rad] is that of the whole turn.
    """

    length: float
    bend: float
    angle: float


@dataclass(frozen=True)
class FrameLimits:
    """Limits of a frame, infinite for none: speed [m/s], acceleration [m/s^2], jerk [m/s^3], and these in radians."""

    speed: float = np.inf
    acceleration: float = np.inf
    jerk: float = np.inf
    angular_speed: float = np.inf
    angular_acceleration: float = np.inf
    angular_jerk: float = np.inf


def frame_limits(**given: float | None) -> FrameLimits:
    """Read limits by name; None stands for none."""
    return FrameLimits(**{name: _limit(name, value) for name, value in given.items() if value is not None})


def time_law(sizes: PathSizes, limits: FrameLimits, duration: float | None, law: Law) -> PiecewisePolynomial:
    """Find s(t) from 0 to 1, from rest to rest, as fast as the limits allow with this kind of law.

    On a bend, the acceleration is |(length s'', bend s'^2)|. A trapezoid cruises at the pace that makes the whole
    shortest, and accelerates with what the bend leaves at that pace. The jerk limit is along the path.
    """
    if law not in ("trapezoid", "minimum_jerk", "jerk_limited"):
        raise InputError(f'law is {law!r}; give "trapezoid", "minimum_jerk" or "jerk_limited"')
    if not sizes.length + sizes.angle > 0.0:
        raise InputError("the path has no length and no turn; give two different poses")
    least = None
    if any(np.isfinite(value) for value in vars(limits).values()):
        least = _fastest(sizes, limits, law)
    if duration is None:
        if least is None:
            raise InputError("give limits, such as speed and acceleration, or a duration")
        return least
    wanted = positive("duration", duration)
    if least is None:
        if law != "minimum_jerk":
            raise InputError(f'law={law!r} needs limits; with a duration alone give law="minimum_jerk"')
        return minimum_jerk([0.0], [1.0], wanted)
    if wanted < least.duration * (1.0 - 1e-9):
        raise InputError(f"duration is {duration:g} s; the limits allow {least.duration:.6g} s at least")
    return least.stretched(wanted / least.duration)


def _fastest(sizes: PathSizes, limits: FrameLimits, law: Law) -> PiecewisePolynomial:
    if law == "minimum_jerk":
        return _minimum_jerk(sizes, limits)
    top = min(_share(limits.speed, sizes.length), _share(limits.angular_speed, sizes.angle))
    if sizes.bend > 0.0:
        top = min(top, float(np.sqrt(limits.acceleration / sizes.bend)) * (1.0 - 1e-9))
    turn_gain = _share(limits.angular_acceleration, sizes.angle)

    def gain(pace: float) -> float:
        if not np.isfinite(limits.acceleration) or sizes.length == 0.0:
            return turn_gain
        left = limits.acceleration**2 - (sizes.bend * pace**2) ** 2 if sizes.bend else limits.acceleration**2
        return min(turn_gain, float(np.sqrt(max(left, 0.0))) / sizes.length)

    pace = top
    if sizes.bend > 0.0 and np.isfinite(limits.acceleration):
        lasts = lambda share: ramp_and_duration(share * top, max(gain(share * top), 1e-300))[1]  # noqa: E731
        pace = top * float(minimize_scalar(lasts, bounds=(1e-6, 1.0), method="bounded", options={"xatol": 1e-10}).x)
    most = gain(pace if np.isfinite(pace) else 0.0)
    if not np.isfinite(most):
        raise InputError(f"law={law!r} needs a limit of acceleration for what moves: in metres, or in radians")
    if law == "trapezoid":
        return trapezoid([0.0], [1.0], velocity=pace, acceleration=most)
    jerk = min(_share(limits.jerk, sizes.length), _share(limits.angular_jerk, sizes.angle))
    if not np.isfinite(jerk):
        raise InputError('law="jerk_limited" needs jerk or angular_jerk, for what moves')
    return jerk_limited([0.0], [1.0], velocity=pace, acceleration=most, jerk=jerk)


def _minimum_jerk(sizes: PathSizes, limits: FrameLimits) -> PiecewisePolynomial:
    """Stretch the law of unit duration: rates shrink with its first power, accelerations and bends with its second."""
    unit = minimum_jerk([0.0], [1.0], 1.0)
    t = np.linspace(0.0, 1.0, 20001)
    rate, rise, jolt = (unit(t, order)[:, 0] for order in (1, 2, 3))
    needed = [
        sizes.length * rate.max() / limits.speed,
        sizes.angle * rate.max() / limits.angular_speed,
        np.sqrt(np.hypot(sizes.length * rise, sizes.bend * rate**2).max() * (1.0 + 1e-8) / limits.acceleration),
        np.sqrt(sizes.angle * 10.0 / np.sqrt(3.0) / limits.angular_acceleration),
        np.cbrt(sizes.length * np.abs(jolt).max() / limits.jerk),
        np.cbrt(sizes.angle * np.abs(jolt).max() / limits.angular_jerk),
    ]
    if not max(needed) > 0.0:
        raise InputError("none of the limits concerns what moves: give speed for metres, angular_speed for radians")
    return unit.stretched(float(max(needed)))


def _share(limit: float, size: float) -> float:
    return limit / size if size > 0.0 else np.inf


def _limit(name: str, value: float) -> float:
    return float(np.inf) if value == np.inf else positive(name, value)
