"""The same seed gives the same path: on any number of threads, and however the time of a search is divided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import World, exact
from kinodyn.planning import Plan, PlannerSettings, Roadmap, Standing, Upright, constrained_trees, plan, search

from .test_exact_paths import CART, corridor
from .test_plan import LEFT, PANDA, RIGHT, wall

HUMANOID = kd.load("humanoid")
TIME = 60.0  # [s] more than enough: what is done must not depend on how much is left


def pose_goal(**options: object) -> Plan:
    T = kd.kinematics.pose(PANDA, RIGHT, "panda_hand_tcp")
    return plan(PANDA, LEFT, {"panda_hand_tcp": T}, wall(), time_budget=TIME, seed=5, **options)  # type: ignore[arg-type]


def around_the_base(**options: object) -> Plan:
    """Thousands of iterations: the arm passes from one side of a wall to the other below its top part."""
    start, goal = np.array([[turn, -0.2, 0, -2, 0, 1.8, 0.8] for turn in (0.9, -0.9)])
    world = World()
    world.add_box("front", (3.0, 0.01, 3.0), ((1.68, 0.0, 1.0), None))
    world.add_box("back", (3.0, 0.01, 3.0), ((-1.68, 0.0, 1.0), None))
    world.add_box("above", (3.0, 0.01, 1.0), ((0.0, 0.0, 1.3), None))
    return plan(PANDA, start, goal, world, time_budget=TIME, **options)  # type: ignore[arg-type]


def whole_body() -> Plan:
    start = HUMANOID.configuration("standing")
    T = kd.kinematics.pose(HUMANOID, start, "right_hand")
    T[:3, 3] += 0.25, 0.1, -0.2
    world = World()
    world.add_box("board", (0.3, 0.6, 0.02), ((0.45, -0.2, T[2, 3] + 0.1), None))
    return plan(HUMANOID, start, {"right_hand": T}, world, constraints=[Standing()], time_budget=TIME, seed=2)


PROBLEMS: dict[str, Callable[[], Plan]] = {
    "rrt_connect": around_the_base,
    "pose": pose_goal,
    "anytime": lambda: pose_goal(planner="anytime", settings=PlannerSettings(rounds=6)),
    "prm": lambda: pose_goal(planner="prm"),
    "roadmap": lambda: Roadmap(PANDA, wall(), seed=4).plan(LEFT, RIGHT, time_budget=TIME),
    "upright": lambda: around_the_base(constraints=[Upright("panda_hand_tcp")]),
    "whole body": whole_body,
}


@pytest.fixture
def threads() -> Iterator[None]:
    before = kd.get_threads()
    yield
    kd.set_threads(before)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.usefixtures("threads")
def test_a_seed_gives_one_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_one_path(PROBLEMS[name], monkeypatch)


@pytest.mark.skipif(not exact.is_available(), reason="needs coal")
@pytest.mark.usefixtures("threads")
def test_a_seed_gives_one_path_on_the_exact_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spheres touch everywhere in the corridor."""
    file = tmp_path / "cart.urdf"
    file.write_text(CART)
    cart = kd.load(file)
    assert_one_path(lambda: plan(cart, [-1.0, 0.0], [0.0, 1.0], corridor(), time_budget=TIME), monkeypatch)


def assert_one_path(problem: Callable[[], Plan], monkeypatch: pytest.MonkeyPatch) -> None:
    paths = []
    for count, interval in ((1, 0.05), (2, 1e-6), (8, 10.0)):
        kd.set_threads(count)
        for module in (search, constrained_trees):
            monkeypatch.setattr(module, "INTERRUPT_INTERVAL", interval)  # a search is continued often, or never
        found = problem()
        assert found.success, found.message
        paths.append(found.path)
    np.testing.assert_array_equal(paths[0], paths[1])
    np.testing.assert_array_equal(paths[0], paths[2])
