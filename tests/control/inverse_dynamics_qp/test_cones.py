"""Wrench cones of contact patches."""

from __future__ import annotations

import numpy as np
import pytest

from kinodyn.control.cones import _hull, _rectangle_cone, patch
from kinodyn.dynamics.contact import Contact


@pytest.mark.parametrize("friction", [0.1, 0.5, 1.3])
@pytest.mark.parametrize("size", [(0.3, 0.9), (0.7, 0.7), (0.95, 0.1)])
def test_the_closed_form_of_a_rectangle_has_the_facets_of_the_convex_hull(
    friction: float, size: tuple[float, float]
) -> None:
    x, y = size
    corners = np.array([[x, y, 0.0], [-x, y, 0.0], [-x, -y, 0.0], [x, -y, 0.0]])
    rows, facets = _rectangle_cone(corners, friction), _hull(corners.tobytes(), friction, False)
    assert rows is not None and rows.shape == facets.shape == (16, 6)
    apart = np.abs(rows[:, None] - facets).max(axis=-1)
    assert apart.min(axis=0).max() < 1e-7 and apart.min(axis=1).max() < 1e-7


def test_only_rectangles_along_the_axes_have_a_closed_form() -> None:
    square = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    assert _rectangle_cone(square, 0.5) is None
    assert _rectangle_cone(square[:3], 0.5) is None
    twice = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])
    assert _rectangle_cone(twice, 0.5) is None


def test_wrenches_of_forces_in_the_pyramids_at_the_corners_are_in_the_cone() -> None:
    corners = np.array([[0.1, 0.04, 0.0], [0.1, -0.04, 0.0], [-0.06, -0.04, 0.0], [-0.06, 0.04, 0.0]])
    found = patch(Contact("foot", corners=corners, friction=0.6), np.array([0.0, 0.0, 1.0]))
    rng, mu = np.random.default_rng(0), 0.6 / np.sqrt(2.0)
    normal = rng.uniform(0.0, 1.0, (200, 4))
    forces = np.stack([*(rng.choice([-mu, mu], (2, 200, 4)) * normal), normal], axis=-1)
    moments = np.cross(corners - found.p, forces).sum(axis=1) / found.length
    wrenches = np.concatenate([forces.sum(axis=1), moments], axis=1)
    inside = wrenches @ found.cone.T
    assert inside.max() < 1e-12
    assert (found.cone @ (wrenches.mean(axis=0) * [1, 1, 0, 1, 1, 1] + [9, 0, 0, 0, 0, 0])).max() > 0.0
