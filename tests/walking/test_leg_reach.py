"""References of swing feet are reduced to what their legs reach."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.walking.leg_reach import LegReach


def setup(body: kd.walking.Biped) -> tuple[LegReach, kd.State, str]:
    return LegReach(body.robot, body.knees["left"], body.q), kd.State(body.robot, body.q), body.left.frame


def hip_to_ankle(reach: LegReach, state: kd.State, frame: str, pose: np.ndarray) -> np.ndarray:
    T = state.pose(frame)
    ankle = T[:3, :3].T @ (state.pose(reach.ankle)[:3, 3] - T[:3, 3])
    return pose[:3, :3] @ ankle + pose[:3, 3] - state.pose(reach.hip)[:3, 3]


def test_references_within_reach_are_unchanged(body: kd.walking.Biped) -> None:
    reach, state, frame = setup(body)
    pose = state.pose(frame).copy()
    pose[2, 3] += 0.05
    velocity, acceleration = np.arange(6.0), np.arange(6.0, 12.0)
    for given, found in zip(
        (pose, velocity, acceleration), reach.reduce(state, frame, pose, velocity, acceleration), strict=True
    ):
        np.testing.assert_array_equal(given, found)


def test_a_leg_that_is_lifted_from_a_long_step_keeps_its_reference(body: kd.walking.Biped) -> None:
    """It shortens: only what extends fast is slowed down early."""
    reach, state, frame = setup(body)
    pose = state.pose(frame).copy()
    away = hip_to_ankle(reach, state, frame, pose)
    along, length = away / np.linalg.norm(away), float(np.linalg.norm(away))
    pose[:3, 3] += (0.97 * reach.longest - length) * along
    for speed, kept in ((-1.0, True), (0.0, True), (1.0, False)):
        reduced, _, _ = reach.reduce(state, frame, pose, np.concatenate([speed * along, np.zeros(3)]), np.zeros(6))
        assert np.array_equal(reduced, pose) == kept


def test_no_reference_is_farther_than_the_bent_leg(body: kd.walking.Biped) -> None:
    """The knee of the longest leg is bent by its margin: the law of cosines, by forward kinematics."""
    reach, state, frame = setup(body)
    knee = body.knees["left"]
    q = body.q.copy()
    q[knee.joint.q.start] = knee.straight + knee.bending * 0.14
    bent = kd.State(body.robot, q)
    span = np.linalg.norm(bent.pose(reach.ankle)[:3, 3] - bent.pose(reach.hip)[:3, 3])
    assert reach.longest == pytest.approx(span, rel=1e-9)
    for away in (0.2, 0.5, 2.0):
        pose = state.pose(frame).copy()
        pose[0, 3] += away
        reduced, _, _ = reach.reduce(state, frame, pose, np.zeros(6), np.zeros(6))
        asked, found = (hip_to_ankle(reach, state, frame, T) for T in (pose, reduced))
        assert np.linalg.norm(found) <= reach.longest + 1e-12
        np.testing.assert_allclose(np.cross(asked, found), 0.0, atol=1e-12)  # along the line from hip to ankle


def test_velocity_and_acceleration_are_the_derivatives_of_the_reduced_motion(body: kd.walking.Biped) -> None:
    """At a constant speed along a straight line through the hip, where the whole motion is along the leg."""
    reach, state, frame = setup(body)
    start = state.pose(frame).copy()
    away = hip_to_ankle(reach, state, frame, start)
    along, h = away / np.linalg.norm(away), 1e-5

    def reduced(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        pose = start.copy()
        pose[:3, 3] += (0.03 + 0.4 * t) * along
        velocity = np.concatenate([0.4 * along, np.zeros(3)])
        return reach.reduce(state, frame, pose, velocity, np.zeros(6))

    for t in (0.0, 0.02, 0.05):
        before, now, after = (reduced(t + dt) for dt in (-h, 0.0, h))
        velocity = (after[0][:3, 3] - before[0][:3, 3]) / (2 * h)
        np.testing.assert_allclose(now[1][:3], velocity, atol=1e-7)
        np.testing.assert_allclose(now[2][:3], (after[1][:3] - before[1][:3]) / (2 * h), atol=1e-5)


def test_a_body_lowered_by_the_missing_height_reaches_the_foot(body: kd.walking.Biped) -> None:
    reach, state, frame = setup(body)
    pose = state.pose(frame).copy()
    assert reach.missing_height(state, frame, pose, np.zeros(3)) == 0.0
    pose[:3, 3] += (0.2, 0.0, -0.08)
    shift = np.array([0.05, 0.0, -0.02])
    missing = reach.missing_height(state, frame, pose, shift)
    assert missing > 0.01
    leg = hip_to_ankle(reach, state, frame, pose) - shift + (0.0, 0.0, missing)
    assert 0.98 * reach.longest < float(np.linalg.norm(leg)) < reach.longest
    # as far as a foot at rest follows its reference
    pose[:3, 3] -= shift - (0.0, 0.0, missing)
    reduced, _, _ = reach.reduce(state, frame, pose, np.zeros(6), np.zeros(6))
    assert np.abs(reduced - pose).max() < 0.01
