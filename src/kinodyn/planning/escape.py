"""Starts and goals at which the spheres of the robot are in collision, but its exact shapes are not."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Query

RADII = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)  # [rad or m] of the searched neighbourhoods
SAMPLES = 64  # in each neighbourhood
MOTIONS_PER_RADIUS = 6  # motions checked in each neighbourhood


def escape(
    checks: ExactChecks,
    query: Query,
    q: Array,
    columns: NDArray[np.intp],
    bounds: tuple[Array, Array],
    resolution: float,
    end: float,
) -> Array | None:
    """Find a configuration nearby whose spheres are free, and that a straight motion reaches without collision.

    Parameters
    ----------
    checks
    query
        Collision query of the joints that move.
    q : (nq,)
        A configuration at which the exact shapes are free.
    columns
        Coordinates that move.
    bounds
        Limits of these coordinates.
    resolution
        Resolution of the continuous checks [m].
    end
        Deadline on the clock of `time.perf_counter` [s].

    Returns
    -------
    q : (nq,) array, or None if there is none
    """
    rng = np.random.default_rng(0)
    for radius in RADII:
        candidates = np.tile(q, (SAMPLES, 1))
        steps = rng.uniform(-radius, radius, (SAMPLES, len(columns)))
        candidates[:, columns] = np.clip(candidates[:, columns] + steps, *bounds)
        free = candidates[query.free(candidates)]
        for candidate in free[np.argsort(np.abs(free - q).sum(axis=1))][:MOTIONS_PER_RADIUS]:
            if time.perf_counter() > end:
                return None
            if checks.motion_free(q, candidate, resolution):
                return np.asarray(candidate)
    return None
