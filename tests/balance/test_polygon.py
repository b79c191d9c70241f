"""Convex polygons: against Qhull, against points on their edges, by their own half-planes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.balance import half_planes, hull, intersection, margin, nearest, shrink
from kinodyn.balance.polygon import simplified

RNG = np.random.default_rng(0)


def edge_points(corners: Array, n: int = 2000) -> Array:
    s = np.linspace(0, 1, n)[:, None, None]
    return (corners + s * (np.roll(corners, -1, axis=0) - corners)).reshape(-1, 2)


@pytest.mark.parametrize("n", [3, 5, 8, 40])
def test_the_hull_agrees_with_qhull_and_is_counter_clockwise(n: int) -> None:
    for _ in range(50):
        points = RNG.normal(size=(n, 2))
        reference = points[ConvexHull(points).vertices]
        own = hull(points)
        start = int(np.abs(reference - own[0]).sum(axis=1).argmin())
        np.testing.assert_array_equal(own, np.roll(reference, -start, axis=0))


def test_the_hull_omits_duplicates_and_points_on_edges() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    points = np.concatenate([square, square + 1e-12, 0.5 * (square + np.roll(square, 1, axis=0))])
    assert hull(points).shape == (4, 2)
    assert hull([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]).shape == (2, 2)


def test_a_simplified_polygon_is_inside_and_keeps_most_of_the_area() -> None:
    turns = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    outline = np.column_stack([0.13 * np.cos(turns), 0.05 * np.sin(turns)])
    reduced = simplified(outline, 8)
    assert len(reduced) == 8 and margin(outline, reduced).min() >= -1e-12
    assert ConvexHull(reduced).volume > 0.88 * ConvexHull(outline).volume  # a regular octagon has 90 % of a circle
    np.testing.assert_array_equal(simplified(outline[:5], 8), outline[:5])


def test_the_margin_is_the_signed_distance_to_the_polygon() -> None:
    for _ in range(20):
        corners = hull(RNG.normal(size=(7, 2)))
        points = RNG.normal(size=(60, 2)) * 1.5
        A, b = half_planes(corners)
        inside = (points @ A.T <= b).all(axis=1)
        distance = np.linalg.norm(points[:, None] - edge_points(corners), axis=-1).min(axis=1)
        found = margin(RNG.permutation(corners), points)
        np.testing.assert_array_equal(found > 0, inside)
        np.testing.assert_allclose(np.abs(found), distance, atol=2e-3)


def test_each_state_can_have_its_own_polygon() -> None:
    polygons, points = RNG.normal(size=(4, 1, 6, 2)), RNG.normal(size=(1, 5, 2))
    together = margin(polygons, points)
    assert together.shape == (4, 5)
    for i in range(4):
        for k in range(5):
            assert together[i, k] == margin(polygons[i, 0], points[0, k])


def test_a_line_and_a_point_have_no_interior() -> None:
    assert margin([[0.0, 0.0], [2.0, 0.0]], [1.0, 0.5]) == pytest.approx(-0.5)
    assert margin([[0.0, 0.0], [2.0, 0.0]], [3.0, 0.0]) == pytest.approx(-1.0)
    assert margin([[1.0, 1.0]], [4.0, 5.0]) == pytest.approx(-5.0)


def test_shrinking_moves_every_edge_by_the_distance() -> None:
    for _ in range(20):
        corners = hull(RNG.normal(size=(8, 2)))
        smaller = shrink(corners, 0.05)
        A, b = half_planes(corners)
        assert (smaller @ A.T <= b - 0.05 + 1e-9).all()
        # each corner of the smaller one is held by two edges
        assert ((np.abs(smaller @ A.T - (b - 0.05)) < 1e-9).sum(axis=1) >= 2).all()


def test_the_nearest_point_is_in_the_polygon_and_as_near_as_the_margin_says() -> None:
    corners = hull(RNG.normal(size=(9, 2)))
    points = 2 * RNG.normal(size=(100, 2))
    found = nearest(corners, points)
    assert (margin(corners, found) > -1e-12).all()
    outside = np.maximum(-margin(corners, points), 0.0)
    np.testing.assert_allclose(np.linalg.norm(found - points, axis=-1), outside, atol=1e-12)


def test_invalid_arguments_are_rejected() -> None:
    square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    with pytest.raises(kd.InputError, match="leaves nothing"):
        shrink(square, 0.6)
    with pytest.raises(kd.InputError, match="counter-clockwise"):
        half_planes(square[::-1])
    with pytest.raises(kd.InputError, match="three corners"):
        half_planes(square[:2])
    with pytest.raises(kd.InputError, match="NaN"):
        margin(square, [np.nan, 0.0])
    with pytest.raises(kd.InputError, match=r"are not compatible"):
        margin(np.zeros((3, 4, 2)), np.zeros((2, 2)))
    with pytest.raises(kd.InputError, match="distance must be a nonnegative number"):
        shrink(square, -0.1)


def test_the_intersection_contains_what_both_polygons_contain() -> None:
    points = RNG.normal(size=(400, 2))
    for _ in range(20):
        first, second = hull(RNG.normal(size=(6, 2))), hull(RNG.normal(size=(5, 2)))
        both = np.minimum(margin(first, points), margin(second, points))
        shared = intersection(first, second)
        if not len(shared):
            assert both.max() <= 1e-9
            continue
        inside = margin(shared, points)
        np.testing.assert_allclose(inside[both > 0], both[both > 0], atol=1e-9)
        assert (inside[both < -1e-9] < 0).all()
    assert intersection([[0, 0], [1, 0], [0, 1]], [[5, 5], [6, 5], [5, 6]]).shape == (0, 2)


def test_a_hull_contains_points_whose_coordinates_differ_by_rounding() -> None:
    """In the order of x, the corners of an edge along y are in any order then."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        grid = np.stack(np.meshgrid([0.0, 0.3, 1.0], [-1.0, -0.4, 0.7], indexing="ij"), axis=-1).reshape(-1, 2)
        points = grid + 1e-17 * rng.integers(-20, 21, grid.shape) + 1e-16 * rng.integers(-2, 3, grid.shape)
        corners = kd.balance.hull(points)
        assert len(corners) == 4
        assert kd.balance.margin(corners, points).min() > -1e-12
