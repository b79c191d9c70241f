"""Predictor-corrector continuation along a path of poses, with steps that cannot jump to another branch.

E. L. Allgower and K. Georg, "Introduction to Numerical Continuation Methods", 2003, chapters 2 and 6. A step from q0 to
q1 is accepted only if the Jacobian changes so little, norm(J0^+ (J1 - J0)) <= `MAX_JACOBIAN_CHANGE` < 1, that forward
kinematics is one to one in between: then there is no second branch to jump to. Several samples are tried together from
one q0, and those before the first failure are kept; where the very next one fails, the step is shortened, with poses on
the screw between samples. At a singularity no step is small enough; there only a smooth continuation is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kinodyn.arrays import Array
from kinodyn.ik.tracking.tracked_frame import LIMIT_TOLERANCE, Inverse, Mask, TrackedFrame, shortened
from kinodyn.spatial.lie import exp_twist, log_pose

MAX_JACOBIAN_CHANGE = 0.5
TARGET_JACOBIAN_CHANGE = 0.3  # target of the step length control
MIN_STEP = 2.0**-10  # as a fraction of the interval between two samples
CROSSING_STEPS = (256, 64, 16, 4)  # distances to the other side of a singularity to try, in MIN_STEP
MAX_CROSSINGS = 8  # of singularities between two samples
DAMPINGS = (0.1, 1e-3)  # fractions of the largest singular value below which a direction counts as singular
MAX_STEP_DEVIATION = 0.25  # relative difference of a step across a singularity from the one before
MAX_PATH_DEVIATION = 0.1  # of the frame from the path there, as a fraction of the interval between two samples
STUCK = "stuck"  # no step is short enough; `Tracker.explain` finds out why
MAX_SAMPLES_AT_ONCE = 32
NEAR_SINGULAR = 0.01  # smallest over largest singular value
MAX_STEP_ROTATION = 0.8  # [rad]

Rows = NDArray[np.intp]


@dataclass
class Candidate:
    """End points of steps of `rows`: q (n, nq), Jacobian, residual, joints frozen at limits, change of the Jacobian.

    `s` (n,) counts samples from the last one that was reached; below 1 it is a fraction of the interval to the next.
    """

    rows: Rows
    s: Array
    q: Array
    J: Array
    residual: Array
    frozen: Mask
    change: Array

    def pick(self, at: Rows | Mask) -> Candidate:
        """Select steps."""
        return Candidate(
            self.rows[at],
            self.s[at],
            self.q[at],
            self.J[at],
            self.residual[at],
            self.frozen[at],
            self.change[at],
        )


class Follower:
    """Configurations (n, nq) that each follow one of the paths (B, L, 4, 4), every row with its own step lengths.

    Row i follows path `of[i]`. In the null space it drifts towards `goal` (n, c), or away from limits where that is
    NaN, at `gain` (n,) times the motion along the path.
    """

    def __init__(
        self,
        tracked: TrackedFrame,
        paths: Array,
        of: Rows,
        start: Array,
        *,
        gain: Array,
        goal: Array,
        tolerance: float,
        max_step: Array,
    ) -> None:
        n, L = len(of), paths.shape[1]
        self.tracked, self.paths, self.of, self.tolerance, self.max_step = tracked, paths, of, tolerance, max_step
        self.gain, self.goal = gain, goal
        self.screws = log_pose(np.linalg.inv(paths[:, :-1]) @ paths[:, 1:])
        angles = np.linalg.norm(self.screws[..., 3:], axis=-1)
        self.rotated = np.concatenate([np.zeros((len(paths), 1)), np.cumsum(angles, axis=1)], axis=1)
        self.q, self.k, self.s = start.copy(), np.ones(n, dtype=int), np.zeros(n)
        self.h, self.many = np.ones(n), np.ones(n, dtype=int)
        self.J = tracked.jacobian(start, paths[of, 0])
        self.inverse = tracked.invert(self.J)
        self.tangent = np.zeros((n, len(tracked.columns)))
        self.ratio, self.crossing = np.full(n, np.inf), np.zeros(n, dtype=bool)
        self.crossings = np.zeros(n, dtype=int)
        self.path_q = np.full((n, L, tracked.robot.nq), np.nan)
        self.residual = np.full((n, L, 2), np.nan)
        self.crossed = np.zeros((n, L), dtype=bool)
        self.status, self.joint, self.side = np.full(n, "", "<U11"), np.full(n, "", object), np.full(n, "", "<U5")
        self.path_q[:, 0], self.residual[:, 0] = start, tracked.error(start, paths[of, 0])[1]
        self.active = np.full(n, L > 1)
        self.status[~self.active] = "solved"

    @property
    def reached(self) -> NDArray[np.int64]:
        """Number of samples (n,) of each row up to its end or break."""
        return np.asarray(np.isfinite(self.residual[..., 0]).sum(axis=1))

    def run(self) -> Follower:
        """Follow until every row has reached the end of its path or a break."""
        while self.active.any():
            rows, s, first = self._choose_steps()
            candidate = self._solve(rows, s)
            sure = (candidate.residual.max(axis=1) <= self.tolerance) & (candidate.change <= MAX_JACOBIAN_CHANGE)
            sure &= self._rotation(rows, s) <= MAX_STEP_ROTATION
            outside = self.tracked.outside_limits(candidate.q, LIMIT_TOLERANCE)
            inside = ~outside.any(axis=1)
            kept = _leading(sure & inside, first)
            if not kept[first].all():
                self._handle_failures(candidate.pick(first), sure[first], outside[first], kept[first])
            if kept.any():
                self._accept(candidate.pick(kept))
        return self

    def _choose_steps(self) -> tuple[Rows, Array, Rows]:
        """Choose for every active row a fraction of the interval to its next sample, or that sample and some after it.

        Returns the row of each step, its length in samples, and the index of each row's first step.
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

    def _rotation(self, rows: Rows, s: Array) -> Array:
        """Compute the rotation (n,) of the path over these steps [rad]."""
        path, k = self.of[rows], self.k[rows]
        last = k - 1 + np.ceil(s).astype(int)
        whole = self.rotated[path, last] - self.rotated[path, k - 1]
        return np.asarray(np.where(s < 1.0, s - self.s[rows], 1.0) * whole)

    def _pose(self, rows: Rows, s: Array) -> Array:
        """Compute the poses (n, 4, 4) at `s` samples after the last one that was reached."""
        path, k = self.of[rows], self.k[rows]
        T: Array = self.paths[path, k - 1 + np.ceil(s).astype(int)]
        between = np.flatnonzero(s < 1.0)
        if len(between):
            path, k = path[between], k[between]
            T[between] = self.paths[path, k - 1] @ exp_twist(s[between, None] * self.screws[path, k - 1])
        return T

    def _solve(self, rows: Rows, s: Array) -> Candidate:
        """Solve for the poses at s; joints that would exceed limits are frozen there while others can compensate."""
        tracked, q, J, T = self.tracked, self.q[rows], self.J[rows], self._pose(rows, s)
        inverse = Inverse(*(part[rows] for part in self.inverse))
        frozen = np.zeros((len(rows), len(tracked.columns)), dtype=bool)
        q_new, residual = tracked.project(self._predict(rows, q, inverse, T, frozen), T, frozen)
        pinv = inverse.pinv
        for _ in range(tracked.redundancy):
            fresh = tracked.outside_limits(q_new) & ~frozen
            again = np.flatnonzero(fresh.any(axis=1) & ((fresh | frozen).sum(axis=1) <= tracked.redundancy))
            if not len(again):
                break
            frozen[again] |= fresh[again]
            fixed, T_again = frozen[again], T[again]
            # The old configuration, with frozen joints at their limits.
            at = tracked.clamp(q[again], fixed, tracked.values(q_new[again]))
            masked = tracked.invert(J[again] * ~fixed[:, None])
            pinv[again] = masked.pinv
            guess = self._predict(rows[again], at, masked, T_again, fixed)
            q_new[again], residual[again] = tracked.project(guess, T_again, fixed)
        J_new = tracked.jacobian(q_new, T)
        change = tracked.change(q, J, pinv, q_new, J_new, frozen)
        return Candidate(rows, s, q_new, J_new, residual, frozen, change)

    def _predict(self, rows: Rows, q: Array, inverse: Inverse, T: Array, frozen: Mask) -> Array:
        """Step along the tangent towards T and, where the robot is redundant, drift in the null space."""
        tracked = self.tracked
        step = (inverse.pinv @ tracked.error(q, T)[0][..., None])[..., 0]
        if tracked.redundancy:
            size = self.gain[rows] * np.minimum(np.sqrt((step * step).sum(axis=1)), 0.5)
            values = tracked.values(q)
            from_limits = -(((values - tracked.middle) / tracked.half * tracked.bounded) ** 3)
            to_goal = np.where(tracked.q_index >= 0, self.goal[rows] - values, 0.0)
            to_goal = to_goal / np.maximum(np.linalg.norm(to_goal, axis=1, keepdims=True), 0.2)
            drift = size[:, None] * np.where(np.isnan(self.goal[rows]), from_limits, to_goal) * ~frozen
            in_row_space = np.swapaxes(inverse.rows, 1, 2) @ (inverse.rows @ drift[..., None])
            step = step + drift - in_row_space[..., 0]
        return tracked.move(q, shortened(step))

    def _accept(self, candidate: Candidate) -> None:
        """Accept steps: record the samples among them and move to the last of each row."""
        reached = candidate.s >= 1.0
        far = self._record(candidate.pick(reached)) if reached.any() else np.zeros(0, dtype=bool)
        if far.any():
            candidate = candidate.pick(~np.isin(np.arange(len(reached)), np.flatnonzero(reached)[far]))
            if not len(candidate.rows):
                return
        last = np.append(candidate.rows[1:] != candidate.rows[:-1], True)
        candidate = candidate.pick(last)
        rows, s, tracked = candidate.rows, candidate.s, self.tracked
        self.tangent[rows] = tracked.step(self.q[rows], candidate.q) / (s - self.s[rows])[:, None]
        self.q[rows], self.J[rows] = candidate.q, candidate.J
        for present, new in zip(self.inverse, tracked.invert(candidate.J), strict=True):
            present[rows] = new
        values = self.inverse.values[rows]
        self.ratio[rows] = np.minimum(self.ratio[rows], values[:, -1] / values[:, 0])
        self._update_steps(rows, s, candidate.change)

    def _update_steps(self, rows: Rows, s: Array, change: Array) -> None:
        """Update the sample counts, and choose the next step lengths from the change of the Jacobian."""
        factor = np.clip(TARGET_JACOBIAN_CHANGE / np.maximum(change, 1e-9), 0.5, 2.0)
        whole = s >= 1.0
        samples = np.where(whole, s, 0.0).astype(int)
        cut = self.h[rows] < 1.0
        self.many[rows] = np.where(cut | ~whole, 1, np.clip(samples * factor, 1, MAX_SAMPLES_AT_ONCE))
        self.h[rows] = np.where(cut, np.clip(self.h[rows] * factor, MIN_STEP, 1.0), 1.0)
        self.k[rows] += samples
        self.s[rows] = np.where(whole, 0.0, s)
        new = rows[whole]
        self.crossing[new], self.crossings[new], self.ratio[new] = False, 0, np.inf
        ended = rows[self.k[rows] == self.paths.shape[1]]
        self.active[ended], self.status[ended] = False, "solved"

    def _record(self, candidate: Candidate) -> Mask:
        """Record samples until a joint moves too far between two of them; return which (n,) are not recorded."""
        rows, sample = candidate.rows, self.k[candidate.rows] - 1 + candidate.s.astype(int)
        first = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
        before = np.concatenate([candidate.q[:1], candidate.q[:-1]])
        before[first] = self.path_q[rows[first], sample[first] - 1]
        ratio = np.abs(self.tracked.step(before, candidate.q)) / self.max_step
        good = _leading(ratio.max(axis=1) <= 1.0, first)
        for i in first[~good[first]]:
            singular = self.ratio[rows[i]] < NEAR_SINGULAR
            if not (singular and self._step_over(rows[i : i + 1])):
                self._stop(rows[i], "singular" if singular else "step", self.tracked.names[ratio[i].argmax()])
        rows, sample = rows[good], sample[good]
        self.path_q[rows, sample], self.residual[rows, sample] = candidate.q[good], candidate.residual[good]
        self.crossed[rows, sample] = self.crossing[rows]
        return ~good

    def _handle_failures(self, candidate: Candidate, sure: Mask, outside: Mask, kept: Mask) -> None:
        """Handle rows whose first step failed: shorten it; at the minimum length cross a singularity or stop."""
        beyond = outside.any(axis=1)
        # Without redundancy the continuation is unique: it ends where it exceeds a limit.
        lost = sure & beyond & (self.tracked.redundancy == 0)
        tried = candidate.s - self.s[candidate.rows]
        close = candidate.residual.max(axis=1) <= self.tolerance
        factor = np.where(close, np.clip(TARGET_JACOBIAN_CHANGE / np.maximum(candidate.change, 1e-9), 0.1, 0.5), 0.3)
        cut = ~kept & ~lost
        rows = candidate.rows[cut]
        self.h[rows], self.many[rows] = np.maximum(tried * factor, MIN_STEP)[cut], 1
        shortest = tried <= 1.01 * MIN_STEP  # with a margin for rounding
        for i in np.flatnonzero(lost | (cut & shortest)):
            row, limiting = candidate.rows[i : i + 1], outside[i] | candidate.frozen[i]
            singular = not limiting.any() or self.ratio[row[0]] < NEAR_SINGULAR
            if singular and (self._step_over(row) or (not lost[i] and self._cross(row))):
                continue
            if limiting.any():
                self._stop_at_limit(row[0], candidate.q[i : i + 1], limiting)
            else:
                self._stop(row[0], STUCK, "")

    def _cross(self, row: Rows) -> bool:
        """Try to continue one row smoothly on the other side of a singularity."""
        self.crossings[row] += 1
        if self.crossings[row[0]] > MAX_CROSSINGS:  # the path runs along singularities, not through one
            return False
        for many in CROSSING_STEPS:
            s = np.minimum(self.s[row] + many * MIN_STEP, 1.0)
            candidate = self._continue(row, self.q[row], self.tangent[row] * (s - self.s[row]), s)
            if candidate is not None:
                self.crossing[row] = True
                self._accept(candidate)
                return True
        return False

    def _step_over(self, row: Rows) -> bool:
        """Try to continue one row smoothly from its last sample to the next one.

        Samples of a path through a singularity lie on either side of it, and the screw between them may narrowly miss
        it, where the branch turns away. The step is accepted if the frame is on the path halfway.
        """
        path, k = self.of[row], self.k[row]
        q, s = self.path_q[row, k - 1], np.ones(1)
        lengths = np.linalg.norm(self.screws[path[0]], axis=1)
        before = np.zeros((1, len(self.tracked.columns)))
        if k[0] > 1 and lengths[k[0] - 2] > 0.0:
            before = self.tracked.step(self.path_q[row, k - 2], q) * (lengths[k[0] - 1] / lengths[k[0] - 2])
        candidate = self._continue(row, q, before, s)
        if candidate is None or (np.abs(self.tracked.step(q, candidate.q)) > self.max_step).any():
            return False
        halfway = self.tracked.robot.interpolate(q, candidate.q, 0.5)
        deviation = np.linalg.norm(self.tracked.error(halfway, self._pose(row, 0.5 * s))[0])
        if deviation > MAX_PATH_DEVIATION * lengths[k[0] - 1]:
            return False
        self.q[row], self.s[row], self.h[row], self.crossing[row] = q, 0.0, 1.0, True
        self._accept(candidate)
        return True

    def _continue(self, row: Rows, q: Array, before: Array, s: Array) -> Candidate | None:
        """Step from q to the pose at s, close to the previous step `before`; None if there is no such solution."""
        tracked, T = self.tracked, self._pose(row, s)
        J = tracked.jacobian(q, T)
        none = np.zeros((1, len(tracked.columns)), dtype=bool)
        remaining = tracked.error(q, T)[0] - (J @ before[..., None])[..., 0]
        for damping in DAMPINGS:
            # Singular directions repeat the previous step; the others follow the path.
            step = before + (tracked.invert(J, damping).pinv @ remaining[..., None])[..., 0]
            q_new, residual = tracked.project(tracked.move(q, shortened(step)), T, none, damping=1e-4)
            deviation = np.linalg.norm(tracked.step(q, q_new) - step)
            smooth = deviation <= MAX_STEP_DEVIATION * np.linalg.norm(step)
            if smooth and residual.max() <= self.tolerance and not tracked.outside_limits(q_new, LIMIT_TOLERANCE).any():
                change = np.full(1, TARGET_JACOBIAN_CHANGE)
                return Candidate(row, s, q_new, tracked.jacobian(q_new, T), residual, none, change)
        return None

    def _stop_at_limit(self, row: np.intp, q: Array, limiting: Mask) -> None:
        values = self.tracked.values(q)[0]
        excess = np.maximum(values - self.tracked.upper, self.tracked.lower - values)
        joint = int(np.where(limiting, excess, -np.inf).argmax())
        self._stop(row, "limits", self.tracked.names[joint])
        self.side[row] = "upper" if values[joint] > self.tracked.middle[joint] else "lower"

    def _stop(self, row: np.intp, status: str, joint: str) -> None:
        self.active[row], self.status[row], self.joint[row] = False, status, joint


def _leading(good: Mask, first: Rows) -> Mask:
    """Keep of each group, which start at `first`, the steps before its first failure."""
    failures = np.cumsum(~good)
    before = np.where(first > 0, failures[first - 1], 0)
    return np.asarray(failures == np.repeat(before, np.diff(np.append(first, len(good)))))
