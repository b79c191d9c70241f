"""MotionPlanner: goals of all kinds, straight motions of a frame, execution from where the robot is."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.planning import MotionPlanner, plan_cartesian

from .test_plan import HOME, LEFT, PANDA, assert_free, sampled, wall

HAND = "panda_hand_tcp"


def planner(**options: object) -> MotionPlanner:
    return MotionPlanner(PANDA, "arm", q=HOME, **options)  # type: ignore[arg-type]


def moved(q: kd.arrays.Array, dx: float, dy: float, dz: float) -> kd.arrays.Array:
    T = kd.kinematics.pose(PANDA, q, HAND)
    T[:3, 3] += [dx, dy, dz]
    return T


def test_the_frame_is_the_end_effector_or_the_last_link() -> None:
    assert planner().frame == HAND
    assert MotionPlanner(PANDA, ["panda_joint1", "panda_joint2"]).frame == "panda_link2"
    assert MotionPlanner(kd.load("ur5")).frame in kd.load("ur5").frame_names


def test_plans_reach_their_goals() -> None:
    own = planner(world=wall())
    pose = own.plan_to_pose(kd.kinematics.pose(PANDA, LEFT, HAND))
    np.testing.assert_allclose(
        kd.kinematics.pose(PANDA, pose.path[-1], HAND), kd.kinematics.pose(PANDA, LEFT, HAND), atol=1e-3
    )
    for values in (LEFT, LEFT.tolist()):
        np.testing.assert_allclose(own.plan_to_joint_values(values).path[-1], LEFT, atol=1e-6)
    some = own.plan_to_joint_values({"panda_joint1": 0.5})
    np.testing.assert_allclose(some.path[-1], [0.5, *HOME[1:]], atol=1e-6)
    two = MotionPlanner(PANDA, ["panda_joint1", "panda_joint4"], q=HOME).plan_to_joint_values([0.2, -2.0])
    np.testing.assert_allclose(two.path[-1][[0, 3, 1]], [0.2, -2.0, HOME[1]], atol=1e-6)
    named = own.plan_to_named("ready")
    np.testing.assert_allclose(named.path[-1], PANDA.configuration("ready"), atol=1e-6)
    elsewhere = own.plan_to_joint_values(HOME, start=LEFT)
    np.testing.assert_array_equal(elsewhere.path[0], LEFT)


def test_the_frame_moves_straight_and_keeps_its_orientation() -> None:
    target = moved(HOME, 0.0, 0.3, -0.1)
    found = planner().plan_cartesian(target)
    assert found.success and found.fraction == 1.0
    trajectory = found.trajectory()
    T = kd.kinematics.pose(PANDA, trajectory(np.linspace(0.0, trajectory.duration, 500)), HAND)
    begin, end = T[0, :3, 3], target[:3, 3]
    along = (end - begin) / np.linalg.norm(end - begin)
    aside = T[:, :3, 3] - begin - ((T[:, :3, 3] - begin) @ along)[:, None] * along
    assert np.linalg.norm(aside, axis=1).max() < 1e-3
    np.testing.assert_allclose(T[-1], target, atol=1e-5)
    np.testing.assert_allclose(T[:, :3, :3], np.tile(T[0, :3, :3], (500, 1, 1)), atol=5e-3)
    assert np.abs(np.diff(found.path, axis=0)).max() < 0.1  # no jump between branches
    v = PANDA.limits.velocity
    assert kd.trajectory.check(PANDA, trajectory, acceleration=4 * v, jerk=40 * v).ok


def test_several_lines_are_joined() -> None:
    corners = np.stack([moved(HOME, 0.0, 0.1, 0.0), moved(HOME, 0.0, 0.1, -0.1), moved(HOME, 0.0, 0.0, 0.0)])
    found = planner().plan_cartesian(corners, step=0.02)
    assert found.success
    positions = kd.kinematics.pose(PANDA, found.path, HAND)[:, :3, 3]
    for corner in corners:
        assert np.linalg.norm(positions - corner[:3, 3], axis=1).min() < 1e-5


def test_a_line_out_of_reach_and_one_through_an_obstacle_report_their_fraction() -> None:
    own = planner()
    far = own.plan_cartesian(moved(HOME, 2.0, 0.0, 0.0))
    assert far.status == "out_of_reach" and 0.1 < far.fraction < 0.9 and far.message
    assert len(far.path) == 1 + round(far.fraction * 200)
    target = moved(HOME, 0.0, 0.3, 0.0)
    whole = own.plan_cartesian(target)
    hand = kd.kinematics.pose(PANDA, HOME, HAND)[:3, 3]
    own.world.add_box("post", (0.2, 0.02, 1.0), (hand + [0.0, 0.2, 0.0], None))
    part = own.plan_cartesian(target)
    assert part.status == "no_path" and "post" in part.message and 0.1 < part.fraction < 0.9
    np.testing.assert_array_equal(part.path, whole.path[: len(part.path)])
    assert_free(PANDA, own.world, sampled(part.path))
    assert part.trajectory().duration > 0.0  # what is possible can be executed


def test_execution_starts_where_the_last_one_ended() -> None:
    own = planner(velocity=1.0)
    first = own.execute(own.plan_to_joint_values({"panda_joint1": 0.3}))
    assert first.success and abs(own.q[0] - 0.3) < 1e-3
    second = own.plan_to_joint_values({"panda_joint1": 0.0})
    np.testing.assert_array_equal(second.path[0], own.q)
    assert own.trajectory(second).duration > second.trajectory().duration
    assert own.execute(own.trajectory(second)).success


def test_invalid_input_is_rejected() -> None:
    own = planner()
    with pytest.raises(UnknownNameError):
        own.plan_to_named("nowhere")
    with pytest.raises(InputError, match=r"values must be \(7,\), or one for each of the 7 coordinates of the group"):
        own.plan_to_joint_values([1.0, 2.0])
    with pytest.raises(InputError, match="not in the group"):
        plan_cartesian(PANDA, HOME, np.eye(4), HAND, group=["panda_joint1"])
    with pytest.raises(InputError, match="step"):
        own.plan_cartesian(np.eye(4), step=0.0)
    with pytest.raises(InputError, match="world"):
        planner(world=wall().snapshot())
    with pytest.raises(UnknownNameError):
        MotionPlanner(PANDA, "no group")
