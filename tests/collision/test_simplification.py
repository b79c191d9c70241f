"""Meshes on which searches are slow: cubes that contain them take their place, and spheres still cover them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

import kinodyn as kd
from kinodyn import _core
from kinodyn.collision import Mesh, robot_geometry, robot_spheres
from kinodyn.collision.covers import object_cover
from kinodyn.collision.simplification import MAX_SEARCH_COST, core_arrays, coverable, searchable, voxel_hull
from kinodyn.description.meshes import TriangleMesh, open_edges
from kinodyn.description.types import Description, Joint, Link, Shape

from .test_spheres import depth

RESOLUTION = 0.03


def fan(count: int) -> TriangleMesh:
    """A polygon that is not flat, as a fan of long thin triangles around its first corner."""
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    heights = 0.2 * np.sin(5.0 * np.arange(count))
    k = np.arange(1, count - 1)
    vertices = np.column_stack([0.3 * np.cos(angles), 0.3 * np.sin(angles), heights])
    return TriangleMesh(vertices, np.column_stack([0 * k, k, k + 1]))


def needles(count: int) -> TriangleMesh:
    """Triangles as long as a link and a hundredth of a millimetre wide, all over."""
    rng = np.random.default_rng(0)
    ends = rng.uniform(-0.3, 0.3, (count, 2, 3))
    vertices = np.concatenate([ends, ends[:, 1:] + 1e-5 * rng.normal(size=(count, 1, 3))], axis=1)
    return TriangleMesh(vertices.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3))


def comb(teeth: int) -> TriangleMesh:
    """Thin plates side by side: an area of many square metres in a small box."""
    plates = [trimesh.creation.box((5e-4, 0.3, 0.3)).apply_translation((1e-3 * k, 0.0, 0.0)) for k in range(teeth)]
    joined = trimesh.util.concatenate(plates)
    return TriangleMesh(np.array(joined.vertices), np.array(joined.faces))


def ball() -> TriangleMesh:
    sphere = trimesh.creation.icosphere(subdivisions=3, radius=0.2)
    return TriangleMesh(np.array(sphere.vertices), np.array(sphere.faces))


HOSTILE = {"fan": fan(5000), "needles": needles(2500), "comb": comb(200)}


def samples(mesh: TriangleMesh, count: int) -> np.ndarray:
    solid = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    corners = mesh.vertices[mesh.faces].reshape(-1, 3)
    return np.concatenate([trimesh.sample.sample_surface(solid, count, seed=0)[0], corners])


def signed_distances(mesh: TriangleMesh, points: np.ndarray) -> np.ndarray:
    return np.asarray(_core.TriangleBvh(*core_arrays(mesh)).signed_distances(np.ascontiguousarray(points)))


def arm(mesh: TriangleMesh, file: Path | None = None) -> kd.Robot:
    if file is None:
        shape = Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), triangles=(mesh.vertices, mesh.faces))
    else:
        trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(file)
        shape = Shape("mesh", (1.0, 1.0, 1.0), np.eye(4), mesh=file)
    joint = Joint("joint", "continuous", "base", "body")
    return kd.Robot(Description("one", (Link("base"), Link("body", collisions=(shape,))), (joint,)))


@pytest.mark.parametrize("name", HOSTILE)
def test_cubes_contain_a_mesh_and_are_closed_and_near_it(name: str) -> None:
    mesh = HOSTILE[name]
    hull, excess = voxel_hull(mesh, RESOLUTION)
    assert len(open_edges(hull.faces)) == 0
    assert trimesh.Trimesh(hull.vertices, hull.faces, process=False).volume > 0.0  # faces outwards
    assert signed_distances(hull, samples(mesh, 4000)).max() < 1e-9
    middles = hull.vertices[hull.faces].mean(axis=1)
    assert signed_distances(mesh, middles[:: len(middles) // 200]).max() <= excess


def test_cubes_fill_what_a_surface_encloses_and_nothing_else() -> None:
    hull, excess = voxel_hull(ball(), RESOLUTION)
    volume = trimesh.Trimesh(hull.vertices, hull.faces, process=False).volume
    assert trimesh.creation.icosphere(subdivisions=3, radius=0.2).volume < volume
    assert volume < 4.0 / 3.0 * np.pi * (0.2 + excess) ** 3
    with_hole = voxel_hull(TriangleMesh(ball().vertices, ball().faces[:-1]), 4.0 * RESOLUTION).mesh
    assert trimesh.Trimesh(with_hole.vertices, with_hole.faces, process=False).volume > volume  # a cube closes the hole


@pytest.mark.parametrize("name", HOSTILE)
def test_searches_on_cubes_are_quick_however_slow_they_are_on_the_mesh(name: str) -> None:
    hull = voxel_hull(HOSTILE[name], RESOLUTION).mesh
    assert _core.TriangleBvh(*core_arrays(hull)).search_cost() < 0.1 * MAX_SEARCH_COST


def test_fans_and_needles_are_replaced_for_searches_and_combs_for_spheres_only() -> None:
    replaced = {name: searchable(mesh, RESOLUTION).excess > 0.0 for name, mesh in HOSTILE.items()}
    assert replaced == {"fan": True, "needles": True, "comb": False}
    assert all(coverable(mesh, RESOLUTION).excess > 0.0 for mesh in HOSTILE.values())


@pytest.mark.parametrize("name", ["humanoid", "panda", "ur5", "puma560"])
def test_meshes_of_robots_stay_as_they_are(name: str) -> None:
    for part in robot_geometry(kd.load(name)):
        mesh = part.shape.triangles()
        assert coverable(mesh, 0.015).mesh is mesh


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.filterwarnings("ignore::kinodyn.DescriptionWarning")
def test_spheres_cover_every_point_and_the_reported_overshoot_bounds_theirs(name: str) -> None:
    mesh = HOSTILE[name]
    spheres = robot_spheres(arm(mesh), RESOLUTION)
    fine = spheres.of_link("body")
    assert depth(samples(mesh, 4000), fine).min() > 0.0
    assert len(fine) < 2500
    directions = np.random.default_rng(0).normal(size=(20, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    boundary = (fine[:, None, :3] + fine[:, None, 3:] * directions).reshape(-1, 3)
    boundary = boundary[:: max(len(boundary) // 300, 1)]
    outer = boundary[depth(boundary, fine) < 1e-9]
    assert signed_distances(mesh, outer).max() < 1.05 * spheres.overshoot[0].max


def test_a_comb_of_many_square_metres_is_covered_nearly_at_the_resolution() -> None:
    with pytest.warns(kd.DescriptionWarning, match="reach up to"):
        spheres = robot_spheres(arm(HOSTILE["comb"]), RESOLUTION)
    assert spheres.overshoot[0].max < 1.6 * RESOLUTION  # 0.12 m by its area


def test_a_warning_names_file_and_link_where_spheres_are_coarser(tmp_path: Path) -> None:
    file = tmp_path / "fan.stl"
    robot = arm(HOSTILE["fan"], file)
    with pytest.warns(kd.DescriptionWarning, match="open edges"):
        robot_geometry(robot)
    with pytest.warns(kd.DescriptionWarning, match=r"link 'body': .*fan\.stl: too many triangles.* beyond the mesh"):
        robot_spheres(robot, RESOLUTION)


def test_an_attached_object_is_covered_and_named_in_the_warning() -> None:
    mesh = HOSTILE["fan"]
    with pytest.warns(kd.DescriptionWarning, match="'tool': its mesh: too many triangles"):
        cover = object_cover("tool", Mesh(mesh.vertices, mesh.faces), RESOLUTION)
    assert depth(samples(mesh, 4000), cover.spheres).min() > 0.0
    assert cover.overshoot > RESOLUTION
