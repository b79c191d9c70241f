"""What is drawn of the bundled humanoid: closed surfaces with the proportions of its body."""

from __future__ import annotations

import numpy as np
import pytest

from kinodyn.description.human import humanoid
from kinodyn.description.human.table import Sex
from kinodyn.description.meshes import TriangleMesh, open_edges
from kinodyn.description.shape_inertias import inertia_of_shapes
from kinodyn.description.types import Description, Link, Shape

SIZES = [(1.2, 28.0, "male"), (1.7, 70.0, "male"), (1.7, 62.0, "female"), (2.0, 100.0, "male"), (1.6, 95.0, "female")]
sizes = pytest.mark.parametrize(("height", "mass", "sex"), SIZES)
SEGMENTS = ("thigh", "shank", "foot", "upper_arm", "forearm", "hand")


def link_of(body: Description, name: str) -> Link:
    return next(link for link in body.links if link.name == name)


def meshes(body: Description) -> list[Shape]:
    return [shape for link in body.links for shape in link.visuals if shape.triangles is not None]


def extent(link: Link) -> np.ndarray:
    (vertices, _) = next(shape.triangles for shape in link.visuals if shape.triangles is not None)
    return np.array([vertices.min(axis=0), vertices.max(axis=0)])


@sizes
def test_every_segment_is_a_closed_surface_that_faces_outwards(height: float, mass: float, sex: Sex) -> None:
    found = meshes(humanoid(height, mass, sex))
    assert len(found) >= 2 * len(SEGMENTS) + 3
    for shape in found:
        assert shape.triangles is not None
        mesh = TriangleMesh(*shape.triangles)
        assert len(open_edges(mesh.faces)) == 0
        corners = mesh.vertices[mesh.faces]
        assert np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) > 0.0


@sizes
def test_limbs_are_as_long_as_the_segments(height: float, mass: float, sex: Sex) -> None:
    """A shell ends within a tenth of its length of the joints at both of its ends."""
    body = humanoid(height, mass, sex)
    below = {joint.parent: joint for joint in body.joints if np.any(joint.T_parent_child[:3, 3])}
    for name in ("thigh", "shank", "upper_arm", "forearm"):
        length = -float(below[f"left_{name}"].T_parent_child[2, 3])
        low, high = extent(link_of(body, f"left_{name}"))
        assert low[2] == pytest.approx(-length, abs=0.11 * length)
        assert high[2] == pytest.approx(0.0, abs=0.21 * length)


@sizes
def test_the_shoe_has_the_sole_of_the_collision_shape(height: float, mass: float, sex: Sex) -> None:
    foot = link_of(humanoid(height, mass, sex), "left_foot")
    (box,) = foot.collisions
    low, high = extent(foot)
    middle = box.T_link_shape[:3, 3]
    np.testing.assert_allclose(
        (low[0], high[0]), (middle[0] - box.size[0] / 2, middle[0] + box.size[0] / 2), atol=1e-12
    )
    np.testing.assert_allclose((low[1], high[1]), (-box.size[1] / 2, box.size[1] / 2), atol=1e-12)
    assert low[2] == pytest.approx(middle[2] - box.size[2] / 2, abs=1e-12)


@sizes
def test_left_and_right_are_mirror_images(height: float, mass: float, sex: Sex) -> None:
    body = humanoid(height, mass, sex)
    for name in SEGMENTS:
        left, right = extent(link_of(body, f"left_{name}")), extent(link_of(body, f"right_{name}"))
        np.testing.assert_allclose(left[:, [0, 2]], right[:, [0, 2]], atol=1e-9)
        np.testing.assert_allclose(left[:, 1], -right[::-1, 1], atol=1e-9)


@sizes
def test_the_volume_is_that_of_a_body_of_this_mass(height: float, mass: float, sex: Sex) -> None:
    """A human body has the density of water; shells leave gaps at the joints, and girth is bounded."""
    body = humanoid(height, mass, sex)
    volume = sum(inertia_of_shapes([shape], 1000.0).mass for shape in meshes(body))
    assert 0.55 * mass < volume < 1.2 * mass


def test_a_heavier_body_is_thicker_but_not_taller() -> None:
    light, heavy = (humanoid(1.7, mass) for mass in (60.0, 85.0))
    for name in ("torso", "left_thigh", "right_upper_arm"):
        thin, thick = (np.ptp(extent(link_of(body, name)), axis=0) for body in (light, heavy))
        assert thick[0] / thin[0] == pytest.approx(np.sqrt(85.0 / 60.0))
        assert thick[2] == pytest.approx(thin[2])
    for name in ("left_foot", "right_hand"):
        np.testing.assert_allclose(extent(link_of(light, name)), extent(link_of(heavy, name)))


def test_the_surface_scales_with_the_height() -> None:
    small, tall = humanoid(1.0, 14.0), humanoid(2.0, 112.0)
    for one, other in zip(meshes(small), meshes(tall), strict=True):
        np.testing.assert_allclose(2.0 * one.triangles[0], other.triangles[0], atol=1e-12)
        np.testing.assert_array_equal(one.triangles[1], other.triangles[1])


def test_the_same_body_has_the_same_surface() -> None:
    for one, other in zip(meshes(humanoid()), meshes(humanoid()), strict=True):
        assert one.triangles[0].tobytes() == other.triangles[0].tobytes()
