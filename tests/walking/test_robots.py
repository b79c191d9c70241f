"""Humanoids of all kinds walk with no setting given, or say before they start why they cannot."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco as mj
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.types import Inertia
from kinodyn.model.robot import Robot
from kinodyn.walking.feasibility import require_strong

WALKING = (
    "icub",
    "icub_reduced",
    "romeo",
    "alexander_v1.lowerBodyOnly",
    "human",
    "talos",
    "talos_full_v2",
    "talos_reduced",
    "g1",
    "g1_29dof_with_hand_rev_1_0",
)
TRUE, FALSE = mj.mjtLimited.mjLIMITED_TRUE, mj.mjtLimited.mjLIMITED_FALSE


def load(source: str | Path) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.load(source, base="floating")


def walk(source: str | Path, duration: float) -> kd.walking.WalkResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.walking.walk(load(source), duration=duration)


@pytest.mark.slow
@pytest.mark.parametrize("name", WALKING)
def test_a_humanoid_walks_with_no_setting_given(name: str) -> None:
    result = walk(name, 6.0)
    assert result.walked, result.reason
    assert result.steps >= 4 and result.distance > 0.1


def test_a_robot_whose_feet_are_only_drawn_walks() -> None:
    result = walk("alexander", 3.5)
    assert result.walked, result.reason
    assert result.body.left.source == "visual"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("alex_sake_hands", "does not have two legs: .* is the end of an arm"),
        ("simple_humanoid", "too weak to stand on its two feet: joint WAIST_P needs .* N m and has 30 N m"),
        ("bolt", "does not have two legs: its CoM is .* m away from"),
    ],
)
def test_what_cannot_walk_says_why_before_it_starts(name: str, reason: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        with pytest.raises(kd.KinodynError, match=reason):
            kd.walking.walk(load(name), duration=3.0)


def position_actuators(spec: mj.MjSpec) -> None:
    for motor in list(spec.actuators):
        joint, limit = spec.joint(motor.target), float(np.abs(motor.forcerange).max())
        spec.delete(motor)
        joint.actfrclimited, joint.actfrcrange = TRUE, [-limit, limit]
        spec.add_actuator(target=joint.name, trntype=mj.mjtTrn.mjTRN_JOINT).set_to_position(kp=80.0, kv=4.0)


def geared_motors(spec: mj.MjSpec) -> None:
    for motor in spec.actuators:
        limit = float(np.abs(motor.forcerange).max())
        motor.forcelimited, motor.forcerange, motor.gear = FALSE, [0.0, 0.0], [100.0, 0, 0, 0, 0, 0]
        motor.ctrllimited, motor.ctrlrange = TRUE, [-limit / 100, limit / 100]


def only_contact_pairs(spec: mj.MjSpec) -> None:
    """Let nothing collide but the feet with the floor, as Apollo's file does."""
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    spec.worldbody.add_geom(name="floor", type=mj.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05])
    for geom in spec.geoms:
        if geom.parent.name.endswith("foot"):
            spec.add_pair(geomname1=geom.name, geomname2="floor")


def nothing_collides(spec: mj.MjSpec) -> None:
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0


def spheres_as_feet(spec: mj.MjSpec) -> None:
    for geom in [geom for geom in spec.geoms if geom.parent.name.endswith("foot")]:
        body, (x, y, z), place = geom.parent, geom.size - 0.01, np.array(geom.pos)
        spec.delete(geom)
        for a, b in ((-x, -y), (-x, y), (x, -y), (x, y)):
            body.add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=[0.01, 0, 0], pos=place + [a, b, -z], mass=0.0)


def coupled_and_locked_joints(spec: mj.MjSpec) -> None:
    together = np.zeros(mj.mjNEQDATA)
    together[1] = 1.0
    kind = {"type": mj.mjtEq.mjEQ_JOINT, "objtype": mj.mjtObj.mjOBJ_JOINT}
    spec.add_equality(name1="left_elbow", name2="right_elbow", data=together, **kind)


def without_a_free_joint(spec: mj.MjSpec) -> None:
    spec.delete(next(joint for joint in spec.joints if joint.type == mj.mjtJoint.mjJNT_FREE))


def six_joints_as_base(spec: mj.MjSpec) -> None:
    """Replace the free joint by three slides and three hinges, as models from OpenSim have them."""
    free = next(joint for joint in spec.joints if joint.type == mj.mjtJoint.mjJNT_FREE)
    base = free.parent
    spec.delete(free)
    for kind, turns in ((mj.mjtJoint.mjJNT_SLIDE, (0, 1, 2)), (mj.mjtJoint.mjJNT_HINGE, (1, 0, 2))):
        for k in turns:
            base.add_joint(name=f"base_{kind.name}_{k}", type=kind, axis=np.eye(3)[k])


def options_for_training(spec: mj.MjSpec) -> None:
    """Give the solver one iteration, and default classes with which motors are weak and geoms touch nothing."""
    spec.option.iterations, spec.option.ls_iterations, spec.option.timestep = 1, 5, 0.004
    spec.option.disableflags = int(mj.mjtDisableBit.mjDSBL_EULERDAMP) | int(mj.mjtDisableBit.mjDSBL_WARMSTART)
    spec.default.actuator.ctrllimited, spec.default.actuator.ctrlrange = TRUE, [-1.0, 1.0]
    spec.default.geom.contype, spec.default.geom.conaffinity, spec.default.geom.margin = 0, 0, 0.1


def dry_friction(spec: mj.MjSpec) -> None:
    for joint in spec.joints:
        if joint.type == mj.mjtJoint.mjJNT_HINGE:
            joint.frictionloss = 12.0


def springs(spec: mj.MjSpec) -> None:
    for joint in spec.joints:
        if joint.type == mj.mjtJoint.mjJNT_HINGE:
            joint.stiffness = [15.0, 0.0, 0.0]


def wide_forearms(spec: mj.MjSpec) -> None:
    """Give the forearms shapes that reach into the trunk, as coarse convex hulls do."""
    for side in ("left", "right"):
        spec.body(f"{side}_forearm").add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=[0.2, 0, 0], mass=0.0)


VARIANTS = (
    options_for_training,
    springs,
    position_actuators,
    geared_motors,
    only_contact_pairs,
    nothing_collides,
    spheres_as_feet,
    coupled_and_locked_joints,
    without_a_free_joint,
    six_joints_as_base,
    wide_forearms,
)
Change = Callable[[mj.MjSpec], None]


def written(folder: Path, change: Change) -> Path:
    """Write the humanoid as MJCF, without a floor, and changed."""
    spec = mj.MjSpec.from_string(kd.sim.to_mjcf(kd.load("humanoid"), floor=False))
    change(spec)
    spec.compile()
    path = folder / "robot.xml"
    path.write_text(spec.to_xml())
    return path


@pytest.mark.slow
@pytest.mark.parametrize("change", VARIANTS)
def test_mjcf_of_every_kind_walks(tmp_path: Path, change: Change) -> None:
    result = walk(written(tmp_path, change), 4.0)
    assert result.walked, result.reason


def test_a_file_with_other_actuators_keeps_its_limits_and_its_geoms(tmp_path: Path) -> None:
    original = kd.load("humanoid")
    for change in (position_actuators, geared_motors):
        robot = load(written(tmp_path, change))
        order = [robot.joint_names.index(name) for name in original.joint_names]
        np.testing.assert_allclose(robot.limits.effort[6:][order], original.limits.effort[6:], rtol=1e-5)
        simulator = kd.sim.MujocoSimulator(robot)
        own = mj.MjModel.from_xml_path(str(robot.description.source))
        assert simulator.model.ngeom == own.ngeom + 1  # the floor
        assert simulator.model.nu == len(robot.joint_names)
        np.testing.assert_array_equal(simulator.model.body_mass, own.body_mass)


def test_a_base_of_six_joints_is_simulated_on_a_free_joint(tmp_path: Path) -> None:
    robot = load(written(tmp_path, six_joints_as_base))
    assert robot.base == "floating" and robot.nv == kd.load("humanoid").nv
    simulator = kd.sim.MujocoSimulator(robot)
    own = mj.MjModel.from_xml_path(str(robot.description.source))
    assert simulator.model.njnt == own.njnt - 5 and simulator.model.nv == own.nv
    np.testing.assert_array_equal(simulator.model.body_mass, own.body_mass)


def test_legs_without_a_motor_are_refused(tmp_path: Path) -> None:
    def passive(spec: mj.MjSpec) -> None:
        for motor in list(spec.actuators):
            if "ankle_roll" in motor.name:
                spec.delete(motor)

    with pytest.raises(kd.KinodynError, match="joints without a motor .left_ankle_roll.: their effort limit is 0"):
        kd.walking.Biped.from_robot(load(written(tmp_path, passive)))


def test_unstated_effort_limits_get_a_default_and_a_warning() -> None:
    robot = kd.load("humanoid")
    joints = tuple(replace(joint, effort=np.inf) for joint in robot.description.joints)
    with pytest.warns(kd.DescriptionWarning, match="without an effort limit get .* N m in the legs"):
        body = kd.walking.Biped.from_robot(Robot(replace(robot.description, joints=joints)))
    assert np.isfinite(body.robot.limits.effort[6:]).all()


def test_effort_limits_that_no_motor_has_count_as_unstated() -> None:
    robot = kd.load("humanoid")
    joints = tuple(replace(joint, effort=2e4) for joint in robot.description.joints)
    with pytest.warns(kd.DescriptionWarning, match="without an effort limit get"):
        body = kd.walking.Biped.from_robot(Robot(replace(robot.description, joints=joints)))
    assert body.robot.limits.effort[6:].max() < 1e3


def test_zero_effort_of_all_joints_counts_as_unstated() -> None:
    robot = kd.load("humanoid")
    joints = tuple(replace(joint, effort=0.0) for joint in robot.description.joints)
    with pytest.warns(kd.DescriptionWarning, match="without an effort limit get"):
        body = kd.walking.Biped.from_robot(Robot(replace(robot.description, joints=joints)))
    assert body.robot.limits.effort[6:].min() > 0.0


def with_point_masses(*links: str, mass: float | None = None) -> Robot:
    """Make the humanoid without armature, with the mass of some links in their CoM, or another mass there."""
    robot = kd.load("humanoid")
    changed = tuple(
        replace(link, inertia=Inertia(mass or link.inertia.mass, link.inertia.com, np.zeros((3, 3))))
        if link.inertia is not None and link.name in links
        else link
        for link in robot.description.links
    )
    return Robot(replace(robot.description, links=changed), armature=np.zeros(robot.nv))


def test_three_joints_that_move_a_point_mass_get_armature() -> None:
    """A rotation about the line from the wrist to the mass moves nothing, although each joint alone moves it."""
    robot = with_point_masses("left_hand", "left_wrist_yaw_link", "left_wrist_pitch_link")
    assert np.linalg.eigvalsh(kd.dynamics.mass_matrix(robot, robot.neutral()))[0] < 1e-9
    with pytest.warns(kd.DescriptionWarning, match="without inertia get an armature"):
        body = kd.walking.Biped.from_robot(robot)
    assert np.linalg.eigvalsh(kd.dynamics.mass_matrix(body.robot, body.q))[0] > 1e-6


FEET = [f"{side}_{link}" for side in ("left", "right") for link in ("foot", "ankle_pitch_link")]


def test_ankles_that_move_a_foot_without_inertia_get_armature() -> None:
    robot = with_point_masses(*FEET, mass=0.002)
    with pytest.warns(kd.DescriptionWarning, match="an armature .kg m.2.: right_ankle_pitch 0.002"):
        body = kd.walking.Biped.from_robot(robot)
    added = body.robot.armature - robot.armature
    ankles = [body.robot.joint(f"{side}_ankle_roll").v.start for side in ("left", "right")]
    assert (added[ankles] > 1e-3).all() and np.count_nonzero(added) == 4


@pytest.mark.slow
def test_a_robot_whose_feet_have_no_inertia_walks() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        result = kd.walking.walk(with_point_masses(*FEET, mass=0.002), duration=5.0)
    assert result.walked, result.reason
    assert result.slip < 0.01


def test_links_next_to_those_that_overlap_in_the_stance_do_not_collide(tmp_path: Path) -> None:
    body = kd.walking.Biped.from_robot(load(written(tmp_path, wide_forearms)))
    simulator = kd.walking.make_simulator(body)
    assert isinstance(simulator, kd.sim.MujocoSimulator)
    pairs = {frozenset(pair) for pair in simulator.overlapping}
    assert frozenset(("left_forearm", "torso")) in pairs
    assert frozenset(("left_wrist_yaw_link", "torso")) in pairs  # below the forearm
    assert frozenset(("left_forearm", "pelvis")) in pairs  # above the trunk
    assert frozenset(("left_hand", "right_hand")) not in pairs
    assert not any("world" in pair or len(pair) == 1 for pair in pairs)


def test_a_base_whose_origin_is_on_the_ground_stands_on_legs(tmp_path: Path) -> None:
    text = kd.sim.to_mjcf(kd.load("humanoid"), floor=False)
    free = text.index("<joint", text.index("<worldbody>"))
    text = text[:free] + text[text.index("/>", free) + 2 :]
    text = text.replace("<worldbody>", '<worldbody><body name="ground"><freejoint/><body name="above" pos="0 0 0.95">')
    path = tmp_path / "robot.xml"
    path.write_text(text.replace("</worldbody>", "</body></body></worldbody>"))
    body, original = (kd.walking.Biped.from_robot(robot) for robot in (load(path), kd.load("humanoid")))
    assert body.base[2, 3] < 0.1 < original.base[2, 3]
    np.testing.assert_allclose(body.com_height, original.com_height, atol=1e-3)
    state = kd.State(body.robot, body.q)
    controller = kd.walking.WalkingController(body)
    half = np.array([0.0, 0.0, 0.5 * body.weight, 0.0, 0.0, 0.0])
    forces = {foot.frame: half for foot in body.feet.values()}
    assert np.abs(controller.act(kd.sim.Observation(0.0, state, forces))).max() > 1.0  # it does not count as fallen


def toes_on_springs(spec: mj.MjSpec) -> None:
    for side in ("left", "right"):
        foot = spec.body(f"{side}_foot")
        sole = foot.geoms[0]
        (x, y, z), place = np.array(sole.size), np.array(sole.pos)
        sole.size, sole.pos = [0.75 * x, y, z], place - [0.25 * x, 0.0, 0.0]
        toe = foot.add_body(name=f"{side}_toe", pos=place + [0.5 * x, 0.0, 0.0])
        toe.add_joint(name=f"{side}_toes", axis=[0, 1, 0], stiffness=[20.0, 0.0, 0.0], armature=0.01)
        toe.add_geom(type=mj.mjtGeom.mjGEOM_BOX, size=[0.24 * x, y, z], pos=[0.25 * x, 0.0, 0.0], mass=0.1)


def test_toes_without_a_motor_do_not_make_a_robot_too_weak(tmp_path: Path) -> None:
    body = kd.walking.Biped.from_robot(load(written(tmp_path, toes_on_springs)))
    assert body.left.frame == "left_foot"
    require_strong(body)


def test_motors_compensate_springs_within_their_limits(tmp_path: Path) -> None:
    body = kd.walking.Biped.from_robot(load(written(tmp_path, springs)))
    simulator = kd.walking.make_simulator(body)
    simulator.reset(body.q)
    state = kd.State(body.robot, body.q)
    observation = kd.sim.observe(simulator, state, 0.0)
    assert observation.elastic is not None and np.abs(observation.elastic).max() > 1.0
    with_springs = kd.walking.WalkingController(body).act(observation)
    rigid = kd.walking.WalkingController(body).act(replace(observation, elastic=None))
    limits = body.robot.limits.effort
    np.testing.assert_allclose(with_springs, np.clip(rigid - observation.elastic, -limits, limits), atol=1e-9)


def test_motors_compensate_friction_within_their_limits(tmp_path: Path) -> None:
    body = kd.walking.Biped.from_robot(load(written(tmp_path, dry_friction)))
    robot = body.robot
    v = np.random.default_rng(1).uniform(-0.2, 0.2, robot.nv)
    observation = kd.sim.Observation(0.0, kd.State(robot, body.q, v), {})
    torques = kd.walking.WalkingController(body).act(observation)
    smooth = Robot(replace(robot.description, joints=tuple(replace(j, friction=0.0) for j in robot.description.joints)))
    frictionless = kd.walking.Biped.from_robot(smooth)
    desired = kd.walking.WalkingController(frictionless).act(replace(observation, state=kd.State(smooth, body.q, v)))
    limits = robot.limits.effort
    compensated = desired + np.concatenate([np.zeros(6), 12.0 * np.clip(v[6:] / 0.1, -1.0, 1.0)])
    np.testing.assert_allclose(torques, np.clip(compensated, -limits, limits), atol=1e-6)
    assert np.abs(torques - desired).max() > 10.0


def test_motors_do_not_compensate_friction_and_springs_of_the_free_joint(tmp_path: Path) -> None:
    def default_joint(spec: mj.MjSpec) -> None:  # as <default><joint .../></default> sets them for all joints
        for joint in spec.joints:
            joint.frictionloss, joint.stiffness = 0.5, [0.5, 0.0, 0.0]

    result = walk(written(tmp_path, default_joint), 3.5)
    assert result.walked, result.reason
    assert np.abs(result.recording.tau[:, :6]).max() == 0.0


@pytest.mark.slow
def test_joint_friction_does_not_slow_a_walk(tmp_path: Path) -> None:
    result = walk(written(tmp_path, dry_friction), 8.0)
    assert result.walked, result.reason
    assert result.speed == pytest.approx(result.commanded[0], rel=0.05)


def props(spec: mj.MjSpec) -> None:
    ball = spec.worldbody.add_body(name="ball", pos=[3.0, 3.0, 0.1])
    ball.add_freejoint(name="rolls")
    ball.add_geom(type=mj.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], mass=1.0)


def test_a_scene_of_several_free_bodies_is_refused_with_their_names(tmp_path: Path) -> None:
    with pytest.raises(kd.KinodynError, match=r"a scene of several free bodies .*ball"):
        kd.walking.Biped.from_robot(load(written(tmp_path, props)))


def tilted_base(spec: mj.MjSpec) -> None:
    """Turn the axes of the base by an angle that is no multiple of a right angle, and its pose in the file back."""
    base, q, back = spec.worldbody.first_body(), np.zeros(4), np.zeros(4)
    mj.mju_euler2Quat(q, np.array([0.5 * np.pi, 0.0, 0.7]), "xyz")
    mj.mju_negQuat(back, q)
    R = np.zeros(9)
    mj.mju_quat2Mat(R, back)
    for element in (*base.geoms, *base.sites, *base.bodies):
        turned = np.zeros(4)
        mj.mju_mulQuat(turned, back, np.array(element.quat))
        element.pos, element.quat = R.reshape(3, 3) @ element.pos, turned
    base.quat, base.ipos = q, R.reshape(3, 3) @ base.ipos


def test_a_base_with_tilted_axes_stands_as_its_file_says(tmp_path: Path) -> None:
    changes: tuple[Change, ...] = (lambda spec: None, tilted_base)
    upright, body = (kd.walking.Biped.from_robot(load(written(tmp_path, change))) for change in changes)
    np.testing.assert_allclose([body.leg, body.width], [upright.leg, upright.width], atol=1e-6)
    np.testing.assert_allclose(body.com_height, upright.com_height, atol=1e-3)


def without_ankle_roll(robot: Robot) -> kd.walking.Biped:
    joints = tuple(
        replace(joint, kind="fixed", axis=np.array([0.0, 0.0, 1.0]), lower=-np.inf, upper=np.inf, effort=np.inf)
        if joint.name.endswith("ankle_roll")
        else joint
        for joint in robot.description.joints
    )
    return kd.walking.Biped.from_robot(Robot(replace(robot.description, joints=joints, configurations={})))


def test_without_ankle_roll_the_roll_of_the_feet_is_free() -> None:
    """The humanoid with five joints a leg: contact along a line, no weight on the roll of the swing foot."""
    robot = kd.load("humanoid")
    body = without_ankle_roll(robot)
    assert body.left.free == body.right.free == "roll"
    assert body.left.contact().corners.shape == (2, 3)
    np.testing.assert_array_equal(body.left.controlled, [1, 1, 1, 0, 1, 1])
    assert kd.walking.Biped.from_robot(robot).left.free == ""


def test_a_foot_whose_roll_is_free_stands_on_all_of_its_length() -> None:
    """A triangle from a pointed heel to wide toes: the largest rectangle inside is much shorter than the line."""
    foot = without_ankle_roll(kd.load("humanoid")).left
    triangle = replace(foot, corners=np.array([[-0.04, 0.0], [0.14, -0.03], [0.14, 0.03]]), reach=(0.06, np.inf))
    np.testing.assert_allclose(triangle.rectangle[:, 0], [-0.04, 0.06])
    assert replace(triangle, free="").size[0] < 0.06
    part = triangle.contact(part=0.5).corners
    np.testing.assert_allclose(np.linalg.norm(part[1] - part[0]), 0.5 * 0.18)
    with pytest.raises(kd.InputError, match="part"):
        triangle.contact(part=0.0)


def test_the_humanoid_walks_without_ankle_roll() -> None:
    result = kd.walking.walk(without_ankle_roll(kd.load("humanoid")), (0.3, 0.0, 0.0), duration=6.0)
    assert result.walked, result.reason
    assert result.speed == pytest.approx(0.3, rel=0.1)
    assert result.slip < 0.01


def test_the_default_speed_follows_the_size_of_the_robot() -> None:
    speeds = [kd.walking.default_speed(kd.load("humanoid", height=height)) for height in (1.2, 1.7)]
    assert 0.1 < speeds[0] < speeds[1]
    assert speeds[1] / speeds[0] == pytest.approx(np.sqrt(1.7 / 1.2), rel=0.1)  # equal Froude numbers


def ankles_of_pitch_and_yaw(spec: mj.MjSpec) -> None:
    """Turn the roll of the ankles into a yaw: the roll of the feet then follows from hips and bent knees only."""
    for side in ("left", "right"):
        spec.joint(f"{side}_ankle_roll").axis = [0.0, 0.0, 1.0]


def test_six_joints_that_hardly_control_the_roll_of_the_feet_leave_it_free(tmp_path: Path) -> None:
    body = kd.walking.Biped.from_robot(load(written(tmp_path, ankles_of_pitch_and_yaw)))
    assert body.left.free == body.right.free == "roll"
