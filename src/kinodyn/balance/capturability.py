"""In how many steps a pendulum on feet can come to rest, and what a push may be for that.

T. Koolen et al., "Capturability-based analysis and control of legged locomotion, part 1", 2012.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.balance.polygon import half_planes
from kinodyn.checks import numbers
from kinodyn.errors import InputError


def capture_distance(
    steps: ArrayLike, omega: float, step_time: float, step_length: float, foot_radius: float = 0.0
) -> Array:
    """Compute how far (...) [m] the capture point may be from the ankle and still be caught in so many steps.

    d_0 = r, d_N = (L - r + d_(N-1)) exp(-omega T) + r; without end L e^(-omega T) / (1 - e^(-omega T)) + r.

    Parameters
    ----------
    steps
        Number of steps (...) from 0 on; `numpy.inf` is as many as wanted.
    step_time
        Shortest time T [s] until the next foot is down.
    step_length
        Longest distance L [m] between one ankle and the next.
    foot_radius
        How far r [m] the centre of pressure can be from the ankle; 0 is a point foot.

    Example
    -------
    >>> print(capture_distance([0, 1, 2, np.inf], 3.0, 0.5, 0.6, 0.05).round(3))
    [0.05  0.184 0.214 0.222]
    """
    n = np.asarray(steps, dtype=float)
    if np.isnan(n).any() or (n < 0).any() or (np.isfinite(n) & (n != np.floor(n))).any():
        raise InputError(f"steps must be whole numbers from 0 on, or infinite, got {steps!r}")
    decay = _decay(omega, step_time)
    for name, value in (("step_length", step_length), ("foot_radius", foot_radius)):
        if not 0 <= value < np.inf:
            raise InputError(f"{name} must be a number of metres from 0 on, got {value!r}")
    # the sum of L decay^k from 1 to N
    return foot_radius + step_length * decay * (1.0 - decay**n) / (1.0 - decay)


def steps_to_capture(
    distance: ArrayLike, omega: float, step_time: float, step_length: float, foot_radius: float = 0.0
) -> Array:
    """Count the least steps (...) that catch a capture point at `distance` (...) [m] from the ankle; inf: none do."""
    away = np.abs(numbers("distance", distance)) - foot_radius
    decay = _decay(omega, step_time)
    limit = capture_distance(np.inf, omega, step_time, step_length, foot_radius) - foot_radius
    left = np.where(away < limit, 1.0 - away / np.where(limit > 0, limit, 1.0), 1.0)
    # rounding must not add a step to what lies on the bound itself
    count = np.ceil(np.log(np.maximum(left, 1e-300)) / np.log(decay) - 1e-9)
    result: Array = np.where(away <= 1e-12, 0.0, np.where(away < limit, np.maximum(count, 1.0), np.inf))
    return result


class Bounds(NamedTuple):
    """How far [m] the capture point may be from a new stance foot when it lands, for walking to go on.

    `ahead` and `behind` along the foot; `inward` towards the other foot, `outward` away from it, which may be negative:
    then it must be inward of the foot by that much.
    """

    ahead: float
    behind: float
    inward: float
    outward: float


def walking_bounds(
    omega: float, step_time: float, *, forward: float, backward: float, narrowest: float, widest: float
) -> Bounds:
    """Compute where the capture point must be at touchdown so that feet that do not cross can catch it.

    Steps go `forward` or `backward` at most and `narrowest` to `widest` [m] to the side, none in less than `step_time`.
    Beyond the bounds no sequence of steps helps (point feet; add how far the centre of pressure can be from the ankle).

    M. Khadiv et al., "Walking control based on step timing adaptation", 2020, for the same idea.
    """
    if not 0 <= narrowest <= widest < np.inf or not (0 <= forward < np.inf and 0 <= backward < np.inf):
        raise InputError(
            "lengths must be from 0 on, and narrowest at most widest; "
            f"got {forward=}, {backward=}, {narrowest=}, {widest=}"
        )
    grow = 1.0 / _decay(omega, step_time)
    return Bounds(
        forward / (grow - 1.0),
        backward / (grow - 1.0),
        (widest * grow - narrowest) / (grow**2 - 1.0),
        (widest - narrowest * grow) / (grow**2 - 1.0),
    )


def push_bound(polygon: ArrayLike, dcm: ArrayLike, direction: ArrayLike, omega: float, mass: float) -> Array:
    """Compute the greatest impulse (...) [N s] in a direction (..., 2) that is survived without a step.

    It moves the capture point from where it is (..., 2) to the edge of the support polygon (m, 2), counter-clockwise.
    Zero if it is outside already; only the pendulum counts, not hips or arms.

    Example
    -------
    >>> square = [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]
    >>> print(push_bound(square, [0, 0], [1, 0], omega=3.0, mass=70.0).round(6))
    21.0
    """
    A, b = half_planes(polygon)
    way = numbers("direction", direction, 2)
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    if not (length > 0).all():
        raise InputError("direction has no length; give vectors (..., 2) that point somewhere")
    room = b - numbers("dcm", dcm, 2) @ A.T
    speed = (way / length) @ A.T
    reach = np.where(speed > 1e-12, room / np.where(speed > 1e-12, speed, 1.0), np.inf).min(axis=-1)
    result: Array = mass * omega * np.where((room >= 0).all(axis=-1), reach, 0.0)
    return result


def hip_reach(torque: float, inertia: float, angle: float, mass: float, omega: float, gravity: float = 9.81) -> float:
    """Compute how far [m] beyond the foot's edge a swing of the upper body still catches the capture point.

    The hip turns with `torque` [N m] a body of `inertia` [kg m^2] until half of `angle` [rad] and then brakes:
    torque / (m g) (1 - exp(-omega t))^2 with t = sqrt(inertia * angle / torque) (J. Pratt et al. 2006).
    """
    values = {"torque": torque, "inertia": inertia, "angle": angle, "mass": mass, "omega": omega, "gravity": gravity}
    for name, value in values.items():
        if not 0 < value < np.inf:
            raise InputError(f"{name} must be a positive number, got {value!r}")
    half = np.sqrt(inertia * angle / torque)
    return float(torque / (mass * gravity) * np.expm1(-omega * half) ** 2)


def strategy(margin: ArrayLike, *, hip: float = 0.0, step: float = 0.0, reserve: float = 0.0) -> NDArray[np.str_]:
    """Decide (...) how to keep balance from the signed margin (...) [m] of the capture point in the support polygon.

    "ankle": moving the centre of pressure is enough, `reserve` [m] left; "hip": a swing of the upper body adds `hip`
    [m]; "step": one step or several add `step` [m] (`capture_distance` less the foot's radius); else "fall".

    Example
    -------
    >>> print(strategy([0.03, -0.01, -0.1, -1.0], hip=0.02, step=0.3))
    ['ankle' 'hip' 'step' 'fall']
    """
    room = numbers("margin", margin) - reserve
    return np.select([room >= 0, room >= -hip, room >= -step], ["ankle", "hip", "step"], "fall")


def _decay(omega: float, step_time: float) -> float:
    if not (0 < omega < np.inf and 0 < step_time < np.inf):
        raise InputError(f"omega and step_time must be positive numbers, got {omega!r} and {step_time!r}")
    return float(np.exp(-omega * step_time))
