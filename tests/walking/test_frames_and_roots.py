"""A walk does not depend on the axes of the base, nor on the link with which the description starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.balance.legs import find_legs
from kinodyn.balance.limbs import limb, limb_root
from kinodyn.model.robot import Robot
from kinodyn.spatial import from_angle_axis, pose
from kinodyn.walking import Biped

from .mutants import with_base_frame, with_root

pytestmark = pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")

HUMANOID = kd.load("humanoid").description


def turned(angle: float, *axis: float) -> Array:
    return pose((0.1, -0.2, 0.3), from_angle_axis(angle, np.array(axis) / np.linalg.norm(axis)))


FRAMES = {
    "pitched by 5 degrees": turned(np.deg2rad(5.0), 0, 1, 0),
    "rolled by 30 degrees": turned(np.deg2rad(30.0), 1, 0, 0),
    "x down": turned(np.pi / 2, 0, 1, 0),
    "yawed by 40 degrees": turned(np.deg2rad(40.0), 0, 0, 1),
    "oblique": turned(np.deg2rad(130.0), 1, 2, 3),
}
ROOTS = ("left_foot", "right_shank", "head", "left_hand")


def assert_same_biped(robot: Robot) -> None:
    """Compare with the humanoid without its named postures, which mutants have not."""
    expected = Biped.from_robot(Robot(with_base_frame(HUMANOID, np.eye(4)), base="floating"))
    body = Biped.from_robot(robot)
    np.testing.assert_allclose([body.leg, body.width], [expected.leg, expected.width], atol=1e-6)
    np.testing.assert_allclose(body.com_height, expected.com_height, atol=1e-4)
    for foot, other in zip(body.feet.values(), expected.feet.values(), strict=True):
        np.testing.assert_allclose(foot.rectangle, other.rectangle, atol=1e-6)
        np.testing.assert_allclose(
            foot.sole_pose(robot, body.q), other.sole_pose(expected.robot, expected.q), atol=1e-4
        )
    head, expected_head = (kd.kinematics.pose(b.robot, b.q, "head")[:3, 3] for b in (body, expected))
    np.testing.assert_allclose(head, expected_head, atol=1e-3)


@pytest.mark.parametrize("frame", FRAMES)
def test_the_stance_does_not_depend_on_the_axes_of_the_base(frame: str) -> None:
    assert_same_biped(Robot(with_base_frame(HUMANOID, FRAMES[frame]), base="floating"))


@pytest.mark.parametrize("root", ROOTS)
def test_the_stance_does_not_depend_on_the_root_link(root: str) -> None:
    robot = Robot(with_root(HUMANOID, root), base="floating")
    assert robot.joints[0].child == root
    assert_same_biped(robot)
    assert Biped.from_robot(robot).trunk == "pelvis"


def test_a_torso_heavier_than_both_legs_is_kept_upright_instead_of_the_pelvis() -> None:
    """Two models of Atlas (torso of 84 kg, legs of 36) fell on a slope and in turns with only the pelvis upright."""
    links = tuple(
        replace(link, inertia=replace(link.inertia, mass=3.0 * link.inertia.mass, matrix=3.0 * link.inertia.matrix))
        if link.name == "torso" and link.inertia is not None
        else link
        for link in HUMANOID.links
    )
    assert Biped.from_robot(Robot(HUMANOID)).trunk == "pelvis"
    assert Biped.from_robot(Robot(replace(HUMANOID, links=links))).trunk == "torso"


def test_limbs_from_a_foot_carry_the_trunk() -> None:
    robot = Robot(with_root(HUMANOID, "left_foot"), base="floating")
    assert limb_root(robot, ("left_foot", "right_foot")) == "pelvis"
    left, right = (limb(robot, "pelvis", foot) for foot in ("left_foot", "right_foot"))
    assert {joint.direction for joint in left} == {-1.0} and {joint.direction for joint in right} == {1.0}
    assert [joint.info.name.replace("left", "right") for joint in left] == [joint.info.name for joint in right]


def test_a_robot_whose_description_starts_with_a_foot_walks_with_any_axes() -> None:
    rooted = Robot(with_root(HUMANOID, "left_foot"), base="floating")
    robot = Robot(with_base_frame(rooted.description, FRAMES["oblique"]), base="floating")
    result = kd.walking.walk(robot, (0.4, 0.0, 0.0), duration=5.0)
    assert result.walked, result.reason
    assert result.speed == pytest.approx(0.4, rel=0.1)
    assert result.slip < 0.005


def test_the_arms_of_an_upper_body_are_not_legs_whatever_its_axes() -> None:
    legs = {joint.child for joint in HUMANOID.joints if any(part in joint.name for part in ("hip", "knee", "ankle"))}
    upper = kd.load("humanoid").description
    kept = tuple(link for link in upper.links if link.name not in legs)
    frames = tuple(frame for frame in upper.frames if frame.link not in legs)
    joints = tuple(joint for joint in upper.joints if joint.child not in legs)
    without = replace(upper, links=kept, joints=joints, frames=frames, collision_exclusions=())
    for frame in (np.eye(4), FRAMES["oblique"]):
        with pytest.raises(kd.KinodynError, match="does not have two legs"):
            Biped.from_robot(Robot(with_base_frame(without, frame), base="floating"))


@pytest.mark.parametrize("name", ["g1", "romeo", "talos", "icub"])
def test_the_legs_do_not_depend_on_the_axes_of_the_base(name: str) -> None:
    """Inclined robots may also stand on their hands, or on a hand and a foot of one side."""
    written = kd.load(name, base="floating").description
    expected = find_legs(Robot(with_base_frame(written, np.eye(4)), base="floating"))
    rng = np.random.default_rng(0)
    for _ in range(15):
        frame = turned(float(rng.uniform(0.0, np.pi)), *rng.normal(size=3))
        legs = find_legs(Robot(with_base_frame(written, frame), base="floating"))
        assert legs.feet == expected.feet and not legs.reason
        for foot in legs.feet:
            np.testing.assert_allclose(legs.pose[foot][2, :3], expected.pose[foot][2, :3], atol=1e-4)  # the vertical


def test_the_origin_of_a_foot_may_be_below_its_sole() -> None:
    rooted = Robot(with_root(HUMANOID, "left_foot"), base="floating")
    frame = pose((0.0, 0.0, -0.3), from_angle_axis(1.1, np.array([0.6, 0.0, 0.8])))
    legs = find_legs(Robot(with_base_frame(rooted.description, frame), base="floating"))
    assert legs.feet == ("left_foot", "right_foot") and not legs.reason
