"""The physically consistent fit: a convex problem, solved by Newton's method.

Variables    x = inertial parameters, positive constants (friction, armature), offsets
Objective    |R x - z|^2 / 2 + (sum of d(P_i, P0_i) + sum of d(f_j, f0_j) + sum of (o_k / s_k)^2 / 2) / spread^2
Constraints  none: the distance d(P, P0) = tr(P0^-1 P) - log det(P0^-1 P) - 4 is infinite where P, the pseudo-inertia of
             a link, is not positive definite; so is d(f, f0) = f / f0 - b log(f / f0) for f <= 0, with b = 1 where the
             prior is f0, and small where it is zero and f0 is only a scale.

The distance does not depend on the choice of frames and units; close to the prior it is half the squared relative
change. Where the data have no information the prior stays; `spread` is its relative standard deviation.
Reference: T. Lee, P. Wensing, F. Park, "Geometric robot dynamic identification: a convex programming approach", 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular

from kinodyn.arrays import Array
from kinodyn.errors import InputError
from kinodyn.identification.inertias import BASIS, pseudo_inertia
from kinodyn.identification.reduction import Reduced

MAX_STEPS = 200
NEWTON_DECREMENT = 1e-10  # half the squared Newton decrement: the remaining decrease of the objective
ARMIJO = 1e-4
MIN_SPREAD = 1e-9  # of the prior; below, it alone decides


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior values (p,): 10 of each link, then positive constants, then offsets.

    `scale` (p,) is f0 of the positive constants and the spread of offsets, without meaning for links; `barrier`
    (positive,) is b.
    """

    x: Array
    links: int
    positive: int
    scale: Array
    barrier: Array

    def whitening(self) -> Array:
        """Return S (p, p) such that u = 1 in x + S u is a relative change of 1."""
        p, S = len(self.x), np.diag(self.scale)
        H = _log_det_hessian(self.x[: 10 * self.links])
        for i, block in enumerate(H):
            part = slice(10 * i, 10 * i + 10)
            L = cholesky(block, lower=True)
            S[part, part] = solve_triangular(L, np.eye(10), lower=True).T
        return S.reshape(p, p)

    def distance(self, x: Array) -> float:
        """Compute the distance of x from the prior, infinite where x is not physically consistent."""
        n, k = 10 * self.links, 10 * self.links + self.positive
        ratio = x[n:k] / self.scale[n:k]
        if (ratio <= 0.0).any():
            return np.inf
        P, P0 = pseudo_inertia(x[:n]), pseudo_inertia(self.x[:n])
        try:
            roots = np.diagonal(np.linalg.cholesky(P), axis1=-2, axis2=-1)
        except np.linalg.LinAlgError:
            return np.inf
        roots0 = np.diagonal(np.linalg.cholesky(P0), axis1=-2, axis2=-1)
        link = np.trace(np.linalg.solve(P0, P), axis1=-2, axis2=-1).sum() - 2.0 * np.log(roots / roots0).sum()
        free = (x[k:] - self.x[k:]) / self.scale[k:]
        positive = (ratio - self.barrier * np.log(ratio)).sum()
        return float(link - 4.0 * self.links + positive + 0.5 * free @ free)

    def gradient(self, x: Array) -> Array:
        """Differentiate `distance`."""
        n, k = 10 * self.links, 10 * self.links + self.positive
        apart = np.linalg.inv(pseudo_inertia(self.x[:n])) - np.linalg.inv(pseudo_inertia(x[:n]))
        links = np.einsum("nij,kij->nk", apart, BASIS).ravel()
        free = (x[k:] - self.x[k:]) / self.scale[k:] ** 2
        return np.concatenate([links, 1.0 / self.scale[n:k] - self.barrier / x[n:k], free])

    def hessian_root(self, x: Array) -> Array:
        """Compute Q with Q^T Q = H, the Hessian of `distance`.

        For a link with P = L L^T its columns are the entries of L^-1 E_k L^-T.
        """
        n, k = 10 * self.links, 10 * self.links + self.positive
        L = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(x[:n])))
        columns = np.einsum("nij,kjl,nml->nkim", L, BASIS, L).reshape(self.links, 10, 16)
        Q = np.zeros((16 * self.links + len(x) - n, len(x)))
        for i, block in enumerate(columns):
            Q[16 * i : 16 * i + 16, 10 * i : 10 * i + 10] = block.T
        rest = np.concatenate([np.sqrt(self.barrier) / x[n:k], 1.0 / self.scale[k:]])
        Q[16 * self.links :, n:] = np.diag(rest)
        return Q


def _log_det_hessian(x: Array) -> Array:
    """Compute the second derivatives (n, 10, 10) of -log det of each link's pseudo-inertia."""
    inverse = np.linalg.inv(pseudo_inertia(x))
    half = np.einsum("nij,kjl->nkil", inverse, BASIS)
    return np.asarray(np.einsum("nkij,nlji->nkl", half, half))


@dataclass(frozen=True, eq=False)
class Optimum:
    """The result of Newton's method: values (p,), their covariance (p, p), and whether it converged."""

    x: Array
    covariance: Array
    steps: int
    converged: bool


def fit_consistent(problem: Reduced, prior: Prior, spread: float) -> Optimum:
    """Minimise; the covariance is the inverse of the Hessian at the minimum (Laplace's approximation)."""
    if spread < MIN_SPREAD:
        raise InputError(f"prior_spread must be at least {MIN_SPREAD:g}, got {spread:g}")
    S, weight = prior.whitening(), 1.0 / spread**2
    A = problem.R @ S

    def cost(u: Array) -> float:
        x = prior.x + S @ u
        left = problem.R @ x - problem.z
        return float(0.5 * left @ left + weight * prior.distance(x))

    u = np.zeros(len(prior.x))
    value, converged, steps = cost(u), False, 0
    while not converged and steps < MAX_STEPS:
        x = prior.x + S @ u
        gradient = A.T @ (problem.R @ x - problem.z) + weight * (S.T @ prior.gradient(x))
        triangle = _hessian_triangle(A, S, prior, x, weight)
        step = -solve_triangular(triangle, solve_triangular(triangle, gradient, trans="T"))
        slope = float(gradient @ step)
        converged = -0.5 * slope < NEWTON_DECREMENT + 1e-15 * abs(value)
        fraction = 1.0
        while fraction > 1e-12 and not cost(u + fraction * step) <= value + ARMIJO * fraction * slope:
            fraction *= 0.5
        if fraction <= 1e-12:  # rounding exceeds the possible decrease
            break
        u = u + fraction * step
        value, steps = cost(u), steps + 1
    x = prior.x + S @ u
    inverse = solve_triangular(_hessian_triangle(A, S, prior, x, weight), np.eye(len(x)))
    root = S @ inverse
    return Optimum(x, root @ root.T, steps, converged)


def _hessian_triangle(A: Array, S: Array, prior: Prior, x: Array, weight: float) -> Array:
    """Return the triangle T with T^T T = A^T A + S^T H S, without squaring the condition numbers of A and H."""
    root = np.sqrt(weight) * prior.hessian_root(x) @ S
    triangle: Array = qr(np.concatenate([A, root]), mode="r")[0][: len(x)]
    return triangle
