"""From a scaled programme to DAQP and back.

Equality rows are solved first: y = y0 + N z, with an orthonormal basis N of what they leave (redundant ones say
nothing new, contradictory ones are found here). What is left is the least-distance form
    min 1/2 |u|^2  subject to  low <= M u <= high,   u = L^T (z - z_free),   L L^T = N'HN,
which DAQP solves by its dual active-set method (D. Arnstrom, A. Bemporad, D. Axehill 2022). Where N'HN is singular the
proximal-point method goes round it (R. T. Rockafellar 1976): each pass adds eps/2 |z - z_before|^2, and the last one
adds nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import daqp
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kinodyn.arrays import Array
from kinodyn.qp.problem import Problem, finite

RANK = 1e-11  # of rows of length 1: shorter is nothing
SINGULAR = 1e-10  # where variables have curvature 1, less than this counts as none
ROUNDING = 1e-12  # and less than this cannot be told from nothing
PASSES = 20
INFINITE = 1e30  # what DAQP calls infinite
TOLERANCES = {"warm": 1e-11, "cold": 1e-9}  # of rows, where the worst violation at the free minimum is 1


class Point(NamedTuple):
    """Where the solver stopped: not yet judged."""

    y: Array
    multipliers: Array  # (m,) above 0 at the upper side, below 0 at the lower
    iterations: int
    trouble: str  # "" when the solver says that this is the answer


class Stop(NamedTuple):
    """The same in what equality rows leave."""

    z: Array
    multipliers: Array
    iterations: int
    trouble: str


class Engine:
    """The parts of a programme that stay when only g and the limits change, and DAQP's memory."""

    def __init__(self, problem: Problem, equal: NDArray[np.bool_], warm: Array | None = None) -> None:
        self.H, self.G, self.equal = problem.H, problem.G, equal
        self.rows = np.flatnonzero(~equal)
        E = self.G[equal]
        self.N, self.pseudo = np.eye(len(problem.g)), np.zeros((len(problem.g), 0))
        if len(E):
            U, values, Vt = np.linalg.svd(E)
            rank = int((values > RANK).sum())
            self.N = Vt[rank:].T
            self.pseudo = (Vt[:rank].T / values[:rank]) @ U[:, :rank].T
        self.K = self.N.T @ self.H @ self.N
        if np.diag(self.K).max(initial=0.0) < ROUNDING:
            self.K = np.zeros(self.K.shape)
        GN = self.G[self.rows] @ self.N
        self.rows = self.rows[np.linalg.norm(GN, axis=1) > RANK]  # a row of which equalities leave nothing is no row
        self.GN = self.G[self.rows] @ self.N
        self.singular = _singular(self.K)
        self.forms: dict[float, LeastDistance] = {}
        self.active = np.zeros(len(self.rows)) if warm is None or len(warm) != len(self.rows) else warm

    def solve(self, problem: Problem, patience: int = 1) -> Point:
        """Find the point at which the solver stops, for limits and g that may be new.

        `patience` multiplies how often the proximal method may go on before it gives up.
        """
        y0 = self.pseudo @ problem.lower[self.equal]
        g = self.N.T @ (self.H @ y0 + problem.g)
        low, high = (side[self.rows] - self.G[self.rows] @ y0 for side in (problem.lower, problem.upper))
        if self.singular:
            z, multipliers, used, trouble = self._passes(g, low, high, patience * PASSES)
        else:
            z, multipliers, used, trouble = self._one_pass(g, low, high)
        self.active = np.sign(multipliers)
        return Point(y0 + self.N @ z, self._all_multipliers(problem, y0 + self.N @ z, multipliers), used, trouble)

    def _one_pass(self, g: Array, low: Array, high: Array) -> Stop:
        stop = self._form(0.0).nearest(g, low, high, self.active)
        return stop if stop.trouble else self._polished(stop, g, low, high)

    def _passes(self, g: Array, low: Array, high: Array, limit: int) -> Stop:
        """Go on with the proximal-point method until the equations of the rows that hold the point prove it right."""
        curvature = float(np.diag(self.K).max())
        eps = self._proximal_weight(g, low, high, curvature)
        z, active, used = np.zeros(len(g)), self.active, 0
        for count in range(limit):
            if count % 15 == 14:  # limits are further away than thought
                eps = max(0.1 * eps, ROUNDING) if curvature > 0 else 0.1 * eps
            stop = self._form(eps).nearest(g - eps * z, low, high, active)
            used += stop.iterations
            if stop.trouble:
                return stop._replace(iterations=used)
            better = self._polished(stop, g, low, high)
            if self._settled(better, g, low, high):
                return better._replace(iterations=used)
            z, active = stop.z, np.sign(stop.multipliers)
        return better._replace(iterations=used, trouble=f"the proximal method still moves after {limit} passes")

    def _proximal_weight(self, g: Array, low: Array, high: Array, curvature: float) -> float:
        """Choose a weight, a power of 10, with which a pass can go a thousand times as far as limits are away."""
        near = np.minimum(np.abs(low), np.abs(high))
        near = near[np.isfinite(near) & (near > 0)]
        slope = float(np.linalg.norm(g))
        far = float(np.median(near)) if len(near) else slope
        wanted = 1e-3 * slope / far if slope > 0 and far > 0 else 1e-8 * curvature or 1.0
        if curvature > 0:
            wanted = min(max(wanted, 1e-8 * curvature, ROUNDING), 1e-2 * max(curvature, SINGULAR))
        return float(10.0 ** np.round(np.log10(wanted)))

    def _form(self, eps: float) -> LeastDistance:
        if eps not in self.forms:
            self.forms = {eps: LeastDistance(self.K + eps * np.eye(len(self.K)), self.GN)}
        return self.forms[eps]

    def _polished(self, stop: Stop, g: Array, low: Array, high: Array) -> Stop:
        """Solve the equations of the active rows once more for what rounding and proximal terms left."""
        held = stop.multipliers != 0
        G, pushed = self.GN[held], stop.multipliers[held]
        slope = -(self.K @ stop.z + g + G.T @ pushed)
        gap = np.where(pushed > 0, finite(high[held]), finite(low[held])) - G @ stop.z
        size = np.linalg.norm(g) + np.linalg.norm(self.K @ stop.z)
        if np.linalg.norm(slope) <= 1e-14 * size and np.linalg.norm(gap) <= 1e-14 * np.linalg.norm(stop.z):
            return stop
        k, m = len(self.K), len(G)
        equations = np.block([[self.K, G.T], [G, np.zeros((m, m))]])
        step = np.linalg.lstsq(equations, np.concatenate([slope, gap]), rcond=1e-12)[0]
        better = stop.multipliers.copy()
        better[held] += step[k:]
        if (better[held] * pushed < 0).any():  # the active rows are not the right ones: keep what was found
            return stop
        return stop._replace(z=stop.z + step[:k], multipliers=better)

    def _settled(self, stop: Stop, g: Array, low: Array, high: Array) -> bool:
        at = self.GN @ stop.z
        slope = self.K @ stop.z + g + self.GN.T @ stop.multipliers
        sizes = np.abs(self.K) @ np.abs(stop.z) + np.abs(g) + np.abs(self.GN).T @ np.abs(stop.multipliers)
        outside = np.maximum(np.maximum(low - at, at - high), 0.0).max(initial=0.0)
        limit = 1e-11
        return bool(np.abs(slope).max(initial=0.0) <= limit * sizes.max(initial=0.0)) and bool(
            outside <= limit * (np.linalg.norm(stop.z) + 1e-9)
        )

    def _all_multipliers(self, problem: Problem, y: Array, multipliers: Array) -> Array:
        """Give equality rows the multipliers that leave the least of the slope."""
        full = np.zeros(len(self.G))
        full[self.rows] = multipliers
        slope = self.H @ y + problem.g + self.G.T @ full
        full[self.equal] = -self.pseudo.T @ slope
        return full


class LeastDistance:
    """min 1/2 z'Kz + g'z within rows, as DAQP solves it best: the shortest u, with K = L L^T and u = L^T (z - free)."""

    def __init__(self, K: Array, rows: Array) -> None:
        self.rows = rows
        L = np.linalg.cholesky(K) if len(K) else K
        self.L_inverse = solve_triangular(L, np.eye(len(K)), lower=True) if len(K) else K  # products are faster
        M = rows @ self.L_inverse.T
        self.length = np.linalg.norm(M, axis=1)
        self.M = np.ascontiguousarray(M / self.length[:, None])
        self.model: daqp.Model | None = None

    def nearest(self, g: Array, low: Array, high: Array, active: Array) -> Stop:
        """Solve it, in units in which the worst violation at the free minimum is 1."""
        none = np.zeros(len(self.rows))
        if len(g) == 0:
            return Stop(g, none, 0, "")
        z = self.L_inverse.T @ (self.L_inverse @ -g)
        at = self.rows @ z
        below, above = (low - at) / self.length, (high - at) / self.length
        unit = float(np.maximum(below, -above).max(initial=0.0))
        if unit <= 0.0:
            return Stop(z, none, 0, "")
        u, found, used, trouble = self._daqp(below / unit, above / unit, active)
        z = z + self.L_inverse.T @ (unit * u)
        return Stop(z, unit * found / self.length, used, trouble)

    def _daqp(self, low: Array, high: Array, active: Array) -> Stop:
        low, high = np.clip(low, -INFINITE, INFINITE), np.clip(high, -INFINITE, INFINITE)
        used, flag = 0, 0
        for attempt, tolerance in TOLERANCES.items():
            if self.model is None or attempt == "cold":
                flag = self._set_up(low, high, active if attempt == "warm" else np.zeros(len(low)))
            else:
                flag = self.model.update(bupper=high, blower=low)
            if flag < 0 or self.model is None:
                self.model = None
                continue
            self.model.settings = {"primal_tol": tolerance, "eps_prox": 0.0, "iter_limit": 2000}
            u, _, flag, info = self.model.solve()
            used += int(info["iterations"])
            if flag == 1 and np.isfinite(u).all() and np.isfinite(info["lam"]).all():
                return Stop(u, np.array(info["lam"]), used, "")
            self.model = None
        reason = {-1: "no point within all rows", -2: "cycling", -4: "iteration limit"}.get(flag, f"exit flag {flag}")
        return Stop(np.zeros(self.M.shape[1]), np.zeros(len(low)), used, f"DAQP stopped: {reason}")

    def _set_up(self, low: Array, high: Array, active: Array) -> int:
        n = self.M.shape[1]
        sense = np.where(active != 0, 1, 0) + np.where(active < 0, 2, 0)
        self.model = daqp.Model()
        flag, _ = self.model.setup(np.eye(n), np.zeros(n), self.M, high, low, sense.astype(np.intc))
        return int(flag)


def _singular(K: Array) -> bool:
    if len(K) == 0:
        return False
    try:
        np.linalg.cholesky(K - SINGULAR * np.eye(len(K)))
    except np.linalg.LinAlgError:
        return True
    return False
