"""The answer of every level is its best: multipliers that are found without the solver prove it.

For a level with rows A x = b, the slope g = A^T (A x - b) at its optimum is balanced by the rows of the levels above,
of either sign, and by bounds that are reached, which only push inwards. If all but rho of g is balanced, nothing that
is admissible is better by more than |rho| times the longest distance between the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import nnls

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

N = 9


@dataclass(frozen=True)
class Problem:
    """Levels of rows, and bounds of a step."""

    levels: list[tuple[Array, Array]]
    lower: Array
    upper: Array

    def solve(self, sliders: Callable[..., Robot]) -> Array:
        """Ask the solver: the step is bounded by velocities, or by the ends of the sliders from q on."""
        n = len(self.lower)
        robot = sliders(n, -1.0, 1.0)
        width = np.maximum(-self.lower, self.upper)
        q = np.where(-self.lower < self.upper, -1.0 - self.lower, 1.0 - self.upper)
        tasks = [task(k, A, b) for k, (A, b) in enumerate(self.levels)]
        limits = [kd.limits.PositionLimit(), kd.limits.VelocityLimit(width)]
        step = kd.ik.WholeBody(robot, tasks, limits, damping=0.0).step(q, 1.0)
        np.testing.assert_allclose(step.q - q, step.v, rtol=0, atol=1e-15)
        return step.v


def task(priority: int, A: Array, b: Array) -> kd.tasks.CustomTask:
    return kd.tasks.CustomTask(f"level {priority}", lambda robot, q: (b, A), rows=len(b), priority=priority)


def random_problem(rng: np.random.Generator, n: int = N) -> Problem:
    """Draw levels of few or many rows, some of them doubled, some the sum of others, some zero."""
    levels = []
    for _ in range(rng.integers(1, 5)):
        A = rng.normal(size=(rng.integers(1, n + 4), n))
        if rng.random() < 0.3:
            A = np.concatenate([A, A[:1], A.sum(axis=0, keepdims=True)])
        if rng.random() < 0.2:
            A[0] = 0.0
        if levels and rng.random() < 0.3:
            A[-1] = levels[0][0][0]  # what a higher level has settled
        levels.append((A, rng.normal(size=len(A)) * 10.0 ** rng.uniform(-2, 1)))
    # each step is within [-1, 1], and one of its ends may be nearer
    near = rng.uniform(0.0, 1.0, n) * (rng.random(n) < 0.7)
    low = rng.random(n) < 0.5
    return Problem(levels, np.where(low, -near, -1.0), np.where(low, 1.0, near))


def largest_gain(g: Array, above: Sequence[Array], x: Array, problem: Problem) -> float:
    """Bound what a level with slope g at x can gain, by the best balance of rows above and bounds nearby."""
    rows = np.concatenate([*above, np.zeros((0, len(g)))])
    inside = np.r_[x - problem.lower, problem.upper - x]
    near = inside <= 1e-9
    bounds = np.concatenate([np.eye(len(g)), -np.eye(len(g))])[near]
    columns = np.concatenate([np.zeros((1, len(g))), rows, -rows, bounds]).T
    share, _ = nnls(columns, g, maxiter=2000)
    unbalanced = np.linalg.norm(g - columns @ share)
    longest = np.linalg.norm(problem.upper - problem.lower)
    return float(unbalanced * longest + share[1 + 2 * len(rows) :] @ np.maximum(inside[near], 0.0))


def assert_best(problem: Problem, x: Array) -> None:
    """Check bounds, and that no level can gain while those above keep what they have."""
    assert (x >= problem.lower - 1e-12).all() and (x <= problem.upper + 1e-12).all()
    above: list[Array] = []
    for A, b in problem.levels:
        rest = A @ x - b
        scale = 0.5 * b @ b + 0.5 * np.linalg.norm(A, axis=1).max() ** 2
        assert largest_gain(A.T @ rest, above, x, problem) <= 1e-8 * scale
        above.append(A)


@pytest.mark.parametrize("seed", range(10))
def test_no_level_can_improve_without_degrading_a_higher_one(sliders: Callable[..., Robot], seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(40):
        problem = random_problem(rng)
        assert_best(problem, problem.solve(sliders))


@pytest.mark.parametrize("seed", range(4))
def test_an_added_level_changes_nothing_above_it(sliders: Callable[..., Robot], seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    for _ in range(40):
        problem = random_problem(rng)
        x = problem.solve(sliders)
        for k in range(1, len(problem.levels)):
            shorter = Problem(problem.levels[:k], problem.lower, problem.upper).solve(sliders)
            for A, b in problem.levels[:k]:
                scale = np.linalg.norm(b) + np.linalg.norm(A, axis=1).max()
                np.testing.assert_allclose(A @ x, A @ shorter, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("n", [1, 2, 7, 20, 40])
def test_without_bounds_the_solution_agrees_with_null_space_projections(sliders: Callable[..., Robot], n: int) -> None:
    rng = np.random.default_rng(n)
    robot = sliders(n)
    for _ in range(10):
        levels = [(rng.normal(size=(m, n)), rng.normal(size=m)) for m in rng.integers(1, n // 2 + 2, size=3)]
        solver = kd.ik.WholeBody(robot, [task(k, A, b) for k, (A, b) in enumerate(levels)], [], damping=0.0)
        x, free = np.zeros(n), np.eye(n)
        for A, b in levels:
            U, size, V = np.linalg.svd(A @ free)
            rank = int((size > 1e-9 * np.linalg.norm(A)).sum())
            size = size[:rank] + 1e-10 * (A**2).sum(axis=1).max() / size[:rank]  # damped as the solver says
            x = x + free @ V[:rank].T @ (U[:, :rank].T @ (b - A @ x) / size)
            free = free @ V[rank:].T
        found = solver.step(np.zeros(n), 1.0).v
        for A, b in levels:
            np.testing.assert_allclose(A @ found - b, A @ x - b, rtol=0, atol=1e-9 * (1 + np.linalg.norm(b)))


def test_zero_rows_and_levels_without_freedom_have_no_effect(sliders: Callable[..., Robot]) -> None:
    settled = task(0, np.eye(3), np.array([0.1, 0.2, 0.3]))
    nothing = task(1, np.zeros((2, 3)), np.ones(2))
    late = task(2, np.ones((1, 3)), np.ones(1))
    found = kd.ik.WholeBody(sliders(3), [nothing, late, settled], [], damping=0.0).step(np.zeros(3), 1.0).v
    np.testing.assert_allclose(found, [0.1, 0.2, 0.3], rtol=0, atol=1e-10)
