"""The linear inverted pendulum in closed form: a point mass at constant height over its zero moment point.

    c'' = omega^2 (c - p),  omega = sqrt(g / height)

S. Kajita et al., "The 3D linear inverted pendulum mode", 2001; J. Pratt et al., "Capture point", 2006;
J. Englsberger et al., "Bipedal walking control based on capture point dynamics", 2011.
All functions take any batch axes; positions are per axis or vectors alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError


def natural_frequency(height: float, gravity: float = 9.81) -> float:
    """Compute omega [1/s] of a pendulum whose mass is `height` [m] above the zero moment point."""
    for name, value in (("height", height), ("gravity", gravity)):
        if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
            raise InputError(f"{name} must be a positive number, got {value!r}")
    return float(np.sqrt(gravity / height))


def move(
    com: ArrayLike, velocity: ArrayLike, zmp: ArrayLike, omega: float, time: ArrayLike, *, zmp_rate: ArrayLike = 0.0
) -> tuple[Array, Array]:
    """Compute position and velocity (...) of the mass after `time` [s], exactly.

    The zero moment point starts at `zmp` [m] and moves at `zmp_rate` [m/s]; `time` broadcasts with the rest, so give it
    an axis of its own where positions are vectors.

    Example
    -------
    >>> c, v = move(0.1, 0.0, 0.0, 3.0, [0.0, 0.2])
    >>> print(c.round(4), v.round(4))
    [0.1    0.1185] [0.    0.191]
    """
    w = _frequency(omega)
    c, v, p, r, t = (
        numbers(name, value)
        for name, value in (
            ("com", com),
            ("velocity", velocity),
            ("zmp", zmp),
            ("zmp_rate", zmp_rate),
            ("time", time),
        )
    )
    cosh, sinh = np.cosh(w * t), np.sinh(w * t)
    away, drift = c - p, v - r  # relative to a zero moment point that moves evenly
    return p + r * t + cosh * away + sinh / w * drift, r + w * sinh * away + cosh * drift


def acceleration(com: ArrayLike, zmp: ArrayLike, omega: float) -> Array:
    """Compute the acceleration (...) [m/s^2] of the mass."""
    result: Array = _frequency(omega) ** 2 * (numbers("com", com) - numbers("zmp", zmp))
    return result


def dcm(com: ArrayLike, velocity: ArrayLike, omega: float) -> Array:
    """Compute the divergent component of motion c + v / omega, also called the (instantaneous) capture point.

    A zero moment point put there brings the mass to rest above it.

    >>> print(dcm(0.0, 0.6, 3.0).round(6))
    0.2
    """
    result: Array = numbers("com", com) + numbers("velocity", velocity) / _frequency(omega)
    return result


capture_point = dcm


def move_dcm(dcm: ArrayLike, zmp: ArrayLike, omega: float, time: ArrayLike, *, zmp_rate: ArrayLike = 0.0) -> Array:
    """Compute the divergent component (...) after `time` [s]; its rate is omega (dcm - zmp)."""
    w = _frequency(omega)
    p, r, t = numbers("zmp", zmp), numbers("zmp_rate", zmp_rate), numbers("time", time)
    result: Array = p + r * t + r / w + np.exp(w * t) * (numbers("dcm", dcm) - p - r / w)
    return result


def orbital_energy(com: ArrayLike, velocity: ArrayLike, zmp: ArrayLike, omega: float) -> Array:
    """Compute v^2 / 2 - omega^2 (c - p)^2 / 2, constant while the zero moment point stays, per axis [m^2/s^2].

    Positive: the mass passes over the point; negative: it turns back; zero: it comes to rest above it, or left it so.
    """
    away = numbers("com", com) - numbers("zmp", zmp)
    result: Array = 0.5 * numbers("velocity", velocity) ** 2 - 0.5 * (_frequency(omega) * away) ** 2
    return result


def shares(omega: float, time: ArrayLike) -> tuple[Array, Array, Array]:
    """Split what a divergent component is made of, over `time` [s] with a zero moment point that moves evenly.

    dcm(0) = first * zmp(0) + last * zmp(time) + rest * dcm(time); the three (...) are positive and add up to 1.
    """
    x = _frequency(omega) * numbers("time", time)
    if (x < 0).any():
        raise InputError(f"time must be 0 or more, got {time!r}")
    rest = np.exp(-x)
    # 1 - (1 - e^-x) / x loses digits near 0, where its series is x / 2 - x^2 / 6
    safe = np.where(x > 1e-5, x, 1.0)
    first = np.where(x > 1e-5, 1.0 + np.expm1(-safe) / safe, x / 2 - x**2 / 6)
    return first, -np.expm1(-x) - first, rest


def _frequency(omega: float) -> float:
    if not isinstance(omega, int | float | np.number) or not 0 < omega < np.inf:
        raise InputError(f"omega must be a positive number [1/s], got {omega!r}")
    return float(omega)
