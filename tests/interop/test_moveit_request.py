"""Requests of MoveIt: start, goals and constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.collision import Sphere
from kinodyn.interop import moveit

FOLDER = Path(__file__).parent
ROBOT = kd.load("panda")
JOINT_GOAL = {"joint_constraints": [{"joint_name": "panda_joint1", "position": 0.5}]}
POSITION = {
    "header": {"frame_id": "counter"},
    "link_name": "panda_hand_tcp",
    "target_point_offset": [0, 0, 0.1],
    "constraint_region": {
        "primitives": [{"type": 2, "dimensions": [0.01]}],
        "primitive_poses": [{"position": [0.2, 0, 0.3], "orientation": [0, 0, 0, 1]}],
    },
}
ORIENTATION = {
    "header": {"frame_id": "panda_link0"},
    "link_name": "panda_hand_tcp",
    "orientation": {"x": 1.0, "y": 0.0, "z": 0.0, "w": 0.0},
    "absolute_x_axis_tolerance": 0.1,
    "absolute_y_axis_tolerance": 0.1,
    "absolute_z_axis_tolerance": 3.2,
    "weight": 1.0,
}


def request(*goals: dict[str, Any], **fields: Any) -> moveit.Request:
    return moveit.read(FOLDER / "kitchen_scene.yaml", {"goal_constraints": list(goals), **fields}, ROBOT)[1]


def test_a_joint_goal_is_a_configuration() -> None:
    scene, asked = moveit.read(FOLDER / "kitchen_scene.yaml", FOLDER / "kitchen_request.yaml", ROBOT)
    start = scene.robot_state.copy()
    start[[0, 3]] = 0.0, -2.0
    np.testing.assert_allclose(asked.start, start)
    goal = start.copy()
    goal[[0, 1]] = 0.9, -0.4
    np.testing.assert_allclose(asked.goal, goal)
    assert asked.group == "arm" and asked.planner == "RRTConnect" and asked.time_budget == 5.0 and asked.attempts == 2
    assert asked.velocity_scaling == 0.5 and asked.acceleration_scaling == 1.0
    assert asked.workspace is not None and asked.workspace.lower.tolist() == [-1, -1, -1]
    assert asked.path_constraints is None
    constraint = asked.goal_constraints[0].joints[1]
    assert constraint == moveit.JointConstraint("panda_joint2", -0.4, above=0.01, below=0.02, weight=2.0)
    assert "arm" in repr(asked)


def test_a_pose_goal_has_a_region_and_a_middle() -> None:
    asked = request({"position_constraints": [POSITION], "orientation_constraints": [ORIENTATION]})
    goal = asked.goal["panda_hand_tcp"]
    assert isinstance(goal, moveit.PoseGoal) and goal.position.regions[0].shape == Sphere(0.01)
    # the counter is at 0.5 0 0.4, turned by a quarter about z
    np.testing.assert_allclose(goal.position.regions[0].T_world_region[:3, 3], [0.5, 0.2, 0.7], atol=1e-12)
    np.testing.assert_allclose(goal.orientation.R_world_target, np.diag([1, -1, -1]), atol=1e-12)
    np.testing.assert_allclose(goal.orientation.tolerance, [0.1, 0.1, 3.2])
    np.testing.assert_allclose(goal.T_world_frame @ [0, 0, 0.1, 1], [0.5, 0.2, 0.7, 1], atol=1e-12)


def test_a_pose_goal_is_accepted_as_a_pose() -> None:
    region = {**POSITION["constraint_region"], "primitive_poses": [{"position": [0.2, 0, -0.1]}]}
    position = {**POSITION, "constraint_region": region}
    goal = request({"position_constraints": [position], "orientation_constraints": [ORIENTATION]}).goal
    found = kd.ik.solve(ROBOT, goal, seed=1)
    assert found.success
    reached = kd.kinematics.pose(ROBOT, found.q, "panda_hand_tcp")
    np.testing.assert_allclose(reached, goal["panda_hand_tcp"].T_world_frame, atol=1e-4)
    with pytest.raises(kd.InputError, match="the orientation of 'panda_hand_tcp' is free"):
        kd.ik.solve(ROBOT, request({"position_constraints": [POSITION]}).goal)


def test_position_or_orientation_may_be_free() -> None:
    goal = request({"position_constraints": [POSITION]}).goal["panda_hand_tcp"]
    assert goal.orientation is None and goal.T_world_frame is None
    goal = request({"orientation_constraints": [ORIENTATION]}).goal["panda_hand_tcp"]
    assert goal.position is None and goal.T_world_frame is None


def test_several_goals_are_a_tuple() -> None:
    first, second = request(JOINT_GOAL, {"position_constraints": [POSITION]}).goal
    assert first[0] == 0.5 and list(second) == ["panda_hand_tcp"]


def test_path_constraints_are_kept() -> None:
    asked = request(JOINT_GOAL, path_constraints={"name": "upright", "orientation_constraints": [ORIENTATION]})
    assert asked.path_constraints is not None and asked.path_constraints.name == "upright"
    assert asked.path_constraints.orientations[0].frame == "panda_hand_tcp"


def test_an_object_attached_at_the_start_is_in_the_world() -> None:
    ball = {"id": "ball", "primitives": [{"type": "sphere", "dimensions": [0.1]}]}
    held = {"link_name": "panda_link7", "object": ball}
    asked = {"start_state": {"attached_collision_objects": [held]}, "goal_constraints": [JOINT_GOAL]}
    scene, _ = moveit.read({}, asked, ROBOT)
    assert scene.attached == ("ball",) and scene.objects == {"ball": ("ball",)}


@pytest.mark.parametrize(
    ("goals", "fields", "message"),
    [
        ([], {}, "at least one goal"),
        ([{}], {}, "give joint_constraints, position_constraints or"),
        ([{"visibility_constraints": [{"target_radius": 1}]}], {}, "not supported"),
        ([{"joint_constraints": [{"joint_name": "panda_joint1"}]}], {}, "joint_name and position"),
        ([{"joint_constraints": [{"joint_name": "panda_joint1", "position": ".nan"}]}], {}, "finite number"),
        ([{"joint_constraints": [{"joint_name": "panda_joint1", "position": float("nan")}]}], {}, "finite number"),
        (
            [{"joint_constraints": [{"joint_name": "panda_joint1", "position": 0, "tolerance_above": -1}]}],
            {},
            "tolerance_above",
        ),
        ([{"position_constraints": [{**POSITION, "header": {"frame_id": "panda_link5"}}]}], {}, "moves with the robot"),
        ([{"position_constraints": [{**POSITION, "constraint_region": {}}]}], {}, "primitives"),
        ([{"orientation_constraints": [{**ORIENTATION, "parameterization": 7}]}], {}, "parameterization"),
        ([{"orientation_constraints": [{**ORIENTATION, "orientation": [0, 0, 0, 2]}]}], {}, "norm"),
        ([JOINT_GOAL], {"allowed_planning_time": -1}, "allowed_planning_time"),
        ([JOINT_GOAL], {"max_velocity_scaling_factor": 2}, "at most 1"),
        ([JOINT_GOAL], {"group_name": 3}, "group_name"),
        ([JOINT_GOAL], {"workspace_parameters": {"min_corner": [1, 1, 1], "max_corner": [0, 0, 0]}}, "max_corner"),
    ],
)
def test_invalid_requests_are_errors_with_the_path_of_the_field(
    goals: list[dict[str, Any]], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(kd.InputError, match=message):
        request(*goals, **fields)


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"joint_constraints": [{"joint_name": "panda_joint9", "position": 0}]}, "did you mean 'panda_joint"),
        ({"orientation_constraints": [{**ORIENTATION, "link_name": "panda_hand"}]}, "unknown frame 'panda_hand'"),
        ({"orientation_constraints": [{**ORIENTATION, "header": {"frame_id": "contour"}}]}, "'counter'"),
    ],
)
def test_unknown_joints_and_frames_suggest_the_nearest(goal: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.UnknownNameError, match=message):
        request(goal)


def test_trajectory_constraints_are_named_in_a_warning() -> None:
    with pytest.warns(kd.DescriptionWarning, match="trajectory_constraints"):
        request(JOINT_GOAL, trajectory_constraints={"constraints": [{"name": "slow"}]})
