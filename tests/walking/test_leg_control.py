"""The rotation of a foot that legs of five joints leave free: that of the joint which they lack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot
from kinodyn.walking import Biped


def without(joint_name: str, height: float) -> Robot:
    description = kd.load("humanoid", height=height).description
    joints = tuple(
        replace(joint, kind="fixed", axis=np.array([0.0, 0.0, 1.0]), lower=-np.inf, upper=np.inf, effort=np.inf)
        if joint.name.endswith(joint_name)
        else joint
        for joint in description.joints
    )
    return Robot(replace(description, joints=joints, configurations={}))


@pytest.mark.parametrize("height", [1.2, 1.5, 1.6, 1.7, 1.8, 1.9])
@pytest.mark.parametrize(("joint_name", "free"), [("hip_yaw", "yaw"), ("ankle_roll", "roll")])
def test_the_rotation_about_the_axis_of_the_missing_joint_is_free(joint_name: str, free: str, height: float) -> None:
    """Not decided by how well the knee controls the height, which is the same whichever rotation is free."""
    body = Biped.from_robot(without(joint_name, height))
    assert body.left.free == body.right.free == free
