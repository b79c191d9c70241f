"""Following a path of poses from given configurations: predictor and corrector with steps that cannot jump.

E. L. Allgower and K. Georg, "Introduction to Numerical Continuation Methods", 2003, chapters 2 and 6. A step from q0 to
q1 counts only if the Jacobian stays so nearly the same, norm(J0^+ (J1 - J0)) <= `MOST_CHANGE` < 1, that the way from
joints to poses is one to one in between: then no second branch is there to jump to. Otherwise the step is cut, with
poses on the screw between samples. At a singularity no step is small enough; there only the smooth continuation counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinodyn.description.types import Array
from kinodyn.ik.tracking.task import FrameTask, Inverse, Mask
from kinodyn.spatial.lie import exp_twist, log_pose

MOST_CHANGE = 0.5
WANTED_CHANGE = 0.3  # steps are chosen to come near this
SHORTEST = 2.0**-10  # of the way between two samples
CROSSINGS = (4, 16, 64, 256)  # how far to look for the other side of a singularity, in shortest steps
GOAL = 1e-10  # what the corrector aims at [m, rad]; it ends within the tolerance in any case
SLACK = 1e-9  # beyond limits, for rounding [rad or m]
NEAR_SINGULAR = 0.01  # smallest to greatest singular value
WIDEST = 0.8  # rotation of one step [rad]

Rows = NDArray[np.intp]


@dataclass
class Landing:
    """Where a step ends: q (n, nq), its Jacobian, what is left, the joints held at limits, how much J changed."""

    q: Array
    J: Array
    residual: Array
    frozen: Mask
    change: Array


class Follower:
    """Rows of configurations that each follow one of the paths (B, L, 4, 4), every row at its own pace.

    `of` (n,) says which path a row follows, `gain` (n,) how fast it drifts in the null space next to the motion that
    the path asks for, `goal` (n, c) where to; NaN: away from limits.
    """

    def __init__(
        self, task: FrameTask, paths: Array, of: Rows, start: Array, *, gain: Array, goal: Array, tolerance: float,
        max_step: Array,
    ) -> None:  # fmt: skip
        n, L = len(of), paths.shape[1]
        self.task, self.paths, self.of, self.tolerance, self.max_step = task, paths, of, tolerance, max_step
        self.gain, self.goal = gain, goal
        self.screws = log_pose(np.linalg.inv(paths[:, :-1]) @ paths[:, 1:])
        angle = np.linalg.norm(self.screws[..., 3:], axis=-1)
        self.widest = np.minimum(1.0, WIDEST / np.maximum(angle, 1e-9))
        self.q, self.k, self.s, self.h = start.copy(), np.ones(n, dtype=int), np.zeros(n), np.ones(n)
        self.J = task.jacobian(start, paths[of, 0])
        self.inverse = task.invert(self.J)
        self.tangent = np.zeros((n, len(task.columns)))
        self.ratio, self.crossing = np.full(n, np.inf), np.zeros(n, dtype=bool)
        self.path_q = np.full((n, L, task.robot.nq), np.nan)
        self.residual, self.values = np.full((n, L, 2), np.nan), np.full((n, L), np.nan)
        self.crossed = np.zeros((n, L), dtype=bool)
        self.status, self.joint, self.side = np.full(n, "", "<U11"), np.full(n, "", object), np.full(n, "", "<U5")
        self._write(np.arange(n), 0, start, task.error(start, paths[of, 0])[1])
        self.active = np.full(n, L > 1)
        self.status[~self.active] = "solved"

    @property
    def reached(self) -> NDArray[np.int64]:
        """Count (n,) the samples of each row up to its end or break."""
        return np.isfinite(self.residual[..., 0]).sum(axis=1)

    def run(self) -> Follower:
        """Follow until every row has come to the end of its path or to a break."""
        while self.active.any():
            rows = np.flatnonzero(self.active)
            s = np.minimum(self.s[rows] + np.minimum(self.h[rows], self.widest[self.of[rows], self.k[rows] - 1]), 1.0)
            T = self._pose(rows, s)
            landing = self._land(rows, T)
            sure = (landing.residual.max(axis=1) <= self.tolerance) & (landing.change <= MOST_CHANGE)
            outside = self.task.beyond(landing.q, SLACK)
            kept = sure & ~outside.any(axis=1)
            # Without redundancy the way is the only one: where it passes a limit, it ends.
            lost = sure & outside.any(axis=1) & (self.task.redundancy == 0)
            if lost.any():
                self._stop_at_limits(rows[lost], landing.q[lost], outside[lost])
            back = ~kept & ~lost
            if back.any():
                self._retreat(rows[back], s[back], landing, np.flatnonzero(back), outside[back])
            if kept.any():
                self._advance(rows[kept], s[kept], landing, np.flatnonzero(kept))
        return self

    def _pose(self, rows: Rows, s: Array) -> Array:
        """Find the poses (n, 4, 4) at the share `s` of the way to the next sample."""
        path, k = self.of[rows], self.k[rows]
        T = self.paths[path, k]
        between = np.flatnonzero(s < 1.0)
        if len(between):
            path, k = path[between], k[between]
            T[between] = self.paths[path, k - 1] @ exp_twist(s[between, None] * self.screws[path, k - 1])
        return T

    def _land(self, rows: Rows, T: Array) -> Landing:
        """Step to the poses T; where joints would pass limits and others can take over, hold them there and repeat."""
        task, q, J = self.task, self.q[rows], self.J[rows]
        inverse = Inverse(*(part[rows] for part in self.inverse))
        frozen = np.zeros((len(rows), len(task.columns)), dtype=bool)
        landed = self._correct(self._predict(rows, q, inverse, T, frozen), T, frozen)
        pinv = inverse.pinv
        for _ in range(task.redundancy):
            fresh = task.beyond(landed) & ~frozen
            again = np.flatnonzero(fresh.any(axis=1) & ((fresh | frozen).sum(axis=1) <= task.redundancy))
            if not len(again):
                break
            frozen[again] |= fresh[again]
            held, T_again = frozen[again], T[again]
            at = q[again].copy()  # the old configuration, with what is held where it will be held
            row, column = np.nonzero(held & (task.places >= 0))
            at[row, task.places[column]] = task.values(task.clamp(landed[again], held))[row, column]
            masked = task.invert(J[again] * ~held[:, None])
            pinv[again] = masked.pinv
            landed[again] = self._correct(self._predict(rows[again], at, masked, T_again, held), T_again, held)
        J_new = task.jacobian(landed, T)
        difference = (J_new - J) * ~frozen[:, None]
        change = np.sqrt(((pinv @ difference) ** 2).sum(axis=(1, 2)))
        return Landing(landed, J_new, task.error(landed, T)[1], frozen, change)

    def _predict(self, rows: Rows, q: Array, inverse: Inverse, T: Array, frozen: Mask) -> Array:
        """Go along the tangent towards T and, where the robot is redundant, drift as `gain` and `goal` say."""
        task = self.task
        step = (inverse.pinv @ task.error(q, T)[0][..., None])[..., 0]
        if task.redundancy:
            size = self.gain[rows] * np.minimum(np.sqrt((step * step).sum(axis=1)), 0.5)
            values = task.values(q)
            away = -(((values - task.middle) / task.half * task.ranged) ** 3)
            to = np.where(task.places >= 0, self.goal[rows] - values, 0.0)
            to = to / np.maximum(np.linalg.norm(to, axis=1, keepdims=True), 0.2)
            drift = size[:, None] * np.where(np.isnan(self.goal[rows]), away, to) * ~frozen
            seen = np.swapaxes(inverse.rows, 1, 2) @ (inverse.rows @ drift[..., None])
            step = step + drift - seen[..., 0]
        return task.move(q, _short(step))

    def _correct(self, q: Array, T: Array, frozen: Mask, damping: float = 0.0) -> Array:
        """Come down to the poses T by Newton's method, with the Jacobian of every second iteration."""
        task = self.task
        for i in range(10):
            error, residual = task.error(q, T)
            if (residual <= GOAL).all():
                break
            if i % 2 == 0 or damping:
                pinv = task.invert(task.jacobian(q, T) * ~frozen[:, None], damping).pinv
            q = task.move(q, _short((pinv @ error[..., None])[..., 0]))
        return q

    def _advance(self, rows: Rows, s: Array, landing: Landing, at: Rows) -> None:
        """Take the steps `at` of a landing: they are sure."""
        q, task = landing.q[at], self.task
        self.tangent[rows] = task.step(self.q[rows], q) / (s - self.s[rows])[:, None]
        self.q[rows], self.J[rows], self.s[rows] = q, landing.J[at], s
        for mine, new in zip(self.inverse, task.invert(landing.J[at]), strict=True):
            mine[rows] = new
        values = self.inverse.values[rows]
        self.ratio[rows] = np.minimum(self.ratio[rows], values[:, -1] / values[:, 0])
        factor = np.clip(WANTED_CHANGE / np.maximum(landing.change[at], 1e-9), 0.5, 2.0)
        self.h[rows] = np.clip(self.h[rows] * factor, SHORTEST, 1.0)
        there = s >= 1.0
        if there.any():
            self._finish(rows[there], landing.residual[at][there])

    def _finish(self, rows: Rows, residual: Array) -> None:
        """Record samples that were reached, unless a joint moved too far since the last one."""
        k = self.k[rows]
        share = np.abs(self.task.step(self.path_q[rows, k - 1], self.q[rows])) / self.max_step
        far = share.max(axis=1) > 1.0
        for row, joint in zip(rows[far], share[far].argmax(axis=1), strict=True):
            self._stop(row, "singular" if self.ratio[row] < NEAR_SINGULAR else "step", self.task.names[joint])
        rows, k = rows[~far], k[~far]
        self._write(rows, k, self.q[rows], residual[~far])
        self.crossed[rows, k] = self.crossing[rows]
        self.k[rows], self.s[rows], self.ratio[rows], self.crossing[rows] = k + 1, 0.0, np.inf, False
        ended = rows[k + 1 == self.paths.shape[1]]
        self.active[ended], self.status[ended] = False, "solved"

    def _retreat(self, rows: Rows, s: Array, landing: Landing, at: Rows, outside: Mask) -> None:
        """Cut the steps `at` of a landing; where they are shortest already, try to cross a singularity, or stop."""
        tried = s - self.s[rows]
        close = landing.residual[at].max(axis=1) <= self.tolerance
        factor = np.where(close, np.clip(WANTED_CHANGE / np.maximum(landing.change[at], 1e-9), 0.1, 0.5), 0.3)
        self.h[rows] = np.maximum(tried * factor, SHORTEST)
        for i in np.flatnonzero(tried <= SHORTEST):
            row = rows[i : i + 1]
            if self._cross(row):
                continue
            held = outside[i] | landing.frozen[at[i]]
            if held.any():
                self._stop_at_limits(row, landing.q[at[i : i + 1]], held[None])
            else:
                self._stop(row[0], "stuck", "")

    def _cross(self, row: Rows) -> bool:
        """Look for the smooth continuation of one row on the other side of a singularity."""
        task, q, J = self.task, self.q[row], self.J[row]
        none = np.zeros((1, len(task.columns)), dtype=bool)
        damped = task.invert(J, damping=1e-3).pinv
        for many in CROSSINGS:
            s = np.minimum(self.s[row] + many * SHORTEST, 1.0)
            T = self._pose(row, s)
            # What the singular directions did before they go on doing; the others follow the path.
            before = (s - self.s[row]) * self.tangent[row]
            left = task.error(q, T)[0] - (J @ before[..., None])[..., 0]
            step = before + (damped @ left[..., None])[..., 0]
            landed = self._correct(task.move(q, _short(step)), T, none, damping=1e-4)
            off = np.linalg.norm(task.step(q, landed) - step)
            residual = task.error(landed, T)[1]
            if (residual > self.tolerance).any() or task.beyond(landed, SLACK).any():
                continue
            if off <= 0.25 * np.linalg.norm(step):
                self.crossing[row] = True
                landing = Landing(landed, task.jacobian(landed, T), residual, none, np.full(1, MOST_CHANGE))
                self._advance(row, s, landing, np.zeros(1, dtype=np.intp))
                return True
        return False

    def _stop_at_limits(self, rows: Rows, q: Array, held: Mask) -> None:
        values = self.task.values(q)
        excess = np.maximum(values - self.task.upper, self.task.lower - values)
        for row, joint, value in zip(rows, np.where(held, excess, -np.inf).argmax(axis=1), values, strict=True):
            self._stop(row, "limits", self.task.names[joint])
            self.side[row] = "upper" if value[joint] > self.task.middle[joint] else "lower"

    def _stop(self, row: np.intp, status: str, joint: str) -> None:
        self.active[row], self.status[row], self.joint[row] = False, status, joint

    def _write(self, rows: Rows, k: Rows | int, q: Array, residual: Array) -> None:
        self.path_q[rows, k], self.residual[rows, k] = q, residual
        self.values[rows, k] = self.inverse.values[rows, -1]


def _short(step: Array) -> Array:
    """Cut steps (n, c) to a length of 1, so that a step that fails stays where numbers are small."""
    length = np.sqrt((step * step).sum(axis=1, keepdims=True))
    return np.asarray(step / np.maximum(1.0, length))
