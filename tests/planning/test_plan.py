"""Plans: free of collision by exact shapes, honest statuses, deterministic, within the budget."""

from __future__ import annotations

import time

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World, exact
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.model.robot import Robot
from kinodyn.planning import Plan, PlannerSettings, plan

from .panda_scene import HOME, LEFT, PANDA, RIGHT, wall

UR5 = kd.load("ur5")


def sampled(path: Array, step: float = 0.01) -> Array:
    """Return configurations along a path, at most `step` apart [rad or m]."""
    parts = [
        a + (b - a) * np.linspace(0, 1, 2 + int(np.linalg.norm(b - a) / step))[:, None]
        for a, b in zip(path, path[1:], strict=False)
    ]
    return np.concatenate(parts)


def assert_free(robot: Robot, world: World, q: Array) -> None:
    """Check configurations with coal on the exact shapes, all pairs but those that may touch."""
    allowed = kd.collision.allowed_pairs(robot).pairs
    objects = {thing.name: (exact.Placed(thing.shape, thing.pose),) for thing in world.snapshot().objects}
    for row in q:
        links = exact.placed_links(robot, row)
        names = list(links)
        for i, a in enumerate(names):
            for name, shapes in objects.items():
                assert not exact.collide(links[a], shapes), (a, name)
            for b in names[:i]:
                assert frozenset((a, b)) in allowed or not exact.collide(links[a], links[b]), (a, b)


def assert_right(found: Plan, start: Array, world: World) -> None:
    robot = found.robot
    assert found.success and found.status == "solved" and not found.message
    np.testing.assert_array_equal(found.path[0], start)
    assert (found.path >= robot.limits.lower - 1e-9).all() and (found.path <= robot.limits.upper + 1e-9).all()
    assert_free(robot, world, sampled(found.path, 0.05))
    assert kd.collision.motion_free(robot, found.path[:-1], found.path[1:], world).all()


def test_a_plan_goes_around_a_wall() -> None:
    start, goal = LEFT, RIGHT
    world = wall()
    assert not kd.collision.motion_free(PANDA, start, goal, world)
    found = plan(PANDA, start, goal, world, seed=1)
    assert_right(found, start, world)
    np.testing.assert_array_equal(found.path[-1], goal)
    assert found.length > np.linalg.norm(goal - start)


@pytest.mark.parametrize("seed", range(8))
def test_plans_in_random_worlds_are_free(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = (PANDA, UR5)[seed % 2]
    world = World()
    for k in range(8):
        direction = rng.normal(size=3)
        position = rng.uniform(0.5, 0.9) * direction / np.linalg.norm(direction)
        if k % 2:
            world.add_sphere(f"ball{k}", rng.uniform(0.03, 0.1), position)
        else:
            world.add_box(f"box{k}", rng.uniform(0.05, 0.2, 3), (position, None))
    # the UR5 turns twice either way: farther apart, its own links divide the space
    q = rng.uniform(np.maximum(robot.limits.lower, -2.2), np.minimum(robot.limits.upper, 2.2), (4000, robot.nq))
    ends = q[kd.collision.free(robot, q, world)]
    found = plan(robot, ends[0], ends[1], world, time_budget=5.0)
    assert_right(found, ends[0], world)


def test_the_same_seed_gives_the_same_path() -> None:
    start, goal = LEFT, RIGHT
    paths = [plan(PANDA, start, goal, wall(), seed=seed).path for seed in (3, 3, 4)]
    np.testing.assert_array_equal(paths[0], paths[1])
    assert paths[0].shape != paths[2].shape or not np.array_equal(paths[0], paths[2])


def test_a_pose_goal_is_reached() -> None:
    T = kd.kinematics.pose(PANDA, RIGHT, "panda_link8")
    start, world = LEFT, wall()
    found = plan(PANDA, start, {"panda_link8": T}, world)
    assert_right(found, start, world)
    np.testing.assert_allclose(kd.kinematics.pose(PANDA, found.path[-1], "panda_link8"), T, atol=1e-5)


def test_ends_in_collision_are_named() -> None:
    world = World()
    tool = kd.kinematics.pose(PANDA, HOME, "panda_link8")[:3, 3]
    world.add_sphere("ball", 0.1, tool)
    away = HOME + [1.5, 0, 0, 0, 0, 0, 0]
    found = plan(PANDA, HOME, away, world)
    assert found.status == "start_in_collision" and "ball" in found.message and "mm deep" in found.message
    found = plan(PANDA, away, HOME, world)
    assert found.status == "goal_in_collision" and "ball" in found.message and not len(found.path)


def test_a_goal_out_of_reach_or_limits_is_named() -> None:
    T = np.eye(4)
    T[:3, 3] = 5.0, 0.0, 0.0
    found = plan(PANDA, HOME, {"panda_link8": T})
    assert found.status == "out_of_reach" and "left" in found.message
    found = plan(PANDA, HOME, HOME + [0, 9, 0, 0, 0, 0, 0])
    assert found.status == "out_of_reach" and "panda_joint2" in found.message


def test_where_a_plate_divides_the_space_there_is_no_path_and_the_budget_is_kept() -> None:
    world = World()
    world.add_box("plate", (4.0, 0.02, 4.0), ((0.0, 0.35, 0.0), None))
    q = PANDA.random(3000, seed=0)
    tool = kd.kinematics.pose(PANDA, q, "panda_link8")[:, 1, 3]
    free = kd.collision.free(PANDA, q, world)
    beyond, before = q[free & (tool > 0.5)], q[free & (tool < 0.2)]
    if not len(beyond):  # the arm cannot be beyond the plate without crossing it
        assert plan(PANDA, before[0], q[tool > 0.5][0], world, time_budget=0.3).status == "goal_in_collision"
        return
    begin = time.process_time()
    found = plan(PANDA, before[0], beyond[0], world, time_budget=0.5)
    assert found.status == "no_path" and "0.5 s" in found.message
    assert time.process_time() - begin < 5.0


def test_meshes_clouds_and_other_shapes_are_obstacles() -> None:
    points = np.random.default_rng(0).uniform(-1, 1, (2000, 3)) * [0.2, 0.02, 0.3]
    corners = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.02, 0.02) for z in (-0.3, 0.3)])
    faces = [
        [0, 1, 3],
        [0, 3, 2],
        [4, 6, 7],
        [4, 7, 5],
        [0, 4, 5],
        [0, 5, 1],
        [2, 3, 7],
        [2, 7, 6],
        [0, 2, 6],
        [0, 6, 4],
    ]
    faces += [[1, 5, 7], [1, 7, 3]]
    place = ((0.6, 0.0, 0.3), None)
    for kind in ("points", "mesh", "ellipsoid"):
        world = World()
        if kind == "points":
            world.add_points("wall", points, 0.01, place)
        elif kind == "mesh":
            world.add_mesh("wall", (corners, np.array(faces)), place)
        else:
            world.add_ellipsoid("wall", (0.2, 0.02, 0.3), place)
        assert not kd.collision.motion_free(PANDA, LEFT, RIGHT, world), kind
        found = plan(PANDA, LEFT, RIGHT, world)
        assert_right(found, LEFT, world)


def test_an_attached_object_moves_along() -> None:
    world = wall()
    held = world.copy()
    held.add_box("rod", (0.02, 0.02, 0.3))
    T_hand_rod = np.eye(4)
    T_hand_rod[2, 3] = 0.16
    held.attach("rod", "panda_link8", T_hand_rod)
    found = plan(PANDA, LEFT, RIGHT, held)
    assert found.success
    wide = sampled(found.path, 0.02)
    T = kd.kinematics.pose(PANDA, wide, "panda_link8") @ held.snapshot()["rod"].pose
    wall_shape = world.snapshot()["wall"]
    for pose in T:
        rod = exact.Placed(held.snapshot()["rod"].shape, pose)
        assert not exact.collide([rod], [exact.Placed(wall_shape.shape, wall_shape.pose)])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"group": "tail"}, UnknownNameError, "tail"),
        ({"group": ["panda_joint1", "nose"]}, UnknownNameError, "nose"),
        ({"group": []}, InputError, "no joints"),
        ({"start": HOME[:3]}, InputError, "start"),
        ({"start": HOME * np.nan}, InputError, "NaN"),
        ({"start": HOME + 10}, InputError, "limits"),
        ({"goal": HOME[:2]}, InputError, "goal"),
        ({"goal": {}}, InputError, "empty"),
        ({"goal": "nowhere"}, UnknownNameError, "nowhere"),
        ({"time_budget": 0.0}, InputError, "time_budget"),
        ({"world": 3}, InputError, "world"),
        ({"allowed": [("a", "b", "c")]}, InputError, "pairs"),
    ],
)
def test_invalid_arguments_are_rejected(change: dict[str, object], error: type[Exception], message: str) -> None:
    arguments: dict[str, object] = {"start": HOME, "goal": HOME, "world": None, **change}
    with pytest.raises(error, match=message):
        plan(PANDA, **arguments)  # type: ignore[arg-type]


def test_settings_are_checked() -> None:
    with pytest.raises(InputError, match="edge_step"):
        PlannerSettings(edge_step=-1.0)
    with pytest.raises(InputError, match="corner_rounds"):
        PlannerSettings(corner_rounds=-1)


def test_a_group_moves_and_the_others_stay() -> None:
    robot = kd.load("humanoid")
    arm = [joint.name for joint in robot.joints if joint.name.startswith("left_") and "arm" in joint.child.lower()]
    arm = arm or [joint.name for joint in robot.joints if joint.name.startswith("left_shoulder")]
    start = robot.neutral()
    goal = start.copy()
    for joint in robot.joints:
        if joint.name in arm:
            goal[joint.q] = 0.5 * (max(robot.limits.lower[joint.q][0], -1) + min(robot.limits.upper[joint.q][0], 1))
    found = plan(robot, start, goal, group=arm)
    assert found.success, found
    moved = np.ptp(found.path, axis=0) > 0
    assert {joint.name for joint in robot.joints if moved[joint.q].any()} <= set(arm)


@pytest.mark.skipif(not exact.is_available(), reason="needs coal")
def test_of_many_goals_whose_spheres_touch_the_one_with_free_shapes_is_found() -> None:
    start, goal = PANDA.configuration("ready"), np.array([0.0, 0.6, 0.0, -1.6, 0.0, 2.2, 0.8])
    block = World()
    block.add_box("block", (1.0, 1.0, 1.0), ((0.75, 0.0, -1.0), None))
    block.add_box("tray", (0.2, 0.2, 0.02))  # its spheres are larger than itself
    block.attach("tray", "panda_hand_tcp", ((0.0, 0.0, 0.1), None), touch_links=["panda_link7"])
    gap = float(kd.collision.distance(PANDA, goal, block, pairs=[("tray", "block")], exact=True).distance)
    block.move("block", ((0.75, 0.0, -1.0 + gap - 1e-3), None))
    assert not kd.collision.free(PANDA, goal, block)
    lower = goal + np.outer(np.linspace(0.1, 0.4, 12), [0, 1, 0, 0, 0, 0, 0])
    found = plan(PANDA, start, np.vstack([lower, goal]), block, time_budget=5.0)
    assert found.success
    np.testing.assert_allclose(found.path[-1], goal)


@pytest.mark.parametrize("resolution", [0.008, 0.03])
def test_a_plan_is_free_by_spheres_of_the_resolution_that_is_asked_for(resolution: float) -> None:
    found = plan(PANDA, LEFT, RIGHT, wall(), resolution=resolution)
    assert found.success and found.resolution == resolution
    ends = found.path[:-1], found.path[1:]
    assert kd.collision.motion_free(PANDA, *ends, wall(), sphere_resolution=resolution).all()
    assert found.trajectory().duration > 0.0


@pytest.mark.parametrize("resolution", [0.0, -1.0, np.nan, "fine"])
def test_the_resolution_of_a_plan_is_a_length(resolution: object) -> None:
    with pytest.raises(InputError, match="resolution"):
        plan(PANDA, LEFT, RIGHT, resolution=resolution)  # type: ignore[arg-type]
