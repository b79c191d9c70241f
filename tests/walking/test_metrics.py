"""Metrics of walks on motions whose metrics are known."""

from __future__ import annotations

import numpy as np
import pytest

from kinodyn.spatial import rot_y
from kinodyn.walking.metrics import mean_rate, sliding

CORNERS = np.array([(0.2, 0.05, 0.0), (0.2, -0.05, 0.0), (-0.1, -0.05, 0.0), (-0.1, 0.05, 0.0)])
UP = np.array([0.0, 0.0, 1.0])


def rolled(angles: np.ndarray, R_ground: np.ndarray) -> np.ndarray:
    """Place the corners (n, 4, 3) of a sole that rolls over its toes, which stay in place."""
    toe = np.array([0.2, 0.0, 0.0])
    return np.array([((CORNERS - toe) @ rot_y(angle).T + toe) @ R_ground.T for angle in angles])


@pytest.mark.parametrize("slope", [0.0, 0.2])
def test_a_foot_that_rolls_over_its_toes_does_not_slip(slope: float) -> None:
    R_ground = rot_y(-slope)
    points = rolled(np.linspace(0.0, 0.6, 61), R_ground)
    assert np.ptp((points @ R_ground)[:, 2, 0]) > 0.04  # the heel moves, but in the air
    assert sliding(points, R_ground @ UP) < 1e-4


@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_a_foot_that_slides_slips_by_its_displacement_flat_and_on_its_toes(angle: float) -> None:
    still = rolled(np.full(50, angle), np.eye(3))
    shift = np.linspace(0.0, 1.0, 50)[:, None, None] * np.array([0.03, 0.04, 0.0])
    assert sliding(still + shift, UP) == pytest.approx(0.05, rel=1e-12)


def test_a_foot_that_turns_about_its_centre_slips_at_its_corners() -> None:
    c, s = np.cos(0.1), np.sin(0.1)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    radius = np.linalg.norm(CORNERS, axis=1).max()
    assert sliding(np.array([CORNERS, CORNERS @ R.T]), UP) == pytest.approx(2 * radius * np.sin(0.05), rel=1e-12)


def test_the_mean_rate_of_an_angle_that_oscillates_is_that_of_its_trend() -> None:
    t = np.linspace(0.0, 20.0, 10001)
    for phase in np.linspace(0.0, 2.0 * np.pi, 7):
        yaw = 0.8 * t + 0.08 * np.sin(2.0 * np.pi * t / 0.87 + phase)
        assert abs(mean_rate(t, yaw) - 0.8) * 20.0 < 0.01  # its ends alone would be off by up to 0.16 rad
