"""Whole-body plans of humanoids: feet that stay, the CoM above them, nothing touched but the ground by the feet."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.collision import World, exact
from kinodyn.collision.query import EMPTY, Query
from kinodyn.planning import FixedRelativePose, Plan, Standing, Upright, plan

from .constrained_paths import assert_a_path, assert_exactly_free, dense, turned

pytestmark = pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")

HANDS = {"humanoid": "right_hand", "g1": "right_rubber_hand", "talos": "gripper_right_base_link"}
BENT = {"hip_pitch": -0.35, "knee": 0.7, "ankle_pitch": -0.35, "shoulder_pitch": 0.2, "elbow": 0.5}


def standing(name: str) -> tuple[kd.Robot, Array]:
    """Return a humanoid with its soles at height zero, and its posture."""
    robot = kd.load(name)
    if name == "g1":
        q = robot.neutral()
        for joint in robot.joints[1:]:
            q[joint.q] = sum(angle for part, angle in BENT.items() if part in joint.name)
            if "shoulder_roll" in joint.name:
                q[joint.q] = 0.35 if "left" in joint.name else -0.35
    else:
        q = robot.configuration("standing" if name == "humanoid" else "half_sitting")
    q[2] -= min(foot.sole_pose(robot, q)[2, 3] for foot in kd.balance.feet(robot))
    return robot, q


def table(height: float) -> World:
    """Return a table on the ground in front of a robot whose base is at this height."""
    world = World()
    world.add_box("ground", (4.0, 4.0, 0.1), ((0.0, 0.0, -0.05), None))
    world.add_box("top", (0.6, 1.0, 0.03), ((0.35 * height + 0.3, 0.0, 0.85 * height), None))
    return world


def assert_standing(found: Plan, margin: float = 0.02) -> None:
    robot = found.robot
    feet = kd.balance.feet(robot)
    q = dense(found, 16)
    for foot in feet:
        T = kd.kinematics.pose(robot, q, foot.frame)
        assert np.linalg.norm(T[:, :3, 3] - T[0, :3, 3], axis=1).max() <= 2e-3
        assert turned(T[:, :3, :3], T[0, :3, :3]).max() <= 1e-2
    polygon = kd.balance.support_polygon(robot, found.path[0], feet)
    assert kd.balance.margin(polygon, kd.kinematics.com(robot, q)[:, :2]).min() >= margin


def soles_on(robot: kd.Robot, world: World) -> set[frozenset[str]]:
    """Return the pairs of foot links and objects."""
    links = Standing().fixed_links(robot)
    return {frozenset((link, name)) for link in links for name in world.names}


@pytest.mark.parametrize("name", ["humanoid", "g1"])
def test_a_humanoid_reaches_under_a_table(name: str) -> None:
    robot, start = standing(name)
    world = table(start[2])
    target = kd.kinematics.pose(robot, start, HANDS[name])
    target[:3, 3] = [0.35 * start[2] + 0.12, -0.15, 0.85 * start[2] - 0.15]
    target[:3, :3] = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]) if name == "humanoid" else np.eye(3)
    found = plan(robot, start, {HANDS[name]: target}, world, constraints=[Standing()], time_budget=5.0)
    assert_a_path(found, start)
    assert found.group[0] == robot.joints[0].name
    assert_standing(found)
    reached = kd.kinematics.pose(robot, found.path[-1], HANDS[name])
    np.testing.assert_allclose(reached, target, atol=2e-4)
    assert_exactly_free(found, world, soles_on(robot, world), per_motion=2)
    pairs = [tuple(pair) for pair in soles_on(robot, world)]
    assert kd.collision.motion_free(robot, found.path[:-1], found.path[1:], world, allowed=pairs).all()
    (deviation,) = found.deviations
    assert 0 < deviation.distance <= 2e-3 and deviation.angle <= 1e-2


def test_the_base_moves_because_it_has_to() -> None:
    """A hand at the height of the knees cannot be reached without bending."""
    robot, start = standing("humanoid")
    target = kd.kinematics.pose(robot, start, "right_hand")
    target[:3, 3] += [0.15, 0.0, -0.3]
    found = plan(robot, start, {"right_hand": target}, constraints=[Standing()], time_budget=5.0)
    assert_a_path(found, start)
    assert_standing(found)
    assert np.linalg.norm(found.path[-1, :3] - start[:3]) > 0.05
    arm = [joint.name for joint in robot.joints if "right_" in joint.name and "hip" not in joint.name]
    stiff = plan(robot, start, {"right_hand": target}, group=[n for n in arm if "knee" not in n and "ankle" not in n])
    assert stiff.status == "out_of_reach"


def test_both_hands_carry_while_the_body_bends() -> None:
    """Constraints combine: a closed chain, upright hands and standing."""
    robot, start = standing("talos")
    left, right = "arm_left_7_link", "arm_right_7_link"
    target = kd.kinematics.pose(robot, start, left)
    target[2, 3] -= 0.1
    constraints = [Standing(margin=0.01), FixedRelativePose(right, left), Upright(left)]
    found = plan(robot, start, {left: target}, constraints=constraints, time_budget=10.0)
    assert_a_path(found, start)
    assert_standing(found, 0.01)
    q = dense(found, 16)
    T = np.linalg.inv(kd.kinematics.pose(robot, q, left)) @ kd.kinematics.pose(robot, q, right)
    assert np.linalg.norm(T[:, :3, 3] - T[0, :3, 3], axis=1).max() <= 2e-3
    up = kd.kinematics.pose(robot, q, left)[:, 2, :3]
    assert np.arccos(np.clip(up @ up[0], -1.0, 1.0)).max() <= 0.1


def test_a_goal_configuration_brings_its_own_base() -> None:
    robot, start = standing("humanoid")
    target = kd.kinematics.pose(robot, start, "right_hand")
    target[:3, 3] += [0.1, 0.0, -0.2]
    goal = plan(robot, start, {"right_hand": target}, constraints=[Standing()]).path[-1]
    found = plan(robot, start, np.stack([goal + np.eye(1, robot.nq)[0], goal]), constraints=[Standing()])
    assert_a_path(found, start)
    np.testing.assert_allclose(found.path[-1], goal, atol=1e-12)
    lifted = goal.copy()
    lifted[2] += 0.01
    violated = plan(robot, start, lifted, constraints=[Standing()])
    assert violated.status == "goal_violates_constraint" and "10 mm" in violated.message


def test_a_goal_at_the_start_needs_no_motion() -> None:
    robot, start = standing("humanoid")
    found = plan(robot, start, start, constraints=[Standing()])
    assert found.success and found.length == 0.0
    np.testing.assert_array_equal(found.path[-1], start)


def test_an_unbalanced_start_is_reported() -> None:
    robot, start = standing("humanoid")
    found = plan(robot, start, start, constraints=[Standing(margin=0.12)])
    assert found.status == "start_violates_constraint" and "CoM" in found.message and "mm" in found.message


def test_one_foot_may_stand_alone() -> None:
    robot, start = standing("humanoid")
    left, right = kd.balance.feet(robot)
    lean = plan(robot, start, start, constraints=[Standing([left])])
    assert lean.status == "start_violates_constraint"  # the CoM is between the feet


def test_quadrupeds_stand_on_points() -> None:
    robot = kd.load("go2")
    start = robot.configuration(robot.configurations[0])
    start[2] -= min(foot.sole_pose(robot, start)[2, 3] for foot in kd.balance.feet(robot))
    base = "base"
    target = kd.kinematics.pose(robot, start, base)
    target[:3, 3] += [0.03, 0.02, -0.04]
    found = plan(robot, start, {base: target}, constraints=[Standing()], time_budget=5.0)
    assert_a_path(found, start)
    q = dense(found, 16)
    for foot in kd.balance.feet(robot):
        p = foot.sole_pose(robot, q)[:, :3, 3]
        assert np.linalg.norm(p - p[0], axis=1).max() <= 2e-3
    np.testing.assert_allclose(kd.kinematics.pose(robot, found.path[-1], base), target, atol=2e-4)


def test_joints_of_a_goal_are_reached_while_the_rest_balances() -> None:
    robot, start = standing("humanoid")
    target = {"left_knee": float(start[robot.joint("left_knee").q][0]) + 0.4, "torso_yaw": 0.3}
    found = plan(robot, start, target, constraints=[Standing()])
    assert_a_path(found, start)
    assert_standing(found)
    for name, angle in target.items():
        assert found.path[-1, robot.joint(name).q][0] == pytest.approx(angle, abs=1e-9)


def test_a_region_is_a_goal() -> None:
    robot, start = standing("humanoid")
    T = kd.kinematics.pose(robot, start, "right_hand")
    T[:3, 3] += [0.2, 0.0, -0.1]
    region = kd.planning.PoseRegion(T, position_tolerance=0.03, rotation_tolerance=(0.3, 0.3, np.pi))
    found = plan(robot, start, {"right_hand": region}, constraints=[Standing()])
    assert_a_path(found, start)
    assert_standing(found)
    assert region.contains(kd.kinematics.pose(robot, found.path[-1], "right_hand"), tolerance=2e-4)


def test_a_trajectory_keeps_the_feet_where_they_are() -> None:
    robot, start = standing("humanoid")
    world = table(start[2])
    T = kd.kinematics.pose(robot, start, "right_hand")
    T[:3, 3] += [0.15, -0.05, -0.3]
    found = plan(robot, start, {"right_hand": T}, world, constraints=[Standing()], time_budget=5.0)
    trajectory = found.trajectory()
    q = trajectory(np.linspace(0.0, trajectory.duration, 1000))
    for foot in kd.balance.feet(robot):
        p = foot.sole_pose(robot, q)[:, :3, 3]
        assert np.linalg.norm(p - p[0], axis=1).max() <= 2e-3
    np.testing.assert_allclose(q[-1], found.path[-1], atol=1e-9)


@pytest.mark.skipif(not exact.is_available(), reason="needs coal")
def test_a_start_whose_spheres_touch_is_left_where_the_shapes_are_free() -> None:
    """The arms of the G1 hang so near to its trunk that their spheres overlap, and only their triangles are free."""
    robot = kd.load("g1")
    start = robot.neutral()
    start[2] -= kd.balance.feet(robot)[0].sole_pose(robot, start)[2, 3]
    assert not Query(robot, EMPTY, shrink=-1e-6).free(start)  # spheres that grow decide alone
    target = kd.kinematics.pose(robot, start, "right_rubber_hand")
    target[:3, 3] += [0.05, -0.1, 0.15]
    found = plan(robot, start, {"right_rubber_hand": target}, constraints=[Standing(margin=0.005)], time_budget=20.0)
    assert_a_path(found, start)
    assert_standing(found, 0.005)
    assert_exactly_free(found, World(), per_motion=2)
