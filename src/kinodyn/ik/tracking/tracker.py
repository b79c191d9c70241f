"""Tracking of paths by several candidates, of which the best is kept: starts, null space motions, branches."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.tracking.follower import STUCK, Follower, Rows
from kinodyn.ik.tracking.result import TrackResult
from kinodyn.ik.tracking.solution_graph import SolutionGraph
from kinodyn.ik.tracking.starts import Search
from kinodyn.ik.tracking.tracked_frame import LIMIT_TOLERANCE, Mask

MAX_ROUNDS = 3  # of retries, as long as each extends the path
STRONG_NULL_GAIN = 3.0  # of retries, relative to the motion along the path


class Tracker:
    """The best joint path so far for each of the paths (n, L, 4, 4) of poses."""

    def __init__(self, search: Search, paths: Array, max_step: Array, gain: float) -> None:
        n, L, robot = *paths.shape[:2], search.tracked.robot
        self.search, self.tracked, self.paths, self.max_step, self.gain = search, search.tracked, paths, max_step, gain
        self.q, self.residual = np.full((n, L, robot.nq), np.nan), np.full((n, L, 2), np.nan)
        self.crossed, self.status = np.zeros((n, L), dtype=bool), np.full(n, "", "<U11")
        self.joint, self.side = np.full(n, "", object), np.full(n, "", "<U5")
        self.reached, self.tried = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        self.starts = np.zeros(0, dtype=np.intp), np.zeros((0, robot.nq))  # path of each start, and configuration
        self.last = np.tile(robot.neutral(), (n, 1))  # configurations from which breaks are explained

    def start(self, q0: Array | None) -> None:
        """Follow from the configuration nearest to q0 (n, nq) or, without q0, from all configurations found."""
        first = self.paths[:, 0]
        if q0 is None:
            of, starts = self.search.solutions(first, None)
        else:
            starts, found = self.search.nearest(first, q0)
            self.last = q0.copy()
            out = self.tracked.outside_limits(starts, LIMIT_TOLERANCE)
            for path in np.flatnonzero(found & out.any(axis=1)):
                self._set_limit(path, starts[path])
            of = np.flatnonzero(found & ~out.any(axis=1))
            starts = starts[of]
        count = len(of)
        self.starts = self.search.with_whole_turns(of, starts) if q0 is None else (of, starts)
        self._follow(of, starts, np.full(count, self.gain), np.full((count, len(self.tracked.columns)), np.nan))

    def retry_null_space(self) -> None:
        """Follow broken paths again from their start with other motions in the null space.

        With the smallest motion; strongly away from limits; and towards configurations of the pose at the break.
        """
        for _ in range(MAX_ROUNDS):
            broken = np.flatnonzero((self.status != "solved") & (self.reached > 0))
            if not len(broken):
                return
            before = self.reached.copy()
            columns = len(self.tracked.columns)
            of, goals = self.search.solutions(self.paths[broken, self.reached[broken]], self.last[broken])
            rows = np.concatenate([broken, broken, broken[of]])
            plain = np.full((2 * len(broken), columns), np.nan)
            gain = np.concatenate([np.zeros(len(broken)), np.full(len(rows) - len(broken), STRONG_NULL_GAIN)])
            self._follow(rows, self.q[rows, 0], gain, np.concatenate([plain, self.tracked.values(goals)]))
            if (self.reached == before).all():
                return

    def search_branches(self) -> None:
        """Search all solutions for joint paths past breaks, unless the pose is unreachable.

        A path that is found but breaks later is continued from there and searched again.
        """
        broken = np.isin(self.status, ("limits", "singular", "step")) & (self.reached > 0)
        for _ in range(MAX_ROUNDS):
            paths = np.flatnonzero(broken)
            if not len(paths):
                return
            of, start = self.starts
            graph = SolutionGraph(self.search, self.paths[paths], self.max_step, self.q[paths], self.crossed[paths])
            q, crossed = graph.farthest(np.searchsorted(paths, of[broken[of]]), start[broken[of]])
            self.tried[paths] += 1
            farther = np.isfinite(q[..., 0]).sum(axis=1) > self.reached[paths]
            broken[paths[~farther]] = False
            self._extend(paths[farther], q[farther], crossed[farther])
            self.explain()
            broken &= np.isin(self.status, ("limits", "singular", "step"))

    def _extend(self, paths: Rows, q: Array, crossed: Mask) -> None:
        """Store joint paths q (p, L, nq) for some of the paths, and continue from their ends."""
        if not len(paths):
            return
        L, reached = q.shape[1], np.isfinite(q[..., 0]).sum(axis=1)
        own, last = np.arange(len(paths)), reached - 1
        # The rest of each path, padded with its last pose.
        rest = self.paths[paths[:, None], np.minimum(last[:, None] + np.arange(L), L - 1)]
        count, columns = len(paths), len(self.tracked.columns)
        found = Follower(
            self.tracked,
            rest,
            own,
            q[own, last],
            gain=np.zeros(count),
            goal=np.full((count, columns), np.nan),
            tolerance=self.search.tolerance,
            max_step=self.max_step,
        ).run()
        total = np.minimum(last + found.reached, L)
        for i, path in enumerate(paths):
            more = slice(reached[i], total[i])
            new = slice(1, 1 + total[i] - reached[i])
            q[i, more], crossed[i, more] = found.path_q[i, new], found.crossed[i, new]
            self.residual[path, : total[i]] = self.tracked.error(q[i, : total[i]], self.paths[path, : total[i]])[1]
        self.q[paths], self.crossed[paths], self.reached[paths] = q, crossed, total
        self.status[paths] = np.where(total == L, "solved", found.status)
        self.joint[paths], self.side[paths] = found.joint, found.side
        self.last[paths] = q[own, total - 1]

    def _follow(self, of: Rows, start: Array, gain: Array, goal: Array) -> None:
        """Follow paths `of` (m,) and keep of each the longest joint path, with least motion."""
        if not len(of):
            return
        found = Follower(
            self.tracked,
            self.paths,
            of,
            start,
            gain=gain,
            goal=goal,
            tolerance=self.search.tolerance,
            max_step=self.max_step,
        ).run()
        np.add.at(self.tried, of, 1)
        reached = found.reached
        order = np.lexsort((self._motion(found.path_q), -reached, of))
        best = order[np.append(True, of[order][1:] != of[order][:-1])]
        best = best[reached[best] > self.reached[of[best]]]
        path = of[best]
        self.q[path], self.residual[path], self.crossed[path] = (
            found.path_q[best],
            found.residual[best],
            found.crossed[best],
        )
        self.status[path], self.joint[path], self.side[path] = found.status[best], found.joint[best], found.side[best]
        self.reached[path] = reached[best]
        self.last[path] = self.q[path, reached[best] - 1]

    def _motion(self, q: Array) -> Array:
        """Compute the total motion (m,) along joint paths (m, L, nq) up to their break."""
        m, L, nq = q.shape
        known = np.isfinite(q[..., 0])
        q = np.where(known[..., None], q, q[:, :1]).reshape(-1, nq)
        step = np.zeros((m * L, len(self.tracked.columns)))
        step[1:] = self.tracked.step(q[:-1], q[1:])
        length = np.linalg.norm(step, axis=1).reshape(m, L)
        return np.asarray((length * known)[:, 1:].sum(axis=1))

    def explain(self) -> None:
        """Determine why paths broke where the follower does not know, by solving for the sample from many starts."""
        for path in np.flatnonzero(np.isin(self.status, ("", STUCK))):
            T, q = self._break(path)
            within = str(self.search.solve(T, q, 64, self.search.limits).status)
            if within == "limits":
                self._set_limit(path, self.search.solve(T, q, 64, False).q)
            else:
                self.status[path] = "singular" if within == "solved" else "unreachable"
        # For a redundant arm the follower knows only that a joint was at its limit, not that limits are the cause.
        for path in np.flatnonzero((self.status == "limits") & (self.tracked.redundancy > 0)):
            if not self.search.solve(*self._break(path), 64, False).success:
                self.status[path], self.joint[path], self.side[path] = "unreachable", "", ""

    def _break(self, path: np.intp) -> tuple[Array, Array]:
        """Return the pose (4, 4) at which a path broke and the configuration (nq,) before it."""
        return self.paths[path, self.reached[path]], self.last[path]

    def _set_limit(self, path: np.intp, q: Array) -> None:
        """Record the joint that is farthest beyond its limit at q (nq,)."""
        values = self.tracked.values(q[None])[0]
        excess = np.maximum(values - self.tracked.upper, self.tracked.lower - values)
        joint = int(excess.argmax())
        self.status[path], self.joint[path] = "limits", self.tracked.names[joint]
        self.side[path] = "upper" if values[joint] > self.tracked.upper[joint] else "lower"

    def result(self, batch: tuple[int, ...]) -> TrackResult:
        """Arrange the best joint paths over the batch axes."""
        n, L = self.residual.shape[:2]
        values = np.full((n, L), np.nan)
        known = np.isfinite(self.residual[..., 0])
        if known.any():
            values[known] = self.tracked.invert(self.tracked.jacobian(self.q[known], self.paths[known])).values[:, -1]
        of_path, of_sample = batch, (*batch, L)
        return TrackResult(
            q=self.q.reshape(*of_sample, -1),
            success=np.asarray(self.status == "solved").reshape(of_path),
            reached=self.reached.reshape(of_path),
            status=self.status.reshape(of_path),
            joint=self.joint.reshape(of_path),
            side=self.side.reshape(of_path),
            residual=self.residual.reshape(*of_sample, 2),
            singular_value=values.reshape(of_sample),
            crossed=self.crossed.reshape(of_sample),
            tried=self.tried.reshape(of_path),
            robot=self.tracked.robot,
            frame=self.tracked.frame,
        )
