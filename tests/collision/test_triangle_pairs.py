"""Pairs of links whose triangles decide where their spheres overlap: two thighs beside each other."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import _core
from kinodyn.collision import exact
from kinodyn.collision.query import EMPTY, Query
from kinodyn.collision.solids import link_solids
from kinodyn.collision.triangle_pairs import triangle_pairs

THIGHS = frozenset(("left", "right"))
WIDTH, GAP = 0.15, 0.012  # [m]
SWING = 0.25  # [rad]
ROUNDING = 1e-4  # [m] nearer than this, checks may report a collision


def legs_urdf() -> str:
    """Return two boxes on hips of three joints each."""
    parts = ['<robot name="legs"><link name="base"/>']
    for side, y in (("left", 0.5 * (WIDTH + GAP)), ("right", -0.5 * (WIDTH + GAP))):
        parent, origin = "base", f"0 {y} 0"
        for axis in ("0 0 1", "1 0 0", "0 1 0"):
            name = side if axis == "0 1 0" else f"{side}_{axis.index('1')}"
            shape = f'<box size="0.16 {WIDTH} 0.4"/>'
            collision = f'<collision><origin xyz="0 0 -0.25"/><geometry>{shape}</geometry></collision>'
            parts.append(
                f'<link name="{name}">{collision if name == side else ""}</link>'
                f'<joint name="{name}_joint" type="revolute"><parent link="{parent}"/><child link="{name}"/>'
                f'<origin xyz="{origin}"/><axis xyz="{axis}"/>'
                f'<limit lower="-{SWING}" upper="{SWING}" velocity="1" effort="1"/></joint>'
            )
            parent, origin = name, "0 0 0"
    return "".join(parts) + "</robot>"


@pytest.fixture(scope="module")
def legs(tmp_path_factory: pytest.TempPathFactory) -> kd.Robot:
    path = tmp_path_factory.mktemp("legs") / "legs.urdf"
    path.write_text(legs_urdf())
    return kd.load(path)


def clearances(robot: kd.Robot, q: np.ndarray) -> np.ndarray:
    """Return the distance of the thighs by coal, below 0 where they collide."""
    placed = [exact.placed_links(robot, row) for row in q]
    return np.array([exact.distance(links["left"], links["right"]).distance for links in placed])


def test_the_shapes_decide_although_spheres_of_the_thighs_overlap(legs: kd.Robot) -> None:
    pytest.importorskip("coal")
    assert triangle_pairs(legs) == {THIGHS}
    q = legs.random(400, seed=0)
    distances, query = clearances(legs, q), Query(legs, EMPTY)
    spheres = Query(legs, EMPTY, shrink=-1e-6)  # spheres that grow decide alone
    assert spheres.free(q)[distances > 0.0].mean() < 0.5
    free = query.free(q)
    assert 50 < (distances > ROUNDING).sum() < 350
    assert free[distances > ROUNDING].all() and not free[distances <= 0.0].any()
    # one at a time, as motions without length, and by name, checks say the same as in a batch
    assert [bool(query.free(row)) for row in q] == free.tolist()
    assert query.motion_free(q, q, 1e-3).tolist() == free.tolist()
    assert (np.asarray(_core.touching(legs, query.core, q).pairs)[:, 0] == 0.0).tolist() == free.tolist()


def test_motions_that_are_free_keep_the_shapes_apart(legs: kd.Robot) -> None:
    pytest.importorskip("coal")
    q = legs.random(300, seed=1)
    q0, q1 = q[:-1], q[1:]
    free = kd.collision.motion_free(legs, q0, q1)
    blocked = np.flatnonzero(~free)
    assert 15 <= len(blocked) < 0.9 * len(free)
    some = np.concatenate([blocked[:15], np.flatnonzero(free)[:25]])
    for a, b, is_free in zip(q0[some], q1[some], free[some], strict=True):
        smallest = clearances(legs, legs.interpolate(a, b, np.linspace(0.0, 1.0, 60))).min()
        assert smallest > 0.0 if is_free else smallest < 5e-3


def test_distances_of_solids_are_those_of_coal(legs: kd.Robot) -> None:
    pytest.importorskip("coal")
    q = legs.random(100, seed=2)
    poses = kd.kinematics.poses(legs, q, frames=["left", "right"])
    measured = link_solids(legs).distances("left", "right", poses, 1.0)
    assert measured == pytest.approx(np.maximum(clearances(legs, q), 0.0), abs=2e-5)


def test_a_solid_inside_another_collides() -> None:
    large, small = (kd.collision.Box(np.full(3, size)).triangles() for size in (1.0, 0.1))
    solids = [_core.make_solid(mesh.vertices[mesh.faces].reshape(-1, 9)) for mesh in (large, small)]
    inside, outside = np.zeros(12), np.zeros(12)
    inside[[0, 4, 8]] = outside[[0, 4, 8]] = 1.0
    outside[9] = 0.85
    assert _core.solid_distances(*solids, np.array([inside, outside]), 1.0) == pytest.approx([0.0, 0.3], abs=2e-5)
    assert _core.solid_distances(*solids[::-1], np.array([inside]), 1.0) == [0.0]


def test_a_model_of_spheres_needs_the_solids_of_pairs_that_they_decide() -> None:
    spheres = _core.Spheres(
        np.array([-1, 0], np.int32),
        np.array([0, 1, 2], np.int32),
        np.ones((2, 4)),
        np.array([[1, 0, -1]], np.int32),
        [],
    )
    with pytest.raises(ValueError, match="solid"):
        spheres.decide_by_solids([None, None], np.array([0.01]))
    with pytest.raises(ValueError, match="slack"):
        spheres.decide_by_solids([None, None], np.zeros(2))
