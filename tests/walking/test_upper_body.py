"""Upper-body tasks, hand supports and loads during a walk."""

import dataclasses
import warnings

import numpy as np
import pytest

import kinodyn as kd


@pytest.fixture(scope="module")
def humanoid(body):
    return body.robot


def load_quietly(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.load(name, base="floating")


def tilt_deg(robot, recording, load):
    frame, grasp = next(iter(load.grasps.items()))
    T_world_box = kd.kinematics.pose(robot, recording.q, frame) @ grasp
    return np.rad2deg(np.arccos(np.clip(T_world_box[:, 2, 2], -1.0, 1.0)))


def test_a_box_of_5_kg_is_carried_level(humanoid, body):
    carrying = kd.walking.Carrying.from_robot(body, 5.0)
    result = kd.walking.walk(humanoid, (0.3, 0.0, 0.0), duration=6.0, carry=carrying, friction=0.7)
    assert result.walked
    assert tilt_deg(humanoid, result.recording, carrying.load).max() < 3.0
    assert result.speed == pytest.approx(0.3, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mass"), [("talos", 2.0), ("g1", 2.0)])
def test_other_robots_carry_a_box_level(name, mass):
    robot = load_quietly(name)
    carrying = kd.walking.Carrying.from_robot(robot, mass)
    result = kd.walking.walk(robot, (0.2, 0.0, 0.0), duration=8.0, carry=carrying)
    assert result.walked
    assert tilt_deg(robot, result.recording, carrying.load).max() < 3.0


@pytest.mark.parametrize("frame", ["torso", pytest.param("left_palm", marks=pytest.mark.slow)])
def test_a_load_of_5_kg_that_the_controller_does_not_know_is_tolerated(humanoid, body, frame):
    load = kd.sim.Load.held(humanoid, body.q, [frame], 5.0)
    result = kd.walking.walk(body, (0.3, 0.0, 0.0), duration=6.0, loads=[load])
    assert result.walked
    assert result.speed == pytest.approx(0.3, rel=0.1)


def test_a_hand_stays_at_a_point_of_the_world_while_the_robot_steps_in_place(humanoid, body):
    point = np.array([0.4, 0.2, 1.1])
    hand = kd.tasks.FrameTask("left_palm", point, weights=10.0)
    result = kd.walking.walk(body, (0.0, 0.0, 0.0), duration=6.0, upper_body=kd.walking.UpperBody([hand]))
    assert result.walked and result.steps >= 4
    later = result.recording.time > 2.0
    position = kd.kinematics.pose(humanoid, result.recording.q[later], "left_palm")[:, :3, 3]
    assert np.linalg.norm(position - point, axis=1).max() < 0.01


def test_a_hand_in_the_heading_frame_turns_with_the_robot(humanoid, body):
    target = np.array([0.3, 0.25, 1.0])
    hand = kd.tasks.FrameTask("left_palm", target, weights=10.0)
    upper_body = kd.walking.UpperBody(heading_tasks=[hand])
    result = kd.walking.walk(body, (0.1, 0.0, 0.3), duration=6.0, upper_body=upper_body)
    assert result.walked
    recording = result.recording
    later = (recording.time > 2.0) & (recording.time < 4.0)
    T_base = kd.kinematics.pose(humanoid, recording.q[later], "pelvis")
    yaw = np.arctan2(T_base[:, 1, 0], T_base[:, 0, 0])
    offset = kd.kinematics.pose(humanoid, recording.q[later], "left_palm")[:, :3, 3]
    offset = offset - kd.kinematics.com(humanoid, recording.q[later]) * [1.0, 1.0, 0.0]
    in_heading_frame = np.einsum("nji,nj->ni", kd.spatial.rot_z(yaw), offset)
    assert np.abs(in_heading_frame - target).max() < 0.03
    assert abs(yaw[-1] - yaw[0]) > 0.3


def palm_on_table(height):
    """Pose of the left palm flat on a table, fingers forward."""
    T = np.eye(4)
    T[:3, :3] = [[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    T[:3, 3] = [0.38, 0.27, height]
    return T


def test_a_hand_on_a_table_bears_load_within_friction_and_does_not_slip(humanoid, body):
    ground = kd.terrain.flat().with_box(0.42, 0.35, (0.3, 0.3, 0.85))  # a table
    palm = [[x, 0.0, z] for x in (-0.03, 0.03) for z in (-0.1, 0.02)]
    contact = kd.contact.Contact("left_palm", corners=palm, friction=0.5, target=palm_on_table(0.85), name="left hand")
    support = kd.walking.HandSupport(
        contact, start=3.0, end=5.0, approach=2.5, via=[[0.12, 0.33, 1.02]], max_force=100.0
    )
    upper_body = kd.walking.UpperBody(supports=[support])
    result = kd.walking.walk(body, (0.0, 0.0, 0.0), duration=7.5, upper_body=upper_body, ground=ground)
    assert result.walked and result.steps >= 4
    recording = result.recording
    bearing = (recording.time > 3.8) & (recording.time < 4.9)
    force = recording.forces["left_palm"][bearing, :3]
    assert force[:, 2].mean() > 30.0
    assert force[:, 2].max() < 1.3 * support.max_force
    position = kd.kinematics.pose(humanoid, recording.q[bearing], "left_palm")[:, :3, 3]
    assert np.ptp(position, axis=0).max() < 5e-3
    assert force[:, 2].mean() > 3.0 * recording.forces["left_palm"][recording.time > 6.0, 2].max()  # released


def test_a_load_in_both_hands_is_the_payload_of_the_controller(humanoid, body):
    mujoco = pytest.importorskip("mujoco")
    load = kd.walking.Carrying.from_robot(body, 4.0).load
    model = kd.sim.to_mujoco(humanoid, loads=[load])
    data = mujoco.MjData(model)
    data.qpos[:] = kd.convert.mujoco(humanoid, model).q_to(body.q)
    mujoco.mj_forward(model, data)
    loaded = load.carried_by(humanoid)
    np.testing.assert_allclose(data.subtree_com[0], kd.kinematics.com(loaded, body.q), atol=1e-12)
    assert model.body_subtreemass[0] == pytest.approx(loaded.mass, rel=1e-12)
    assert model.nv == humanoid.nv


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("humanoid", ("left_palm", "right_palm")),
        ("talos", ("arm_left_7_link", "arm_right_7_link")),  # the links before the grippers
        ("g1", ("left_wrist_yaw_link", "right_wrist_yaw_link")),
    ],
)
def test_hands_are_found_by_structure(name, expected):
    assert kd.walking.hands(load_quietly(name)) == expected


def without_arms(robot):
    arms = {joint for side in ("left_arm", "right_arm") for joint in robot.description.chains[side]}
    dropped = {joint.child for joint in robot.description.joints if joint.name in arms}
    description = dataclasses.replace(
        robot.description,
        links=tuple(link for link in robot.description.links if link.name not in dropped),
        joints=tuple(joint for joint in robot.description.joints if joint.name not in arms),
        frames=tuple(frame for frame in robot.description.frames if frame.link not in dropped),
        chains={},
        end_effectors={"left_foot": "left_sole", "right_foot": "right_sole"},
        configurations={},
        collision_exclusions=(),
    )
    return kd.Robot(description)


def test_a_robot_without_arms_is_an_error(humanoid):
    with pytest.raises(kd.KinodynError, match="does not have two arms"):
        kd.walking.hands(without_arms(humanoid))


def test_invalid_input_is_rejected(humanoid, body):
    with pytest.raises(kd.InputError, match="heading_tasks take FrameTask and GazeTask"):
        kd.walking.UpperBody(heading_tasks=[kd.tasks.ComTask((0.0, 0.0, 1.0))])
    with pytest.raises(kd.InputError, match="needs a target"):
        kd.walking.UpperBody(heading_tasks=[kd.tasks.FrameTask("left_palm")])
    with pytest.raises(kd.InputError, match="tasks must be a list of kinodyn.tasks.Task objects"):
        kd.walking.UpperBody(["left_palm"])
    with pytest.raises(kd.InputError, match="needs a target"):
        kd.walking.HandSupport(kd.contact.Contact("left_palm"), start=1.0)
    with pytest.raises(kd.InputError, match="end must be after start"):
        kd.walking.HandSupport(kd.contact.Contact("left_palm", target=np.eye(4)), start=2.0, end=1.0)
    with pytest.raises(kd.InputError, match="mass of the box"):
        kd.walking.Carrying.from_robot(body, float("nan"))
    with pytest.raises(kd.errors.UnknownNameError, match="frame that holds a load"):
        kd.sim.to_mujoco(humanoid, loads=[kd.sim.Load(1.0, (0.1, 0.1, 0.1), {"hook": np.eye(4)})])
    with pytest.raises(kd.InputError, match="loads must be"):
        kd.sim.to_mujoco(humanoid, loads=[5.0])
