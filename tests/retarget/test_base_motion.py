"""The base in frames in which no sole is locked."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from kinodyn.retarget.base_motion import between, lifts, smoothed


def poses(turns: np.ndarray, seed: int = 0) -> np.ndarray:
    """Poses (7, n) that turn about z by these angles (n,), at random positions."""
    places = np.random.default_rng(seed).normal(size=(3, len(turns)))
    return np.vstack([places, Rotation.from_euler("z", turns[:, None]).as_quat().T])


def test_given_poses_stay_and_the_others_follow_the_base_without_a_jump() -> None:
    time = np.linspace(0.0, 1.0, 40)
    base = np.vstack([time, 0 * time, 0 * time, Rotation.from_euler("z", time[:, None]).as_quat().T])
    shifted = base.copy()
    shifted[1] += 0.3
    shifted[3:] = (Rotation.from_euler("z", 0.2) * Rotation.from_quat(base[3:].T)).as_quat().T
    placed = shifted + np.random.default_rng(0).normal(size=base.shape)  # what is not given does not matter
    given = np.ones(40, dtype=bool)
    given[12:25] = given[36:] = False
    placed[:, given] = shifted[:, given]
    result = between(base, placed, given, 10.0)
    np.testing.assert_array_equal(result[:, given], placed[:, given])
    np.testing.assert_allclose(result[:3], shifted[:3], atol=1e-12)
    np.testing.assert_allclose(result[3:], shifted[3:], atol=1e-4)


def test_opposite_signs_of_quaternions_are_the_same_rotation() -> None:
    base = poses(np.linspace(0.0, 0.5, 20))
    given = np.arange(20) % 10 < 5
    flipped = base.copy()
    flipped[3:, 7:] *= -1.0
    first, second = (Rotation.from_quat(between(base, rows, given, 10.0)[3:].T) for rows in (base, flipped))
    assert (first.inv() * second).magnitude().max() < 1e-9


def test_without_given_frames_the_base_is_smoothed_and_with_all_of_them_nothing_changes() -> None:
    base = poses(np.linspace(0.0, 0.5, 20))
    none, all_frames = np.zeros(20, dtype=bool), np.ones(20, dtype=bool)
    result = between(base, base, none, 10.0)
    assert np.abs(np.diff(result[:3], 2)).max() < 0.2 * np.abs(np.diff(base[:3], 2)).max()
    np.testing.assert_array_equal(between(base, base, all_frames, 10.0), base)


def test_smoothing_minimises_its_objective_over_the_free_frames() -> None:
    rng = np.random.default_rng(1)
    rows, free = rng.normal(size=(3, 30)), rng.random(30) < 0.6
    D = np.diff(np.eye(30), 2, axis=0)
    H = np.eye(30) + 7.0 * D.T @ D
    expected = rows.copy()
    right = rows[:, free] - rows[:, ~free] @ H[np.ix_(~free, free)]
    expected[:, free] = np.linalg.solve(H[np.ix_(free, free)], right.T).T
    np.testing.assert_allclose(smoothed(rows, free, 7.0), expected, atol=1e-12)


def test_lifts_reach_every_depth_and_leave_given_frames_alone() -> None:
    low, given = np.zeros(30), np.zeros(30, dtype=bool)
    low[10], low[14], given[12:20] = 0.01, 0.002, True
    lift = lifts(low, given)
    assert (lift >= low).all()
    assert lift[14] == 0.002 and not lift[15:20].any()
    assert 0.0 < lift[6] < 0.01
