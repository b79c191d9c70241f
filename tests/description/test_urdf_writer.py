"""What is written as URDF must read back the same, here and in Pinocchio."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from kinodyn.arrays import Array
from kinodyn.description.bundled import puma560, scara
from kinodyn.description.human import humanoid
from kinodyn.description.meshes import read_mesh
from kinodyn.description.types import Description, Inertia, Joint, JointKind, Link, Mimic, Shape
from kinodyn.description.urdf import parse_urdf, read_urdf
from kinodyn.description.urdf_writer import write_urdf
from kinodyn.errors import DescriptionError


def pose(rotation_vector: tuple[float, float, float], x: float = 0.1, y: float = -0.2, z: float = 0.3) -> Array:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rotation_vector).as_matrix()
    T[:3, 3] = x, y, z
    return T


def pair(joint: Joint, shape: Shape | None = None) -> Description:
    """A robot of two links and one joint."""
    shapes = () if shape is None else (shape,)
    return Description("pair", (Link("a"), Link("b", visuals=shapes, collisions=shapes)), (joint,))


def test_the_humanoid_survives_a_round_trip() -> None:
    body = humanoid()
    again = parse_urdf(write_urdf(body))
    assert [j.name for j in again.joints[:30]] == [j.name for j in body.joints]
    for one, other in zip(body.joints, again.joints, strict=False):
        np.testing.assert_array_equal(other.T_parent_child, one.T_parent_child)
        np.testing.assert_array_equal(other.axis, one.axis)
        for key in ("lower", "upper", "velocity", "effort", "damping"):
            assert getattr(other, key) == getattr(one, key)
    for link, copy in zip(body.links, again.links, strict=False):
        assert link.inertia and copy.inertia
        assert copy.inertia.mass == link.inertia.mass
        np.testing.assert_array_equal(copy.inertia.com, link.inertia.com)
        np.testing.assert_array_equal(copy.inertia.matrix, link.inertia.matrix)
    assert {link.name for link in again.links} >= {"left_sole", "right_palm", "head_top"}


def test_pinocchio_reads_the_humanoid() -> None:
    body = humanoid(1.8, 80.0)
    model = pin.buildModelFromXML(write_urdf(body), pin.JointModelFreeFlyer())
    assert (model.nq, model.nv) == (37, 36)
    assert pin.computeTotalMass(model) == pytest.approx(80.0)
    assert set(model.names[2:]) == {joint.name for joint in body.joints}
    for joint in body.joints:
        index = model.joints[model.getJointId(joint.name)].idx_v
        assert model.upperEffortLimit[index] == joint.effort
        assert model.upperPositionLimit[index + 1] == joint.upper


@pytest.mark.parametrize(
    "rotation",
    [(0.0, 0.0, 0.0), (0.3, -1.2, 2.0), (0.0, math.pi / 2, 0.0), (0.0, -math.pi / 2, 0.0), (math.pi, 0.0, 0.0)],
)
def test_any_rotation_survives_a_round_trip(rotation: tuple[float, float, float]) -> None:
    T = pose(rotation)
    for turn in (0.0, 0.7):
        placed = T @ pose((turn, 0.0, 0.0), 0.0, 0.0, 0.0)
        again = parse_urdf(write_urdf(pair(Joint("j", "fixed", "a", "b", placed))))
        np.testing.assert_allclose(again.joints[0].T_parent_child, placed, atol=1e-8)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_reference_position_is_included_in_the_placement(kind: JointKind) -> None:
    axis = np.array([0.6, 0.0, 0.8])
    joint = Joint("j", kind, "a", "b", pose((0.2, 0.4, -0.1)), axis, reference=0.4, lower=-1.0, upper=1.0)
    (again,) = parse_urdf(write_urdf(pair(joint))).joints
    back = pose((0.0, 0.0, 0.0), *(-0.4 * axis)) if kind == "prismatic" else pose(tuple(-0.4 * axis), 0.0, 0.0, 0.0)
    assert again.reference == 0.0
    np.testing.assert_allclose(again.T_parent_child, joint.T_parent_child @ back, atol=1e-12)


def test_infinite_limits_become_what_other_parsers_can_read() -> None:
    turning = parse_urdf(write_urdf(pair(Joint("j", "revolute", "a", "b")))).joints[0]
    assert turning.kind == "continuous"
    text = write_urdf(pair(Joint("j", "prismatic", "a", "b", lower=0.0)))
    assert "inf" not in text
    model = pin.buildModelFromXML(text)
    assert model.lowerPositionLimit[0] == 0.0
    assert model.upperPositionLimit[0] > 1e300


def test_mimic_damping_and_friction_are_written() -> None:
    leader = Joint("lead", "revolute", "a", "b", lower=-1.0, upper=1.0, velocity=2.0, effort=3.0)
    follower = replace(leader, name="follow", parent="b", child="c", mimic=Mimic("lead", -2.0, 0.5), damping=0.1)
    body = Description("m", (Link("a"), Link("b"), Link("c")), (leader, replace(follower, friction=0.2)))
    again = parse_urdf(write_urdf(body)).joints[1]
    assert again.mimic == Mimic("lead", -2.0, 0.5)
    assert (again.damping, again.friction) == (0.1, 0.2)


def test_a_capsule_becomes_a_cylinder_with_a_ball_at_each_end() -> None:
    T = pose((0.3, 0.5, 0.7))
    shape = Shape("capsule", (0.1, 0.4), T, rgba=(1.0, 0.5, 0.0, 1.0))
    again = parse_urdf(write_urdf(pair(Joint("j", "fixed", "a", "b"), shape))).links[1]
    assert [piece.kind for piece in again.visuals] == ["cylinder", "sphere", "sphere"]
    assert [piece.kind for piece in again.collisions] == ["cylinder", "sphere", "sphere"]
    assert again.visuals[0].rgba == (1.0, 0.5, 0.0, 1.0)
    for piece, z in zip(again.visuals[1:], (-0.2, 0.2), strict=True):
        np.testing.assert_allclose(piece.T_link_shape[:3, 3], (T @ [0.0, 0.0, z, 1.0])[:3], atol=1e-15)


def test_prismatic_arms_agree_with_pinocchio() -> None:
    model = pin.buildModelFromXML(write_urdf(scara()))
    data = model.createData()
    pin.framesForwardKinematics(model, data, np.array([0.3, -0.5, 0.1, 0.7]))
    reach = 0.325 * np.exp(0.3j) + 0.275 * np.exp(-0.2j)
    tip = data.oMf[model.getFrameId("link4")].translation
    np.testing.assert_allclose(tip, (reach.real, reach.imag, 0.387 - 0.1), atol=1e-12)


def test_a_ball_joint_is_rejected_by_name() -> None:
    with pytest.raises(DescriptionError, match="'hip' is a ball joint"):
        write_urdf(pair(Joint("hip", "ball", "a", "b")))


@pytest.mark.parametrize("kind", ["ellipsoid", "plane"])
def test_a_shape_that_urdf_lacks_is_rejected_with_its_link(kind: str) -> None:
    shape = Shape(kind, (0.1, 0.2, 0.3), np.eye(4))  # type: ignore[arg-type]
    with pytest.raises(DescriptionError, match=f"link 'b' has a shape of kind '{kind}'"):
        write_urdf(pair(Joint("j", "fixed", "a", "b"), shape))


def test_the_text_can_be_written_to_a_file(tmp_path: Path) -> None:
    text = write_urdf(puma560(), tmp_path / "puma.urdf")
    assert (tmp_path / "puma.urdf").read_text(encoding="utf-8") == text


def test_names_with_markup_are_escaped() -> None:
    body = Description(
        'a<b"&', (Link("x"), Link("<y>", Inertia(1.0, np.zeros(3), np.eye(3)))), (Joint("j", "fixed", "x", "<y>"),)
    )
    again = parse_urdf(write_urdf(body))
    assert again.name == 'a<b"&'
    assert again.links[1].name == "<y>"


def test_meshes_of_the_description_are_written_beside_the_file(tmp_path: Path) -> None:
    body = humanoid()
    write_urdf(body, tmp_path / "body.urdf")
    read = read_urdf(tmp_path / "body.urdf")
    for link, same in zip(body.links, read.links, strict=False):
        for shape, again in zip(link.visuals, same.visuals, strict=True):
            if shape.triangles is not None:
                assert again.mesh is not None and again.mesh.parent == tmp_path / "body_meshes"
                mesh = read_mesh(again.mesh, again.size)
                assert len(mesh) == len(shape.triangles[1])
                np.testing.assert_allclose(mesh.vertices[mesh.faces], shape.triangles[0][shape.triangles[1]], atol=1e-6)


def test_without_a_file_links_are_drawn_with_their_collision_shapes() -> None:
    read = parse_urdf(write_urdf(humanoid()))
    foot = next(link for link in read.links if link.name == "left_foot")
    assert [shape.kind for shape in foot.visuals] == [shape.kind for shape in foot.collisions] == ["box"]
