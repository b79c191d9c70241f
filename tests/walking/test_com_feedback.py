"""The height of the CoM while steps change: hips come down in time for a foot that lands far away."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import balance, kinematics
from kinodyn.walking import Biped, Planner
from kinodyn.walking.com_feedback import CoMFeedback

DT = 0.002  # [s]


def height_after(body: Biped, margin: float, seconds: float) -> float:
    """Ask for a CoM 5 cm lower, with a margin of the DCM, and return the height of its reference after a time."""
    planner = Planner(body)
    feedback, reference, state = CoMFeedback(body, planner, DT), planner.reference(0.0), kd.State(body.robot, body.q)
    planner.dcm_margin = margin
    commands = [feedback(state, np.zeros(3), reference, 0.05) for _ in range(round(seconds / DT))]
    return float(commands[-1].position[2])


def test_the_com_is_lowered_sooner_while_steps_change(body: Biped) -> None:
    usual, recovering = (height_after(body, margin, 0.25) for margin in (1.0, -0.1))
    assert body.com_height - usual < 0.025
    assert body.com_height - recovering == pytest.approx(0.05, abs=0.01)


def test_it_approaches_the_height_without_overshoot(body: Biped) -> None:
    heights = [height_after(body, -0.1, seconds) for seconds in (0.1, 0.3, 0.6, 1.0)]
    assert np.all(np.diff(heights) < 0.0) and heights[-1] >= body.com_height - 0.05 - 1e-9


@pytest.mark.slow
def test_talos_survives_twice_the_lateral_push_that_it_bears_without_a_step() -> None:
    """Its step is so wide that the leg reaches the ground only because the hips are lower by then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load("talos", base="floating")
        body = Biped.from_robot(robot)
        polygon = balance.support_polygon(robot, body.q, list(body.feet.values()))
        com = kinematics.com(robot, body.q)[:2]
        bound = float(balance.push_bound(polygon, com, [0.0, 1.0], body.omega, robot.mass))
        assert kd.walking.survives_push(robot, 0.5 * np.pi, 2.0 * bound, stepping=True)
