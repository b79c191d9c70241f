"""MoveGroup: targets are reached within their tolerances, objects are avoided and held, a tutorial's script runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd

pytest.importorskip("rosbags")

ros = kd.interop.ros
PANDA = kd.load("panda")
READY = PANDA.configuration("ready")
TIP = "panda_hand_tcp"


@pytest.fixture
def session() -> Any:
    return ros.Session(PANDA, q=READY)


@pytest.fixture
def group(session: Any) -> Any:
    return ros.MoveGroup("arm", session=session)


@pytest.fixture
def scene(session: Any) -> Any:
    return ros.PlanningSceneInterface(session=session)


def tip(session: Any) -> Any:
    return kd.kinematics.pose(PANDA, session.q, TIP)


def test_a_script_of_a_tutorial_runs_with_another_import() -> None:
    script = Path(__file__).with_name("moveit_tutorial.py")
    environment = {**os.environ, "KINODYN_ROBOT": "panda"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert "steps done: 9 of 9" in done.stdout and "End effector link: panda_hand_tcp" in done.stdout


def test_joint_targets_of_every_form_are_reached(group: Any, session: Any) -> None:
    q = READY + [0.3, 0.2, 0, 0.1, 0, 0, 0.1]
    state = ros.new("sensor_msgs/JointState", name=["panda_joint1"], position=[-0.2])
    for target in (list(q), {"panda_joint1": 0.1}, state):
        group.set_joint_value_target(target)
        wanted = group.get_joint_value_target()
        assert group.go(wait=True)
        np.testing.assert_allclose(group.get_current_joint_values(), wanted, atol=1e-3)
    group.set_joint_value_target("panda_joint2", -0.5)
    assert group.go() and group.get_current_joint_values()[1] == pytest.approx(-0.5, abs=1e-3)
    group.set_named_target("ready")
    assert group.go()
    np.testing.assert_allclose(session.q, READY, atol=1e-3)


def test_pose_targets_of_every_form_are_reached(group: Any, session: Any) -> None:
    T = tip(session).copy()
    T[:3, 3] += [0.05, 0.1, -0.1]
    stamped = group.get_current_pose()
    for letter, value in zip("xyz", T[:3, 3], strict=True):
        setattr(stamped.pose.position, letter, value)
    rpy = kd.spatial.as_euler(T[:3, :3], "ZYX")[::-1]
    quaternion = kd.spatial.as_quaternion(T[:3, :3])
    for target in (stamped, stamped.pose, T, [*T[:3, 3], *rpy], [*T[:3, 3], *quaternion]):
        group.set_named_target("ready")
        group.set_pose_target(target)
        success, trajectory, seconds, code = group.plan()
        assert success and code.val == 1 and seconds > 0.0
        assert group.execute(trajectory)
        np.testing.assert_allclose(tip(session), T, atol=2e-3)
        assert group.go("ready")


def test_position_and_orientation_alone_are_reached(group: Any, session: Any) -> None:
    group.set_position_target([0.4, 0.2, 0.5])
    assert group.go()
    np.testing.assert_allclose(tip(session)[:3, 3], [0.4, 0.2, 0.5], atol=1e-3)
    group.set_rpy_target([np.pi, 0.2, 0.4])
    assert group.go()
    np.testing.assert_allclose(np.abs(group.get_current_rpy()), [np.pi, 0.2, 0.4], atol=3e-3)
    group.set_orientation_target([1.0, 0.0, 0.0, 0.0])
    assert group.go()
    np.testing.assert_allclose(np.abs(kd.spatial.as_quaternion(tip(session)[:3, :3])), [1, 0, 0, 0], atol=3e-3)
    before = tip(session)[2, 3]
    group.shift_pose_target(2, -0.05)
    assert group.go() and tip(session)[2, 3] == pytest.approx(before - 0.05, abs=1e-3)


def test_one_of_several_poses_is_enough(group: Any, session: Any) -> None:
    far, near = tip(session).copy(), tip(session).copy()
    far[0, 3], near[1, 3] = 5.0, 0.1
    group.set_pose_targets([far, near])
    assert group.go()
    np.testing.assert_allclose(tip(session)[:3, 3], near[:3, 3], atol=1e-3)


def test_a_target_out_of_reach_and_one_in_collision_have_moveits_codes(group: Any, scene: Any) -> None:
    group.set_pose_target([5.0, 0, 0, 0, 0, 0, 1.0])
    success, trajectory, _, code = group.plan()
    assert not success and code.val == -31 and not trajectory.joint_trajectory.points
    assert group.go() is False
    scene.add_box("wall", [0.3, 0.0, 0.5], size=(0.5, 0.5, 0.5))
    group.set_named_target("ready")
    assert group.plan()[3].val in (-10, -12)


def test_the_reference_frame_of_poses(group: Any, session: Any) -> None:
    start = tip(session)
    group.set_pose_reference_frame(TIP)
    group.set_pose_target([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0])
    assert group.go()
    np.testing.assert_allclose(tip(session)[:3, 3], (start @ [0, 0, 0.1, 1])[:3], atol=1e-3)


def test_a_straight_motion_stops_before_a_collision(group: Any, scene: Any, session: Any) -> None:
    T = tip(session).copy()
    T[1, 3] += 0.3
    trajectory, fraction = group.compute_cartesian_path([T], 0.01, 0.0)
    assert fraction == 1.0 and trajectory.joint_trajectory.joint_names == list(PANDA.joint_names)
    scene.add_box("wall", [*(T[:3, 3] + [0, 0, 0])], size=(0.4, 0.05, 0.4))
    _, blocked = group.compute_cartesian_path([T], 0.01, True)
    assert 0.0 < blocked < 1.0
    assert group.compute_cartesian_path([T], 0.01, 0.0, avoid_collisions=False)[1] == 1.0
    scene.remove_world_object("wall")
    assert group.execute(trajectory)
    np.testing.assert_allclose(tip(session), T, atol=2e-3)


def test_path_constraints_hold(group: Any, session: Any) -> None:
    constraint = ros.moveit_msgs.msg.OrientationConstraint()
    constraint.link_name, constraint.orientation = TIP, group.get_current_pose().pose.orientation
    constraint.absolute_x_axis_tolerance = constraint.absolute_y_axis_tolerance = 0.1
    constraint.absolute_z_axis_tolerance = 3.2
    constraints = ros.moveit_msgs.msg.Constraints()
    constraints.orientation_constraints.append(constraint)
    group.set_path_constraints(constraints)
    group.set_position_target([0.3, 0.35, 0.4])
    success, trajectory, _, _ = group.plan()
    assert success
    positions = np.array([point.positions for point in trajectory.joint_trajectory.points])
    R = kd.kinematics.pose(PANDA, positions, TIP)[:, :3, :3]
    angles = np.abs(kd.spatial.as_euler(tip(session)[:3, :3].T @ R, "XYZ"))
    assert (angles[:, :2] <= 0.1 + 1e-6).all()
    assert len(group.get_path_constraints().orientation_constraints) == 1
    group.clear_path_constraints()
    assert not group.get_path_constraints().orientation_constraints


def test_scaling_factors_slow_the_motion(group: Any) -> None:
    group.set_joint_value_target(list(READY + 0.4))

    def duration() -> float:
        end = group.plan()[1].joint_trajectory.points[-1].time_from_start
        return end.sec + 1e-9 * end.nanosec

    full = duration()
    group.set_max_velocity_scaling_factor(0.1)
    group.set_max_acceleration_scaling_factor(0.1)
    assert duration() > 3.0 * full
    with pytest.raises(kd.InputError, match="at most 1"):
        group.set_max_velocity_scaling_factor(2.0)


@pytest.mark.parametrize(
    "name",
    ["planning_time", "goal_joint_tolerance", "goal_position_tolerance", "goal_orientation_tolerance"],
)
def test_settings_are_positive_and_return_as_they_were_set(group: Any, name: str) -> None:
    get, put = getattr(group, f"get_{name}"), getattr(group, f"set_{name}")
    before = group.get_goal_tolerance()
    put(0.125)
    assert get() == 0.125
    names = ("goal_joint_tolerance", "goal_position_tolerance", "goal_orientation_tolerance")
    expected = tuple(0.125 if each == name else value for each, value in zip(names, before, strict=True))
    assert group.get_goal_tolerance() == expected
    for wrong in (0.0, -1.0, float("nan"), "much"):
        with pytest.raises(kd.InputError):
            put(wrong)
    assert get() == 0.125
    group.set_goal_tolerance(0.25)
    assert group.get_goal_tolerance() == (0.25, 0.25, 0.25)


def test_names_of_the_planner_and_the_number_of_attempts(group: Any) -> None:
    group.set_planner_id("prm")
    group.set_planning_pipeline_id("ompl")
    assert group.get_planner_id() == "prm" and group.get_planning_pipeline_id() == "ompl"
    with pytest.raises(kd.InputError, match="num_planning_attempts"):
        group.set_num_planning_attempts(0)
    for ignored in (group.allow_replanning, group.allow_looking):
        ignored(True)


def test_names_and_sizes_of_a_group(group: Any) -> None:
    joints = [f"panda_joint{k}" for k in range(1, 8)]
    assert group.get_joints() == group.get_active_joints() == joints and group.get_variable_count() == 7
    assert group.has_end_effector_link() and group.get_end_effector_link() == TIP
    assert group.get_pose_reference_frame() == group.get_planning_frame() == PANDA.frame_names[0]
    group.set_end_effector_link("panda_link6")
    group.set_pose_reference_frame(TIP)
    assert group.get_end_effector_link() == "panda_link6" and group.get_pose_reference_frame() == TIP
    at, expected = group.get_current_pose().pose.position, kd.kinematics.pose(PANDA, READY, "panda_link6")[:3, 3]
    np.testing.assert_allclose([at.x, at.y, at.z], expected, atol=1e-12)


def test_random_targets_are_within_limits_and_random_poses_within_reach(group: Any) -> None:
    group.set_random_target()
    target = np.array(group.get_joint_value_target())
    assert ((target >= PANDA.limits.lower) & (target <= PANDA.limits.upper)).all()
    first, second = (group.get_random_pose().pose.position for _ in range(2))
    assert (first.x, first.y, first.z) != (second.x, second.y, second.z)
    assert np.linalg.norm([first.x, first.y, first.z - 0.333]) < 1.2  # from the shoulder


def test_remembered_positions_can_be_forgotten_and_pose_targets_cleared(group: Any) -> None:
    group.remember_joint_values("there", list(READY))
    assert group.get_remembered_joint_values() == {"there": READY.tolist()}
    group.forget_joint_values("there")
    assert group.get_remembered_joint_values() == {} and "there" not in group.get_named_targets()
    for clear in (group.clear_pose_target, group.clear_pose_targets):
        group.set_position_target([0.4, 0.2, 0.5])
        assert group.construct_motion_plan_request().goal_constraints[0].position_constraints
        clear()
        assert not group.construct_motion_plan_request().goal_constraints[0].position_constraints


def test_the_workspace_has_four_or_six_numbers_or_none(group: Any) -> None:
    for numbers, low, high in (
        ([-1.0, -2.0, 1.0, 2.0], (-1.0, -2.0, 0.0), (1.0, 2.0, 0.0)),
        ([-1.0, -2.0, -3.0, 1.0, 2.0, 3.0], (-1.0, -2.0, -3.0), (1.0, 2.0, 3.0)),
    ):
        group.set_workspace(numbers)
        volume = group.construct_motion_plan_request().workspace_parameters
        assert (volume.min_corner.x, volume.min_corner.y, volume.min_corner.z) == low
        assert (volume.max_corner.x, volume.max_corner.y, volume.max_corner.z) == high
    group.set_workspace([])
    assert group.construct_motion_plan_request().workspace_parameters.max_corner.x == 0.0
    with pytest.raises(kd.InputError, match="ws must have 0, 4 or 6 numbers"):
        group.set_workspace([1.0])


def test_a_held_object_is_avoided_with_and_stays_where_it_is_released(group: Any, scene: Any, session: Any) -> None:
    scene.add_sphere("ball", group.get_current_pose(), radius=0.03)
    assert scene.get_known_object_names() == ["ball"]
    assert group.attach_object("ball", TIP, touch_links=["panda_link7", "panda_hand_tcp"])
    assert scene.get_known_object_names() == [] and set(scene.get_attached_objects()) == {"ball"}
    assert group.go({"panda_joint1": 0.5})
    T = tip(session)
    at = scene.get_object_poses(["ball"])["ball"].position
    np.testing.assert_allclose([at.x, at.y, at.z], T[:3, 3], atol=1e-6)
    assert group.detach_object("ball") and scene.get_known_object_names() == ["ball"]
    np.testing.assert_allclose(session.world["ball"].pose[:3, 3], T[:3, 3], atol=1e-6)


def test_objects_of_every_kind_are_added_replaced_and_removed(scene: Any, tmp_path: Path) -> None:
    pose = ros.new("geometry_msgs/PoseStamped", header={"frame_id": "panda_link0"}, pose={"position": [1, 1, 1]})
    mesh = tmp_path / "tetrahedron.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    scene.add_box("box", pose, size=(1, 2, 3))
    scene.add_box("box", pose, size=(0.1, 0.2, 0.3))
    scene.add_sphere("sphere", pose, 0.1)
    scene.add_cylinder("cylinder", pose, 0.5, 0.1)
    scene.add_cone("cone", pose, 0.5, 0.1)
    scene.add_mesh("mesh", pose, str(mesh), size=(0.1, 0.1, 0.1))
    scene.add_plane("plane", pose, offset=2.0)
    assert set(scene.get_objects()) == {"box", "sphere", "cylinder", "cone", "mesh", "plane"}
    assert scene.get_objects(["box"])["box"].primitives[0].dimensions.tolist() == [0.1, 0.2, 0.3]
    assert scene.get_known_object_names_in_roi(0.9, 0.9, 0.9, 1.1, 1.1, 1.1)[:2] == ["box", "sphere"]
    saved = scene.get_planning_scene()
    scene.remove_world_object("sphere")
    scene.remove_world_object()
    assert scene.get_known_object_names() == []
    scene.apply_planning_scene(saved)
    assert len(scene.get_objects()) == 6
    with pytest.raises(ros.MoveItCommanderException, match="there is no object 'sofa'"):
        scene.remove_world_object("sofa")


def test_a_motion_that_is_not_waited_for_can_be_stopped(group: Any, session: Any) -> None:
    group.set_max_velocity_scaling_factor(0.05)
    assert group.go({"panda_joint1": 2.0}, wait=False)
    time.sleep(0.3)
    group.stop()
    assert session.last.status == "stopped" and "stop requested" in session.last.reason
    assert 0.0 <= session.q[0] < 1.9 and np.abs(session.last.recording.v[-1]).max() < 1e-3


def test_a_trajectory_that_starts_elsewhere_is_refused(group: Any) -> None:
    group.set_joint_value_target(list(READY + 0.2))
    _, trajectory, _, _ = group.plan()
    assert group.execute(trajectory)
    with pytest.raises(ros.MoveItCommanderException, match="the trajectory starts with panda_joint1"):
        group.execute(trajectory)


def test_states_are_remembered_and_set_as_the_start(group: Any) -> None:
    group.remember_joint_values("here")
    group.remember_joint_values("there", list(READY + 0.1))
    assert {"ready", "here", "there"} <= set(group.get_named_targets())
    state = group.get_current_state()
    state.joint_state.position = state.joint_state.position + 0.1
    group.set_start_state(state)
    group.set_named_target("here")
    _, trajectory, _, _ = group.plan()
    np.testing.assert_allclose(trajectory.joint_trajectory.points[0].positions, READY + 0.1)
    group.set_start_state_to_current_state()
    request = group.construct_motion_plan_request()
    assert request.group_name == "arm" and len(request.goal_constraints[0].joint_constraints) == 7


def test_the_jacobian_is_that_of_the_point(group: Any, session: Any) -> None:
    point, step = [0.1, 0.2, 0.3], 1e-6
    J = group.get_jacobian_matrix(group.get_current_joint_values(), point)
    for k in range(7):
        moved = session.q
        moved[k] += step
        difference = (kd.kinematics.pose(PANDA, moved, TIP) - tip(session)) @ [*point, 1.0] / step
        np.testing.assert_allclose(J[:3, k], difference[:3], atol=1e-5)


def test_a_trajectory_is_timed_again(group: Any) -> None:
    group.set_joint_value_target(list(READY + 0.3))
    _, trajectory, _, _ = group.plan()
    slower = group.retime_trajectory(group.get_current_state(), trajectory, 0.2, 0.2)
    ends = [each.joint_trajectory.points[-1] for each in (trajectory, slower)]
    np.testing.assert_allclose(ends[1].positions, ends[0].positions, atol=1e-9)
    assert ends[1].time_from_start.sec + 1e-9 * ends[1].time_from_start.nanosec > ends[0].time_from_start.sec


def test_the_robot_commander_knows_joints_links_and_groups(session: Any) -> None:
    robot = ros.RobotCommander(session=session)
    assert robot.get_group_names() == ["arm"] and robot.has_group("arm") and robot.arm.get_name() == "arm"
    joint = robot.get_joint("panda_joint4")
    assert joint.bounds() == [joint.min_bound(), joint.max_bound()] and joint.value() == READY[3]
    assert robot.get_link(TIP).pose().pose.position.x == pytest.approx(tip(session)[0, 3])
    assert robot.get_current_variable_values()["panda_joint1"] == READY[0]
    with pytest.raises(AttributeError, match="no group, 'leg'"):
        _ = robot.leg


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda group: group.set_joint_value_target([0.0]), "joint_values must have shape"),
        (lambda group: group.set_joint_value_target({"joint": 1.0}), "unknown joint of arm 'joint'"),
        (lambda group: group.set_named_target("red"), "did you mean 'ready'"),
        (lambda group: group.set_pose_target([1.0]), "must be a Pose, a matrix"),
        (lambda group: group.set_pose_target([0, 0, 0, 0, 0, 0, 2.0]), "must have the norm 1, got 2"),
        (lambda group: group.set_end_effector_link("hand"), "unknown frame 'hand'"),
        (lambda group: group.shift_pose_target(6, 0.1), "axis must be from 0 to 5"),
        (lambda group: group.attach_object("sofa"), "there is no object 'sofa'"),
    ],
)
def test_wrong_arguments_are_errors(group: Any, call: Any, message: str) -> None:
    with pytest.raises(kd.KinodynError, match=message):
        call(group)


def test_an_unknown_group_suggests_the_nearest_and_no_robot_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(kd.UnknownNameError, match="did you mean 'arm'"):
        ros.MoveGroup("arms", session=ros.Session(PANDA, q=READY))
    monkeypatch.delenv("KINODYN_ROBOT", raising=False)
    monkeypatch.setattr("kinodyn.interop.ros.session._CURRENT", [])
    with pytest.raises(ros.MoveItCommanderException, match="call kd.interop.ros.start"):
        ros.MoveGroup("arm")


def test_groups_of_one_robot_share_its_session() -> None:
    robot = kd.load("humanoid", base="fixed")
    left, right = (ros.MoveGroup(name, robot) for name in ("left_arm", "right_arm"))
    scene = ros.PlanningSceneInterface()
    scene.add_sphere("ball", [1.0, 0.0, 0.0], 0.1)
    assert left.go({"left_elbow": -0.5})
    assert ros.RobotCommander().get_joint("left_elbow").value() == pytest.approx(-0.5, abs=1e-3)
    assert right.get_current_pose("left_palm").pose == left.get_current_pose("left_palm").pose
    assert ros.MoveGroup("arm", "panda").get_name() == "arm" and ros.PlanningSceneInterface().get_objects() == {}


def test_an_unknown_planner_is_reported(group: Any) -> None:
    group.set_planner_id("RRTConnectkConfigDefault")
    with pytest.warns(kd.DescriptionWarning, match="'CHOMP' is not known here"):
        group.set_planner_id("CHOMP")
