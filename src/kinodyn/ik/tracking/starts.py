"""Configurations for given poses: starts of a path and its other branches, in closed form or numerically."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.analytic import NoClosedFormError, analytic
from kinodyn.ik.result import IKResult
from kinodyn.ik.solve import solve
from kinodyn.ik.tracking.follower import Rows
from kinodyn.ik.tracking.tracked_frame import LIMIT_TOLERANCE, Mask, TrackedFrame

RANDOM_STARTS = 24  # numeric starts for each pose
MAX_SOLUTIONS = 8  # distinct numeric solutions that are tracked
MAX_FULL_TURNS = 24  # the same with full turns added
MIN_SEPARATION = 0.01  # between distinct solutions [rad or m]


@dataclass
class Search:
    """Search for configurations of poses with the settings of `track`."""

    tracked: TrackedFrame
    weights: Array
    tolerance: float
    limits: bool
    seed: int

    def solve(self, T: Array, q0: Array | None, restarts: int, limits: bool) -> IKResult:
        """Call `ik.solve` for poses (n, 4, 4)."""
        targets = {self.tracked.frame: T}
        return solve(
            self.tracked.robot,
            targets,
            q0,
            weights=self.weights,
            restarts=restarts,
            tolerance=self.tolerance,
            limits=limits,
            seed=self.seed,
        )

    def nearest(self, T: Array, q0: Array) -> tuple[Array, Mask]:
        """Find for each pose (n, 4, 4) the solution nearest to q0 (n, nq), or q0 itself; and whether there is one."""
        q, found = q0.copy(), self.tracked.error(q0, T)[1].max(axis=1) <= self.tolerance
        away = np.flatnonzero(~found)
        if len(away):
            of, solutions = self.solutions(T[away], q0[away])
            gap = np.linalg.norm(self.tracked.step(q0[away][of], solutions), axis=1)
            for i in np.lexsort((-gap, of)):  # the nearest of each pose comes last and is kept
                q[away[of[i]]], found[away[of[i]]] = solutions[i], True
        return q, found

    def solutions(self, T: Array, q0: Array | None) -> tuple[Rows, Array]:
        """Find several configurations of each pose (n, 4, 4): the pose of each (m,), and the configuration (m, nq).

        Joints that do not move the frame stay as in q0, or neutral.
        """
        exact = self._closed_form(T, q0)
        of, q = exact if exact is not None else self._numeric(T, q0)
        return of, self._refined(T[of], q)

    def everywhere(self, T: Array, q0: Array) -> tuple[Rows, Array]:
        """Find as many configurations of each pose (n, 4, 4) as possible, perhaps with duplicates, like `solutions`."""
        exact = self._closed_form(T, q0)
        if exact is None:
            found = self._multi_start(T, q0)
            of, start = np.nonzero(found.success)
            exact = of, found.q[of, start]
        return exact[0], self._refined(T[exact[0]], exact[1])

    def with_whole_turns(self, of: Rows, q: Array) -> tuple[Rows, Array]:
        """Add to configurations (m, nq) of paths `of` (m,) those full turns away, far from limits first."""
        added = np.zeros(len(of), dtype=bool)
        for index in self.tracked.q_index[self.tracked.periodic & self.tracked.bounded]:
            shift = np.zeros(self.tracked.robot.nq)
            shift[index] = 2 * np.pi
            of, added = np.tile(of, 3), np.concatenate([added, np.ones(2 * len(added), dtype=bool)])
            q = np.concatenate([q, q + shift, q - shift])
            inside = ~self.tracked.outside_limits(q, LIMIT_TOLERANCE).any(axis=1)
            of, added, q = of[inside], added[inside], q[inside]
        off = np.abs((self.tracked.values(q) - self.tracked.middle) / self.tracked.half * self.tracked.bounded).max(
            axis=1
        )
        order = np.lexsort((off, added, of))
        of, q = of[order], q[order]
        few = np.arange(len(of)) - np.searchsorted(of, of) < MAX_FULL_TURNS
        return of[few], q[few]

    def _refined(self, T: Array, q: Array) -> Array:
        """Refine solutions (m, nq) of poses (m, 4, 4) by Newton's method, where it stays on the same branch."""
        if not len(q):
            return q
        refined, residual = self.tracked.project(q, T, np.zeros((len(q), len(self.tracked.columns)), dtype=bool))
        better = (residual.max(axis=1) <= self.tolerance) & ~self.tracked.outside_limits(refined, LIMIT_TOLERANCE).any(
            axis=1
        )
        better &= np.abs(self.tracked.step(q, refined)).max(axis=1) < MIN_SEPARATION
        return np.where(better[:, None], refined, q)

    def _closed_form(self, T: Array, q0: Array | None) -> tuple[Rows, Array] | None:
        """Return all closed-form solutions, or None where there is no closed form or not all directions are tracked."""
        revolute = all(self.tracked.robot.joint(name).kind in ("revolute", "continuous") for name in self.tracked.names)
        if self.tracked.redundancy or not revolute or not (self.weights > 0).all():
            return None
        try:
            found = analytic(self.tracked.robot, T, self.tracked.frame, q0=q0, limits=self.limits)
        except NoClosedFormError:
            return None
        of, branch = np.nonzero(found.valid)
        q = found.q[of, branch]
        # For a planar arm of two joints the closed form solves positions only.
        good = self.tracked.error(q, T[of])[1].max(axis=1, initial=0.0) <= self.tolerance
        return of[good], q[good]

    def _multi_start(self, T: Array, home: Array) -> IKResult:
        """Solve for each pose (n, 4, 4) from `home` (n, nq) and from random configurations: batch (n, starts)."""
        robot = self.tracked.robot
        guesses = np.repeat(home[:, None], RANDOM_STARTS + 1, axis=1)
        indices = self.tracked.q_index[self.tracked.q_index >= 0]
        # The same for each pose, so that the result for a path does not depend on its batch.
        guesses[:, 1:, indices] = robot.random(RANDOM_STARTS, seed=self.seed)[:, indices]
        found = self.solve(T[:, None], guesses, 0, self.limits)
        found.q[..., self.tracked.idle] = home[:, None, self.tracked.idle]  # the solver may have moved them
        return found

    def _numeric(self, T: Array, q0: Array | None) -> tuple[Rows, Array]:
        robot, n = self.tracked.robot, len(T)
        home = np.broadcast_to(robot.neutral(), (n, robot.nq)) if q0 is None else q0
        found = self._multi_start(T, home)
        if not found.success.any(axis=1).all():  # more restarts for poses without a solution
            hard = np.flatnonzero(~found.success.any(axis=1))
            more = self.solve(T[hard], home[hard], 64, self.limits)
            more.q[:, self.tracked.idle] = home[hard][:, self.tracked.idle]
            found.q[hard, 0], found.success[hard, 0] = more.q, more.success
        of, q = [], []
        for i in range(n):
            for configuration in self._distinct(found.q[i, found.success[i]]):
                of.append(i)
                q.append(configuration)
        return np.array(of, dtype=np.intp), np.array(q).reshape(-1, robot.nq)

    def _distinct(self, q: Array) -> list[Array]:
        """Choose a few distinct configurations (m, nq): the first, then those farthest from limits."""
        values = (self.tracked.values(q) - self.tracked.middle) / self.tracked.half * self.tracked.bounded
        order = np.argsort(np.abs(values).max(axis=1, initial=0.0), kind="stable")
        order = np.concatenate([order[order == 0], order[order != 0]])
        chosen: list[Array] = []
        for i in order:
            if all(np.abs(self.tracked.step(other[None], q[i : i + 1])).max() > MIN_SEPARATION for other in chosen):
                chosen.append(q[i])
            if len(chosen) == MAX_SOLUTIONS:
                break
        return chosen
