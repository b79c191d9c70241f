"""The time budget: after it hardly any work is begun, whichever part of planning is at work then."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.collision import World, exact, exact_geometry
from kinodyn.collision.query import Query
from kinodyn.ik.problem import Problem
from kinodyn.planning import Upright, plan

PANDA = kd.load("panda")
START, GOAL = np.array([1.5, 0.6, 0, -1.6, 0, 2.2, 0.8]), np.array([-1.5, 0.6, 0, -1.6, 0, 2.2, 0.8])
BUDGET = 0.15  # [s]
FINAL = 6  # units of work that may follow: what tells why there is no path


def divided() -> World:
    """Return a world in which no motion leads from the start to the goal: a wall with a hole for the shoulder.

    The elbow is 0.316 m away from the shoulder, at z = 0.333 m, and never below it by more than a fifth of that: in the
    plane of the wall it cannot be within the hole, which ends 0.15 m beside and above the shoulder.
    """
    world = World()
    world.add_box("front", (3.0, 0.01, 3.0), ((1.65, 0.0, 1.0), None))
    world.add_box("back", (3.0, 0.01, 3.0), ((-1.65, 0.0, 1.0), None))
    world.add_box("above", (3.0, 0.01, 2.0), ((0.0, 0.0, 1.48), None))
    return world


class Clock:
    """Records when units of work begin."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[float] = []
        for owner, name in (
            (_core, "rrt_connect"),
            (_core, "shorten_path"),
            (_core, "constrained_rrt"),
            (_core, "shorten_constrained"),
            (Query, "motion_free"),
            (exact, "distance"),
            (Problem, "attempt"),
        ):
            monkeypatch.setattr(owner, name, self.counted(getattr(owner, name)))

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            self.begun.append(time.perf_counter())
            return function(*args, **named)

        return call

    def late(self, deadline: float) -> int:
        return sum(moment > deadline for moment in self.begun)


def blocked(motion_free: Callable[..., Any]) -> Callable[..., Any]:
    """Return a check of motions that finds none free."""
    return lambda *args, **named: motion_free(*args, **named) & False


@pytest.mark.parametrize("planner", ["rrt_connect", "anytime", "prm", "ompl:RRTConnect", "ompl:BITstar"])
def test_no_search_goes_on_after_the_budget(planner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if planner.startswith("ompl"):
        pytest.importorskip("ompl")
    plan(PANDA, START, START, divided(), planner=planner)
    if planner.startswith("ompl"):  # which sometimes finds a way through the gap around the base
        monkeypatch.setattr(Query, "motion_free", blocked(Query.motion_free))
    clock = Clock(monkeypatch)
    deadline = time.perf_counter() + BUDGET
    found = plan(PANDA, START, GOAL, divided(), planner=planner, time_budget=BUDGET)
    assert found.status == "no_path"
    # a planner of OMPL ends after the iteration that it is in: a connection is many checks of motions
    last_iteration = len(clock.begun) // 100 if planner.startswith("ompl") else 0
    assert len(clock.begun) >= 2 and clock.late(deadline) <= FINAL + last_iteration


def test_nothing_is_improved_after_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    world.add_box("wall", (0.4, 0.04, 0.6), ((0.6, 0.0, 0.3), None))
    plan(PANDA, START, GOAL, world)
    clock = Clock(monkeypatch)
    deadline = time.perf_counter() + BUDGET
    found = plan(PANDA, START, GOAL, world, planner="anytime", time_budget=BUDGET)
    assert found.success and len(clock.begun) > 10 and clock.late(deadline) <= FINAL


def test_goals_that_are_poses_are_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of poses inside of an obstacle: all of their solutions collide."""
    world = World()
    world.add_box("block", (0.4, 0.4, 0.4), ((0.5, 0.0, 0.5), None))
    poses = np.tile(kd.kinematics.pose(PANDA, PANDA.configuration("ready"), "panda_link8"), (5000, 1, 1))
    poses[:, :3, 3] = np.random.default_rng(0).uniform((0.4, -0.1, 0.4), (0.6, 0.1, 0.6), (5000, 3))
    start = np.array([1.8, -0.2, 0, -2, 0, 1.8, 0.8])
    plan(PANDA, start, start, world)
    clock = Clock(monkeypatch)
    deadline = time.perf_counter() + BUDGET
    found = plan(PANDA, start, {"panda_link8": poses}, world, time_budget=BUDGET)
    assert found.status in ("no_path", "goal_in_collision")
    assert clock.late(deadline) <= FINAL


def test_constrained_plans_are_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    constraints = [Upright("panda_hand_tcp")]
    T = kd.kinematics.pose(PANDA, GOAL, "panda_hand_tcp")
    plan(PANDA, START, START, divided(), constraints=constraints)
    clock = Clock(monkeypatch)
    for goal in (GOAL, {"panda_hand_tcp": np.tile(T, (500, 1, 1))}):
        deadline = time.perf_counter() + BUDGET
        found = plan(PANDA, START, goal, divided(), constraints=constraints, time_budget=BUDGET)
        assert found.status == "no_path" and clock.late(deadline) <= FINAL
        clock.begun.clear()


@pytest.mark.skipif(not exact.is_available(), reason="needs coal")
def test_a_mesh_that_takes_longer_than_the_budget_is_not_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its spheres touch at the start, and there is no time to tell whether the mesh does."""
    heights = 0.01 * np.random.default_rng(0).random((150, 150))
    world = World()
    x, y, _ = kd.kinematics.pose(PANDA, START, "panda_hand_tcp")[:3, 3]
    world.add_heightfield("ground", heights, (0.5, 0.5), ((x, y, -1.0), None))
    gap = float(kd.collision.distance(PANDA, START, world, pairs=[("panda_link7", "ground")]).distance)
    world.move("ground", ((x, y, -1.0 + gap + 5e-3), None))
    assert not kd.collision.free(PANDA, START, world)
    plan(PANDA, START, START)
    prepared: list[object] = []
    monkeypatch.setattr(exact_geometry.ExactGeometry, "prepare", lambda self: prepared.append(self))
    found = plan(PANDA, START, GOAL, world, time_budget=BUDGET)
    assert found.status == "no_path" and "no time" in found.message and "ground" in found.message
    assert not any(geometry.shape is world["ground"].shape for geometry in prepared)  # type: ignore[attr-defined]
