"""MoveIt's files both ways: what was read is written, read again, and the same; what is dropped is reported."""

from __future__ import annotations

import tarfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.interop import moveit

DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "planning" / "panda"
HERE = Path(__file__).parent
PANDA = kd.load("panda")


def check_scenes(a: moveit.Scene, b: moveit.Scene) -> None:
    assert (a.name, a.world.names, dict(a.objects)) == (b.name, b.world.names, dict(b.objects))
    assert a.allowed_pairs == b.allowed_pairs
    assert (a.link_padding, a.link_scale) == (b.link_padding, b.link_scale)
    np.testing.assert_array_equal(a.robot_state, b.robot_state)
    np.testing.assert_allclose(a.T_scene_base, b.T_scene_base, atol=1e-14)
    for x, y in zip(a.world, b.world, strict=True):
        assert (x.name, type(x.shape), x.attached_to) == (y.name, type(y.shape), y.attached_to)
        assert sorted(x.touch_links) == sorted(y.touch_links)
        np.testing.assert_allclose(x.pose, y.pose, atol=1e-14)
        for name, value in vars(x.shape).items():
            np.testing.assert_array_equal(value, getattr(y.shape, name))
    assert set(a.fixed_frames) == set(b.fixed_frames)
    for name, T in a.fixed_frames.items():
        np.testing.assert_allclose(T, b.fixed_frames[name], atol=1e-14)


def check_constraints(a: moveit.Constraints | None, b: moveit.Constraints | None) -> None:
    assert (a is None) == (b is None)
    if a is None or b is None:
        return
    assert (a.name, a.joints) == (b.name, b.joints)
    for x, y in zip(a.positions, b.positions, strict=True):
        assert (x.frame, x.weight) == (y.frame, y.weight)
        np.testing.assert_array_equal(x.offset, y.offset)
        for r, s in zip(x.regions, y.regions, strict=True):
            np.testing.assert_allclose(r.T_world_region, s.T_world_region, atol=1e-14)
            for name, value in vars(r.shape).items():
                np.testing.assert_array_equal(value, getattr(s.shape, name))
    for u, v in zip(a.orientations, b.orientations, strict=True):
        assert (u.frame, u.weight, u.parameterisation) == (v.frame, v.weight, v.parameterisation)
        np.testing.assert_array_equal(u.tolerance, v.tolerance)
        np.testing.assert_allclose(u.R_world_target, v.R_world_target, atol=1e-14)


def check_requests(a: moveit.Request, b: moveit.Request) -> None:
    for name in ("group", "planner", "time_budget", "attempts", "velocity_scaling", "acceleration_scaling"):
        assert getattr(a, name) == getattr(b, name)
    np.testing.assert_array_equal(a.start, b.start)
    for x, y in zip(a.goal_constraints, b.goal_constraints, strict=True):
        check_constraints(x, y)
    check_constraints(a.path_constraints, b.path_constraints)
    assert (a.workspace is None) == (b.workspace is None)
    if a.workspace is not None and b.workspace is not None:
        np.testing.assert_array_equal(
            [*a.workspace.lower, *a.workspace.upper], [*b.workspace.lower, *b.workspace.upper]
        )


def round_trip(scene: moveit.Scene, request: moveit.Request, robot: kd.Robot, folder: Path) -> None:
    """Write to YAML files and to messages in CDR, read both."""
    moveit.write(scene, folder / "scene.yaml", robot)
    moveit.write(request, folder / "request.yaml", robot, scene=scene)
    again = moveit.read(folder / "scene.yaml", folder / "request.yaml", robot)
    check_scenes(scene, again[0])
    check_requests(request, again[1])
    ros = kd.interop.ros
    messages = moveit.to_message(scene, robot), moveit.to_message(request, robot, scene=scene)
    decoded = [ros.decode(ros.encode(message), message.__msgtype__) for message in messages]
    sent = moveit.read(decoded[0], decoded[1], robot)
    check_scenes(scene, sent[0])
    check_requests(request, sent[1])


@pytest.fixture(scope="module")
def problems() -> tuple[kd.Robot, dict[str, str]]:
    if not (DATA / "problems.tar.bz2").is_file():
        pytest.skip("the problems of MotionBenchMaker are not on this machine")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = kd.load(DATA / "panda.urdf", srdf=DATA / "panda.srdf", packages=DATA)
    with tarfile.open(DATA / "problems.tar.bz2") as archive:
        texts = {member.name: archive.extractfile(member).read().decode() for member in archive if member.isfile()}
    return robot, texts


def scenes_of(texts: dict[str, str]) -> list[str]:
    return sorted(name for name in texts if "/scene" in name and name.replace("scene", "request") in texts)


def check_problem(problems: tuple[kd.Robot, dict[str, str]], name: str, folder: Path) -> moveit.Scene:
    robot, texts = problems
    scene, request = moveit.read(texts[name], texts[name.replace("scene", "request")], robot, package_dirs=DATA)
    round_trip(scene, request, robot, folder)
    return scene


def test_problems_of_every_kind_return_from_files_and_messages(problems: Any, tmp_path: Path) -> None:
    pytest.importorskip("rosbags")
    for name in scenes_of(problems[1])[::50]:
        assert len(check_problem(problems, name, tmp_path).world) > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")  # meshes with open edges
def test_all_700_problems_return_from_files_and_messages_and_plan(problems: Any, tmp_path: Path) -> None:
    """Both ends are free of collision in 699 of them by the notes of the data, in all of them by the exact shapes."""
    pytest.importorskip("rosbags")
    robot, texts = problems
    names, solved = scenes_of(texts), 0
    for name in names:
        check_problem(problems, name, tmp_path)
        written = moveit.read(tmp_path / "scene.yaml", tmp_path / "request.yaml", robot)
        solved += moveit.plan(*written, robot, time_budget=20.0).success
    assert (len(names), solved) == (700, 700)


def test_objects_of_every_kind_return(tmp_path: Path) -> None:
    pytest.importorskip("rosbags")
    held = {"id": "cup", "primitives": [{"type": "cylinder", "dimensions": [0.1, 0.03]}]}
    held["header"] = {"frame_id": "panda_hand_tcp"}
    triangle = {
        "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    }
    shelf = {
        "id": "shelf",
        "pose": {"position": [1, 2, 3], "orientation": [0, 0, 0.6, 0.8]},
        "primitives": [{"type": "box", "dimensions": [1, 2, 3]}, {"type": "sphere", "dimensions": [0.5]}],
        "primitive_poses": [{"position": [0, 0, k]} for k in range(2)],
        "subframe_names": ["handle"],
        "subframe_poses": [{"position": [0.1, 0, 0]}],
    }
    fields = {
        "name": "kitchen",
        "robot_state": {
            "joint_state": {"name": list(PANDA.joint_names), "position": [0.1 * k for k in range(7)]},
            "attached_collision_objects": [
                {"link_name": "panda_hand_tcp", "object": held, "touch_links": ["panda_link7"]}
            ],
        },
        "allowed_collision_matrix": {
            "entry_names": ["panda_link0", "shelf", "cup"],
            "entry_values": [[False, True, False], [True, False, True], [False, True, False]],
        },
        "link_padding": [{"link_name": "panda_link1", "padding": 0.01}],
        "link_scale": [{"link_name": "panda_link1", "scale": 1.1}],
        "fixed_frame_transforms": [
            {"header": {"frame_id": "camera"}, "child_frame_id": "world", "transform": {"translation": [1, 0, 0]}}
        ],
        "world": {"collision_objects": [shelf, {"id": "rock", "meshes": [triangle], "mesh_poses": [{}]}]},
    }
    region = {"primitives": [{"type": 2, "dimensions": [0.1]}], "primitive_poses": [{"position": [0.5, 0, 0.5]}]}
    goal = {
        "name": "grasp",
        "joint_constraints": [{"joint_name": "panda_joint1", "position": 0.5, "tolerance_above": 0.1}],
        "position_constraints": [{"link_name": "panda_hand_tcp", "constraint_region": region, "weight": 0.5}],
        "orientation_constraints": [
            {
                "link_name": "panda_hand_tcp",
                "orientation": [0, 0.6, 0, 0.8],
                "absolute_x_axis_tolerance": 0.2,
                "parameterization": 1,
            }
        ],
    }
    asked = {
        "group_name": "arm",
        "goal_constraints": [goal],
        "path_constraints": {**goal, "name": "carry"},
        "max_velocity_scaling_factor": 0.3,
        "num_planning_attempts": 4,
        "allowed_planning_time": 2.5,
        "workspace_parameters": {"min_corner": [-1, -1, -1], "max_corner": [1, 1, 1]},
    }
    scene, request = moveit.read(fields, asked, PANDA)
    round_trip(scene, request, PANDA, tmp_path)


def test_a_floating_base_and_a_moved_fixed_base_return(tmp_path: Path) -> None:
    pytest.importorskip("rosbags")
    base = {
        "joint_names": ["virtual_joint"],
        "transforms": [{"translation": [1, 2, 0.5], "rotation": [0, 0, 0.6, 0.8]}],
    }
    table = {
        "id": "table",
        "primitives": [{"type": 1, "dimensions": [1, 1, 0.1]}],
        "primitive_poses": [{"position": [2, 2, 0]}],
    }
    fields = {"robot_state": {"multi_dof_joint_state": base}, "world": {"collision_objects": [table]}}
    for robot, joint in ((PANDA, "panda_joint1"), (kd.load("humanoid"), "left_elbow")):
        asked = {"goal_constraints": [{"joint_constraints": [{"joint_name": joint, "position": 0.4}]}]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kd.DescriptionWarning)  # the fixed base moves
            scene, request = moveit.read(fields, asked, robot)
            round_trip(scene, request, robot, tmp_path)


def test_shapes_that_moveit_does_not_have_become_meshes_and_are_reported(tmp_path: Path) -> None:
    scene = moveit.read_scene({}, PANDA)
    scene.world.add_capsule("pipe", 0.1, 1.0)
    with pytest.warns(kd.DescriptionWarning, match="written as meshes: pipe"):
        moveit.write(scene, tmp_path / "scene.yaml", PANDA)
    mesh = moveit.read_scene(tmp_path / "scene.yaml", PANDA).world["pipe"].shape
    assert isinstance(mesh, kd.collision.Mesh) and np.abs(mesh.vertices[:, 2]).max() == pytest.approx(0.6, abs=2e-3)
    scene.world.add_points("cloud", np.zeros((1, 3)), 0.1)
    with (
        pytest.warns(kd.DescriptionWarning),
        pytest.raises(kd.InputError, match="must be solids, got points in 'cloud'"),
    ):
        moveit.to_dict(scene, PANDA)


def test_trajectories_return_from_files_and_messages(tmp_path: Path) -> None:
    pytest.importorskip("rosbags")
    motion = kd.planning.plan(PANDA, [0, -0.8, 0, -2.4, 0, 1.6, 0.8], [1, -0.2, 0, -2, 0, 1.6, 0.8]).trajectory()
    joints = moveit.joint_trajectory(motion, PANDA, stamp=12_345_678_901)
    poses = np.tile(np.eye(4), (3, 1, 1, 1))
    poses[:, 0, 0, 3] = [0.0, 1.0, 2.0]
    bases = moveit.MultiDofTrajectory(("base",), np.arange(3.0), poses, np.ones((3, 1, 6)), None, "world")
    ros = kd.interop.ros
    for value in (joints, moveit.RobotTrajectory(joints), moveit.RobotTrajectory(joints, bases)):
        moveit.write(value, tmp_path / "trajectory.yaml")
        message = moveit.to_message(value)
        decoded = ros.decode(ros.encode(message), message.__msgtype__)
        for again in (moveit.read_trajectory(tmp_path / "trajectory.yaml"), moveit.read_trajectory(decoded)):
            assert type(again) is type(value)
            assert moveit.to_dict(again) == moveit.to_dict(value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"joint_names": ["a"], "points": [{"positions": [1, 2]}]}, r"points\[0\].positions must be 1 numbers"),
        ({"joint_names": ["a"], "points": [{"positions": [1]}, {"positions": [1]}]}, "after that of the point before"),
        ({"joint_names": ["a"], "points": [{"positions": [1]}, {"time_from_start": {"sec": 1}}]}, "must be 1 numbers"),
    ],
)
def test_inconsistent_trajectories_are_errors(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        moveit.read_trajectory(fields)


def test_joint_limits_return_and_apply(tmp_path: Path) -> None:
    limits = moveit.JointLimits(
        {
            "panda_joint1": moveit.JointLimit(-1.0, 1.0, 0.5, 2.0, 1.5, 10.0, 20.0),
            "panda_joint2": moveit.JointLimit(velocity=0.25),
        },
        0.5,
        0.25,
    )
    moveit.write_joint_limits(limits, tmp_path / "joint_limits.yaml")
    assert moveit.read_joint_limits(tmp_path / "joint_limits.yaml") == limits
    scaled = limits.motion_limits()
    assert scaled["velocity"] == {"panda_joint1": 0.25, "panda_joint2": 0.125}
    assert scaled["acceleration"] == {"panda_joint1": 0.375} and scaled["jerk"] == {"panda_joint1": 10.0}
    robot = limits.apply(PANDA)
    assert (robot.limits.lower[0], robot.limits.upper[0], robot.limits.effort[0]) == (-1.0, 1.0, 20.0)
    assert robot.limits.velocity[:2].tolist() == [0.5, 0.25]
    with pytest.raises(kd.UnknownNameError, match="unknown joint 'panda_joint'"):
        moveit.JointLimits({"panda_joint": moveit.JointLimit()}).apply(PANDA)


def test_limits_that_are_switched_off_have_no_effect_and_unknown_fields_are_reported() -> None:
    text = "joint_limits:\n  a: {has_velocity_limits: false, max_velocity: 3.0, max_torque: 4.0}\n"
    with pytest.warns(kd.DescriptionWarning, match=r"no effect here: joint_limits.a.max_torque"):
        limits = moveit.read_joint_limits(text)
    assert limits.joints["a"] == moveit.JointLimit()
    with pytest.raises(kd.InputError, match="max_velocity must be a number above 0"):
        moveit.read_joint_limits({"joint_limits": {"a": {"has_velocity_limits": True, "max_velocity": -1}}})


def test_kinematics_settings_return(tmp_path: Path) -> None:
    settings = {
        "arm": moveit.KinematicsSettings("kdl_kinematics_plugin/KDLKinematicsPlugin", 0.005, 0.05, 3, 1e-3),
        "hand": moveit.KinematicsSettings(),
    }
    moveit.write_kinematics(settings, tmp_path / "kinematics.yaml")
    assert moveit.read_kinematics(tmp_path / "kinematics.yaml") == settings


def test_a_configuration_folder_gives_robot_limits_and_settings(tmp_path: Path) -> None:
    config = tmp_path / "panda_moveit_config" / "config"
    config.mkdir(parents=True)
    kd.write_urdf(PANDA.description, config / "panda.urdf")
    (config / "panda.srdf").write_text(
        '<robot name="panda"><group name="panda_arm"><chain base_link="panda_link0" tip_link="panda_link7"/></group>'
        '<group_state name="home" group="panda_arm"><joint name="panda_joint1" value="0.5"/></group_state></robot>'
    )
    (config / "joint_limits.yaml").write_text(
        "default_velocity_scaling_factor: 0.1\n"
        "joint_limits:\n  panda_joint1: {has_velocity_limits: true, max_velocity: 1.5}\n"
    )
    (config / "kinematics.yaml").write_text("panda_arm: {kinematics_solver: x/Y, kinematics_solver_timeout: 0.05}\n")
    (config / "ompl_planning.yaml").write_text("planner_configs: {}\n")
    with pytest.warns(kd.DescriptionWarning, match="no effect here: ompl_planning.yaml"):
        loaded = moveit.load_config(tmp_path / "panda_moveit_config")
    assert loaded.robot.limits.velocity[0] == 1.5 and loaded.limits.velocity_scaling == 0.1
    assert loaded.robot.configuration("home")[0] == 0.5 and "panda_arm" in loaded.robot.description.chains
    assert loaded.kinematics["panda_arm"].timeout == 0.05
    with pytest.raises(kd.InputError, match="must have one .*srdf file, got 0"):
        moveit.load_config(HERE)
