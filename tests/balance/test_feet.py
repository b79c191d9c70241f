"""Feet are found by their shapes, on robots of all kinds; robots without say so."""

from __future__ import annotations

import struct
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.balance.shapes import extreme_points, vertices
from kinodyn.description.types import Inertia, Joint, Link, Shape
from kinodyn.model.robot import Robot


def load(name: str, **options: float) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.load(name, **options)


@pytest.mark.parametrize("height", [1.2, 1.5, 1.7, 1.9])
def test_the_humanoid_stands_on_two_boxes_at_any_height(height: float) -> None:
    robot = load("humanoid", height=height)
    left, right = kd.balance.biped_feet(robot)
    assert (left.side, left.frame, right.side, right.frame) == ("left", "left_sole", "right", "right_sole")
    box = next(link for link in robot.description.links if link.name == "left_foot").collisions[0]
    np.testing.assert_allclose(left.size, box.size[:2])
    T = left.sole_pose(robot, robot.configuration("standing"))
    np.testing.assert_allclose(T[:3, :3], np.eye(3), atol=1e-12)
    np.testing.assert_allclose(
        left.frame_pose(T), kd.kinematics.pose(robot, robot.configuration("standing"), left.frame)
    )


@pytest.mark.parametrize(
    ("name", "frames", "size", "ankle"),
    [
        ("talos", ("left_sole_link", "right_sole_link"), (0.20, 0.12), 0.107),
        ("g1", ("left_ankle_roll_link", "right_ankle_roll_link"), (0.17, 0.05), 0.035),
    ],
)
def test_soles_are_found_on_meshes_and_spheres(
    name: str, frames: tuple[str, str], size: tuple[float, float], ankle: float
) -> None:
    robot = load(name)
    left, right = kd.balance.biped_feet(robot)
    assert (left.frame, right.frame) == frames
    np.testing.assert_allclose(left.size, size, atol=0.012)
    assert left.ankle == pytest.approx(ankle, abs=1e-3)
    mirrored = left.corners * [1.0, -1.0]
    np.testing.assert_allclose(np.sort(mirrored, axis=0), np.sort(right.corners, axis=0), atol=2e-3)
    q = robot.configuration(robot.configurations[0]) if robot.configurations else robot.neutral()
    assert kd.balance.support_margin(robot, q, (left, right), kd.kinematics.com(robot, q)) > 0.02


def test_corners_are_the_lowest_points_and_become_contact_corners() -> None:
    robot = load("humanoid")
    q = robot.configuration("standing")
    feet = kd.balance.feet(robot)
    points = kd.balance.sole_points(robot, q, feet)
    np.testing.assert_allclose(points[:, 2], points[0, 2], atol=1e-12)
    contact = feet[0].contact(friction=0.5)
    T = kd.kinematics.pose(robot, q, contact.frame)
    assert contact.corners is not None
    np.testing.assert_allclose(contact.corners @ T[:3, :3].T + T[:3, 3], points[:4], atol=1e-12)
    polygon = kd.balance.support_polygon(robot, q, feet)
    assert polygon.shape == (4, 2) and kd.balance.margin(polygon, points[:, :2]).min() > -1e-9


def test_batched_margins_agree_with_single_states() -> None:
    robot = load("humanoid")
    rng = np.random.default_rng(0)
    q = np.tile(robot.configuration("standing"), (6, 1))
    q[:, 7:] += 0.2 * rng.normal(size=(6, robot.nq - 7))
    feet = kd.balance.feet(robot)
    found = kd.balance.support_margin(robot, q, feet, kd.kinematics.com(robot, q))
    for k in range(6):
        polygon = kd.balance.support_polygon(robot, q[k], feet)
        assert found[k] == pytest.approx(float(kd.balance.margin(polygon, kd.kinematics.com(robot, q[k])[:2])))


def test_the_error_says_why_a_robot_does_not_have_two_feet() -> None:
    with pytest.raises(kd.KinodynError, match="fixed base and no feet"):
        kd.balance.feet(kd.load("panda"))
    quadruped = load("anymal_b_simple")
    assert len(kd.balance.feet(quadruped)) == 4
    with pytest.raises(kd.KinodynError, match="stands on 4 feet .*LF_FOOT.*two are needed"):
        kd.balance.biped_feet(quadruped)
    robot = load("humanoid")
    points = tuple(
        replace(link, collisions=(Shape("sphere", (0.02,), np.eye(4)),)) if "foot" in link.name else link
        for link in robot.description.links
    )
    with pytest.raises(kd.KinodynError, match="touch the ground at a point or a line"):
        kd.balance.biped_feet(Robot(replace(robot.description, links=points)))
    with pytest.raises(kd.InputError, match="must be a kinodyn.Robot"):
        kd.balance.feet("humanoid")  # type: ignore[arg-type]


def test_soles_come_from_visual_shapes_or_human_proportions_where_nothing_collides() -> None:
    robot = load("humanoid")
    own = kd.balance.biped_feet(robot)
    seen = tuple(replace(link, collisions=()) for link in robot.description.links)
    with pytest.warns(kd.DescriptionWarning, match="'left_foot' has none. The soles are derived from the visual"):
        left, _ = kd.balance.biped_feet(Robot(replace(robot.description, links=seen)))
    assert left.source == "visual"
    assert (left.size < own[0].size).all(), "a rectangle within the outline of the drawn shoe"
    np.testing.assert_allclose(left.size, own[0].size, rtol=0.3)
    bare = tuple(replace(link, collisions=(), visuals=()) for link in robot.description.links)
    with pytest.warns(kd.DescriptionWarning, match="assumed as those of human feet"):
        left, right = kd.balance.biped_feet(Robot(replace(robot.description, links=bare)))
    assert left.source == "assumed"
    np.testing.assert_allclose(left.size, own[0].size, rtol=0.2)  # the humanoid has the proportions of a human
    np.testing.assert_allclose(left.corners, right.corners)


def test_the_base_may_have_any_axis_up_and_forward() -> None:
    """The humanoid with its base frame turned: the same feet, left and right, in a configuration that is upright."""
    robot = load("humanoid")
    original = kd.balance.biped_feet(robot)
    for turn in ([np.pi / 2, 0, 0], [0, np.pi / 2, 0], [0, 0, np.pi], [0, 0, -np.pi / 2], [np.pi, 0, 0]):
        turned = _with_turned_base(robot, kd.spatial.exp3(turn))
        feet = kd.balance.biped_feet(turned)
        assert [foot.frame for foot in feet] == [foot.frame for foot in original]
        for foot, other in zip(feet, original, strict=True):
            np.testing.assert_allclose(foot.rectangle, other.rectangle, atol=1e-6)
            T = foot.sole_pose(turned, kd.balance.upright(turned))
            np.testing.assert_allclose(T[:3, :3], np.eye(3), atol=1e-9)


def _with_turned_base(robot: Robot, R: Array) -> Robot:
    """Put a link with other axes before the base."""
    T = np.eye(4)
    T[:3, :3] = R
    first, *others = robot.description.joints
    base = replace(first, child="turned")
    fixed = Joint("turned_joint", "fixed", "turned", first.child, T)
    links = (robot.description.links[0], Link("turned"), *robot.description.links[1:])
    description = replace(robot.description, links=links, joints=(base, fixed, *others), configurations={})
    return Robot(description)


def test_arms_that_hang_beside_a_base_on_the_ground_are_not_legs() -> None:
    with pytest.raises(kd.KinodynError, match="does not have two legs: .* is the end of an arm"):
        kd.balance.biped_feet(load("alex"))


def test_a_sole_is_level_whatever_the_axes_of_its_link() -> None:
    """A box turned in its link, as in Berkeley Humanoid's file: the sole is the box's lower side, not the link's."""
    robot = load("humanoid")
    R = kd.spatial.exp3([0.0, 0.17, 0.0])
    links = []
    for link in robot.description.links:
        shapes = []
        for shape in link.collisions if link.name.endswith("foot") else ():
            T = shape.T_link_shape.copy()
            T[:3, :3] = R @ T[:3, :3]
            shapes.append(replace(shape, T_link_shape=T))
        links.append(replace(link, collisions=tuple(shapes)) if shapes else link)
    turned = Robot(replace(robot.description, links=tuple(links)))
    left, _ = kd.balance.biped_feet(turned)
    box = next(link for link in turned.description.links if link.name == "left_foot").collisions[0]
    np.testing.assert_allclose(left.size, box.size[:2], rtol=1e-6)
    normal = kd.kinematics.pose(turned, turned.neutral(), "left_foot")[:3, :3] @ box.T_link_shape[:3, 2]
    np.testing.assert_allclose(left.sole_pose(turned, turned.neutral())[:3, 2], normal, atol=1e-6)


def test_a_foot_with_a_toe_joint_stands_on_its_rear_part() -> None:
    robot = load("humanoid")
    left, _ = kd.balance.biped_feet(robot)
    plate = Shape("box", (0.06, 0.09, 0.02), np.eye(4))
    toes, joints = [], []
    for side, foot in (("left", "left_foot"), ("right", "right_foot")):
        T = np.eye(4)
        T[:3, 3] = (0.25, 0.0, -left.ankle + 0.01)
        toes.append(Link(f"{side}_toe", Inertia(0.1, np.zeros(3), 1e-4 * np.eye(3)), (), (plate,)))
        joints.append(Joint(f"{side}_toe_joint", "revolute", foot, f"{side}_toe", T, np.array([0.0, 1.0, 0.0])))
    links, all_joints = (*robot.description.links, *toes), (*robot.description.joints, *joints)
    with_toes = Robot(replace(robot.description, links=links, joints=all_joints))
    np.testing.assert_allclose(kd.balance.biped_feet(with_toes)[0].corners, left.corners, atol=1e-9)


SHAPES = {
    "box": (0.2, 0.1, 0.3),
    "sphere": (0.2,),
    "ellipsoid": (0.1, 0.2, 0.3),
    "capsule": (0.05, 0.2),
    "cylinder": (0.05, 0.2),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_extreme_points_reach_as_far_as_the_shape(kind: str) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        T = np.eye(4)
        T[:3, :3] = kd.spatial.exp3(rng.normal(size=3))
        T[:3, 3] = rng.normal(size=3)
        shape = Shape(kind, SHAPES[kind], T)  # type: ignore[arg-type]
        down = rng.normal(size=3)
        down /= np.linalg.norm(down)
        found = (extreme_points(shape, down) @ down).max()
        assert found == pytest.approx(reach(shape, down), rel=0.01)


def reach(shape: Shape, down: Array) -> float:
    """Compute the support function of a shape in closed form."""
    d, size = shape.T_link_shape[:3, :3].T @ down, np.array(shape.size)
    local = {
        "box": lambda: 0.5 * (np.abs(d) * size).sum(),
        "sphere": lambda: size[0],
        "ellipsoid": lambda: np.linalg.norm(size * d),
        "capsule": lambda: size[0] + 0.5 * size[1] * abs(d[2]),
        "cylinder": lambda: size[0] * np.hypot(d[0], d[1]) + 0.5 * size[1] * abs(d[2]),
    }[shape.kind]()
    return float(local + shape.T_link_shape[:3, 3] @ down)


def test_vertices_of_meshes_are_read(tmp_path: Path) -> None:
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    facet = struct.pack("<12fH", 0, 0, 1, *corners.ravel(), 0)
    (tmp_path / "a.stl").write_bytes(b"solid like text".ljust(80) + struct.pack("<I", 1) + facet)
    lines = "\n".join("vertex " + " ".join(map(str, p)) for p in corners)
    (tmp_path / "b.STL").write_text(f"solid b\nfacet normal 0 0 1\nouter loop\n{lines}\nendloop\nendfacet\nendsolid\n")
    (tmp_path / "c.obj").write_text("\n".join("v " + " ".join(map(str, p)) for p in corners) + "\nvn 0 0 1\nf 1 2 3\n")
    for name in ("a.stl", "b.STL", "c.obj"):
        shape = Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), mesh=tmp_path / name)
        np.testing.assert_array_equal(np.sort(vertices(shape), axis=0), np.sort(corners, axis=0))
    for suffix in ("ply", "glb"):
        trimesh.Trimesh(corners, [[0, 1, 2]]).export(tmp_path / f"d.{suffix}")
        shape = Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), mesh=tmp_path / f"d.{suffix}")
        np.testing.assert_array_equal(np.sort(vertices(shape), axis=0), np.sort(corners, axis=0))
    written = Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), triangles=(corners, np.array([[0, 1, 2]])))
    np.testing.assert_array_equal(np.sort(vertices(written), axis=0), np.sort(corners, axis=0))
    with pytest.raises(kd.DescriptionError, match="was not found"):
        vertices(Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), uri="package://gone/foot.stl"))
    (tmp_path / "e.obj").write_text("v 1 2\nv 1 2 3\n")
    with pytest.raises(kd.DescriptionError, match="cannot be read|no triangles"):
        vertices(Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), mesh=tmp_path / "e.obj"))
