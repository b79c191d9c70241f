"""The quadratic program (QP) of the MPC: variables, objective and constraints over a horizon."""

from __future__ import annotations

from math import cos, sin
from time import perf_counter

import numpy as np

from kinodyn import qp
from kinodyn.arrays import Array
from kinodyn.walking.horizon import Horizon
from kinodyn.walking.lipm_trajectory import dcm_fractions
from kinodyn.walking.phases import DIRECTIONS
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.step_region import EDGES
from kinodyn.walking.weights import MPCWeights


class MPCProblem:
    """The QP of the MPC.

    Variables
        y (n, 2): ZMP at the knots, minus the nominal ZMP, minus its part that moves with shifted footsteps;
        shift (m, 2): of the upcoming footsteps; slack: by how much the DCM misses the capture region.
    Objective
        y, its rate, the deviation of the DCM at the end, shifts of footsteps, the slack.
    Constraints
        y in the polygon of each knot; the DCM at the end in the capture region of the following steps, up to the slack;
        footsteps within their limits.
    """

    def __init__(self, grid: Horizon, weights: MPCWeights, omega: float, dcm: Array, before: Array | None) -> None:
        self.grid, self.n, self.m = grid, len(grid.times), grid.carried.shape[1]
        h = [b - a for a, b in zip(grid.times, grid.times[1:], strict=False)]
        parts, fade = [0.0] * self.n, 1.0  # contribution of each knot to the current DCM
        for k, step in enumerate(h):
            first, last, rest = dcm_fractions(omega * step)
            parts[k] += fade * first
            parts[k + 1] += fade * last
            fade *= rest
        self.fade = fade
        self.effect = np.array(parts)
        if self.m:
            self.effect = np.concatenate([self.effect, self.effect @ grid.carried + fade * grid.last])
        self.off: Array = dcm - grid.dcm_start
        steps = np.array([h[0], *h])
        rate = weights.rate / steps
        diagonal = weights.zmp * steps
        diagonal[1:] += rate[1:]
        diagonal[:-1] += rate[1:]
        size, n = self.n + self.m, self.n
        inner = weights.terminal * np.multiply.outer(self.effect, self.effect)
        flat = inner.reshape(-1)
        flat[: n * size : size + 1] += diagonal
        flat[n * size + n :: size + 1] += weights.step
        flat[1 : (n - 1) * size : size + 1] -= rate[1:]
        flat[size : n * size : size + 1] -= rate[1:]
        g = np.zeros(2 * size + 1)
        g[:-1] = np.multiply.outer(-weights.terminal * self.effect, self.off).reshape(-1)
        g[-1] = weights.slack
        if before is not None:
            flat[0] += rate[0]
            g[:2] -= rate[0] * (before - grid.zmp[0])
        H = np.zeros((2 * size + 1, 2 * size + 1))
        H[:-1:2, :-1:2] = H[1:-1:2, 1:-1:2] = inner
        H[-1, -1] = weights.slack
        self.H, self.g = H, g

    def solve(self, limits: StepLimits | None, travel: float) -> qp.QPResult:
        """Solve the QP, and measure the time that takes."""
        A, lower, upper = self.constraints(limits, travel)
        begin = perf_counter()
        answer = qp.solve(self.H, self.g, A, lower, upper)
        self.seconds = perf_counter() - begin
        return answer

    def parts(self, x: Array) -> tuple[Array, Array, float]:
        """Split the variables into y, shift, slack."""
        return x[: 2 * self.n].reshape(-1, 2), x[2 * self.n : -1].reshape(-1, 2), float(x[-1])

    def dcm_end(self, y: Array, shift: Array) -> Array:
        """Compute the DCM (2,) at the end of the horizon."""
        left = self.off - self.effect @ np.concatenate([y, shift])
        moved = self.grid.last @ shift if len(shift) else 0.0
        return np.asarray(self.grid.dcm_end + left / self.fade + moved)

    def constraints(self, limits: StepLimits | None, travel: float) -> tuple[Array, Array, Array]:
        """Build the rows lower <= A x <= upper."""
        grid, size, r = self.grid, len(self.g), len(self.grid.knot)
        rows = r + len(DIRECTIONS) + 1 + (0 if limits is None else EDGES * self.m)
        A, lower, upper = np.zeros((rows, size)), np.full(rows, -np.inf), np.full(rows, np.inf)
        k = np.arange(r)
        A[k, 2 * grid.knot], A[k, 2 * grid.knot + 1] = grid.A[:, 0], grid.A[:, 1]
        lower[:r], upper[:r] = grid.lower, grid.upper
        # DCM at the end of the horizon, discounted to now: DIRECTIONS (off - effect x) <= fade * room + slack
        end = r + len(DIRECTIONS)
        A[r:end, :-1:2] = np.multiply.outer(DIRECTIONS[:, 0], -self.effect)
        A[r:end, 1:-1:2] = np.multiply.outer(DIRECTIONS[:, 1], -self.effect)
        A[r:end, -1] = -1.0
        upper[r:end] = self.fade * grid.room - DIRECTIONS @ self.off
        A[end, -1], lower[end] = 1.0, 0.0
        if limits is not None:
            for j in range(self.m):
                row = end + 1 + EDGES * j
                self._reach(A[row:], lower[row:], upper[row:], limits, j, travel)
        return A, lower, upper

    def _reach(self, A: Array, lower: Array, upper: Array, limits: StepLimits, j: int, travel: float) -> None:
        """Keep footstep j within the limits relative to the one before; a plan outside them may stay as it is."""
        before, step = self.grid.feet[j], self.grid.feet[j + 1]
        c, s = cos(before.yaw), sin(before.yaw)
        x, y, turn = step.relative_to(before)
        at = 2 * (self.n + j)
        for k, ((a, b), low, high) in enumerate(limits.edges(step.side, turn)):
            direction, position = (a * c - b * s, a * s + b * c), a * x + b * y
            A[k, at], A[k, at + 1] = direction
            least, most = min(low - position, 0.0), max(high - position, 0.0)
            if j > 0:
                A[k, at - 2], A[k, at - 1] = -direction[0], -direction[1]
            elif k < 2:
                least, most = max(least, -travel), min(most, travel)
            lower[k], upper[k] = least, most
