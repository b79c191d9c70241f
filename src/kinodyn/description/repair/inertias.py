"""Physically consistent inertias: the nearest one, and those of links about which nothing is known."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import nnls

from kinodyn.arrays import Array
from kinodyn.description.check_values import ABSOLUTE_ROUNDING, NEGLIGIBLE_MOMENT, RELATIVE_ROUNDING
from kinodyn.description.repair.findings import Level

# A link that has to move but has neither mass nor shape: a ball of 1 g and 1 cm.
NOMINAL_MASS = 1e-3  # [kg]
NOMINAL_RADIUS = 1e-2  # [m]
MIN_MOMENT = 1e-11  # [kg m^2] of a link that moves; simulators divide by it

# The second moments of mass are at least this fraction of the largest one: simulators compare the principal moments
# without a tolerance, after rounding.
MARGIN = 1e-5

# A principal moment is the sum of the second moments of mass along the other two axes.
_MOMENTS = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])


def nearest_consistent(matrix: Array) -> Array:
    """Return the inertia matrix nearest to the given one that a distribution of positive mass can have.

    Parameters
    ----------
    matrix : (3, 3) array
        Symmetric [kg m^2].

    Returns
    -------
    matrix : (3, 3) array
        It minimises the Frobenius norm of the change. It has the same principal axes; its principal moments are the
        sums of second moments of mass s_i >= 0 (more precisely, a small fraction of the largest one), the solution of
        a least-squares problem with bounds.
    """
    moments, axes = np.linalg.eigh(0.5 * matrix + 0.5 * matrix.T)
    least = max(MARGIN * float(np.abs(moments).max()), 2.0 * MIN_MOMENT)
    second, _ = nnls(_MOMENTS, moments - _MOMENTS @ np.full(3, least))
    nearest = axes @ np.diag(_MOMENTS @ (second + least)) @ axes.T
    return np.asarray((nearest + nearest.T) / 2.0)


def why_inconsistent(matrix: Array) -> tuple[Level, str] | None:
    """Return the severity and the reason why no mass distribution has this inertia matrix; None if one has.

    An "error" is rejected by readers; a "note" is on the limit, and simulators reject it after rounding.
    """
    small, middle, large = np.linalg.eigvalsh(0.5 * matrix + 0.5 * matrix.T).tolist()
    rounding = RELATIVE_ROUNDING * abs(large) + ABSOLUTE_ROUNDING
    if small < -max(NEGLIGIBLE_MOMENT, RELATIVE_ROUNDING * large):
        return "error", f"inertia has the negative principal moment {small:.3g} kg m^2; all three must be at least 0"
    excess = large - middle - small
    sums = f"{large:.6g}, {middle:.6g} and {small:.6g} kg m^2"
    if excess > rounding:
        return "warning", f"a physically inconsistent inertia: principal moments {sums} do not satisfy a + b >= c"
    if small < MIN_MOMENT:
        return "note", f"the principal moment {small:.3g} kg m^2 is too small to be simulated"
    if excess > -0.1 * MARGIN * large:
        return "note", f"principal moments {sums} are on the limit of a + b >= c; simulators reject them when rounded"
    return None


def ball(mass: float, density: float) -> float:
    """Return the moment of a ball of this mass and density [kg m^2]."""
    radius = (3.0 * mass / (4.0 * math.pi * density)) ** (1.0 / 3.0)
    return float(0.4 * mass * radius**2)


def ball_mass(moment: float, density: float) -> float:
    """Return the mass of the ball of this density that has this moment [kg]."""
    return float((moment / 0.4 * (4.0 * math.pi * density / 3.0) ** (2.0 / 3.0)) ** (3.0 / 5.0))
