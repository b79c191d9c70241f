"""Trajectories of plans: within all limits, free between samples, from any plan."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World
from kinodyn.errors import InputError
from kinodyn.planning import Plan, plan
from kinodyn.planning.constraint_set import ConstraintSet

from .test_plan import HOME, LEFT, PANDA, RIGHT, assert_free, wall

GANTRY = """<robot name="gantry"><link name="world"/>
<link name="x"/><link name="tool"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
</inertial><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="jx" type="prismatic"><parent link="world"/><child link="x"/><axis xyz="1 0 0"/>
<limit lower="-2" upper="2" velocity="1" effort="40"/></joint>
<joint name="jz" type="prismatic"><parent link="x"/><child link="tool"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" velocity="1" effort="40"/></joint></robot>"""


@pytest.fixture(scope="module")
def gantry(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    file = tmp_path_factory.mktemp("gantry") / "gantry.urdf"
    file.write_text(GANTRY)
    return kd.load(file)


def by_hand(robot: kd.Robot, path: Array, world: World) -> Plan:
    return Plan(robot, "solved", "", np.array(path, dtype=float), robot.joint_names, world.snapshot())


def samples(trajectory: kd.trajectory.Trajectory, dt: float = 2e-3) -> Array:
    return trajectory(np.append(np.arange(0.0, trajectory.duration, dt), trajectory.duration))


def assert_within(robot: kd.Robot, trajectory: kd.trajectory.Trajectory) -> None:
    v = robot.limits.velocity
    report = kd.trajectory.check(robot, trajectory, acceleration=4 * v, jerk=40 * v)
    assert report.ok, str(report)


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_becomes_a_trajectory_within_all_limits_and_free(seed: int) -> None:
    world = wall()
    found = plan(PANDA, LEFT, RIGHT, world, seed=seed)
    trajectory = found.trajectory()
    assert_within(PANDA, trajectory)
    np.testing.assert_allclose(trajectory(0.0), LEFT, atol=1e-9)
    np.testing.assert_allclose(trajectory(trajectory.duration), RIGHT, atol=1e-9)
    assert kd.collision.free(PANDA, samples(trajectory), world).all()
    assert_free(PANDA, world, samples(trajectory, 0.05))


def test_a_corner_in_a_narrow_channel_is_passed_without_collision(gantry: kd.Robot) -> None:
    """The inner corner of the channel is 1 mm from the tool where it turns."""
    world = World()
    world.add_box("inner", (1.0, 1.0, 1.0), ((0.551, 0.0, -0.551), None))  # corner of the box at (0.051, -0.051)
    path = [[0.0, -1.0], [0.0, 0.0], [1.0, 0.0]]
    free_blend = kd.trajectory.linear_segments(path, velocity=1, acceleration=4, jerk=40, robot=gantry)
    assert not kd.collision.free(gantry, samples(free_blend), world).all()
    trajectory = by_hand(gantry, path, world).trajectory()
    assert kd.collision.free(gantry, samples(trajectory), world).all()
    assert_within(gantry, trajectory)
    stopping = kd.trajectory.linear_segments(path, velocity=1, acceleration=4, jerk=40, blend=0, robot=gantry)
    assert trajectory.duration <= stopping.duration + 1e-9


def test_torque_limits_slow_the_motion_down() -> None:
    goal = HOME + [1.5, 0.8, 0.5, 1.0, 0.5, 0.5, 1.0]
    found = plan(PANDA, HOME, goal)
    fast = found.trajectory(torque=False)
    gravity = np.abs(kd.dynamics.gravity(PANDA, samples(fast))).max(axis=0)
    limit = np.minimum(1.1 * gravity + 1.0, PANDA.limits.effort)
    assert not kd.trajectory.check(PANDA, fast, torque=limit).ok
    slow = found.trajectory(torque=limit)
    assert slow.duration > fast.duration
    assert kd.trajectory.check(PANDA, slow, torque=limit).ok
    with pytest.raises(InputError, match="gravity"):
        found.trajectory(torque=0.5 * gravity.max())


def test_torque_limits_of_joints_that_rest_and_are_held_by_something_else_do_not_count() -> None:
    limits = PANDA.limits.effort.copy()
    limits[3] = 0.1  # far below the weight of the forearm
    goal = HOME.copy()
    goal[0] += 1.0
    held = plan(PANDA, HOME, goal, group=["panda_joint1"])
    assert held.trajectory(torque=limits).duration == pytest.approx(held.trajectory().duration)
    goal[3] += 0.2
    with pytest.raises(InputError, match="panda_joint4"):
        plan(PANDA, HOME, goal).trajectory(torque=limits)


def test_given_limits_and_blends_are_kept() -> None:
    found = plan(PANDA, LEFT, RIGHT, wall(), seed=1)
    limits = {"velocity": 0.5, "acceleration": 1.0, "jerk": 5.0}
    slow = found.trajectory(**limits)
    assert kd.trajectory.check(PANDA, slow, **limits).ok
    stopping = found.trajectory(**limits, blend=0.0)
    assert stopping.duration > slow.duration
    with pytest.raises(InputError, match="blend"):
        found.trajectory(blend=-1.0)
    with pytest.raises(InputError):
        found.trajectory(jerk=0.0)


def test_a_group_moves_and_the_other_joints_stay() -> None:
    found = plan(PANDA, HOME, HOME + [0.5, 0, 0, 0.5, 0, 0, 0.5], group=["panda_joint1", "panda_joint4"])
    trajectory = found.trajectory()
    q = samples(trajectory)
    np.testing.assert_array_equal(q[:, [1, 2, 4, 5, 6]], np.tile(HOME[[1, 2, 4, 5, 6]], (len(q), 1)))


def test_a_plan_without_path_and_a_colliding_path_are_rejected(gantry: kd.Robot) -> None:
    world = wall()
    blocked = HOME + [0, 1.0, 0, 0.5, 0, 0, 0]
    found = plan(PANDA, LEFT, blocked, world, time_budget=0.1)
    if not found.success:
        with pytest.raises(InputError, match="no path"):
            found.trajectory()
    world = World()
    world.add_sphere("ball", 0.1, (0.5, 0.0, 0.0))
    with pytest.raises(InputError, match="vertices 0 and 1"):
        by_hand(gantry, np.array([[0.0, 0.0], [1.0, 0.0]]), world).trajectory()


def test_a_start_equal_to_the_goal_takes_no_time() -> None:
    found = plan(PANDA, HOME, HOME)
    trajectory = found.trajectory()
    assert trajectory.duration == 0.0
    np.testing.assert_array_equal(trajectory(0.0), HOME)


def assert_keeps(found: kd.planning.Plan, q: np.ndarray) -> None:
    joints = [joint for joint in found.robot.joints if joint.name in found.group and joint.kind != "floating"]
    constraints = ConstraintSet(found.robot, found.path[0], joints, found.constraints)
    assert constraints.excess(q).max() <= 1.0 + 1e-3


def test_a_trajectory_keeps_the_constraints_of_its_plan() -> None:
    pole = World()
    pole.add_box("wall", (0.4, 0.04, 0.5), ((0.6, 0.0, 0.25), None))
    upright = kd.planning.Upright("panda_link7", tolerance=0.1)
    start = PANDA.configuration("ready")
    T = kd.kinematics.pose(PANDA, start + [1.0, 0, 0, 0, 0, 0, 0], "panda_link7")
    begin = plan(PANDA, start, start + [-1.0, 0, 0, 0, 0, 0, 0]).path[-1]
    found = plan(PANDA, begin, {"panda_link7": T}, pole, constraints=[upright], time_budget=3.0)
    assert found.success
    trajectory = found.trajectory()
    assert_keeps(found, samples(trajectory))
    assert_within(PANDA, trajectory)
    stopping = found.trajectory(blend=0.0)
    assert trajectory.duration <= stopping.duration


def test_a_whole_body_plan_stops_at_its_vertices() -> None:
    robot = kd.load("humanoid")
    start = robot.configuration("standing")
    hand = kd.kinematics.pose(robot, start, "right_hand")
    hand[:3, 3] += 0.2, 0.0, 0.1
    found = plan(robot, start, {"right_hand": hand}, constraints=[kd.planning.Standing()])
    assert found.success and found.group[0] == robot.joints[0].name
    trajectory = found.trajectory()
    assert kd.trajectory.check(robot, trajectory, torque=False).ok
    assert_keeps(found, samples(trajectory, 0.01))
    np.testing.assert_allclose(robot.difference(trajectory(trajectory.duration), found.path[-1]), 0.0, atol=1e-9)
