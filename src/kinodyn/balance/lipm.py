"""The linear inverted pendulum (LIPM) in closed form: a point mass at constant height over its zero moment point (ZMP).

    c'' = omega^2 (c - p),  omega = sqrt(g / height)

S. Kajita et al., "The 3D linear inverted pendulum mode", 2001; J. Pratt et al., "Capture point", 2006;
J. Englsberger et al., "Bipedal walking control based on capture point dynamics", 2011.
All functions take any batch axes; positions may be scalars per axis or vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import broadcast, not_overflowed, numbers, positive, same_shape
from kinodyn.errors import InputError

__all__ = [
    "acceleration",
    "capture_point",
    "dcm",
    "dcm_fractions",
    "move",
    "move_dcm",
    "natural_frequency",
    "orbital_energy",
]


def __dir__() -> list[str]:
    return list(__all__)


def natural_frequency(height: float, gravity: float = 9.81) -> float:
    """Compute the natural frequency sqrt(gravity / height).

    Parameters
    ----------
    height
        Of the CoM above the ZMP [m].
    gravity
        [m/s^2]

    Returns
    -------
    float
        omega [rad/s].
    """
    for name, value in (("height", height), ("gravity", gravity)):
        positive(name, value)
    return float(np.sqrt(gravity / height))


def move(
    com: ArrayLike, velocity: ArrayLike, zmp: ArrayLike, omega: float, time: ArrayLike, *, zmp_rate: ArrayLike = 0.0
) -> tuple[Array, Array]:
    """Compute position and velocity of the CoM after a time, in closed form.

    Parameters
    ----------
    com, velocity
        (...) [m, m/s]
    zmp
        Initial ZMP (...) [m].
    omega
        Natural frequency [rad/s].
    time
        (...) [s]; it broadcasts with the other arguments, so that vectors need an additional axis.
    zmp_rate
        Constant velocity of the ZMP (...) [m/s].

    Returns
    -------
    com : (...)
        [m]
    velocity : (...)
        [m/s]

    Examples
    --------
    >>> c, v = move(0.1, 0.0, 0.0, 3.0, [0.0, 0.2])
    >>> print(c.round(4), v.round(4))
    [0.1    0.1185] [0.    0.191]
    """
    w = positive("omega", omega)
    c, v, p, r, t = same_shape(com=com, velocity=velocity, zmp=zmp, zmp_rate=zmp_rate, time=time)
    away, drift = c - p, v - r  # relative to a ZMP that moves linearly
    with np.errstate(over="ignore", invalid="ignore"):
        cosh, sinh = np.cosh(w * t), np.sinh(w * t)
        position = p + r * t + cosh * away + sinh / w * drift
        rate = r + w * sinh * away + cosh * drift
    return not_overflowed("the position", position), not_overflowed("the velocity", rate)


def acceleration(com: ArrayLike, zmp: ArrayLike, omega: float) -> Array:
    """Compute the acceleration omega^2 (com - zmp) of the CoM.

    Parameters
    ----------
    com, zmp
        (...) [m]
    omega
        Natural frequency [rad/s].

    Returns
    -------
    (...)
        [m/s^2]
    """
    c, p = _compatible(com=com, zmp=zmp)
    with np.errstate(over="ignore", invalid="ignore"):
        return not_overflowed("the acceleration", positive("omega", omega) ** 2 * (c - p))


def dcm(com: ArrayLike, velocity: ArrayLike, omega: float) -> Array:
    """Compute the divergent component of motion c + v / omega, also called the (instantaneous) capture point.

    With the ZMP there, the CoM comes to rest above it.

    Parameters
    ----------
    com, velocity
        (...) [m, m/s]
    omega
        Natural frequency [rad/s].

    Returns
    -------
    (...)
        [m]

    Examples
    --------
    >>> print(dcm(0.0, 0.6, 3.0).round(6))
    0.2
    """
    c, v = _compatible(com=com, velocity=velocity)
    with np.errstate(over="ignore", invalid="ignore"):
        return not_overflowed("the DCM", c + v / positive("omega", omega))


capture_point = dcm


def move_dcm(dcm: ArrayLike, zmp: ArrayLike, omega: float, time: ArrayLike, *, zmp_rate: ArrayLike = 0.0) -> Array:
    """Compute the DCM after a time, in closed form; its rate is omega (dcm - zmp).

    Parameters
    ----------
    dcm, zmp
        Initial DCM and ZMP (...) [m].
    omega
        Natural frequency [rad/s].
    time
        (...) [s]
    zmp_rate
        Constant velocity of the ZMP (...) [m/s].

    Returns
    -------
    (...)
        [m]
    """
    w = positive("omega", omega)
    x, p, r, t = _compatible(dcm=dcm, zmp=zmp, zmp_rate=zmp_rate, time=time)
    with np.errstate(over="ignore", invalid="ignore"):
        return not_overflowed("the DCM", p + r * t + r / w + np.exp(w * t) * (x - p - r / w))


def orbital_energy(com: ArrayLike, velocity: ArrayLike, zmp: ArrayLike, omega: float) -> Array:
    """Compute v^2 / 2 - omega^2 (c - p)^2 / 2, which is constant while the ZMP is.

    Positive: the CoM passes over the ZMP; negative: it turns back; zero: it comes to rest above it, or started from
    rest there.

    Parameters
    ----------
    com, velocity
        (...) [m, m/s]
    zmp
        (...) [m]
    omega
        Natural frequency [rad/s].

    Returns
    -------
    (...)
        Per axis [m^2/s^2].
    """
    c, v, p = _compatible(com=com, velocity=velocity, zmp=zmp)
    with np.errstate(over="ignore", invalid="ignore"):
        return not_overflowed("the energy", 0.5 * v**2 - 0.5 * (positive("omega", omega) * (c - p)) ** 2)


def _compatible(**arguments: ArrayLike) -> tuple[Array, ...]:
    """Return arguments as arrays of one shape, or raise."""
    return broadcast(*((numbers(name, value), 0) for name, value in arguments.items()))


def dcm_fractions(omega: float, time: ArrayLike) -> tuple[Array, Array, Array]:
    """Split the DCM into contributions of the ZMP at both ends of an interval and of the DCM at its end.

    dcm(0) = first * zmp(0) + last * zmp(time) + rest * dcm(time) for a ZMP that moves linearly.

    Parameters
    ----------
    omega
        Natural frequency [rad/s].
    time
        Length of the interval (...) [s].

    Returns
    -------
    first, last, rest : (...)
        Positive, with sum 1.
    """
    x = positive("omega", omega) * numbers("time", time)
    if (x < 0).any():
        raise InputError(f"time must be nonnegative [s], got {time!r}")
    rest = np.exp(-x)
    # 1 - (1 - e^-x) / x loses digits near 0, where its series is x / 2 - x^2 / 6
    safe = np.where(x > 1e-5, x, 1.0)
    first = np.where(x > 1e-5, 1.0 + np.expm1(-safe) / safe, x / 2 - x**2 / 6)
    return first, -np.expm1(-x) - first, rest
