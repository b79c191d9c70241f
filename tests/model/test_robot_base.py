"""Whoever makes a Robot gets the base that its description says, or the one asked for."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.description import Description, Inertia, Joint, Link
from kinodyn.errors import InputError

BODY = Inertia(1.0, np.zeros(3), np.eye(3))
LINKS = (Link("trunk", BODY), Link("arm", BODY))
HINGE = Joint("hinge", "revolute", "trunk", "arm")


def described(base):
    return Description("robot", LINKS, (HINGE,), base=base)


def test_a_hand_made_description_gives_the_base_that_it_names():
    floating = kd.Robot(described("floating"))
    assert (floating.base, floating.nq, floating.nv, floating.joint_names) == ("floating", 8, 7, ("hinge",))
    fixed = kd.Robot(described("fixed"))
    assert (fixed.base, fixed.nq, fixed.nv, fixed.joint_names) == ("fixed", 1, 1, ("hinge",))


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_requested_base_replaces_that_of_the_description(base):
    for own in ("fixed", "floating"):
        robot = kd.Robot(described(own), base=base)
        assert robot.base == robot.description.base == base


def test_an_unknown_base_is_rejected():
    with pytest.raises(InputError, match='base must be "fixed", "floating" or None'):
        kd.Robot(described("fixed"), base="flying")


def test_a_robot_rebuilt_from_its_description_has_the_same_base():
    robot = kd.Robot(described("floating"))
    assert robot.replace(damping=1.0).joints == kd.Robot(robot.description).joints == robot.joints


def test_the_coordinates_of_a_floating_base_come_first_whatever_the_order_of_the_document():
    links = (Link("world"), Link("table", BODY), Link("lamp", BODY), *LINKS)
    joints = (
        Joint("screws", "fixed", "world", "table"),
        Joint("swivel", "revolute", "table", "lamp"),
        Joint("flight", "floating", "world", "trunk"),
        HINGE,
    )
    robot = kd.Robot(Description("scene", links, joints))
    assert robot.base == "floating"
    assert [joint.name for joint in robot.joints] == ["flight", "hinge", "swivel"]
    assert robot.joint_names == ("hinge", "swivel")
    np.testing.assert_array_equal(robot.neutral()[:7], [0, 0, 0, 0, 0, 0, 1])
