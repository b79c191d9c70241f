"""Capturability: in how many steps an inverted pendulum on feet can come to rest, and which pushes it survives.

T. Koolen et al., "Capturability-based analysis and control of legged locomotion, part 1", 2012.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array
from kinodyn.balance.polygon import half_planes
from kinodyn.checks import nonnegative, not_overflowed, numbers, positive
from kinodyn.display import displayed
from kinodyn.errors import InputError


def capture_distance(
    steps: ArrayLike, omega: float, step_time: float, step_length: float, foot_radius: float = 0.0
) -> Array:
    """Compute the largest distance of the capture point from the ankle that can be captured in a number of steps.

    Parameters
    ----------
    steps
        Number of steps (...), 0 or more; `numpy.inf` is any number.
    omega
        Natural frequency of the pendulum [rad/s].
    step_time
        Shortest time T until the next touchdown [s].
    step_length
        Maximum distance L between consecutive ankles [m].
    foot_radius
        Distance r of the edge of the foot from the ankle [m]; 0 is a point foot.

    Returns
    -------
    (...)
        Distance [m].

    Notes
    -----
    d_0 = r, d_N = (L - r + d_(N-1)) exp(-omega T) + r; d_inf = L e^(-omega T) / (1 - e^(-omega T)) + r.

    Examples
    --------
    >>> print(capture_distance([0, 1, 2, np.inf], 3.0, 0.5, 0.6, 0.05).round(3))
    [0.05  0.184 0.214 0.222]
    """
    try:
        n = np.asarray(steps, dtype=float)
    except (TypeError, ValueError, OverflowError):
        n = np.array(np.nan)
    if np.isnan(n).any() or (n < 0).any() or (np.isfinite(n) & (n != np.floor(n))).any():
        raise InputError(f"steps must be nonnegative integers, or infinite, got {steps!r}")
    decay = _decay(omega, step_time)
    for name, value in (("step_length", step_length), ("foot_radius", foot_radius)):
        nonnegative(name, value)
    # sum of L decay^k from k = 1 to N
    reach = foot_radius + step_length * decay * (1.0 - decay**n) / max(1.0 - decay, 1e-300)
    return not_overflowed("the distance", reach)


def steps_to_capture(
    distance: ArrayLike, omega: float, step_time: float, step_length: float, foot_radius: float = 0.0
) -> Array:
    """Count the steps that are needed to capture a capture point.

    Parameters
    ----------
    distance
        Of the capture point from the ankle (...) [m].
    omega
        Natural frequency of the pendulum [rad/s].
    step_time
        Shortest time until the next touchdown [s].
    step_length
        Maximum distance between consecutive ankles [m].
    foot_radius
        Distance of the edge of the foot from the ankle [m].

    Returns
    -------
    (...)
        Number of steps; inf if no number of steps suffices.
    """
    away = np.abs(numbers("distance", distance)) - foot_radius
    decay = _decay(omega, step_time)
    limit = capture_distance(np.inf, omega, step_time, step_length, foot_radius) - foot_radius
    left = np.where(away < limit, 1.0 - away / np.where(limit > 0, limit, 1.0), 1.0)
    # rounding must not add a step to a distance on the bound itself
    count = np.ceil(np.log(np.maximum(left, 1e-300)) / np.log(decay) - 1e-9)
    result: Array = np.where(away <= 1e-12, 0.0, np.where(away < limit, np.maximum(count, 1.0), np.inf))
    return result


@displayed
class Bounds(NamedTuple):
    """Distances [m] of the capture point from a new stance foot at touchdown within which walking can continue.

    Attributes
    ----------
    ahead, behind : float
        Along the foot.
    inward, outward : float
        Towards the other foot, and away from it. A negative `outward` means that the capture point must be at least
        that far inward.
    """

    ahead: float
    behind: float
    inward: float
    outward: float


def walking_bounds(
    omega: float, step_time: float, *, forward: float, backward: float, min_width: float, max_width: float
) -> Bounds:
    """Compute the position of the capture point at touchdown from which feet that do not cross can capture it.

    Parameters
    ----------
    omega
        Natural frequency of the pendulum [rad/s].
    step_time
        Shortest duration of a step [s].
    forward, backward
        Longest steps [m].
    min_width, max_width
        Minimum and maximum lateral distance of the feet [m].

    Returns
    -------
    Bounds
        For point feet; add the distance of the edges of the foot from the ankle. Beyond them no sequence of steps
        helps.

    Notes
    -----
    The idea is that of M. Khadiv et al., "Walking control based on step timing adaptation", 2020.
    """
    if not 0 <= min_width <= max_width < np.inf or not (0 <= forward < np.inf and 0 <= backward < np.inf):
        raise InputError(
            "lengths must be nonnegative [m], and min_width at most max_width; "
            f"got {forward=}, {backward=}, {min_width=}, {max_width=}"
        )
    grow = 1.0 / _decay(omega, step_time)
    return Bounds(
        forward / (grow - 1.0),
        backward / (grow - 1.0),
        (max_width * grow - min_width) / (grow**2 - 1.0),
        (max_width - min_width * grow) / (grow**2 - 1.0),
    )


def push_bound(polygon: ArrayLike, dcm: ArrayLike, direction: ArrayLike, omega: float, mass: float) -> Array:
    """Compute the largest impulse that a pendulum survives without a step.

    Parameters
    ----------
    polygon
        Support polygon (m, 2), counter-clockwise [m].
    dcm
        Capture point (..., 2) before the push [m].
    direction
        Direction of the push (..., 2).
    omega
        Natural frequency [rad/s].
    mass
        [kg]

    Returns
    -------
    (...)
        Impulse [N s] that moves the capture point to the edge of the polygon; 0 if it is outside. Hips and arms are not
        taken into account.

    Examples
    --------
    >>> square = [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]
    >>> print(push_bound(square, [0, 0], [1, 0], omega=3.0, mass=70.0).round(6))
    21.0
    """
    A, b = half_planes(polygon)
    vector = numbers("direction", direction, 2)
    length = np.linalg.norm(vector, axis=-1, keepdims=True)
    if not (length > 0).all():
        raise InputError("direction must be nonzero vectors (..., 2), got a zero vector")
    room = b - numbers("dcm", dcm, 2) @ A.T
    speed = (vector / length) @ A.T
    reach = np.where(speed > 1e-12, room / np.where(speed > 1e-12, speed, 1.0), np.inf).min(axis=-1)
    mass, omega = positive("mass", mass), positive("omega", omega)
    result: Array = mass * omega * np.where((room >= 0).all(axis=-1), reach, 0.0)
    return not_overflowed("the impulse", result)


def hip_reach(torque: float, inertia: float, angle: float, mass: float, omega: float, gravity: float = 9.81) -> float:
    """Compute the distance beyond the edge of the foot that a swing of the upper body can capture.

    Parameters
    ----------
    torque
        Of the hip [N m].
    inertia
        Of the upper body about the hip [kg m^2].
    angle
        Range of the hip: it accelerates over the first half and brakes over the second [rad].
    mass
        Of the robot [kg].
    omega
        Natural frequency of the pendulum [rad/s].
    gravity
        [m/s^2]

    Returns
    -------
    float
        Distance [m].

    Notes
    -----
    torque / (m g) (1 - exp(-omega t))^2 with t = sqrt(inertia * angle / torque) (J. Pratt et al. 2006).
    """
    values = {"torque": torque, "inertia": inertia, "angle": angle, "mass": mass, "omega": omega, "gravity": gravity}
    for name, value in values.items():
        positive(name, value)
    half = np.sqrt(inertia * angle / torque)
    return float(not_overflowed("the distance", torque / (mass * gravity) * np.expm1(-omega * half) ** 2))


def strategy(margin: ArrayLike, *, hip: float = 0.0, step: float = 0.0, reserve: float = 0.0) -> NDArray[np.str_]:
    """Choose a balance strategy from the margin of the capture point in the support polygon.

    Parameters
    ----------
    margin
        Signed margin (...) [m].
    hip
        Distance that a swing of the upper body adds [m].
    step
        Distance that steps add: `capture_distance` minus the foot's radius [m].
    reserve
        Margin that is kept [m].

    Returns
    -------
    (...) of str
        "ankle", "hip", "step" or "fall".

    Examples
    --------
    >>> print(strategy([0.03, -0.01, -0.1, -1.0], hip=0.02, step=0.3))
    ['ankle' 'hip' 'step' 'fall']
    """
    hip, step = nonnegative("hip", hip), nonnegative("step", step)
    room = numbers("margin", margin) - nonnegative("reserve", reserve)
    return np.select([room >= 0, room >= -hip, room >= -step], ["ankle", "hip", "step"], "fall")


def _decay(omega: float, step_time: float) -> float:
    positive("omega", omega)
    positive("step_time", step_time)
    return float(np.exp(-omega * step_time))
