"""Inertias of shapes against other formulas and MuJoCo, and the nearest inertia that is possible."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from kinodyn.collision import shapes as collision_shapes
from kinodyn.description.repair.inertias import ball, ball_mass, nearest_consistent, why_inconsistent
from kinodyn.description.shape_inertias import inertia_of_shapes, triangle_inertia
from kinodyn.description.solids import is_physically_consistent
from kinodyn.description.types import Inertia, Shape

PRIMITIVES = {
    "box": ((0.2, 0.3, 0.5), "box", "0.1 0.15 0.25"),
    "sphere": ((0.2,), "sphere", "0.2"),
    "cylinder": ((0.1, 0.4), "cylinder", "0.1 0.2"),
    "capsule": ((0.1, 0.4), "capsule", "0.1 0.2"),
    "ellipsoid": ((0.1, 0.2, 0.3), "ellipsoid", "0.1 0.2 0.3"),
}


def _pose() -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_euler("xyz", [0.3, -0.5, 0.8]).as_matrix()
    T[:3, 3] = [0.1, -0.2, 0.3]
    return T


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_primitives_have_the_inertia_that_mujoco_computes(kind: str):
    size, name, half = PRIMITIVES[kind]
    T = _pose()
    found = inertia_of_shapes([Shape(kind, size, T)], 700.0)
    quat = Rotation.from_matrix(T[:3, :3]).as_quat()[[3, 0, 1, 2]]
    text = (
        f'<mujoco><worldbody><body><joint/><geom type="{name}" size="{half}" density="700" '
        f'pos="{" ".join(map(str, T[:3, 3]))}" quat="{" ".join(map(str, quat))}"/></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    R = Rotation.from_quat(model.body_iquat[1][[1, 2, 3, 0]]).as_matrix()
    assert found is not None
    assert found.mass == pytest.approx(model.body_mass[1], rel=1e-12)
    np.testing.assert_allclose(found.com, model.body_ipos[1], atol=1e-12)
    np.testing.assert_allclose(found.matrix, R @ np.diag(model.body_inertia[1]) @ R.T, rtol=1e-9, atol=1e-12)


def test_triangles_of_a_box_have_the_inertia_of_the_box():
    mesh = collision_shapes.Box(np.array([0.2, 0.3, 0.5])).triangles()
    box = inertia_of_shapes([Shape("box", (0.2, 0.3, 0.5), np.eye(4))], 1000.0)
    found = triangle_inertia(mesh, 1000.0)
    assert box is not None
    assert found.mass == pytest.approx(box.mass)
    np.testing.assert_allclose(found.matrix, box.matrix, rtol=1e-12, atol=1e-15)


def test_an_open_mesh_counts_as_its_hull_and_a_sheet_as_a_thin_box(tmp_path: Path):
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    (tmp_path / "open.obj").write_text("\n".join([*lines, "f 1 2 3", "f 5 8 6", "f 4 7 1"]))
    (tmp_path / "sheet.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n")
    hull = inertia_of_shapes([Shape("mesh", (1, 1, 1), np.eye(4), mesh=tmp_path / "open.obj")], 10.0)
    sheet = inertia_of_shapes([Shape("mesh", (1, 1, 1), np.eye(4), mesh=tmp_path / "sheet.obj")], 10.0)
    assert hull is not None
    assert sheet is not None
    assert hull.mass == pytest.approx(10.0)
    np.testing.assert_allclose(hull.matrix, np.eye(3) * 10.0 / 6.0, atol=1e-9)
    assert sheet.mass == pytest.approx(0.01)
    assert is_physically_consistent(sheet)


def test_shapes_without_volume_or_file_have_no_inertia(tmp_path: Path):
    (tmp_path / "broken.stl").write_bytes(b"no mesh")
    for shape in (
        Shape("plane", (0.0, 0.0), np.eye(4)),
        Shape("mesh", (1, 1, 1), np.eye(4)),
        Shape("mesh", (1, 1, 1), np.eye(4), mesh=tmp_path / "broken.stl"),
        Shape("sphere", (0.0,), np.eye(4)),
    ):
        assert inertia_of_shapes([shape], 1000.0) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_inertia_is_possible_and_no_other_possible_one_is_nearer(seed: int):
    rng = np.random.default_rng(seed)
    R = Rotation.random(rng=rng).as_matrix()
    moments = rng.uniform(-0.5, 1.0, 3) * np.array([1.0, 1.0, 4.0])
    matrix = R @ np.diag(moments) @ R.T
    nearest = nearest_consistent(matrix)
    assert why_inconsistent(nearest) is None
    assert is_physically_consistent(Inertia(1.0, np.zeros(3), nearest), tolerance=0.0)

    def possible(root: np.ndarray) -> np.ndarray:
        """Every possible inertia is tr(S) 1 - S with a positive semidefinite S = A A'."""
        second = root.reshape(3, 3) @ root.reshape(3, 3).T
        return np.trace(second) * np.eye(3) - second

    start = np.linalg.cholesky(np.trace(nearest) / 2 * np.eye(3) - nearest + 1e-12 * np.eye(3)).ravel()
    best = minimize(lambda root: float(np.linalg.norm(possible(root) - matrix) ** 2), start, options={"gtol": 1e-10})
    assert np.linalg.norm(nearest - matrix) <= math.sqrt(best.fun) * (1.0 + 1e-4) + 1e-4


def test_a_possible_inertia_is_its_own_nearest():
    matrix = np.diag([1.0, 2.0, 2.5])
    np.testing.assert_allclose(nearest_consistent(matrix), matrix, rtol=1e-12)
    assert why_inconsistent(matrix) is None


def test_a_ball_of_a_moment_has_that_moment():
    assert ball(ball_mass(0.37, 900.0), 900.0) == pytest.approx(0.37)


@pytest.mark.parametrize(("moments", "level"), [((1, 1, 3), "warning"), ((-1, 1, 1), "error"), ((1, 1, 2), "note")])
def test_impossible_moments_are_graded(moments: tuple[float, float, float], level: str):
    found = why_inconsistent(np.diag(np.array(moments, dtype=float)))
    assert found is not None
    assert found[0] == level
