"""A controller for tests of contacts: a robot that keeps its posture."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import kinodyn as kd


def keep_posture(robot: kd.Robot, q0: np.ndarray) -> Callable[[float, kd.State], np.ndarray]:
    """Return joint control at 30 rad/s, critically damped, with gravity compensation; the base has no motors."""
    inertia = np.diag(kd.dynamics.mass_matrix(robot, q0))

    def control(t: float, state: kd.State) -> np.ndarray:
        tau = kd.dynamics.gravity(robot, state.q) + inertia * (900 * robot.difference(state.q, q0) - 60 * state.v)
        tau[:6] = 0.0
        return tau

    return control
