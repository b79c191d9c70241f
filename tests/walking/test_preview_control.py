"""Preview control: gains against a Riccati recursion, and against the least-squares optimum."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.walking import PreviewControl
from kinodyn.walking.preview_control import augmented

W = 3.3


def riccati_by_recursion(F: Array, G: Array, Q: Array, r: float) -> Array:
    """Let the cost of ever longer horizons come to rest."""
    P = Q.copy()
    for _ in range(20000):
        gain = (G @ P @ F) / (r + G @ P @ G)
        following = Q + F.T @ P @ (F - np.outer(G, gain))
        following = 0.5 * (following + following.T)
        if np.abs(following - P).max() <= 1e-13 * np.abs(P).max():
            break
        P = following
    return following


@pytest.mark.parametrize(("dt", "jerk"), [(0.005, 1e-6), (0.01, 1e-6), (0.02, 1e-5)])
def test_gains_are_those_of_a_riccati_recursion(dt: float, jerk: float) -> None:
    preview = PreviewControl.design(W, dt, jerk=jerk)
    F, G, Q = augmented(preview.A, preview.B, preview.C, 1.0)
    P = riccati_by_recursion(F, G, Q, jerk)
    np.testing.assert_allclose(preview.riccati, P, rtol=1e-6)
    gain = (G @ P @ F) / (jerk + G @ P @ G)
    np.testing.assert_allclose([preview.integral, *preview.state], gain, rtol=1e-6)
    residual = F.T @ preview.riccati @ F - preview.riccati + Q - np.outer(F.T @ preview.riccati @ G, gain)
    assert np.abs(residual).max() < 1e-7 * np.abs(preview.riccati).max()


def test_no_control_has_a_lower_cost_over_a_long_time() -> None:
    """The controls of a long horizon by least squares, all at once, are those of preview control."""
    dt, jerk, n = 0.02, 1e-5, 240
    preview = PreviewControl.design(W, dt, horizon=2.4, jerk=jerk)
    reference = np.zeros((n, 2))
    reference[130:170, 0], reference[170:, 0] = 0.1, 0.3
    path = preview(reference)
    # zero moment point = response @ u, u = running sum of its changes
    impulse = np.array([preview.C @ np.linalg.matrix_power(preview.A, k) @ preview.B for k in range(n)])
    response = np.zeros((n, n))
    for k in range(n):
        response[k + 1 :, k] = impulse[: n - k - 1]
    changes = response @ np.tril(np.ones((n, n)))
    rows = np.vstack([changes, np.sqrt(jerk) * np.eye(n)])
    best = np.linalg.lstsq(rows, np.concatenate([reference[:, 0], np.zeros(n)]), rcond=None)[0]
    np.testing.assert_allclose(path.zmp[:220, 0], (changes @ best)[:220], atol=2e-4)


def test_a_step_is_anticipated_and_reached() -> None:
    reference = np.zeros((600, 2))
    reference[300:] = [0.1, -0.2]
    path = PreviewControl.design(W, 0.01)(reference)
    np.testing.assert_allclose(path.zmp[-1], [0.1, -0.2], atol=1e-5)
    np.testing.assert_allclose(path.com[-1], [0.1, -0.2], atol=1e-3)
    assert 0.03 < path.com[300, 0] < 0.07  # half of the way is done when the step comes
    np.testing.assert_allclose(path.zmp, path.com - path.acceleration / W**2, atol=1e-12)
    np.testing.assert_allclose(path.velocity[0], 0.0)


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(kd.InputError, match="dt must be a positive"):
        PreviewControl.design(W, 0.0)
    with pytest.raises(kd.InputError, match=r"reference must have shape \(..., 2\)"):
        PreviewControl.design(W, 0.01)(np.zeros((5, 3)))
