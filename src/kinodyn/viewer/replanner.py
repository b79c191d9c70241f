"""Replanner: plans in a background thread; meanwhile only the latest problem is queued."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinodyn.arrays import Array
from kinodyn.collision.snapshot import WorldSnapshot
from kinodyn.errors import KinodynError
from kinodyn.model.robot import Robot
from kinodyn.planning import Plan, plan
from kinodyn.recording import Recording

DT = 0.02  # [s] between the samples that are played


@dataclass(frozen=True, eq=False)
class Problem:
    """What to plan.

    Attributes
    ----------
    start : (nq,)
    goal
        As `planning.plan` takes it.
    world : WorldSnapshot
    settings : mapping
        Keyword arguments of `planning.plan`.
    """

    start: Array
    goal: Any
    world: WorldSnapshot
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a problem.

    Attributes
    ----------
    problem : Problem
    plan : Plan or None
        None if there was an error.
    motion : Recording or None
        The plan over time; None without a path.
    error : str
    elapsed : float
        Of the whole call [s].
    """

    problem: Problem
    plan: Plan | None
    motion: Recording | None
    error: str
    elapsed: float

    def summary(self) -> str:
        """Describe the plan in a sentence or two."""
        if self.plan is None:
            return f"Error: {self.error}."
        if not self.plan.success or self.motion is None:
            return f"{self.plan.status.replace('_', ' ').capitalize()}: {self.plan.message}."
        found = f"{len(self.plan.path)} vertices, length {self.plan.length:.2f}, {self.motion.duration:.2f} s"
        elapsed = f"{1e3 * self.elapsed:.3g} ms" if self.elapsed < 1.0 else f"{self.elapsed:.3g} s"
        return f"Solved in {elapsed}: {found}."


class Replanner:
    """Plans in a thread, which ends with `close`.

    Parameters
    ----------
    robot : Robot
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._wake = threading.Condition()
        self._waiting: Problem | None = None
        self._outcome: Outcome | None = None
        self._busy = self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="kinodyn replanner")
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether a problem is waiting or being solved."""
        with self._wake:
            return self._busy or self._waiting is not None

    def submit(self, problem: Problem) -> None:
        """Solve a problem, in place of one that is still waiting; nothing once it is closed.

        Parameters
        ----------
        problem : Problem
        """
        with self._wake:
            self._waiting = None if self._closed else problem
            self._wake.notify()

    def take(self) -> Outcome | None:
        """Return the latest outcome once; None if there is no new one."""
        with self._wake:
            outcome, self._outcome = self._outcome, None
            return outcome

    def close(self) -> None:
        """Stop after the problem that is being solved; one that still waits is dropped."""
        with self._wake:
            self._closed, self._waiting = True, None
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._closed or self._waiting is not None)
                if self._closed:
                    return
                assert self._waiting is not None
                problem, self._waiting, self._busy = self._waiting, None, True
            outcome = solve(self._robot, problem)
            with self._wake:
                self._outcome, self._busy = outcome, False


def solve(robot: Robot, problem: Problem) -> Outcome:
    """Plan and time the path; errors become part of the outcome."""
    begin = time.perf_counter()
    try:
        found = plan(robot, problem.start, problem.goal, problem.world, **problem.settings)
        motion = recorded(found) if found.success else None
        return Outcome(problem, found, motion, "", time.perf_counter() - begin)
    except KinodynError as cause:
        return Outcome(problem, None, None, str(cause), time.perf_counter() - begin)


def recorded(found: Plan) -> Recording:
    """Return the motion along a path over time, for playback."""
    samples = found.trajectory().sample(DT)
    return Recording.from_robot(found.robot, samples.time, samples.q, samples.v, np.zeros_like(samples.v))
