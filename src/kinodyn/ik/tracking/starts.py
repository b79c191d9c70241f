"""Where to begin a path, and other configurations of the same pose: closed form where there is one, else numeric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.analytic import NoClosedFormError, analytic
from kinodyn.ik.result import IKResult
from kinodyn.ik.solve import solve
from kinodyn.ik.tracking.follow import Rows
from kinodyn.ik.tracking.task import SLACK, FrameTask, Mask

RANDOM = 24  # numeric starts for each pose
MOST = 8  # different solutions that are followed, of those found numerically
MOST_TURNED = 24  # the same and with whole turns added
APART = 0.01  # [rad or m] nearer ones are the same


@dataclass
class Search:
    """How to look for configurations of a pose: as `track` was asked to follow it."""

    task: FrameTask
    weights: Array
    tolerance: float
    limits: bool
    seed: int

    def solve(self, T: Array, q0: Array | None, restarts: int, limits: bool) -> IKResult:
        """Call `ik.solve` for poses (n, 4, 4)."""
        targets = {self.task.frame: T}
        return solve(
            self.task.robot,
            targets,
            q0,
            weights=self.weights,
            restarts=restarts,
            tolerance=self.tolerance,
            limits=limits,
            seed=self.seed,
        )

    def nearest(self, T: Array, q0: Array) -> tuple[Array, Mask]:
        """Find for each pose (n, 4, 4) the solution nearest to q0 (n, nq), q0 itself where it is one; and whether."""
        q, found = q0.copy(), self.task.error(q0, T)[1].max(axis=1) <= self.tolerance
        away = np.flatnonzero(~found)
        if len(away):
            of, solutions = self.solutions(T[away], q0[away])
            gap = np.linalg.norm(self.task.step(q0[away][of], solutions), axis=1)
            for i in np.lexsort((-gap, of)):  # of each pose the nearest comes last, and stays
                q[away[of[i]]], found[away[of[i]]] = solutions[i], True
        return q, found

    def solutions(self, T: Array, q0: Array | None) -> tuple[Rows, Array]:
        """Find several configurations of each pose (n, 4, 4): the pose of each (m,), and the configuration (m, nq).

        What does not move the frame stays as in q0, or neutral.
        """
        exact = self._closed_form(T, q0)
        of, q = exact if exact is not None else self._numeric(T, q0)
        return of, self._polished(T[of], q)

    def everywhere(self, T: Array, q0: Array) -> tuple[Rows, Array]:
        """Find all configurations of each pose (n, 4, 4) that are easily found, some perhaps twice, as `solutions`."""
        exact = self._closed_form(T, q0)
        if exact is None:
            found = self._spread(T, q0)
            of, start = np.nonzero(found.success)
            exact = of, found.q[of, start]
        return exact[0], self._polished(T[exact[0]], exact[1])

    def turned(self, of: Rows, q: Array) -> tuple[Rows, Array]:
        """Add to configurations (m, nq) of paths `of` (m,) those that are whole turns away, far from limits first."""
        far = np.zeros(len(of), dtype=bool)
        for place in self.task.places[self.task.turning & self.task.ranged]:
            shift = np.zeros(self.task.robot.nq)
            shift[place] = 2 * np.pi
            of, far = np.tile(of, 3), np.concatenate([far, np.ones(2 * len(far), dtype=bool)])
            q = np.concatenate([q, q + shift, q - shift])
            inside = ~self.task.beyond(q, SLACK).any(axis=1)
            of, far, q = of[inside], far[inside], q[inside]
        off = np.abs((self.task.values(q) - self.task.middle) / self.task.half * self.task.ranged).max(axis=1)
        order = np.lexsort((off, far, of))
        of, q = of[order], q[order]
        few = np.arange(len(of)) - np.searchsorted(of, of) < MOST_TURNED
        return of[few], q[few]

    def _polished(self, T: Array, q: Array) -> Array:
        """Bring solutions (m, nq) nearer to their poses (m, 4, 4), those that Newton's method does not lead away."""
        if not len(q):
            return q
        settled, residual = self.task.settle(q, T, np.zeros((len(q), len(self.task.columns)), dtype=bool))
        better = (residual.max(axis=1) <= self.tolerance) & ~self.task.beyond(settled, SLACK).any(axis=1)
        better &= np.abs(self.task.step(q, settled)).max(axis=1) < APART
        return np.where(better[:, None], settled, q)

    def _closed_form(self, T: Array, q0: Array | None) -> tuple[Rows, Array] | None:
        """List all branches, or None where there is no closed form or where it asks for more than this path does."""
        turning = all(self.task.robot.joint(name).kind in ("revolute", "continuous") for name in self.task.names)
        if self.task.redundancy or not turning or not (self.weights > 0).all():
            return None
        try:
            found = analytic(self.task.robot, T, self.task.frame, q0=q0, limits=self.limits)
        except NoClosedFormError:
            return None
        of, branch = np.nonzero(found.valid)
        q = found.q[of, branch]
        # A planar arm of two joints has branches for positions; here the orientation counts too.
        good = self.task.error(q, T[of])[1].max(axis=1, initial=0.0) <= self.tolerance
        return of[good], q[good]

    def _spread(self, T: Array, home: Array) -> IKResult:
        """Solve for each pose (n, 4, 4) from `home` (n, nq) and from all over the joint ranges: batch (n, starts)."""
        robot = self.task.robot
        guesses = np.repeat(home[:, None], RANDOM + 1, axis=1)
        places = self.task.places[self.task.places >= 0]
        # The same for each pose, so that a path of a batch is followed as it would be alone.
        guesses[:, 1:, places] = robot.random(RANDOM, seed=self.seed)[:, places]
        found = self.solve(T[:, None], guesses, 0, self.limits)
        found.q[..., self.task.idle] = home[:, None, self.task.idle]  # the solver may leave them anywhere
        return found

    def _numeric(self, T: Array, q0: Array | None) -> tuple[Rows, Array]:
        robot, n = self.task.robot, len(T)
        home = np.broadcast_to(robot.neutral(), (n, robot.nq)) if q0 is None else q0
        found = self._spread(T, home)
        if not found.success.any(axis=1).all():  # the hard ones, with all that the solver has
            hard = np.flatnonzero(~found.success.any(axis=1))
            more = self.solve(T[hard], home[hard], 64, self.limits)
            more.q[:, self.task.idle] = home[hard][:, self.task.idle]
            found.q[hard, 0], found.success[hard, 0] = more.q, more.success
        of, q = [], []
        for i in range(n):
            for configuration in self._different(found.q[i, found.success[i]]):
                of.append(i)
                q.append(configuration)
        return np.array(of, dtype=np.intp), np.array(q).reshape(-1, robot.nq)

    def _different(self, q: Array) -> list[Array]:
        """Choose a few configurations (m, nq) that differ: the first, then those farthest from limits."""
        values = (self.task.values(q) - self.task.middle) / self.task.half * self.task.ranged
        order = np.argsort(np.abs(values).max(axis=1, initial=0.0), kind="stable")
        order = np.concatenate([order[order == 0], order[order != 0]])
        chosen: list[Array] = []
        for i in order:
            if all(np.abs(self.task.step(other[None], q[i : i + 1])).max() > APART for other in chosen):
                chosen.append(q[i])
            if len(chosen) == MOST:
                break
        return chosen
