"""Putting a robot on a fixed or a floating base."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinodyn import kinematics
from kinodyn.description.base import floating_joint, with_base
from kinodyn.description.types import Description, Inertia, Joint, Link
from kinodyn.description.validation import validate
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.spatial import as_quaternion, from_angle_axis, pose

BODY = Inertia(1.0, np.zeros(3), np.eye(3))
POSE = (0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def arm(**more: object) -> Description:
    """Make a robot of two heavy links, with states and chains that also speak of a root joint."""
    links, joints = (Link("trunk", BODY), Link("leg", BODY)), (Joint("hip", "revolute", "trunk", "leg"),)
    states = {"stand": {"root_joint": POSE, "hip": (0.5,)}}
    return replace(
        Description("arm", links, joints, configurations=states, chains={"all": ("root_joint", "hip")}), **more
    )


def in_world(kind: str = "floating", *others: Joint, root: Link | None = None) -> Description:
    """Make a world with a trunk on a joint of some kind, and whatever else stands there."""
    links = (root or Link("world"), Link("trunk", BODY), *(Link(joint.child, BODY) for joint in others))
    placed = np.eye(4)
    placed[2, 3] = 1.5
    joint = Joint("free", kind, links[0].name, "trunk", placed, damping=0.5)  # type: ignore[arg-type]
    return Description("scene", links, (joint, *others), configurations={"stand": {"free": POSE}})


def test_a_floating_base_puts_a_world_and_a_root_joint_in_front() -> None:
    grounded = arm()
    floating = with_base(grounded, "floating")
    validate(floating)
    assert floating.base == "floating"
    assert [link.name for link in floating.links] == ["world", "trunk", "leg"]
    assert (floating.links[0].inertia, floating.links[0].visuals, floating.links[0].collisions) == (None, (), ())
    root = floating.joints[0]
    assert (root.name, root.kind, root.parent, root.child) == ("root_joint", "floating", "world", "trunk")
    np.testing.assert_array_equal(root.T_parent_child, np.eye(4))
    assert floating.links[1:] == grounded.links
    assert floating.joints[1:] == grounded.joints
    assert floating.configurations == grounded.configurations
    assert floating.chains == {"all": ("root_joint", "hip")}


def test_the_root_is_found_wherever_it_stands_in_the_document() -> None:
    backwards = arm(links=(Link("leg", BODY), Link("trunk", BODY)))
    assert with_base(backwards, "floating").joints[0].child == "trunk"


def test_names_in_use_are_not_reused() -> None:
    links = (Link("world", BODY), Link("leg", BODY))
    taken = arm(links=links, joints=(Joint("root_joint", "revolute", "world", "leg"),))
    floating = with_base(taken, "floating")
    validate(floating)
    assert (floating.links[0].name, floating.joints[0].name) == ("universe", "root_joint_2")
    three = (Link("world", BODY), Link("universe", BODY), Link("universe_2", BODY))
    joints = (Joint("a", "fixed", "world", "universe"), Joint("b", "fixed", "world", "universe_2"))
    assert with_base(Description("r", three, joints), "floating").links[0].name == "universe_3"


def test_a_fixed_base_stays_fixed_and_has_no_root_joint() -> None:
    robot = arm()
    fixed = with_base(robot, "fixed")
    assert fixed.base == "fixed"
    assert (fixed.links, fixed.joints) == (robot.links, robot.joints)
    assert fixed.configurations == {"stand": {"hip": (0.5,)}}
    assert fixed.chains == {"all": ("hip",)}


@pytest.mark.parametrize("root", [Link("world"), Link("world", Inertia(0.0, np.zeros(3), np.zeros((3, 3))))])
def test_a_robot_that_floats_already_is_left_as_it_is(root: Link) -> None:
    scene = in_world(root=root)
    for base in ("floating", None):
        floating = with_base(scene, base)  # type: ignore[arg-type]
        assert floating.base == "floating"
        assert floating.links == scene.links
        (joint,) = floating.joints
        assert (joint.name, joint.kind, joint.child, joint.damping) == ("free", "floating", "trunk", 0.5)


def test_the_origin_of_a_floating_joint_moves_into_its_coordinates() -> None:
    """q is the pose of the base in the world, as for every other floating base; named states stay where they were."""
    scene = in_world()
    placed = pose((1.0, 2.0, 3.0), from_angle_axis(0.7, np.array([0.6, 0.0, 0.8])))
    robot = Robot(replace(scene, joints=(replace(scene.joints[0], T_parent_child=placed),)))
    q = np.array([0.3, 0.2, 0.1, *as_quaternion(from_angle_axis(1.1, np.array([0.0, 1.0, 0.0])))])
    np.testing.assert_allclose(kinematics.pose(robot, q, "trunk")[:3, 3], q[:3], atol=1e-12)
    stand = kinematics.pose(robot, robot.configuration("stand"), "trunk")
    np.testing.assert_allclose(stand, placed @ pose(POSE[:3]), atol=1e-12)


@pytest.mark.parametrize("kind", ["fixed", "floating"])
def test_a_table_or_a_ball_in_the_world_does_not_count_as_robot(kind: str) -> None:
    scene = in_world("floating", Joint("other", kind, "world", "thing"))  # type: ignore[arg-type]
    assert floating_joint(scene) is scene.joints[0]
    assert [joint.name for joint in with_base(scene, "floating").joints] == ["free", "other"]


@pytest.mark.parametrize(
    "scene",
    [
        in_world(root=Link("cart", BODY)),  # the root has mass of its own
        in_world("floating", Joint("other", "revolute", "world", "crane")),
        in_world("planar"),
    ],
)
def test_anything_else_is_put_on_a_floating_joint(scene: Description) -> None:
    assert floating_joint(scene) is None
    floating = with_base(scene, "floating")
    validate(floating)
    assert (floating.joints[0].name, floating.joints[0].child) == ("root_joint", scene.links[0].name)
    assert len(floating.links) == len(scene.links) + 1


def test_a_floating_joint_at_the_root_becomes_fixed_where_it_stands() -> None:
    scene = in_world()
    fixed = with_base(scene, "fixed")
    validate(fixed)
    (joint,) = fixed.joints
    assert (fixed.base, joint.name, joint.kind, joint.damping) == ("fixed", "free", "fixed", 0.0)
    np.testing.assert_array_equal(joint.T_parent_child, scene.joints[0].T_parent_child)
    assert fixed.configurations == {"stand": {}}


def test_a_payload_that_floats_beside_a_heavy_root_stays_free() -> None:
    assert with_base(in_world(root=Link("cart", BODY)), "fixed").joints[0].kind == "floating"


def test_without_a_requested_base_no_joint_is_fixed() -> None:
    scene = in_world("floating", Joint("other", "revolute", "world", "crane"))
    unchanged = with_base(scene, None)
    assert (unchanged.base, unchanged.joints) == ("fixed", scene.joints)
    assert with_base(scene, "fixed").joints[0].kind == "fixed"


def test_without_a_requested_base_the_description_decides() -> None:
    assert with_base(arm()).base == "fixed"
    assert with_base(arm(base="floating"), None).joints[0].name == "root_joint"


def test_setting_the_base_is_idempotent() -> None:
    once = with_base(arm(), "floating")
    twice = with_base(once, "floating")
    assert (twice.links, twice.joints) == (once.links, once.joints)


def test_an_unknown_base_is_rejected() -> None:
    with pytest.raises(InputError, match='base must be "fixed", "floating" or None'):
        with_base(arm(), "flying")  # type: ignore[arg-type]


def on_six_joints(order: str, *, mass_between: bool = False) -> Description:
    """Make a trunk that three slides and three hinges move, "t" and "r" with an axis each, one after the other."""
    joints, links = [], [Link("world")]
    placed = np.eye(4)
    placed[:3, 3] = (0.1, -0.2, 0.9)
    for name in order.split():
        kind = {"t": "prismatic", "r": "revolute", "b": "ball"}[name[0]]
        axis = np.eye(3)["xyz".index(name[1])] if kind != "ball" else np.array([0.0, 0.0, 1.0])
        between = Link(f"after {name}", BODY if mass_between and len(links) == 3 else None)
        reference = 0.3 if kind != "ball" else 0.0
        joints.append(Joint(name, kind, links[-1].name, between.name, placed, axis, reference))  # type: ignore[arg-type]
        links.append(between)
        placed = np.eye(4)
    links[-1] = Link("trunk", BODY)
    joints[-1] = replace(joints[-1], child="trunk")
    turned = (0.5, -0.5, 0.1, 0.7)
    stand = {name: (0.1 * k,) if name[0] != "b" else turned for k, name in enumerate(order.split())}
    states: dict[str, dict[str, tuple[float, ...]]] = {"stand": stand, "other": {}}
    return Description("scene", tuple(links), tuple(joints), configurations=states)


@pytest.mark.parametrize("order", ["tx ty tz rz rx ry", "ry tx rz tz rx ty", "tx ty tz ba", "ty ba tx tz"])
def test_three_slides_and_three_hinges_or_a_ball_are_a_floating_base(order: str) -> None:
    scene = on_six_joints(order)
    assert with_base(scene).joints == scene.joints
    floating = with_base(scene, "floating")
    validate(floating)
    (free,) = floating.joints
    assert (free.kind, free.parent, free.child) == ("floating", "world", "trunk")
    assert [link.name for link in floating.links] == ["world", "trunk"]
    poses = [kinematics.pose(robot, robot.configuration("stand"), "trunk") for robot in (Robot(scene), Robot(floating))]
    np.testing.assert_allclose(*poses, atol=1e-12)
    assert floating.configurations["other"] == {}


@pytest.mark.parametrize(
    "scene",
    [
        on_six_joints("tx ty tz rz rx"),  # five
        on_six_joints("tx ty tx rz rx ry"),  # no motion along z
        on_six_joints("tx ty tz rz rx ry", mass_between=True),  # a gantry
    ],
)
def test_joints_that_do_not_move_a_body_freely_stay(scene: Description) -> None:
    floating = with_base(scene, "floating")
    assert floating.joints[1:] == scene.joints
