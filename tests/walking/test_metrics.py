"""Metrics of walks on motions whose metrics are known."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.spatial import rot_y
from kinodyn.walking import Biped
from kinodyn.walking.metrics import WalkMetrics, mean_rate, sliding

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


def gliding(touchdown: float = 0.0) -> WalkMetrics:
    """Metrics of the humanoid moved along x by 0.4 m/s from 1 to 4 s, at rest before and after, with one touchdown."""
    robot = kd.load("humanoid")
    body = Biped.from_robot(robot)
    time = np.arange(0.0, 6.0, 0.01)
    q, still = np.tile(body.q, (len(time), 1)), np.zeros((len(time), robot.nv))
    q[:, 0] += 0.4 * np.clip(time - 1.0, 0.0, 3.0)
    stance = np.column_stack([np.ones(len(time)), time >= touchdown - 1e-9])
    recording = kd.Recording.from_robot(robot, time, q, still, still, signals={"stance": stance})
    return WalkMetrics(body, recording, None)


@pytest.mark.parametrize("end", [2.05, 3.0, 3.49, 3.51, 4.0])
def test_commands_of_more_than_one_second_have_a_mean_speed(end: float) -> None:
    metrics = gliding()
    rows = metrics.steady(1.0, end)
    assert metrics.motion(np.array([0.4, 0.0, 0.0]), rows)[0] == pytest.approx(0.4, rel=1e-9)
    assert metrics.span(rows) >= 0.5


def test_the_speed_of_a_command_of_less_than_a_second_is_not_defined() -> None:
    metrics = gliding()
    assert np.isnan(metrics.motion(np.array([0.4, 0.0, 0.0]), metrics.steady(1.0, 1.9))).all()


def test_the_speed_of_a_walk_to_a_goal_is_its_displacement_until_the_last_touchdown() -> None:
    assert gliding(touchdown=4.0).goal_speed(1.0) == pytest.approx(0.4, rel=1e-9)
    assert gliding(touchdown=5.0).goal_speed(1.0) == pytest.approx(0.3, rel=1e-9)
    assert np.isnan(gliding(touchdown=1.3).goal_speed(1.0))
    assert np.isnan(gliding().goal_speed(1.0))
