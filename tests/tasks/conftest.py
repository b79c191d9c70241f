"""Robots with joints of every kind, and two frames of each."""

from __future__ import annotations

import warnings

import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot

FRAMES = {  # robot -> frame, another frame
    "humanoid": ("left_palm", "right_shank"),
    "talos": ("gripper_left_base_link", "leg_right_4_link"),
    "panda": ("panda_hand_tcp", "panda_link3"),
    "scara": ("link4", "link2"),
    "every kind": ("l9", "l4"),
}


@pytest.fixture(scope="module", params=FRAMES)
def robot(request: pytest.FixtureRequest, every_kind: Robot) -> Robot:
    if request.param == "every kind":
        return every_kind
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.load(request.param)


@pytest.fixture
def frames(request: pytest.FixtureRequest, robot: Robot) -> tuple[str, str]:
    return FRAMES[request.node.callspec.params["robot"]]
