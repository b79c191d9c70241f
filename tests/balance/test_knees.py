"""The knee of a leg is found by its place in the chain, whatever the hip looks like."""

from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description.types import Inertia, Link
from kinodyn.model.robot import Robot


@pytest.mark.parametrize("offset", [0.0, 0.2, 0.45])
def test_hips_of_any_width_do_not_change_the_knee_and_the_length_of_the_leg(offset: float) -> None:
    """The pitch axes of the hips are farther apart than the shank is long, as in small robots with short legs."""
    robot = kd.load("humanoid")
    joints = []
    for joint in robot.description.joints:
        T = joint.T_parent_child.copy()
        if joint.name.endswith("hip_pitch"):
            T[1, 3] += offset if joint.name.startswith("left") else -offset
        joints.append(replace(joint, T_parent_child=T))
    wide = kd.walking.Biped.from_robot(Robot(replace(robot.description, joints=tuple(joints))))
    assert [wide.knees[side].joint.name for side in ("left", "right")] == ["left_knee", "right_knee"]
    np.testing.assert_allclose(wide.leg, kd.walking.Biped.from_robot(robot).leg, atol=1e-9)


def test_a_thigh_that_bends_too_belongs_to_the_leg() -> None:
    """A second pitch joint between hip and knee, the axis of the first inclined: the leg is as long as without."""
    description = kd.load("humanoid").description
    joints, links = list(description.joints), list(description.links)
    for side in ("left", "right"):
        knee = next(joint for joint in joints if joint.name == f"{side}_knee")
        upper, lower = np.eye(4), knee.T_parent_child.copy()
        upper[:3, 3], lower[:3, 3] = 0.3 * lower[:3, 3], 0.7 * lower[:3, 3]
        link = Link(f"{side}_lower_thigh", Inertia(1.0, np.zeros(3), 0.01 * np.eye(3)))
        bend = replace(knee, name=f"{side}_bend", child=link.name, T_parent_child=upper, lower=-0.3, upper=0.3)
        hip = next(joint for joint in joints if joint.name == f"{side}_hip_pitch")
        joints[joints.index(hip)] = replace(hip, axis=np.array([0.0, np.cos(0.25), np.sin(0.25)]))
        joints[joints.index(knee)] = replace(knee, parent=link.name, T_parent_child=lower)
        joints.append(bend)
        links.append(link)
    robot = Robot(replace(description, joints=tuple(joints), links=tuple(links), configurations={}))
    body = kd.walking.Biped.from_robot(robot)
    assert body.knees["left"].joint.name == "left_knee"
    np.testing.assert_allclose(body.leg, kd.walking.Biped.from_robot(kd.load("humanoid")).leg, atol=1e-9)
