"""Obstacles, collision layers and plans in the viewer, without a page."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
import trimesh
import viser

import kinodyn as kd
from kinodyn.collision import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Sphere, World
from kinodyn.viewer.collision_layers import CollisionLayers
from kinodyn.viewer.collision_meshes import drawn_mesh
from kinodyn.viewer.planning import goal_frames
from kinodyn.viewer.replanner import Problem, Replanner
from kinodyn.viewer.robot_visual import RobotVisual
from kinodyn.viewer.server import LOCALHOST, close_server, open_server
from kinodyn.viewer.snapshot import pose_from_wxyz
from kinodyn.viewer.world_visual import WorldVisual

from .conftest import wait_until

LEFT, RIGHT = np.array([0.9, -0.2, 0, -2, 0, 1.6, 0.8]), np.array([-0.9, -0.2, 0, -2, 0, 1.6, 0.8])
CUBE = trimesh.creation.box(extents=(0.2, 0.3, 0.4))
VOLUMES = [
    (Box(np.array([0.1, 0.2, 0.3])), 0.006),
    (Sphere(0.2), 4 / 3 * np.pi * 0.2**3),
    (Cylinder(0.1, 0.5), np.pi * 0.1**2 * 0.5),
    (Capsule(0.1, 0.5), np.pi * 0.1**2 * 0.5 + 4 / 3 * np.pi * 0.1**3),
    (Ellipsoid(np.array([0.1, 0.2, 0.3])), 4 / 3 * np.pi * 0.006),
    (Mesh(np.array(CUBE.vertices), np.array(CUBE.faces)), 0.024),
    (HeightField(np.array([[0.1, 0.1], [0.2, 0.2]]), np.array([1.0, 2.0]), thickness=0.1), 2.0 * 0.15),
]


@pytest.fixture(scope="module")
def panda() -> kd.Robot:
    return kd.load("panda")


@pytest.fixture
def scene() -> Iterator[viser.SceneApi]:
    server = open_server(LOCALHOST, None, "planning")
    yield server.scene
    close_server(server)


@pytest.fixture
def viewer(panda: kd.Robot) -> Iterator[kd.viewer.Viewer]:
    world = World()
    world.add_box("wall", (0.4, 0.04, 0.6), ((0.6, 0.0, 0.3), None))
    with kd.view(panda, LEFT, world=world, quiet=True) as made:
        yield made


def settle(viewer: kd.viewer.Viewer) -> kd.planning.Plan:
    """Wait until the viewer has planned, and return the plan."""
    wait_until(lambda: viewer.planning.outcome is not None and not viewer.planning.busy, "it has planned")
    viewer.wait(0.1)  # a tick or more
    wait_until(lambda: not viewer.planning.busy, "it has planned again")
    assert viewer.planning.outcome is not None and viewer.planning.outcome.plan is not None
    return viewer.planning.outcome.plan


@pytest.mark.parametrize(("shape", "volume"), VOLUMES, ids=[type(shape).__name__ for shape, _ in VOLUMES])
def test_the_drawn_mesh_has_the_volume_of_its_shape(shape: kd.collision.Shape, volume: float) -> None:
    mesh = drawn_mesh(shape)
    assert trimesh.Trimesh(mesh.vertices, mesh.faces).volume == pytest.approx(volume, rel=0.05)


def test_objects_are_drawn_moved_attached_and_removed(scene: viser.SceneApi, panda: kd.Robot) -> None:
    world, clicked = World(), list[str]()
    visual = WorldVisual(scene, panda, clicked.append)
    for k, (shape, _) in enumerate(VOLUMES):
        world.add(f"thing {k}", shape, ((k, 0.0, 0.0), None))
    world.add_points("cloud", np.zeros((5, 3)), 0.01)
    visual.draw(world.snapshot(), LEFT)
    nodes = dict(visual.nodes)
    assert set(nodes) == set(world.names)
    world.move("thing 1", kd.spatial.exp([0.3, -0.2, 0.1, 0.4, 0.5, -0.6]))
    world.attach("thing 2", "panda_hand_tcp", ((0.0, 0.0, 0.1), None))
    world.remove("thing 3")
    visual.draw(world.snapshot(), RIGHT, colliding={"thing 1"})
    assert set(visual.nodes) == set(world.names)
    for name, expected in (
        ("thing 1", world["thing 1"].pose),
        ("thing 2", kd.kinematics.pose(panda, RIGHT, "panda_hand_tcp") @ world["thing 2"].pose),
    ):
        np.testing.assert_allclose(pose_from_wxyz(nodes[name].wxyz, nodes[name].position), expected, atol=1e-9)
    assert len({tuple(nodes[f"thing {k}"].color) for k in (0, 1, 2)}) == 3  # free, colliding, attached
    world.remove("thing 0")
    world.add_sphere("thing 0", 0.5)  # the same name, another shape
    visual.draw(world.snapshot(), RIGHT)
    assert visual.nodes["thing 0"] is not nodes["thing 0"]


def test_the_drawn_spheres_are_those_of_the_robot(scene: viser.SceneApi, panda: kd.Robot) -> None:
    visual = RobotVisual(scene, panda, "/spheres robot")
    layers = CollisionLayers(scene, visual)
    layers.draw({"spheres"})
    visual.pose(LEFT)
    spheres = kd.collision.robot_spheres(panda)
    expected = []
    for link in spheres.links:
        T, rows = kd.kinematics.pose(panda, LEFT, link), spheres.of_link(link)
        expected += np.column_stack([rows[:, :3] @ T[:3, :3].T + T[:3, 3], rows[:, 3]]).tolist()
    drawn = []
    for body, name in visual.node_names.items():
        batch = scene.get_handle_by_name(f"{name}/spheres")
        if isinstance(batch, viser.BatchedMeshHandle):
            T = kd.kinematics.pose(panda, LEFT, body)
            centres = batch.batched_positions @ T[:3, :3].T + T[:3, 3]
            drawn += np.column_stack([centres, batch.batched_scales]).tolist()
    apart = np.linalg.norm(np.array(drawn)[:, None] - np.array(expected)[None], axis=2)
    assert apart.shape[0] == apart.shape[1]
    assert apart.min(axis=0).max() < 1e-5 and apart.min(axis=1).max() < 1e-5


def test_a_plan_is_shown_with_its_timeline(viewer: kd.viewer.Viewer) -> None:
    viewer.plan(RIGHT)
    plan = settle(viewer)
    assert plan.success and viewer.mode == "plan" and viewer.planning.summary().startswith("Solved in")
    player = viewer.planning.player
    for t, q in ((0.0, LEFT), (player.duration, RIGHT)):
        viewer.seek_plan(t)
        wait_until(lambda q=q: np.allclose(viewer.q, q, atol=1e-6), "the robot is at that end")
    viewer.seek_plan(0.0)
    viewer.play_plan()
    wait_until(lambda: player.time > 0.0 and not np.allclose(viewer.q, LEFT), "it plays")
    viewer.pause()
    assert not player.playing
    viewer.show(LEFT)
    assert viewer.mode == "pose"
    assert viewer.problem == ""


def test_the_plan_follows_an_obstacle_and_says_when_there_is_none(viewer: kd.viewer.Viewer) -> None:
    viewer.plan(RIGHT)
    first = settle(viewer)
    viewer.world.add_box("roof", (0.4, 0.04, 0.4), ((0.6, 0.0, 0.9), None))
    wait_until(lambda: viewer.planning.problem.world is viewer.world.snapshot(), "the change is noticed")
    second = settle(viewer)
    assert second.success and second.world is viewer.world.snapshot() and second is not first
    assert kd.collision.motion_free(viewer.robot, second.path[:-1], second.path[1:], viewer.world).all()
    hand = kd.kinematics.pose(viewer.robot, RIGHT, "panda_hand_tcp")[:3, 3]
    viewer.world.move("roof", (hand, None))
    wait_until(lambda: viewer.planning.problem.world is viewer.world.snapshot(), "the change is noticed")
    third = settle(viewer)
    assert third.status == "goal_in_collision" and "roof" in viewer.planning.summary()
    wait_until(lambda: np.allclose(viewer.q, LEFT), "the robot is back at the start")
    assert not viewer.planning.player.tracks
    viewer.planning.live = False
    viewer.world.remove("roof")
    viewer.wait(0.1)
    assert viewer.planning.outcome is not None and viewer.planning.outcome.plan is third


def test_dragging_the_goal_or_an_object_plans_again(viewer: kd.viewer.Viewer) -> None:
    viewer.plan(RIGHT)
    settle(viewer)
    (frame,) = viewer.planning.goals
    T = kd.kinematics.pose(viewer.robot, RIGHT, frame).copy()
    T[:3, 3] += [0.0, 0.05, 0.05]
    viewer.planning.goals[frame].drag(T)
    wait_until(lambda: isinstance(viewer.planning.problem.goal, dict), "the goal is a pose")
    plan = settle(viewer)
    assert plan.success
    np.testing.assert_allclose(kd.kinematics.pose(viewer.robot, plan.path[-1], frame), T, atol=1e-5)
    viewer.select("wall")
    moved = kd.spatial.exp([0.6, 0.0, 0.25, 0.0, 0.0, 0.0])
    viewer.planning.object_gizmo.drag(moved)
    wait_until(lambda: np.allclose(viewer.world["wall"].pose, moved), "the object moves")
    wait_until(lambda: viewer.planning.problem.world is viewer.world.snapshot(), "the change is noticed")
    assert settle(viewer).world is viewer.world.snapshot()


def test_distances_are_lines_between_the_near_pairs(viewer: kd.viewer.Viewer) -> None:
    q = np.array([0.35, -0.2, 0.0, -2.0, 0.0, 1.6, 0.8])
    viewer.show(q)
    viewer.layer("distances")
    wait_until(lambda: bool(viewer.planning.distances.pairs), "distances are measured")
    pairs = viewer.planning.distances.pairs
    expected = kd.collision.distance(viewer.robot, q, viewer.world, exact=True)
    assert pairs[0].names == tuple(expected.names) and pairs[0].distance == pytest.approx(expected.distance, abs=1e-6)
    assert pairs[0].distance == pytest.approx(np.linalg.norm(pairs[0].points[1] - pairs[0].points[0]), abs=1e-4)
    lines = viewer.server.scene.get_handle_by_name("/world/distances")
    assert isinstance(lines, viser.LineSegmentsHandle) and lines.visible
    np.testing.assert_allclose(lines.points[0], pairs[0].points, atol=1e-5)
    viewer.world.move("wall", ((0.5, 0.2, 0.5), None))
    wait_until(lambda: "wall" in viewer.planning.distances.colliding, "the wall is in the arm")
    viewer.layer("distances", False)
    wait_until(lambda: not lines.visible and not viewer.planning.distances.pairs, "the lines are hidden")


def test_unreachable_and_unknown_goals_are_reported(viewer: kd.viewer.Viewer) -> None:
    viewer.plan({"panda_hand_tcp": kd.spatial.exp([5.0, 0.0, 0.0, 0.0, 0.0, 0.0])})
    assert settle(viewer).status == "out_of_reach"
    assert viewer.planning.summary().startswith("Out of reach: no configuration reaches the goal")
    with pytest.raises(kd.errors.UnknownNameError, match="unknown configuration"):
        viewer.plan("nowhere")
    with pytest.raises(kd.errors.UnknownNameError, match="legs"):
        viewer.plan(RIGHT, group="legs")
    with pytest.raises(kd.errors.UnknownNameError, match="unknown object"):
        viewer.select("roof")


def test_a_plan_that_exists_is_shown_with_its_world(panda: kd.Robot) -> None:
    world = World()
    world.add_box("wall", (0.4, 0.04, 0.6), ((0.6, 0.0, 0.3), None))
    world.add_sphere("ball", 0.02, (0.0, 0.0, 0.1))
    world.attach("ball", "panda_hand_tcp")
    plan = kd.planning.plan(panda, LEFT, RIGHT, world)
    with kd.view(panda, quiet=True) as viewer:
        viewer.show_plan(plan)
        wait_until(lambda: np.allclose(viewer.q, LEFT, atol=0.3), "the robot is at the start")
        assert viewer.world.names == ("wall", "ball") and viewer.world["ball"].attached_to == "panda_hand_tcp"
        assert viewer.planning.outcome is not None and viewer.planning.outcome.plan is plan


def test_of_many_problems_the_last_one_is_solved(panda: kd.Robot) -> None:
    replanner = Replanner(panda)
    try:
        world = World().snapshot()
        for share in np.linspace(0.0, 1.0, 50):
            replanner.submit(Problem(LEFT, (1.0 - share) * LEFT + share * RIGHT, world))
        wait_until(lambda: not replanner.busy, "all is solved")
        outcome = replanner.take()
        assert outcome is not None and outcome.plan is not None
        np.testing.assert_allclose(outcome.plan.path[-1], RIGHT, atol=1e-9)
        assert replanner.take() is None
        replanner.submit(Problem(LEFT[:3], RIGHT, world))
        wait_until(lambda: not replanner.busy, "the error is known")
        wrong = replanner.take()
        assert wrong is not None and wrong.plan is None and "start" in wrong.error
    finally:
        replanner.close()


def test_goals_are_at_the_hands_that_the_group_moves() -> None:
    robot = kd.load("humanoid")
    assert {"left_palm", "right_palm"} <= set(goal_frames(robot, None))
    arm = [joint.name for joint in robot.joints if joint.name.startswith(("left_shoulder", "left_elbow"))]
    assert goal_frames(robot, arm) == ["left_palm"]


def test_a_closed_replanner_drops_what_waits(panda: kd.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    started, proceed, solved = threading.Event(), threading.Event(), []

    def slow(robot: kd.Robot, problem: Problem) -> None:
        solved.append(problem)
        started.set()
        proceed.wait()

    monkeypatch.setattr("kinodyn.viewer.replanner.solve", slow)
    first, second = (Problem(panda.neutral(), panda.neutral(), World().snapshot()) for _ in range(2))
    replanner = Replanner(panda)
    replanner.submit(first)
    assert started.wait(10.0)
    replanner.submit(second)
    threading.Timer(0.05, proceed.set).start()
    replanner.close()
    assert not replanner.busy and solved == [first]
    replanner.submit(second)
    assert not replanner.busy
