"""MoveItPy: plans and executes as scripts of MoveIt 2 do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("rosbags")

from kinodyn.interop.ros.moveit_py import MoveItPy  # noqa: E402

ros = kd.interop.ros
PANDA = kd.load("panda")


@pytest.fixture
def session() -> Any:
    return ros.start(PANDA, q=PANDA.configuration("ready"))


def test_goals_of_every_form_are_planned_and_executed(session: Any) -> None:
    panda = MoveItPy(node_name="moveit_py")
    arm = panda.get_planning_component("arm")
    pose = ros.MoveGroup("arm").get_current_pose()
    pose.pose.position.z -= 0.1
    state = ros.new("moveit_msgs/RobotState", joint_state=ros.joint_state(PANDA, session.q + 0.1))
    joint = {"joint_name": "panda_joint1", "position": 0.3}
    constraints = [ros.new("moveit_msgs/Constraints", joint_constraints=[joint])]
    for goal in (
        {"pose_stamped_msg": pose, "pose_link": "panda_hand_tcp"},
        {"robot_state": state},
        {"motion_plan_constraints": constraints},
        {"configuration_name": "ready"},
    ):
        arm.set_start_state_to_current_state()
        arm.set_goal_state(**goal)
        result = arm.plan()
        assert result and panda.execute(result.trajectory, controllers=[])
    np.testing.assert_allclose(session.q, PANDA.configuration("ready"), atol=1e-3)


def test_objects_are_avoided_and_removed(session: Any) -> None:
    panda = MoveItPy()
    arm = panda.get_planning_component("arm")
    box = ros.moveit_msgs.msg.CollisionObject(id="box")
    box.primitives = [ros.shape_msgs.msg.SolidPrimitive(type=1, dimensions=[0.3, 0.3, 0.3])]
    box.primitive_poses = [ros.geometry_msgs.msg.Pose(position=[0.3, 0.0, 0.5])]
    with panda.get_planning_scene_monitor().read_write() as scene:
        scene.apply_collision_object(box)
        assert scene.planning_scene_message.world.collision_objects[0].id == "box"
    arm.set_goal_state(configuration_name="ready")
    assert not arm.plan()
    box.operation = ros.moveit_msgs.msg.CollisionObject.REMOVE
    with panda.get_planning_scene_monitor().read_write() as scene:
        scene.apply_collision_object(box)
    assert arm.plan()


def test_goals_that_are_ambiguous_are_errors(session: Any) -> None:
    arm = MoveItPy().get_planning_component("arm")
    with pytest.raises(kd.InputError, match="one form of goal must be given, got 0"):
        arm.set_goal_state()
    with pytest.raises(kd.InputError, match="must be joint constraints"):
        arm.set_goal_state(motion_plan_constraints=[ros.new("moveit_msgs/Constraints")])
