"""Ground of soft contacts: planes and height fields, their heights and normals."""

from __future__ import annotations

import numpy as np

from kinodyn.arrays import Array
from kinodyn.dynamics.contact import HeightField


def test_a_height_field_passes_through_its_heights_and_its_normal_is_its_slope() -> None:
    rng = np.random.default_rng(1)
    heights = rng.normal(size=(6, 7))
    field = HeightField(heights, 0.5, (1.0, -1.0))
    i, j = np.meshgrid(np.arange(6), np.arange(7), indexing="ij")
    p = np.stack([1.0 + 0.5 * i, -1.0 + 0.5 * j, heights], axis=-1)
    np.testing.assert_allclose(field.height_and_normal(p)[0], 0.0, atol=1e-14)
    at = rng.uniform([1.0, -1.0], [3.5, 2.0], size=(200, 2))
    step = 1e-6

    def surface(xy: Array) -> Array:
        height, n = field.height_and_normal(np.append(xy, np.zeros((len(xy), 1)), axis=1))
        return -height / n[:, 2]

    slopes = [(surface(at + step * e) - surface(at - step * e)) / (2 * step) for e in np.eye(2)]
    n = field.height_and_normal(np.append(at, np.zeros((200, 1)), axis=1))[1]
    np.testing.assert_allclose(-n[:, :2] / n[:, 2:], np.stack(slopes, axis=-1), atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(n, axis=-1), 1.0, atol=1e-14)


def test_the_normal_of_a_cubic_field_does_not_jump_between_cells() -> None:
    heights = np.random.default_rng(2).normal(size=(6, 7))
    edges = np.array([[0.5, 0.21, 0.0], [1.0, 1.3, 0.0], [0.77, 1.0, 0.0], [1.5, 1.5, 0.0]])
    jumps = {}
    for kind in ("cubic", "linear"):
        field = HeightField(heights, 0.5, interpolation=kind)  # type: ignore[arg-type]
        sides = [field.height_and_normal(edges + side * np.array([1e-9, 1e-9, 0.0]))[1] for side in (-1, 1)]
        jumps[kind] = np.abs(sides[1] - sides[0]).max()
    assert jumps["cubic"] < 1e-7 < 0.1 < jumps["linear"]


def test_a_height_field_is_level_beyond_its_edge() -> None:
    heights = np.random.default_rng(3).normal(size=(4, 5))
    field = HeightField(heights, 1.0)
    height, n = field.height_and_normal([[-7.0, 2.0, 0.0], [9.0, 9.0, 0.0]])
    np.testing.assert_allclose(-height / n[:, 2], [heights[0, 2], heights[3, 4]], atol=1e-14)
    np.testing.assert_allclose(n[0, 0], 0.0, atol=1e-14)
    np.testing.assert_allclose(n[1], [0.0, 0.0, 1.0], atol=1e-14)
