"""Random levels of tasks and limits, through both solvers: multipliers found by NNLS prove that each level is optimal.

Level k minimises |A x - b|^2, or the violation |max(0, A x - b)|^2 of a limit, over what bounds and the levels above
leave. Its gradient at the optimum is a combination of rows of tasks above, of either sign, and of the normals of bounds
and of limits above that are reached, which only push inwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

N = 7  # as many as the joints of panda
REACHED = 1e-8  # distance from a bound that counts as on it
TOLERANCE = 1e-8  # of the gradient

Certificate = Callable[[Array, Array, Array], float]


@dataclass(frozen=True)
class Level:
    """Rows A x = b, or A x <= b."""

    A: Array
    b: Array
    limit: bool

    def residual(self, x: Array) -> Array:
        """Return what x misses of each row."""
        rest = self.A @ x - self.b
        return np.maximum(rest, 0.0) if self.limit else rest


def random_levels(rng: np.random.Generator, limits: bool) -> list[Level]:
    """Draw levels with rows that are redundant, that contradict each other, or that a level above has decided."""
    levels: list[Level] = []
    for _ in range(rng.integers(2, 5)):
        A = rng.normal(size=(rng.integers(1, 5), N))
        b = rng.normal(size=len(A)) * 10.0 ** rng.uniform(-2, 0.5)
        if rng.random() < 0.3:  # redundant
            A, b = np.concatenate([A, 2.0 * A[:1]]), np.r_[b, 2.0 * b[0]]
        if rng.random() < 0.3:  # contradictory
            A, b = np.concatenate([A, A[:1]]), np.r_[b, b[0] + 1.0]
        if levels and rng.random() < 0.3:
            A[-1] = levels[0].A[0]
        levels.append(Level(A, b, limits and rng.random() < 0.4))
    return [*levels, Level(rng.normal(size=(1, N)), rng.normal(size=1), False)]


def assert_optimal(levels: list[Level], x: Array, width: Array, unbalanced: Certificate) -> None:
    """Check bounds, and that no level can gain while those above keep what they have."""
    assert (np.abs(x) <= width + 1e-10).all()
    pushing = np.concatenate([np.eye(N)[x >= width - REACHED], -np.eye(N)[x <= REACHED - width]])
    above = np.zeros((0, N))
    for level in levels:
        residual = level.residual(x)
        scale = level.b @ level.b + (level.A**2).sum(axis=1).max()
        assert unbalanced(level.A.T @ residual, above, pushing) <= TOLERANCE * scale
        if level.limit:
            pushing = np.concatenate([pushing, level.A[level.A @ x >= level.b - REACHED]])
        else:
            above = np.concatenate([above, level.A])


def tasks_of(levels: list[Level]) -> list[kd.tasks.CustomTask]:
    return [
        kd.tasks.CustomTask(f"task {k}", lambda robot, q, own=own: (own.b, own.A), rows=len(own.b), priority=k)
        for k, own in enumerate(levels)
        if not own.limit
    ]


def limits_of(levels: list[Level]) -> list[kd.limits.CustomLimit]:
    return [
        kd.limits.CustomLimit(f"limit {k}", lambda robot, q, own=own: (own.b, -own.A), rows=len(own.b), priority=k)
        for k, own in enumerate(levels)
        if own.limit
    ]


@pytest.mark.parametrize("limits", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_every_level_of_a_whole_body_step_is_optimal(
    sliders: Callable[..., Robot], unbalanced: Certificate, seed: int, limits: bool
) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(40):
        levels, width = random_levels(rng, limits), rng.uniform(0.05, 2.0, N)
        all_limits = [kd.limits.VelocityLimit(width), *limits_of(levels)]
        solver = kd.ik.WholeBody(sliders(N), tasks_of(levels), all_limits, damping=0.0)
        assert_optimal(levels, solver.step(np.zeros(N), 1.0).v, width, unbalanced)


@pytest.mark.parametrize("seed", range(5))
def test_every_level_of_strict_inverse_dynamics_is_optimal(unbalanced: Certificate, seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = kd.load("panda")
    for _ in range(40):
        levels, width = random_levels(rng, False), rng.uniform(0.05, 2.0, N)
        tasks = tasks_of(levels)
        for task in tasks:
            task.frequency = 1.0  # rad/s: at rest the error is the desired acceleration
        controller = kd.control.InverseDynamicsQP(
            robot, tasks, mode="strict", limits=[kd.limits.AccelerationLimit(width)], acceleration_weight=1e-5
        )
        found = controller.solve(kd.State(robot, robot.neutral()))
        assert found.status == "solved"
        assert_optimal(levels, found.a, width, unbalanced)
