"""Balance laws on the pendulum: from what is off to where the zero moment point or the mass should go."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.balance.polygon import nearest
from kinodyn.checks import numbers
from kinodyn.errors import InputError


def dcm_feedback(
    dcm: ArrayLike,
    dcm_wanted: ArrayLike,
    zmp_wanted: ArrayLike,
    omega: float,
    *,
    gain: float,
    integral: ArrayLike = 0.0,
    polygon: ArrayLike | None = None,
) -> Array:
    """Compute the zero moment point (..., 2) that takes the divergent component back to where it should be.

    p = p_d + (1 + k / omega) (xi - xi_d) + integral, so that the error obeys e' = -k e (J. Englsberger et al. 2011,
    with the plan's own zero moment point). With `polygon` (m, 2) the answer is its nearest point.

    Example
    -------
    >>> print(dcm_feedback([0.02, 0.0], [0.0, 0.0], [0.0, 0.0], 3.0, gain=3.0))
    [0.04 0.  ]
    """
    if not (0 < omega < np.inf and 0 < gain < np.inf):
        raise InputError(f"omega and gain must be positive numbers [1/s], got {omega!r} and {gain!r}")
    error = numbers("dcm", dcm, 2) - numbers("dcm_wanted", dcm_wanted, 2)
    wanted = numbers("zmp_wanted", zmp_wanted, 2) + (1.0 + gain / omega) * error + numbers("integral", integral)
    return wanted if polygon is None else nearest(polygon, wanted)


def zmp_feedback(
    com: ArrayLike,
    com_wanted: ArrayLike,
    velocity_wanted: ArrayLike,
    zmp: ArrayLike,
    zmp_wanted: ArrayLike,
    omega: float,
    *,
    com_gain: float,
    zmp_gain: float,
) -> Array:
    """Compute the velocity (...) of the centre of mass that brings it and the zero moment point back.

    v = v_d - k_p (p_d - p) + k_c (c_d - c), stable for k_c > omega and 0 < k_p < omega; gains outside are refused
    (Y. Choi et al., "Posture/walking control for humanoid robot based on kinematic resolution of CoM Jacobian", 2007).
    """
    if not (com_gain > omega > zmp_gain > 0):
        raise InputError(
            f"the law is stable for com_gain > omega > zmp_gain > 0, got com_gain={com_gain!r}, omega={omega!r}, "
            f"zmp_gain={zmp_gain!r}"
        )
    off_mass = numbers("com_wanted", com_wanted) - numbers("com", com)
    off_zmp = numbers("zmp_wanted", zmp_wanted) - numbers("zmp", zmp)
    result: Array = numbers("velocity_wanted", velocity_wanted) - zmp_gain * off_zmp + com_gain * off_mass
    return result
