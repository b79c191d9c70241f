"""Goals: configurations, states, joints, poses, regions, grasps, several frames; reached, or a reason why not."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import World
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.kinematics import pose
from kinodyn.planning import PoseRegion, grasp_poses, plan

from .panda_scene import HOME, LEFT, PANDA, RIGHT, wall

HUMANOID = kd.load("humanoid")
DOWN = kd.spatial.pose([0.45, -0.3, 0.4], kd.spatial.rot_x(np.pi))


def test_samples_of_a_region_are_inside_and_others_are_not() -> None:
    rng = np.random.default_rng(0)
    for tolerances in ([0.1, 0.0, 0.3], 0.2), (0.0, [0.1, 0.2, np.pi]), (0.05, np.pi / 2):
        region = PoseRegion(pose(PANDA, PANDA.random(3, seed=1), "panda_link8"), *tolerances)
        T = region.sample(200, seed=2)
        assert region.contains(T).all()
        for k, centre in enumerate(region.pose):  # alternatives take turns
            one = PoseRegion(centre, *tolerances)
            assert one.contains(T[k::3]).all()
        moved = T @ kd.spatial.pose(rng.choice([-1.0, 1.0], (200, 3)) * 0.65)
        assert not region.contains(moved).any()
    turned = PoseRegion(DOWN, free_yaw=True)
    angles = np.linspace(-3, 3, 50)
    assert turned.contains(DOWN @ kd.spatial.pose(rotation=kd.spatial.rot_z(angles))).all()
    assert not turned.contains(DOWN @ kd.spatial.pose(rotation=kd.spatial.rot_x(0.01))).any()
    tilted = PoseRegion(DOWN, rotation_tolerance=(0.1, 0.1, 0.0), free_yaw=True).sample(500)
    assert (tilted[:, :3, 2] @ DOWN[:3, 2]).min() > np.cos(0.15)


@pytest.mark.parametrize("seed", range(3))
def test_a_region_is_reached(seed: int) -> None:
    region = PoseRegion(DOWN, position_tolerance=(0.1, 0.05, 0.02), rotation_tolerance=(0.1, 0.0, 0.0), free_yaw=True)
    found = plan(PANDA, LEFT, {"panda_link8": region}, wall(), seed=seed)
    assert found.success, found
    assert region.contains(pose(PANDA, found.path[-1], "panda_link8"), 1e-5)


def test_of_many_poses_a_free_one_is_reached() -> None:
    """All but one are inside an obstacle or out of reach."""
    world = wall()
    T = np.tile(pose(PANDA, RIGHT, "panda_link8"), (700, 1, 1))
    T[:400, :3, 3] = 0.6, 0.0, 0.3  # in the wall
    T[400:-1, :3, 3] = 3.0, 0.0, 0.3
    found = plan(PANDA, LEFT, {"panda_link8": T}, world)
    assert found.success, found
    np.testing.assert_allclose(pose(PANDA, found.path[-1], "panda_link8"), T[-1], atol=1e-5)
    found = plan(PANDA, LEFT, {"panda_link8": list(T[-2:])}, world)
    assert found.success, found
    found = plan(PANDA, LEFT, {"panda_link8": T[:400].reshape(20, 20, 4, 4)}, world)
    assert found.status == "goal_in_collision" and "wall" in found.message and "deep" in found.message


def test_one_of_several_grasps_is_reached() -> None:
    world = wall()
    world.add_box("can", (0.06, 0.06, 0.12), ((0.45, -0.3, 0.2), None))
    turns = kd.spatial.pose(rotation=kd.spatial.rot_z(np.arange(0.0, 6.0, 0.5)))
    grasps = kd.spatial.pose([0.0, 0.0, 0.18], kd.spatial.rot_x(np.pi)) @ turns
    poses = grasp_poses(world, "can", grasps)
    np.testing.assert_allclose(poses[:, :3, 3], np.tile([0.45, -0.3, 0.38], (12, 1)), atol=1e-12)
    found = plan(PANDA, LEFT, {"panda_link8": poses}, world)
    assert found.success, found
    reached = pose(PANDA, found.path[-1], "panda_link8")
    assert np.abs(poses - reached).max(axis=(1, 2)).min() < 1e-5
    held = world.copy()
    held.attach("can", "panda_link8", np.linalg.inv(reached) @ world.snapshot()["can"].pose)
    with pytest.raises(InputError, match="attached"):
        grasp_poses(held, "can", grasps)
    with pytest.raises(UnknownNameError, match="cup"):
        grasp_poses(world, "cup", grasps)


def test_both_hands_reach_their_goals_at_once() -> None:
    stand = HUMANOID.configuration("standing")
    world, goal = World(), {}
    for hand, side in (("left_palm", 1), ("right_palm", -1)):
        T = pose(HUMANOID, stand, hand).copy()
        T[:3, 3] += 0.15, 0.05 * side, 0.15
        goal[hand] = T
    middle = 0.5 * (goal["left_palm"][:3, 3] + goal["right_palm"][:3, 3])
    world.add_sphere("ball", 0.06, middle)
    found = plan(HUMANOID, stand, goal, world, group=["left_arm", "right_arm"])
    assert found.success, found
    for hand, T in goal.items():
        np.testing.assert_allclose(pose(HUMANOID, found.path[-1], hand), T, atol=1e-5)
    assert kd.collision.motion_free(HUMANOID, found.path[:-1], found.path[1:], world).all()
    moved = {joint.name for joint in HUMANOID.joints if np.ptp(found.path, axis=0)[joint.q].any()}
    assert moved and all(name.startswith(("left_", "right_")) for name in moved)
    region = PoseRegion(goal["left_palm"], position_tolerance=0.05, rotation_tolerance=0.3)
    found = plan(HUMANOID, stand, {**goal, "left_palm": region}, world, group=["left_arm", "right_arm"])
    assert found.success and region.contains(pose(HUMANOID, found.path[-1], "left_palm"), 1e-5)


def test_states_and_joints_by_name_leave_others_where_they_are() -> None:
    found = plan(PANDA, LEFT, "ready", wall())
    np.testing.assert_allclose(found.path[-1], PANDA.configuration("ready"))
    found = plan(PANDA, LEFT, ["ready"], wall())
    assert found.success
    found = plan(PANDA, LEFT, {"panda_joint1": -0.5, "panda_joint7": 0.1}, wall())
    expected = LEFT.copy()
    expected[[0, 6]] = -0.5, 0.1
    np.testing.assert_allclose(found.path[-1], expected)


def test_a_goal_of_a_joint_outside_the_group_is_out_of_reach() -> None:
    goal = {"panda_joint1": float(RIGHT[0]), "panda_joint4": float(LEFT[3]) + 0.1}
    found = plan(PANDA, LEFT, goal, group=["panda_joint1", "panda_joint2"])
    assert found.status == "out_of_reach" and "panda_joint4" in found.message
    at_rest = {**goal, "panda_joint4": float(LEFT[3])}
    assert plan(PANDA, LEFT, at_rest, group=["panda_joint1", "panda_joint2"]).success


def test_the_nearest_free_configuration_of_several_is_reached() -> None:
    world = wall()
    colliding = HOME + [0, 0.9, 0, 0.6, 0, 0, 0]
    assert not kd.collision.free(PANDA, colliding, world)
    found = plan(PANDA, LEFT, np.array([colliding, RIGHT]), world)
    np.testing.assert_array_equal(found.path[-1], RIGHT)


def test_a_region_or_pose_out_of_reach_says_how_far_it_is() -> None:
    far = DOWN.copy()
    far[0, 3] = 3.0
    found = plan(PANDA, HOME, {"panda_link8": far})
    nearest = kd.ik.solve(PANDA, {"panda_link8": far}).residual[0]
    assert found.status == "out_of_reach" and "mm" in found.message
    left = float(found.message.split(": ")[1].split(" mm")[0]) / 1e3
    assert 0.9 * nearest < left < 1.2 * nearest
    region = PoseRegion(far, position_tolerance=0.1, free_yaw=True)
    assert plan(PANDA, HOME, {"panda_link8": region}).status == "out_of_reach"


@pytest.mark.parametrize(
    ("goal", "error", "message"),
    [
        ({"panda_link8": np.eye(3)}, InputError, "panda_link8"),
        ({"panda_link8": np.full((4, 4), np.nan)}, InputError, "panda_link8"),
        ({"panda_link8": np.zeros((0, 4, 4))}, InputError, "empty"),
        ({"nose": np.eye(4)}, UnknownNameError, "nose"),
        ({"nose": 0.3}, UnknownNameError, "nose"),
        ({"panda_joint1": np.nan}, InputError, "panda_joint1"),
        (PoseRegion(np.eye(4)), InputError, "frame"),
        (np.zeros((2, 3, 7)), InputError, "shape"),
        (np.zeros((0, 7)), InputError, "shape"),
        ([["a"]], InputError, "goal"),
        (
            {"panda_link8": np.tile(np.eye(4), (2, 1, 1)), "panda_link7": np.tile(np.eye(4), (3, 1, 1))},
            InputError,
            "num",
        ),
    ],
)
def test_invalid_goals_are_rejected(goal: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        plan(PANDA, HOME, goal)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"position_tolerance": -1.0}, {"rotation_tolerance": [0.1, 0.2]}, {"pose": 3}])
def test_invalid_regions_are_rejected(change: dict[str, object]) -> None:
    with pytest.raises(InputError):
        PoseRegion(**{"pose": np.eye(4), **change})  # type: ignore[arg-type]
