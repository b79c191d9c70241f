"""The ground that a recording keeps: the triangles are where MuJoCo's rays hit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.dynamics.contact import HeightField, Plane
from kinodyn.sim import simulate, to_mujoco
from kinodyn.terrain import Terrain

from .test_terrain import RADIUS, ball, looked_down_on

SLOPE = Plane([0.2, 0.0, 0.1], [-0.1, 0.05, 1.0])
BUMPS = HeightField(0.1 * np.random.default_rng(0).uniform(-1.0, 1.0, (9, 7)), (0.2, 0.3), (-0.8, -0.9, 0.05))


def highest(terrain: Any, xy: np.ndarray) -> np.ndarray:
    """Find the height of the triangles at places (n, 2); 0, the level ground, where there are none."""
    corners = terrain["vertices"][terrain["faces"].astype(int)]
    heights = np.zeros(len(xy)) if corners[..., 2].min() > -1e-9 else np.full(len(xy), -np.inf)
    for a, b, c in corners:
        edges = np.column_stack([b - a, c - a])
        if abs(np.linalg.det(edges[:2])) > 1e-9:  # others stand upright
            shares = np.linalg.solve(edges[:2], (xy - a[:2]).T)
            inside = (shares.min(axis=0) >= 0) & (shares.sum(axis=0) <= 1)
            heights[inside] = np.maximum(heights[inside], a[2] + edges[2] @ shares[:, inside])
    return heights


@pytest.mark.parametrize("shape", [Plane(), SLOPE, BUMPS], ids=["level", "slope", "bumps"])
def test_a_recording_keeps_the_ground_that_mujoco_has(shape: Any, tmp_path: Path) -> None:
    robot, start = ball(), [0.0, 0.0, 2.0 + RADIUS, 0, 0, 0, 1]
    ground = Terrain([shape]).with_box(0.3, -0.2, (0.4, 0.3, 0.05)).with_box(-0.4, 0.3, (0.2, 0.5, 0.1))
    run = simulate(robot, None, 0.002, q0=start, engine="mujoco", ground=ground)
    places = np.random.default_rng(1).uniform(-0.7, 0.7, (200, 2))
    rays = looked_down_on(to_mujoco(robot, ground=ground), places)
    assert np.ptp(rays) > 0.04  # boxes are among what was hit
    np.testing.assert_allclose(highest(run.terrain, places), rays, atol=1e-6)
    for suffix in (".npz", ".parquet"):
        run.save(tmp_path / f"run{suffix}")
        again = kd.Recording.load(tmp_path / f"run{suffix}")
        for name in ("vertices", "faces"):
            np.testing.assert_array_equal(again.terrain[name], run.terrain[name])


def test_level_ground_leaves_nothing_and_soft_ground_is_kept_too() -> None:
    robot, start = ball(), [0.0, 0.0, 2.0, 0, 0, 0, 1]
    assert simulate(robot, None, 0.002, q0=start, engine="mujoco").terrain == {}
    for ground, kept in ((Plane(), False), (SLOPE, True), (BUMPS, True)):
        soft = kd.contact.SoftContacts({"body": [[0.0, 0.0, -RADIUS]]}, ground, stiffness=1e3, damping=10.0)
        run = simulate(robot, None, 0.002, q0=start, contacts=soft)
        assert bool(run.terrain) is kept
        assert run[:1].terrain.keys() == run.terrain.keys()


@pytest.mark.parametrize(
    "terrain",
    [
        {"vertices": np.eye(3)},
        {"vertices": np.eye(3), "faces": [[0, 1, 3]]},
        {"vertices": np.eye(3), "faces": [0, 1, 2]},
    ],
    ids=["no faces", "a vertex that is not there", "a wrong shape"],
)
def test_terrain_without_triangles_is_rejected(terrain: Any) -> None:
    with pytest.raises(kd.InputError, match="terrain"):
        kd.Recording("body", np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)), terrain=terrain)
