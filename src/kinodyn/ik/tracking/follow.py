"""Following a path of poses from given configurations: predictor and corrector with steps that cannot jump.

E. L. Allgower and K. Georg, "Introduction to Numerical Continuation Methods", 2003, chapters 2 and 6. A step from q0 to
q1 counts only if the Jacobian stays so nearly the same, norm(J0^+ (J1 - J0)) <= `MOST_CHANGE` < 1, that the way from
joints to poses is one to one in between: then no second branch is there to jump to. Several samples
are tried together from one q0, and those up to the first that fails are kept; where the next one fails already, the
step is cut, with poses on the screw between samples. At a singularity no step is small enough; there only the smooth
continuation counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.ik.tracking.task import SLACK, FrameTask, Inverse, Mask, shortened
from kinodyn.spatial.lie import exp_twist, log_pose

MOST_CHANGE = 0.5
WANTED_CHANGE = 0.3  # steps are chosen to come near this
SHORTEST = 2.0**-10  # of the way between two samples
CROSSINGS = (256, 64, 16, 4)  # how far to look for the other side of a singularity, in shortest steps
MOST_CROSSINGS = 8  # between two samples
DAMPINGS = (0.1, 1e-3)  # below which share of the greatest singular value a direction counts as singular
SMOOTH = 0.25  # how much a step across a singularity may differ from the one before
ASTRAY = 0.1  # how far the frame may leave the way between two samples there, as a share of it
STUCK = "stuck"  # no step is short enough; why, another solver must say
LONGEST = 32  # samples tried together
NEAR_SINGULAR = 0.01  # smallest to greatest singular value
WIDEST = 0.8  # rotation of one step [rad]

Rows = NDArray[np.intp]


@dataclass
class Landing:
    """Where steps of `rows` end: q (n, nq), its Jacobian, what is left, joints held at limits, how much J changed.

    `s` (n,) counts samples from the last one that was reached; up to 1 it may be a part of the way to the next.
    """

    rows: Rows
    s: Array
    q: Array
    J: Array
    residual: Array
    frozen: Mask
    change: Array

    def pick(self, at: Rows | Mask) -> Landing:
        """Take some of the steps."""
        return Landing(
            self.rows[at],
            self.s[at],
            self.q[at],
            self.J[at],
            self.residual[at],
            self.frozen[at],
            self.change[at],
        )


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
        angles = np.linalg.norm(self.screws[..., 3:], axis=-1)
        self.turned = np.concatenate([np.zeros((len(paths), 1)), np.cumsum(angles, axis=1)], axis=1)
        self.q, self.k, self.s = start.copy(), np.ones(n, dtype=int), np.zeros(n)
        self.h, self.many = np.ones(n), np.ones(n, dtype=int)
        self.J = task.jacobian(start, paths[of, 0])
        self.inverse = task.invert(self.J)
        self.tangent = np.zeros((n, len(task.columns)))
        self.ratio, self.crossing = np.full(n, np.inf), np.zeros(n, dtype=bool)
        self.crossings = np.zeros(n, dtype=int)
        self.path_q = np.full((n, L, task.robot.nq), np.nan)
        self.residual = np.full((n, L, 2), np.nan)
        self.crossed = np.zeros((n, L), dtype=bool)
        self.status, self.joint, self.side = np.full(n, "", "<U11"), np.full(n, "", object), np.full(n, "", "<U5")
        self.path_q[:, 0], self.residual[:, 0] = start, task.error(start, paths[of, 0])[1]
        self.active = np.full(n, L > 1)
        self.status[~self.active] = "solved"

    @property
    def reached(self) -> NDArray[np.int64]:
        """Count (n,) the samples of each row up to its end or break."""
        return np.asarray(np.isfinite(self.residual[..., 0]).sum(axis=1))

    def run(self) -> Follower:
        """Follow until every row has come to the end of its path or to a break."""
        while self.active.any():
            rows, s, first = self._aims()
            landing = self._land(rows, s)
            sure = (landing.residual.max(axis=1) <= self.tolerance) & (landing.change <= MOST_CHANGE)
            sure &= self._turn(rows, s) <= WIDEST
            outside = self.task.beyond(landing.q, SLACK)
            inside = ~outside.any(axis=1)
            kept = _leading(sure & inside, first)
            if not kept[first].all():
                self._resist(landing.pick(first), sure[first], outside[first], kept[first])
            if kept.any():
                self._advance(landing.pick(kept))
        return self

    def _aims(self) -> tuple[Rows, Array, Rows]:
        """Choose for every active row a part of the way to its next sample, or that sample and some after it.

        Gives the row of each aim, how far it is, and where each row's aims begin.
        """
        active = np.flatnonzero(self.active)
        whole = (self.h[active] >= 1.0) & (self.s[active] == 0.0)
        many = np.where(whole, np.minimum(self.many[active], self.paths.shape[1] - self.k[active]), 1)
        first = np.cumsum(many) - many
        rows = np.repeat(active, many)
        s = np.arange(1.0, len(rows) + 1) - np.repeat(first, many)
        part = np.minimum(self.s[active] + self.h[active], 1.0)
        s[first] = np.where(whole, 1.0, part)
        return rows, s, first

    def _turn(self, rows: Rows, s: Array) -> Array:
        """Measure the rotation (n,) of the path on the way of these steps [rad]."""
        path, k = self.of[rows], self.k[rows]
        last = k - 1 + np.ceil(s).astype(int)
        whole = self.turned[path, last] - self.turned[path, k - 1]
        return np.asarray(np.where(s < 1.0, s - self.s[rows], 1.0) * whole)

    def _pose(self, rows: Rows, s: Array) -> Array:
        """Find the poses (n, 4, 4) at `s` samples after the last one that was reached."""
        path, k = self.of[rows], self.k[rows]
        T: Array = self.paths[path, k - 1 + np.ceil(s).astype(int)]
        between = np.flatnonzero(s < 1.0)
        if len(between):
            path, k = path[between], k[between]
            T[between] = self.paths[path, k - 1] @ exp_twist(s[between, None] * self.screws[path, k - 1])
        return T

    def _land(self, rows: Rows, s: Array) -> Landing:
        """Step to the poses at s; joints that would pass limits while others can take over are held there."""
        task, q, J, T = self.task, self.q[rows], self.J[rows], self._pose(rows, s)
        inverse = Inverse(*(part[rows] for part in self.inverse))
        frozen = np.zeros((len(rows), len(task.columns)), dtype=bool)
        landed, residual = task.settle(self._predict(rows, q, inverse, T, frozen), T, frozen)
        pinv = inverse.pinv
        for _ in range(task.redundancy):
            fresh = task.beyond(landed) & ~frozen
            again = np.flatnonzero(fresh.any(axis=1) & ((fresh | frozen).sum(axis=1) <= task.redundancy))
            if not len(again):
                break
            frozen[again] |= fresh[again]
            held, T_again = frozen[again], T[again]
            # The old configuration, with what is held where it will be held.
            at = task.hold(q[again], held, task.values(landed[again]))
            masked = task.invert(J[again] * ~held[:, None])
            pinv[again] = masked.pinv
            guess = self._predict(rows[again], at, masked, T_again, held)
            landed[again], residual[again] = task.settle(guess, T_again, held)
        J_new = task.jacobian(landed, T)
        change = task.change(q, J, pinv, landed, J_new, frozen)
        return Landing(rows, s, landed, J_new, residual, frozen, change)

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
        return task.move(q, shortened(step))

    def _advance(self, landing: Landing) -> None:
        """Take steps that are sure: record the samples among them and stand at the last of each row."""
        reached = landing.s >= 1.0
        far = self._record(landing.pick(reached)) if reached.any() else np.zeros(0, dtype=bool)
        if far.any():
            landing = landing.pick(~np.isin(np.arange(len(reached)), np.flatnonzero(reached)[far]))
            if not len(landing.rows):
                return
        last = np.append(landing.rows[1:] != landing.rows[:-1], True)
        landing = landing.pick(last)
        rows, s, task = landing.rows, landing.s, self.task
        self.tangent[rows] = task.step(self.q[rows], landing.q) / (s - self.s[rows])[:, None]
        self.q[rows], self.J[rows] = landing.q, landing.J
        for mine, new in zip(self.inverse, task.invert(landing.J), strict=True):
            mine[rows] = new
        values = self.inverse.values[rows]
        self.ratio[rows] = np.minimum(self.ratio[rows], values[:, -1] / values[:, 0])
        self._pace(rows, s, landing.change)

    def _pace(self, rows: Rows, s: Array, change: Array) -> None:
        """Count the samples that are behind, and choose the next steps by how much the Jacobian changed."""
        factor = np.clip(WANTED_CHANGE / np.maximum(change, 1e-9), 0.5, 2.0)
        whole = s >= 1.0
        samples = np.where(whole, s, 0.0).astype(int)
        cut = self.h[rows] < 1.0
        self.many[rows] = np.where(cut | ~whole, 1, np.clip(samples * factor, 1, LONGEST))
        self.h[rows] = np.where(cut, np.clip(self.h[rows] * factor, SHORTEST, 1.0), 1.0)
        self.k[rows] += samples
        self.s[rows] = np.where(whole, 0.0, s)
        new = rows[whole]
        self.crossing[new], self.crossings[new], self.ratio[new] = False, 0, np.inf
        ended = rows[self.k[rows] == self.paths.shape[1]]
        self.active[ended], self.status[ended] = False, "solved"

    def _record(self, landing: Landing) -> Mask:
        """Write samples that were reached, up to where a joint moved too far between two; tell which (n,) are not."""
        rows, sample = landing.rows, self.k[landing.rows] - 1 + landing.s.astype(int)
        first = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
        before = np.concatenate([landing.q[:1], landing.q[:-1]])
        before[first] = self.path_q[rows[first], sample[first] - 1]
        share = np.abs(self.task.step(before, landing.q)) / self.max_step
        good = _leading(share.max(axis=1) <= 1.0, first)
        for i in first[~good[first]]:
            singular = self.ratio[rows[i]] < NEAR_SINGULAR
            if not (singular and self._leap(rows[i : i + 1])):
                self._stop(rows[i], "singular" if singular else "step", self.task.names[share[i].argmax()])
        rows, sample = rows[good], sample[good]
        self.path_q[rows, sample], self.residual[rows, sample] = landing.q[good], landing.residual[good]
        self.crossed[rows, sample] = self.crossing[rows]
        return ~good

    def _resist(self, landing: Landing, sure: Mask, outside: Mask, kept: Mask) -> None:
        """Deal with rows whose first step failed: cut it; where it is shortest already, cross or stop."""
        beyond = outside.any(axis=1)
        # Without redundancy the way is the only one: where it passes a limit, it ends.
        lost = sure & beyond & (self.task.redundancy == 0)
        tried = landing.s - self.s[landing.rows]
        close = landing.residual.max(axis=1) <= self.tolerance
        factor = np.where(close, np.clip(WANTED_CHANGE / np.maximum(landing.change, 1e-9), 0.1, 0.5), 0.3)
        cut = ~kept & ~lost
        rows = landing.rows[cut]
        self.h[rows], self.many[rows] = np.maximum(tried * factor, SHORTEST)[cut], 1
        shortest = tried <= 1.01 * SHORTEST  # a difference of two numbers, so not exactly
        for i in np.flatnonzero(lost | (cut & shortest)):
            row, held = landing.rows[i : i + 1], outside[i] | landing.frozen[i]
            singular = not held.any() or self.ratio[row[0]] < NEAR_SINGULAR
            if singular and (self._leap(row) or (not lost[i] and self._cross(row))):
                continue
            if held.any():
                self._stop_at_limit(row[0], landing.q[i : i + 1], held)
            else:
                self._stop(row[0], STUCK, "")

    def _cross(self, row: Rows) -> bool:
        """Look for the smooth continuation of one row on the other side of a singularity."""
        self.crossings[row] += 1
        if self.crossings[row[0]] > MOST_CROSSINGS:  # it runs along singularities rather than through one
            return False
        for many in CROSSINGS:
            s = np.minimum(self.s[row] + many * SHORTEST, 1.0)
            landing = self._continue(row, self.q[row], self.tangent[row] * (s - self.s[row]), s)
            if landing is not None:
                self.crossing[row] = True
                self._advance(landing)
                return True
        return False

    def _leap(self, row: Rows) -> bool:
        """Look for the smooth continuation of one row from its last sample to the next one.

        Samples of a way through a singularity lie on either side of it, and the screw between them may miss it by a
        little, where the branch turns aside. It counts if halfway the frame is still where the path is.
        """
        path, k = self.of[row], self.k[row]
        q, s = self.path_q[row, k - 1], np.ones(1)
        lengths = np.linalg.norm(self.screws[path[0]], axis=1)
        before = np.zeros((1, len(self.task.columns)))
        if k[0] > 1 and lengths[k[0] - 2] > 0.0:
            before = self.task.step(self.path_q[row, k - 2], q) * (lengths[k[0] - 1] / lengths[k[0] - 2])
        landing = self._continue(row, q, before, s)
        if landing is None or (np.abs(self.task.step(q, landing.q)) > self.max_step).any():
            return False
        halfway = self.task.robot.interpolate(q, landing.q, 0.5)
        if np.linalg.norm(self.task.error(halfway, self._pose(row, 0.5 * s))[0]) > ASTRAY * lengths[k[0] - 1]:
            return False
        self.q[row], self.s[row], self.h[row], self.crossing[row] = q, 0.0, 1.0, True
        self._advance(landing)
        return True

    def _continue(self, row: Rows, q: Array, before: Array, s: Array) -> Landing | None:
        """Step from q to the pose at s much as the step `before` was; None if there is no such place."""
        task, T = self.task, self._pose(row, s)
        J = task.jacobian(q, T)
        none = np.zeros((1, len(task.columns)), dtype=bool)
        left = task.error(q, T)[0] - (J @ before[..., None])[..., 0]
        for damping in DAMPINGS:
            # What the singular directions did before they go on doing; the others follow the path.
            step = before + (task.invert(J, damping).pinv @ left[..., None])[..., 0]
            landed, residual = task.settle(task.move(q, shortened(step)), T, none, damping=1e-4)
            astray = np.linalg.norm(task.step(q, landed) - step) > SMOOTH * np.linalg.norm(step)
            if not astray and residual.max() <= self.tolerance and not task.beyond(landed, SLACK).any():
                change = np.full(1, WANTED_CHANGE)
                return Landing(row, s, landed, task.jacobian(landed, T), residual, none, change)
        return None

    def _stop_at_limit(self, row: np.intp, q: Array, held: Mask) -> None:
        values = self.task.values(q)[0]
        excess = np.maximum(values - self.task.upper, self.task.lower - values)
        joint = int(np.where(held, excess, -np.inf).argmax())
        self._stop(row, "limits", self.task.names[joint])
        self.side[row] = "upper" if values[joint] > self.task.middle[joint] else "lower"

    def _stop(self, row: np.intp, status: str, joint: str) -> None:
        self.active[row], self.status[row], self.joint[row] = False, status, joint


def _leading(good: Mask, first: Rows) -> Mask:
    """Keep of each group, which begin at `first`, what comes before its first failure."""
    bad = np.cumsum(~good)
    before = np.where(first > 0, bad[first - 1], 0)
    return np.asarray(bad == np.repeat(before, np.diff(np.append(first, len(good)))))
