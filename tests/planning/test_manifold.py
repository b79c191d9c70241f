"""Ball and floating joints in plans: along geodesics, within bounds, free between vertices too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World
from kinodyn.errors import InputError
from kinodyn.planning import Plan, plan
from kinodyn.spatial import as_quaternion, exp3, from_euler

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
DRONE = f"""<robot name="drone">
  <link name="hull">{INERTIAL}<collision><geometry><box size="0.8 0.1 0.1"/></geometry></collision></link>
  <link name="arm">{INERTIAL}<collision><origin xyz="0 0 0.25"/><geometry><cylinder radius="0.03" length="0.3"/>
    </geometry></collision></link>
  <joint name="lift" type="revolute"><parent link="hull"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" velocity="1" effort="1"/></joint></robot>"""
BALLS = """<mujoco model="balls"><worldbody><body name="upper" pos="0 0 1"><joint name="shoulder" type="ball"/>
  <geom type="capsule" fromto="0 0 0.08 0 0 0.4" size="0.04"/>
  <body name="fore" pos="0 0 0.5"><joint name="elbow" type="ball"/>
  <geom type="capsule" fromto="0 0 0.08 0 0 0.4" size="0.03"/></body></body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def drone(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    file: Path = tmp_path_factory.mktemp("drone") / "drone.urdf"
    file.write_text(DRONE)
    return kd.load(file, base="floating")


@pytest.fixture(scope="module")
def balls(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    file: Path = tmp_path_factory.mktemp("balls") / "balls.xml"
    file.write_text(BALLS)
    return kd.load(file)


def slot() -> World:
    """Return a wall with a vertical slot of 0.5 m: the drone, 0.8 m wide, must turn to get through."""
    world = World()
    for side in (-1, 1):
        world.add_box(f"wall{side}", (0.1, 4.0, 8.0), ((1.0, side * 2.25, 0.0), None))
    return world


def pose(p: Array, euler: Array) -> Array:
    return np.concatenate([p, as_quaternion(from_euler(np.asarray(euler, dtype=float), "XYZ"))])


def assert_free_path(found: Plan, start: Array, world: World) -> None:
    assert found.success, found
    robot, path = found.robot, found.path
    np.testing.assert_allclose(path[0], start)
    assert kd.collision.motion_free(robot, path[:-1], path[1:], world).all()
    s = np.linspace(0.0, 1.0, 200)
    dense = np.concatenate([robot.interpolate(a, b, s) for a, b in zip(path, path[1:], strict=False)])
    assert kd.collision.free(robot, dense, world).all()
    assert found.length == pytest.approx(np.linalg.norm(robot.difference(path[:-1], path[1:]), axis=1).sum())


@pytest.mark.parametrize("seed", range(4))
def test_a_free_flyer_turns_to_pass_a_slot(drone: kd.Robot, seed: int) -> None:
    start, goal = np.zeros(8), np.zeros(8)
    start[:7], goal[:7] = pose([0, 0, 0], [0, 0, np.pi / 2]), pose([2.0, 0.3, 0.2], [0.5, 0, np.pi / 2])
    found = plan(drone, start, goal, slot(), group=["root_joint", "lift"], seed=seed)
    assert_free_path(found, start, slot())
    np.testing.assert_allclose(found.path[-1], goal)
    assert found.group == ("root_joint", "lift")
    motion = found.trajectory(velocity=1.0, acceleration=2.0, jerk=20.0)
    assert kd.collision.free(drone, motion(np.linspace(0, motion.duration, 2000)), slot()).all()


def test_a_frame_of_a_free_flyer_reaches_a_pose_far_away(drone: kd.Robot) -> None:
    start = np.concatenate([pose([0, 0, 0], [0, 0, np.pi / 2]), [0.0]])
    T = kd.kinematics.pose(drone, np.concatenate([pose([7.0, 1.0, 0.5], [0.2, 0.1, 0.3]), [0.4]]), "arm")
    found = plan(drone, start, {"arm": T}, slot(), group=["root_joint", "lift"], time_budget=5.0)
    assert_free_path(found, start, slot())
    np.testing.assert_allclose(kd.kinematics.pose(drone, found.path[-1], "arm"), T, atol=1e-4)


def test_the_base_stays_unless_it_is_named(drone: kd.Robot) -> None:
    start = np.concatenate([pose([0, 0, 0], [0.1, 0, 0.3]), [0.0]])
    found = plan(drone, start, {"lift": 1.0})
    assert found.success and found.group == ("lift",)
    assert np.ptp(found.path[:, :7], axis=0).max() == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_an_arm_of_ball_joints_passes_a_post(balls: kd.Robot, seed: int) -> None:
    world = World()
    world.add_box("post", (0.1, 0.1, 1.0), ((0.4, 0.0, 1.3), None))
    start, goal = (as_quaternion(exp3(np.array([[x, 1.0, 0.0], [0.0, 0.3, 0.0]]))).ravel() for x in (0.5, -0.5))
    assert not kd.collision.motion_free(balls, start, goal, world)
    found = plan(balls, start, goal, world, seed=seed)
    assert found.group == ("shoulder", "elbow")
    assert_free_path(found, start, world)
    np.testing.assert_array_equal(found.path, plan(balls, start, goal, world, seed=seed).path)
    by_pose = plan(balls, start, {"fore": kd.kinematics.pose(balls, goal, "fore")}, world, seed=seed)
    assert_free_path(by_pose, start, world)


def test_other_planners_say_that_they_do_not_move_ball_joints(balls: kd.Robot) -> None:
    with pytest.raises(InputError, match="ball joints"):
        plan(balls, balls.neutral(), balls.neutral(), planner="prm")
    with pytest.raises(InputError, match="only `plan`"):
        kd.planning.MotionPlanner(balls, ["shoulder"])
