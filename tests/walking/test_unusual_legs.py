"""Legs as authors of descriptions write them: play of gears, inclined legs, coupled knees, slides, contact points."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco as mj
import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.types import Inertia, Joint, Link, Mimic, Shape
from kinodyn.model.robot import Robot
from kinodyn.walking import Biped, StepLimits
from kinodyn.walking.engines import make_simulator

TRUE = mj.mjtLimited.mjLIMITED_TRUE
SIDES = ("left", "right")


def with_play(path: Path, degrees: float) -> Robot:
    """Write the humanoid as MJCF, with a hinge that has no motor after each joint of the legs, and load it."""
    spec = mj.MjSpec.from_string(kd.sim.to_mjcf(kd.load("humanoid"), floor=False))
    for joint in [joint for joint in spec.joints if any(part in joint.name for part in ("hip", "knee", "ankle"))]:
        bound = float(np.deg2rad(degrees))
        joint.parent.add_joint(
            name=f"{joint.name}_play",
            type=mj.mjtJoint.mjJNT_HINGE,
            axis=joint.axis,
            limited=TRUE,
            range=[-bound, bound],
            armature=0.01,
        )
    spec.compile()
    path.write_text(spec.to_xml())
    return kd.load(path, base="floating")


def test_play_of_gears_is_locked_in_the_model_and_in_the_simulated_file(tmp_path: Path) -> None:
    robot = with_play(tmp_path / "robot.xml", 0.5)
    with pytest.warns(kd.DescriptionWarning, match="are locked, as play of gears: left_ankle"):
        body = Biped.from_robot(robot)
    assert robot.nv == body.robot.nv + 12 == kd.load("humanoid").nv + 12
    model = make_simulator(body).model  # type: ignore[attr-defined]
    own = mj.MjModel.from_xml_path(str(robot.description.source))
    assert model.ngeom == own.ngeom + 1 and model.njnt == own.njnt - 12  # the file's geoms, and the floor
    np.testing.assert_array_equal(model.body_mass, own.body_mass)
    pattern = kd.walking.walking_pattern(body, velocity=[0.3, 0.0, 0.0], steps=2)
    assert pattern.check(every=0.2).success


def test_joints_without_a_motor_that_move_are_no_play(tmp_path: Path) -> None:
    with pytest.raises(kd.KinodynError, match="has joints without a motor .left_hip"):
        Biped.from_robot(with_play(tmp_path / "robot.xml", 2.0))


def test_legs_that_are_inclined_in_the_stance_are_bent_as_much_as_upright_ones() -> None:
    """Far behind the hips the CoM inclines the legs: at the usual height of the hips they would be straight."""
    written = kd.load("humanoid").description
    links = [
        replace(link, inertia=replace(link.inertia, com=link.inertia.com - [0.35, 0.0, 0.0]))
        if link.inertia is not None and link.name in ("torso", "pelvis")
        else link
        for link in written.links
    ]
    body = Biped.from_robot(Robot(replace(written, links=tuple(links)), base="floating"))
    for side, foot in body.feet.items():
        hip, ankle = (
            kd.kinematics.pose(body.robot, body.q, link)[:3, 3] for link in (body.knees[side].hip, f"{side}_foot")
        )
        assert abs(hip[0] - ankle[0]) > 0.15
        assert np.linalg.norm(hip - ankle) == pytest.approx(0.95 * body.leg, abs=0.02 * body.leg)
        assert foot.source == "collision"
    assert StepLimits.from_robot(body).forward > 0.2


def with_coupled_knees() -> Robot:
    """Divide the knees of the humanoid into two joints, of which the lower one follows the upper one."""
    written = kd.load("humanoid").description
    links, joints = list(written.links), list[Joint]()
    for joint in written.joints:
        side = joint.name.removesuffix("_knee")
        if side not in SIDES:
            joints.append(joint)
            continue
        half = replace(joint, upper=0.5 * joint.upper)
        links.append(Link(f"{side}_kneecap", Inertia(0.3, np.zeros(3), 1e-3 * np.eye(3))))
        T_upper_lower = np.eye(4)
        T_upper_lower[2, 3] = -0.03
        follower = {"effort": np.inf, "mimic": Mimic(joint.name, 1.0, 0.0)}
        joints.append(replace(half, child=f"{side}_kneecap", effort=2.0 * joint.effort))
        lower = replace(half, name=f"{side}_lower_knee", parent=f"{side}_kneecap", T_parent_child=T_upper_lower)
        joints.append(replace(lower, **follower))
    changed = replace(written, links=tuple(links), joints=tuple(joints), configurations={}, collision_exclusions=())
    return Robot(changed, base="floating")


@pytest.mark.parametrize("as_file", [False, True])
def test_coupled_knees_bear_the_weight(tmp_path: Path, as_file: bool) -> None:
    """Also those of a file that states no stiffness of the coupling."""
    robot = with_coupled_knees()
    if as_file:
        spec = mj.MjSpec.from_string(kd.sim.to_mjcf(robot, floor=False))
        for equality in spec.equalities:
            equality.solref, equality.solimp = mj.MjSpec().default.equality.solref, mj.MjSpec().default.equality.solimp
        (tmp_path / "robot.xml").write_text(spec.to_xml())
        robot = kd.load(tmp_path / "robot.xml")
    result = kd.walking.walk(robot, (0.3, 0.0, 0.0), duration=3.6)
    assert result.walked, result.reason
    assert result.steps > 0 and result.slip < 0.003


def test_contact_points_of_soles_may_be_spheres_of_radius_0() -> None:
    written = kd.load("humanoid").description
    links = []
    for link in written.links:
        if link.name.endswith("_foot"):
            (box,) = link.collisions
            points = []
            for x, y in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
                T = box.T_link_shape.copy()
                T[:3, 3] += T[:3, :3] @ (0.5 * np.array(box.size) * [x, y, -1])
                points.append(Shape("sphere", (0.0,), T))
            link = replace(link, collisions=tuple(points))
        links.append(link)
    body = Biped.from_robot(Robot(replace(written, links=tuple(links)), base="floating"))
    expected = Biped.from_robot(kd.load("humanoid"))
    np.testing.assert_allclose(body.left.rectangle, expected.left.rectangle, atol=1e-9)
    simulator = make_simulator(body)
    simulator.reset(body.q)
    assert simulator.model.ngeom > 8  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind, size", [("box", (0.1, 0.1, 0.0)), ("cylinder", (0.05, 0.0)), ("sphere", (0.0,))])
def test_shapes_without_thickness_are_exported(kind: str, size: tuple[float, ...]) -> None:
    body = Link("plate", Inertia(1.0, np.zeros(3), np.eye(3)), collisions=(Shape(kind, size, np.eye(4)),))  # type: ignore[arg-type]
    robot = Robot(kd.description.types.Description("plate", (body,)), base="floating")
    model = kd.sim.to_mujoco(robot)
    assert (model.geom_size[model.geom_bodyid > 0][0][: len(size)] > 0.0).all()


def telescopic(*, limited: bool = True, up: bool = False) -> Robot:
    """Replace the knees of the humanoid by slides: the shanks, pushed into the thighs by 0.3 m, slide along them."""
    written = kd.load("humanoid").description
    joints = []
    for joint in written.joints:
        if joint.name.removesuffix("_knee") in SIDES:
            T = joint.T_parent_child.copy()
            T[2, 3] += 0.3
            low, high = (-0.3, 0.05) if up else (-0.05, 0.3)
            limits = {"lower": low, "upper": high} if limited else {"lower": -np.inf, "upper": np.inf}
            axis = np.array([0.0, 0.0, 1.0 if up else -1.0])
            kind = {"kind": "prismatic", "axis": axis, "effort": 2000.0, "velocity": 3.0}
            joint = replace(joint, T_parent_child=T, **kind, **limits)
        joints.append(joint)
    return Robot(replace(written, joints=tuple(joints), configurations={}), base="floating")


@pytest.mark.parametrize("up", [False, True])
def test_the_slide_of_a_telescopic_leg_is_its_knee(up: bool) -> None:
    body, expected = Biped.from_robot(telescopic(up=up)), Biped.from_robot(kd.load("humanoid"))
    for side, knee in body.knees.items():
        assert knee.joint.name == f"{side}_knee" and knee.straight == (-0.3 if up else 0.3)
        assert knee.bending == (1.0 if up else -1.0)
    assert body.leg == pytest.approx(expected.leg, abs=0.02)
    assert body.hip_height == pytest.approx(0.95 * body.leg, rel=0.01)
    pattern = kd.walking.walking_pattern(body, velocity=[0.3, 0.0, 0.0], steps=2)
    assert pattern.check(every=0.2).success


def test_a_robot_with_telescopic_legs_walks() -> None:
    result = kd.walking.walk(telescopic(), (0.3, 0.0, 0.0), duration=5.0)
    assert result.walked, result.reason
    assert result.speed == pytest.approx(0.3, rel=0.1) and result.slip < 0.005


def test_slides_get_a_force_as_default_and_need_limits() -> None:
    written = telescopic().description
    unknown = tuple(replace(joint, effort=np.inf) if "knee" in joint.name else joint for joint in written.joints)
    with pytest.warns(kd.DescriptionWarning, match=r"\(slides 1.\d+e\+03 N and \d+ N\): (left|right)_knee"):
        body = Biped.from_robot(Robot(replace(written, joints=unknown), base="floating"))
    k = body.robot.joint("left_knee").v.start
    assert body.robot.limits.effort[k] == pytest.approx(2.0 * body.weight)
    with pytest.raises(kd.KinodynError, match="has the slide 'left_knee' as its knee, without limits"):
        Biped.from_robot(telescopic(limited=False))


@pytest.mark.parametrize("height", [0.0, -0.3])
def test_loops_that_the_stance_opens_are_refused(tmp_path: Path, height: float) -> None:
    """A point of the shank is pinned to the thigh: at the knee it changes nothing, elsewhere the knee cannot bend."""
    spec = mj.MjSpec.from_string(kd.sim.to_mjcf(kd.load("humanoid"), floor=False))
    data = np.zeros(mj.mjNEQDATA)
    data[2] = height
    spec.add_equality(
        type=mj.mjtEq.mjEQ_CONNECT, objtype=mj.mjtObj.mjOBJ_BODY, name1="left_shank", name2="left_thigh", data=data
    )
    (tmp_path / "robot.xml").write_text(spec.to_xml())
    with pytest.warns(kd.DescriptionWarning, match="connect"):
        body = Biped.from_robot(kd.load(tmp_path / "robot.xml"))
    if height == 0.0:
        make_simulator(body)
        return
    with pytest.raises(kd.KinodynError, match=r"opens these: left_shank and left_thigh \(1\d\d mm apart\)"):
        make_simulator(body)
