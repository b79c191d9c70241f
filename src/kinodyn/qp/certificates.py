"""Proofs that a program has no minimum: Farkas' certificate of infeasibility, or a direction of unbounded descent."""

from __future__ import annotations

import numpy as np

from kinodyn import _core
from kinodyn.arrays import Array
from kinodyn.qp.adapter import ATTEMPTS, Point, minimise, polish

MAX_DISTANCE = 1e6  # distance up to which a certificate must exclude all points, relative to its sides or the program
MIN_DESCENT = 1e-6  # smallest fraction of the gradient along a direction that counts as descent


def best_point(qp: _core.ScaledQp, tolerance: float, attempts: tuple[dict[str, float], ...] = ATTEMPTS) -> Point:
    """Return the first point that satisfies the KKT conditions, else the one that violates them least."""
    best, least = None, np.inf
    for settings in attempts:
        found = minimise(qp, settings)
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
        Of bounds and rows: where the violation is not 0 they are Farkas' certificate, see `is_infeasible`.
    """
    n, sides = len(qp.g), len(qp.lower)
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
    multipliers = np.zeros(sides)
    multipliers[limited] = found
    return x[:n], multipliers


def is_infeasible(qp: _core.ScaledQp, multipliers: Array) -> bool:
    """Verify Farkas' certificate.

    If A'multipliers = 0 while the multipliers times their sides add up to less than 0, no point satisfies all
    rows. With rounding errors in A'multipliers the certificate excludes only points up to a certain distance.
    """
    used = multipliers != 0
    sides = np.where(multipliers > 0, qp.upper, qp.lower)[used]
    if not used.any() or not np.isfinite(sides).all():
        return False
    n = len(qp.g)
    left_over = multipliers[:n] + qp.A.T @ multipliers[n:]
    total, size = float(multipliers[used] @ sides), float(np.abs(multipliers[used]) @ np.abs(sides))
    rounding = 1e-13 * size
    distance = MAX_DISTANCE * min(1.0, float(np.abs(sides).max()))
    return bool(total < -rounding and -total > distance * float(np.linalg.norm(left_over)))


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
