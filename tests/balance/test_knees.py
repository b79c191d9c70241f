"""The knee of a leg is found by its place in the chain, whatever the hip looks like."""

from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot


@pytest.mark.parametrize("offset", [0.0, 0.2, 0.5])
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
