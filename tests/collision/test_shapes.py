"""Shapes: what they accept, and the polyhedra that enclose them."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn.collision import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, PointCloud, Sphere

TOLERANCE = 2e-3
TETRAHEDRON = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
ROUND = {
    "sphere": (Sphere(0.1), 4 / 3 * np.pi * 0.1**3),
    "cylinder": (Cylinder(0.1, 0.5), np.pi * 0.1**2 * 0.5),
    "capsule": (Capsule(0.1, 0.5), np.pi * 0.1**2 * 0.5 + 4 / 3 * np.pi * 0.1**3),
    "ellipsoid": (Ellipsoid([0.1, 0.2, 0.3]), 4 / 3 * np.pi * 0.1 * 0.2 * 0.3),
}
EXACT = {
    "box": (Box([0.1, 0.2, 0.3]), 0.006),
    "mesh": (Mesh(*TETRAHEDRON), 1 / 6),
    "height field": (HeightField([[0.0, 0.0, 0.0], [0.1, 0.1, 0.1]], [2.0, 1.0], 0.2), 2.0 * 0.25),
}


def solid(shape: object) -> trimesh.Trimesh:
    mesh = shape.triangles(TOLERANCE)
    return trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)


def radial_points(name: str) -> np.ndarray:
    """Points on the surface of the round shapes of `ROUND`."""
    unit = np.random.default_rng(0).normal(size=(5000, 3))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    if name == "sphere":
        return 0.1 * unit
    if name == "ellipsoid":
        return unit * (0.1, 0.2, 0.3)
    if name == "capsule":
        return 0.1 * unit + np.outer(np.sign(unit[:, 2]), (0, 0, 0.25))
    side = 0.1 * unit[:, :2] / np.linalg.norm(unit[:, :2], axis=1, keepdims=True)
    return np.column_stack([side, 0.25 * unit[:, 2]])


@pytest.mark.parametrize("name", [*ROUND, *EXACT])
def test_triangles_are_closed_and_face_outwards(name: str) -> None:
    shape, volume = {**ROUND, **EXACT}[name]
    mesh = solid(shape)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(volume, rel=0.06 if name in ROUND else 1e-12)


@pytest.mark.parametrize("name", ROUND)
def test_the_polyhedron_of_a_round_shape_encloses_it_and_exceeds_it_by_the_tolerance(name: str) -> None:
    mesh = solid(ROUND[name][0])
    points = radial_points(name)
    heights = (points @ mesh.face_normals.T - (mesh.triangles[:, 0] * mesh.face_normals).sum(axis=1)).max(axis=1)
    assert heights.max() <= 1e-12  # no point is outside of any face
    assert heights.min() >= -TOLERANCE


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Box([1.0, 0.0, 1.0]), "size must be 3 positive numbers"),
        (lambda: Box([1.0, np.nan, 1.0]), "NaN"),
        (lambda: Box([1.0, 1.0]), "shape"),
        (lambda: Sphere(-1.0), "radius must be a positive number"),
        (lambda: Sphere(float("inf")), "radius must be a positive number"),
        (lambda: Cylinder(0.1, 0.0), "length"),
        (lambda: Capsule("a", 1.0), "radius"),
        (lambda: Ellipsoid([[1.0, 1.0, 1.0]]), "radii"),
        (lambda: Mesh(np.zeros((0, 3)), [[0, 1, 2]]), "at least one row"),
        (lambda: Mesh(TETRAHEDRON[0], [[0, 1, 4]]), "indices of 4 vertices"),
        (lambda: Mesh(TETRAHEDRON[0], [[0.0, 1.0, 2.0]]), "integers"),
        (lambda: HeightField([[0.0, 1.0]], [1.0, 1.0]), "at least 2 by 2"),
        (lambda: PointCloud([[0.0, 0.0, np.inf]], 0.01), "points must be finite numbers"),
        (lambda: PointCloud(np.zeros((0, 3)), 0.01), "at least one row"),
    ],
)
def test_a_shape_without_extent_or_with_nan_is_rejected(make: object, message: str) -> None:
    with pytest.raises(kd.InputError, match=message):
        make()


def test_shapes_are_immutable_and_keep_no_view_of_the_arrays_given() -> None:
    size = np.ones(3)
    box = Box(size)
    size[0] = 5.0
    assert box.size.tolist() == [1.0, 1.0, 1.0]
    box.size[0] = 2.0
    assert box.size.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(AttributeError):
        box.size = size
