"""The ground is extrapolated from the soles."""

from __future__ import annotations

import numpy as np
import pytest

from kinodyn.walking import Footstep
from kinodyn.walking.ground_estimate import GroundEstimate


@pytest.mark.parametrize("gradient", [(0.0, 0.0), (0.09, 0.0), (-0.05, 0.12)])
def test_a_footstep_lies_flat_on_the_plane_through_the_other_foot(gradient: tuple[float, float]) -> None:
    a, b = gradient
    left, right = Footstep("left", 0.3, 0.1, 0.4), Footstep("right", 0.55, -0.08, 0.2)
    soles = {foot.side: foot.pose for foot in (left, right)}
    soles["left"][2, 3] = 1.0 + a * left.x + b * left.y
    T = GroundEstimate(soles, gradient).sole_pose(right, left)
    corners = np.array([[0.2, 0.05, 0, 1], [0.2, -0.05, 0, 1], [-0.1, 0.05, 0, 1], [-0.1, -0.05, 0, 1]]) @ T.T
    np.testing.assert_allclose(corners[:, 2], 1.0 + a * corners[:, 0] + b * corners[:, 1], atol=1e-12)
    np.testing.assert_allclose(T[:3, :3].T @ T[:3, :3], np.eye(3), atol=1e-12)
    assert np.linalg.det(T[:3, :3]) == pytest.approx(1.0)
    np.testing.assert_allclose(T[:2, 3], right.position)


def test_below_the_com_the_height_is_the_mean_over_the_feet() -> None:
    soles = {"left": Footstep("left", 0.0, 0.1, 0.0, 0.02).pose, "right": Footstep("right", 0.2, -0.1, 0.0).pose}
    ground = GroundEstimate(soles, (0.1, 0.0))
    assert ground.mean_height(0.1, 0.0, ["left"]) == pytest.approx(0.03)
    assert ground.mean_height(0.1, 0.0, ["left", "right"]) == pytest.approx(0.5 * (0.03 - 0.01))
