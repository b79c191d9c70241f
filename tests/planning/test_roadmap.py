"""Roadmaps: many plans in one world, few checks after a small change, honest results, growth where there is no path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World
from kinodyn.collision.query import Query
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.planning import Plan, Roadmap, plan
from kinodyn.planning.roadmap_graph import Graph

from .machines import machine, outside, room_without_doors
from .panda_scene import HOME, LEFT, PANDA, RIGHT, wall


def free_configurations(world: World, n: int) -> Array:
    q = PANDA.random(20 * n, seed=4)
    return q[kd.collision.free(PANDA, q, world)][:n]


def assert_free(found: Plan, world: World) -> None:
    assert found.success, found
    assert kd.collision.motion_free(PANDA, found.path[:-1], found.path[1:], world, resolution=1e-5).all()


def test_vertices_and_edges_are_free() -> None:
    world = wall()
    roadmap = Roadmap(PANDA, world, vertices=200)
    assert roadmap.vertices.shape == (200, 7) and len(roadmap.edges) > 1000
    assert kd.collision.free(PANDA, roadmap.vertices, world).all()
    q0, q1 = roadmap.vertices[roadmap.edges].swapaxes(0, 1)
    assert kd.collision.motion_free(PANDA, q0, q1, world).all()


def test_many_plans_in_one_world() -> None:
    world = wall()
    roadmap = Roadmap(PANDA, world, vertices=300)
    q = free_configurations(world, 20)
    built = roadmap.checked_motions
    for start, goal in zip(q, q[1:], strict=False):
        found = roadmap.plan(start, goal)
        assert_free(found, world)
        np.testing.assert_array_equal(found.path[[0, -1]], [start, goal])
    assert roadmap.checked_motions - built < built  # those of the roadmap are not checked again
    T = kd.kinematics.pose(PANDA, RIGHT, "panda_link8")
    found = roadmap.plan(LEFT, {"panda_link8": T})
    assert_free(found, world)
    np.testing.assert_allclose(kd.kinematics.pose(PANDA, found.path[-1], "panda_link8"), T, atol=1e-5)


def test_after_a_small_change_paths_are_free_and_few_motions_are_checked() -> None:
    world = wall()
    roadmap = Roadmap(PANDA, world, vertices=400)
    built = roadmap.checked_motions
    before = roadmap.plan(LEFT, RIGHT).path
    middle = kd.kinematics.pose(PANDA, before[len(before) // 2], "panda_link7")[:3, 3]
    world.add_sphere("ball", 0.08, middle)
    assert not kd.collision.motion_free(PANDA, before[:-1], before[1:], world).all()
    assert_free(roadmap.plan(LEFT, RIGHT, world), world)
    world.move("ball", (middle + [0, 0, 0.1], None))
    assert_free(roadmap.plan(LEFT, RIGHT, world), world)
    world.remove("ball")
    assert_free(roadmap.plan(LEFT, RIGHT, world), world)
    world.remove("wall")
    found = roadmap.plan(LEFT, RIGHT, world)
    assert len(found.path) == 2  # the straight motion is free now
    assert roadmap.checked_motions - built < 0.5 * built


def test_a_grasped_object_makes_motions_unknown() -> None:
    world = wall()
    roadmap = Roadmap(PANDA, world, vertices=200)
    world.add_box("rod", (0.02, 0.02, 0.3))
    T = np.eye(4)
    T[2, 3] = 0.16
    world.attach("rod", "panda_link8", T)
    assert_free(roadmap.plan(LEFT, RIGHT, world, time_budget=5.0), world)


def test_the_shortest_path_is_that_of_an_independent_search() -> None:
    """By SciPy on a matrix that is made here."""
    world = wall()
    query = Query(PANDA, world.snapshot(), q=HOME, moves=np.ones(7, dtype=bool))
    graph = Graph((PANDA.limits.lower, PANDA.limits.upper), 0)
    graph.grow(query, 150, 2e-4)
    path = graph.search(query, LEFT, RIGHT[None], 2e-4, np.inf)
    assert path is not None
    points = np.vstack([graph.points, LEFT, RIGHT])
    usable = graph.edges[graph.states == 1]
    n = len(points)
    near = [np.linalg.norm(graph.points - q, axis=1).argsort()[: 1 + graph.neighbours()] for q in (LEFT, RIGHT)]
    more = np.array([(n - 2 + side, k) for side in (0, 1) for k in near[side]])
    more = more[query.motion_free(points[more[:, 0]], points[more[:, 1]], 2e-4)]
    edges = np.vstack([usable, more])
    lengths = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    distances = dijkstra(csr_array((lengths, edges.T), shape=(n, n)), directed=False, indices=n - 2)
    assert np.linalg.norm(np.diff(path, axis=0), axis=1).sum() == pytest.approx(distances[n - 1])


def test_an_empty_roadmap_grows_until_there_is_a_path() -> None:
    world = wall()
    roadmap = Roadmap(PANDA, world, vertices=0)
    assert len(roadmap.vertices) == 0
    assert_free(roadmap.plan(LEFT, RIGHT, time_budget=20.0), world)
    assert len(roadmap.vertices) > 0
    found = plan(PANDA, LEFT, RIGHT, world, planner="prm", time_budget=20.0)
    assert_free(found, world)


def test_joints_without_limits_may_be_turned(tmp_path: Path) -> None:
    robot, world = machine(tmp_path), World()
    world.add_box("pillar", (0.2, 0.2, 1.5), ((0.9, 0.0, 0.75), None))
    roadmap = Roadmap(robot, world, group="tree", vertices=300)
    turns = np.zeros(robot.nq)
    for joint in robot.joints:
        if joint.kind == "continuous":
            turns[joint.q] = 6 * np.pi
    start, goal = robot.neutral() + turns, robot.neutral()
    goal[0] = 1.8
    found = roadmap.plan(start, goal, time_budget=20.0)
    assert found.success, found
    np.testing.assert_allclose(found.path[-1], goal + turns, atol=1e-9)
    assert kd.collision.motion_free(robot, found.path[:-1], found.path[1:], world, resolution=1e-5).all()


def test_without_a_path_the_budget_ends_the_search(tmp_path: Path) -> None:
    robot, world = machine(tmp_path), room_without_doors()
    found = Roadmap(robot, world, vertices=100).plan(robot.neutral(), outside(robot), time_budget=0.5)
    assert found.status == "no_path"


def test_the_same_seed_gives_the_same_roadmap_and_path() -> None:
    maps = [Roadmap(PANDA, wall(), vertices=100, seed=seed) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(maps[0].vertices, maps[1].vertices)
    assert not np.array_equal(maps[0].vertices, maps[2].vertices)
    np.testing.assert_array_equal(*(one.plan(LEFT, RIGHT).path for one in maps[:2]))


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(InputError, match="vertices"):
        Roadmap(PANDA, vertices=-1)
    with pytest.raises(UnknownNameError, match="tail"):
        Roadmap(PANDA, group="tail")
    with pytest.raises(InputError, match=r"q must have shape \(7,\)"):
        Roadmap(PANDA, q=np.zeros((2, 7)))
