"""Proofs that a program has no minimum: Farkas' certificate of infeasibility, or a direction of unbounded descent."""

from __future__ import annotations

from functools import partial

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.qp.adapter import ATTEMPTS, Point, minimise, minimise_perturbed, polish
from kinodyn.qp.interior_point import interior_point

MAX_DISTANCE = 1e6  # distance up to which a certificate must exclude all points, relative to its bounds or the program
MIN_DESCENT = 1e-6  # smallest fraction of the gradient along a direction that counts as descent


def best_point(qp: _core.ScaledQp, tolerance: float, attempts: tuple[dict[str, float], ...] = ATTEMPTS) -> Point:
    """Return the first point that satisfies the KKT conditions, else the one that violates them least."""
    best, least = None, np.inf
    tries = [partial(minimise, qp, settings) for settings in attempts]
    tries += [partial(minimise_perturbed, qp, settings) for settings in attempts[:2]]
    for attempt in (*tries, partial(interior_point, qp)):
        found = attempt()
        for point in (found, polish(qp, found)):
            worst = max(qp.residuals(point.y, point.multipliers, True))
            if worst <= tolerance:
                return point._replace(failure="")
            if best is None or worst < least:
                best, least = point, worst
    assert best is not None
    return best


def least_violation(qp: _core.ScaledQp, tolerance: float) -> tuple[Array, Array]:
    """Minimise the sum of squared violations of bounds and rows.

    Returns
    -------
    y : (n,)
        The point that violates them least.
    multipliers : (n + m,)
        Of bounds and rows: where the violation is not 0 they are Farkas' certificate, see `farkas`.
    """
    n, count = len(qp.g), len(qp.lower)
    limited = np.flatnonzero(np.isfinite(qp.lower) | np.isfinite(qp.upper))
    k = len(limited)
    H = np.zeros((n + k, n + k))
    H[n:, n:] = np.eye(k)
    A = np.hstack([np.vstack([np.eye(n), qp.A])[limited], np.eye(k)])
    free = np.full(n + k, np.inf)
    lower, upper = np.concatenate([-free, qp.lower[limited]]), np.concatenate([free, qp.upper[limited]])
    elastic = _core.ScaledQp(H, np.zeros(n + k), np.ascontiguousarray(A), lower, upper)
    point = best_point(elastic, tolerance)
    x, _, found = elastic.unscale(point.y, point.multipliers, False)
    multipliers = np.zeros(count)
    multipliers[limited] = found
    return x[:n], multipliers


def farkas(qp: _core.ScaledQp, multipliers: Array) -> Array | None:
    """Return the certificate (n + m,) of Farkas near some multipliers, or None if it does not exclude all points.

    If A'multipliers = 0 while the multipliers times their bounds add up to less than 0, no point satisfies all
    rows. With rounding errors in A'multipliers the certificate excludes only points up to a certain distance.
    """
    used = np.flatnonzero(np.abs(multipliers) > 1e-9 * np.abs(multipliers).max(initial=0.0))
    found = multipliers[used]
    bounds = np.where(found > 0, qp.upper[used], qp.lower[used])
    if not len(used) or not np.isfinite(bounds).all():
        return None
    rows = np.vstack([np.eye(len(qp.g)), qp.A])[used]
    exact = found - np.linalg.lstsq(rows.T, rows.T @ found, rcond=None)[0]  # without the rounding of the solver
    found = exact if (exact * found >= 0.0).all() else found
    total, size = float(found @ bounds), float(np.abs(found) @ np.abs(bounds))
    distance = MAX_DISTANCE * min(1.0, float(np.abs(bounds).max()))
    if not (total < -1e-13 * size and -total > distance * float(np.linalg.norm(rows.T @ found))):
        return None
    certificate = np.zeros(len(multipliers))
    certificate[used] = found
    return certificate


def descent_ray(qp: _core.ScaledQp, tolerance: float) -> Array | None:
    """Find the steepest direction of descent (n,) without curvature and without limits; None if there is none."""
    size = float(np.linalg.norm(qp.g))
    if size == 0.0:
        return None
    n = len(qp.g)
    A = np.ascontiguousarray(np.vstack([qp.H, qp.A]))
    lower = np.where(np.isfinite(qp.lower), 0.0, -np.inf)
    upper = np.where(np.isfinite(qp.upper), 0.0, np.inf)
    flat = np.zeros(n)
    cone = _core.ScaledQp(
        np.eye(n),
        qp.g / size,
        A,
        np.concatenate([lower[:n], flat, lower[n:]]),
        np.concatenate([upper[:n], flat, upper[n:]]),
    )
    point = best_point(cone, tolerance)
    ray: Array = cone.unscale(point.y, point.multipliers, True)[0]
    length = float(np.linalg.norm(ray))
    if max(cone.residuals(point.y, point.multipliers, True)) > tolerance or not length > MIN_DESCENT:
        return None
    ray = ray / length
    along = qp.A @ ray
    leaves = np.concatenate([np.maximum(lower[n:] - along, along - upper[n:]), np.abs(qp.H @ ray)])
    return ray if leaves.max(initial=0.0) <= tolerance and qp.g @ ray < -MIN_DESCENT * size else None
