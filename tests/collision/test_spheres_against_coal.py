"""The spheres of robots against coal on the exact shapes, pair by pair: no contact is missed."""

from __future__ import annotations

import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.collision import exact
from kinodyn.collision.query import EMPTY, Query
from kinodyn.description.example_robot_data import data_folder

from .installed_robots import load

pytest.importorskip("coal")

# prismatic joints: tiago; a floating base: a1, anymal_c_simple, g1, go2, hyq, solo, talos
MANY = {
    "a1": 50,
    "allegro_hand": 60,
    "anymal_c_simple": 30,
    "g1": 20,
    "go2": 30,
    "hyq": 400,
    "kinova": 60,
    "solo": 60,
    "talos": 20,
    "tiago": 10,
    "ur5": 200,
    "z1": 100,
}


def contacts(robot: kd.Robot, count: int) -> tuple[int, list[tuple[int, str, str]]]:
    """Return the number of contacts at random configurations, and those that the spheres miss."""
    query = Query(robot, EMPTY)
    pairs = [(query.form.groups[a], query.form.groups[b]) for a, b in query.core.pairs]
    q = robot.random(count, seed=7)
    touching = _core.touching(robot, query.core, q).pairs
    found, missed = 0, []
    for k in range(count):
        placed = exact.placed_links(robot, q[k])
        for i, (a, b) in enumerate(pairs):
            if exact.collide(placed[a], placed[b]):
                found += 1
                missed += [] if touching[k, i] else [(k, a, b)]
    return found, missed


@pytest.mark.parametrize(("name", "count"), [("humanoid", 40), ("panda", 200)])
def test_spheres_miss_no_contact(name: str, count: int) -> None:
    found, missed = contacts(load(name), count)
    assert found > 0 and missed == []


@pytest.mark.slow
@pytest.mark.skipif(data_folder() is None, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", MANY)
def test_spheres_of_many_robots_miss_no_contact(name: str) -> None:
    found, missed = contacts(load(name), MANY[name])
    assert found > 0 and missed == []
