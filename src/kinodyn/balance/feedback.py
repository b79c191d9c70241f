"""Balance feedback on the pendulum: from tracking errors to a ZMP or a CoM velocity."""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.balance.polygon import nearest
from kinodyn.checks import not_overflowed, numbers, positive
from kinodyn.errors import InputError


def dcm_feedback(
    dcm: ArrayLike,
    dcm_reference: ArrayLike,
    zmp_reference: ArrayLike,
    omega: float,
    *,
    gain: float,
    integral: ArrayLike = 0.0,
    polygon: ArrayLike | None = None,
) -> Array:
    """Compute the zero moment point (ZMP) that returns the divergent component of motion (DCM) to its reference.

    Parameters
    ----------
    dcm
        Measured DCM (..., 2) [m].
    dcm_reference, zmp_reference
        References (..., 2) [m].
    omega
        Natural frequency [rad/s].
    gain
        k [1/s].
    integral
        Integral term (..., 2) [m].
    polygon
        Support polygon (m, 2), counter-clockwise [m]; the result is its nearest point.

    Returns
    -------
    (..., 2)
        ZMP [m].

    Notes
    -----
    p = p_d + (1 + k / omega) (xi - xi_d) + integral, so that the error obeys e' = -k e (J. Englsberger et al. 2011,
    with a ZMP reference).

    Examples
    --------
    >>> print(dcm_feedback([0.02, 0.0], [0.0, 0.0], [0.0, 0.0], 3.0, gain=3.0))
    [0.04 0.  ]
    """
    positive("omega", omega)
    positive("gain", gain)
    error = numbers("dcm", dcm, 2) - numbers("dcm_reference", dcm_reference, 2)
    extra = numbers("integral", integral)
    if extra.ndim and extra.shape[-1] != 2:
        raise InputError(f"integral must be a number or (..., 2), got shape {extra.shape}")
    desired = numbers("zmp_reference", zmp_reference, 2) + (1.0 + gain / omega) * error + extra
    not_overflowed("the ZMP", desired)
    return desired if polygon is None else nearest(polygon, desired)


def zmp_feedback(
    com: ArrayLike,
    com_reference: ArrayLike,
    velocity_reference: ArrayLike,
    zmp: ArrayLike,
    zmp_reference: ArrayLike,
    omega: float,
    *,
    com_gain: float,
    zmp_gain: float,
) -> Array:
    """Compute the velocity of the CoM that returns it and the ZMP to their references.

    Parameters
    ----------
    com, com_reference
        Measured and reference position of the CoM (...) [m].
    velocity_reference
        Reference velocity of the CoM (...) [m/s].
    zmp, zmp_reference
        Measured and reference ZMP (...) [m].
    omega
        Natural frequency [rad/s].
    com_gain
        k_c [1/s], above omega.
    zmp_gain
        k_p [1/s], above 0 and below omega.

    Returns
    -------
    (...)
        Velocity [m/s].

    Raises
    ------
    InputError
        For gains with which the law is not stable.

    Notes
    -----
    v = v_d - k_p (p_d - p) + k_c (c_d - c) (Y. Choi et al., "Posture/walking control for humanoid robot based on
    kinematic resolution of CoM Jacobian", 2007).
    """
    given = {"com_gain": com_gain, "omega": omega, "zmp_gain": zmp_gain}
    com_gain, omega, zmp_gain = (positive(name, value) for name, value in given.items())
    if not com_gain > omega > zmp_gain:
        raise InputError(
            f"the law is stable for com_gain > omega > zmp_gain > 0, got com_gain={com_gain!r}, omega={omega!r}, "
            f"zmp_gain={zmp_gain!r}"
        )
    com_error = numbers("com_reference", com_reference) - numbers("com", com)
    zmp_error = numbers("zmp_reference", zmp_reference) - numbers("zmp", zmp)
    result: Array = numbers("velocity_reference", velocity_reference) - zmp_gain * zmp_error + com_gain * com_error
    return result
