"""Inertias put together and taken apart must agree with the sums that define them."""

from __future__ import annotations

import numpy as np
import pytest

from kinodyn.description import solids
from kinodyn.description.types import Inertia


def test_two_half_boxes_make_one_box() -> None:
    halves = [solids.box(1.5, (0.5, 0.3, 0.2), com=(x, 0.0, 0.0)) for x in (-0.25, 0.25)]
    whole = solids.combine(halves)
    expected = solids.box(3.0, (1.0, 0.3, 0.2))
    assert whole.mass == pytest.approx(3.0)
    np.testing.assert_allclose(whole.com, expected.com, atol=1e-15)
    np.testing.assert_allclose(whole.matrix, expected.matrix, atol=1e-15)


def test_removing_an_inertia_is_the_inverse_of_adding_it() -> None:
    whole = solids.cylinder(4.0, 0.1, 0.6, "x", com=(0.1, -0.2, 0.3))
    part = solids.sphere(0.5, 0.05, com=(0.0, 0.1, 0.2))
    again = solids.combine([solids.remove(whole, [part]), part])
    assert again.mass == pytest.approx(whole.mass)
    np.testing.assert_allclose(again.com, whole.com, atol=1e-15)
    np.testing.assert_allclose(again.matrix, whole.matrix, atol=1e-14)


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_a_cylinder_agrees_with_a_cloud_of_points(axis: str) -> None:
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (400_000, 3))
    along = "xyz".index(axis)
    points[:, along] *= 0.7
    others = [index for index in range(3) if index != along]
    points = points[np.square(points[:, others]).sum(axis=1) < 1.0]
    second_moment = points.T @ points / len(points)
    cloud = np.trace(second_moment) * np.eye(3) - second_moment
    np.testing.assert_allclose(solids.cylinder(1.0, 1.0, 1.4, axis).matrix, cloud, atol=5e-3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("moments", "consistent"),
    [((1.0, 1.0, 1.0), True), ((1.0, 1.0, 2.0), True), ((1.0, 1.0, 2.1), False), ((0.0, 1.0, 1.0), False)],
)
def test_the_triangle_inequality_decides_whether_an_inertia_is_physically_consistent(
    moments: tuple[float, float, float], consistent: bool
) -> None:
    assert solids.is_physically_consistent(solids.principal(1.0, (0.0, 0.0, 0.0), moments)) is consistent


def test_an_inertia_without_mass_is_not_physically_consistent() -> None:
    assert not solids.is_physically_consistent(Inertia(0.0, np.zeros(3), np.eye(3)))
