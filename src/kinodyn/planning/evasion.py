"""Evasive targets: configurations near the current one, first those away from the nearest moving obstacle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot
from kinodyn.planning.moving_obstacles import MovingObstacle

DISTANCES = (0.15, 0.3, 0.5)  # [m] by which the threatened link moves aside
TARGET_DISTANCES = (0.3, 0.6, 1.2)  # [rad or m] of random targets
TARGETS_PER_DISTANCE = 8
DAMPING = 0.05  # of the inverse of the Jacobian
TIMES = 40  # at which the obstacle is evaluated


def evasion_targets(
    robot: Robot,
    q: Array,
    columns: NDArray[np.intp],
    q_index: NDArray[np.intp],
    threats: Sequence[MovingObstacle],
    times: tuple[float, float],
    rng: np.random.Generator,
) -> Iterator[Array]:
    """Yield evasive positions of the group (n,).

    Parameters
    ----------
    robot
    q : (nq,)
        Where the robot would come to rest without evading.
    columns, q_index
        Velocity and configuration coordinates of the group.
    threats
        Obstacles that would touch the robot.
    times
        Time interval in which the threats are evaluated [s].
    rng
        Random numbers.
    """
    lower, upper = robot.limits.lower[q_index], robot.limits.upper[q_index]
    steps = [step for obstacle in threats for step in _aside(robot, q, columns, obstacle, times)]
    for distance in DISTANCES:
        for step in steps:
            yield np.clip(q[q_index] + distance * step, lower, upper)
    for reach in TARGET_DISTANCES:
        for _ in range(TARGETS_PER_DISTANCE):
            yield np.clip(q[q_index] + rng.uniform(-reach, reach, len(columns)), lower, upper)


def _aside(
    robot: Robot, q: Array, columns: NDArray[np.intp], obstacle: MovingObstacle, times: tuple[float, float]
) -> list[Array]:
    """Return joint motions (n,) that move the link nearest to the path of an obstacle by a metre, away from it."""
    joints = [joint for joint in robot.joints if joint.mimic is None]
    links = [joint.child for joint in joints if joint.v.start in set(columns.tolist())]
    positions = kinematics.poses(robot, q, frames=links)[:, :3, 3]
    t = np.linspace(*times, TIMES)
    path = obstacle.at(t)
    gaps = np.linalg.norm(positions[:, None] - path, axis=2)
    link, k = np.unravel_index(int(gaps.argmin()), gaps.shape)
    away, flight = positions[link] - path[k], np.gradient(path, axis=0)[k]
    flight = flight / max(float(np.linalg.norm(flight)), 1e-9)
    away = away - (away @ flight) * flight
    if np.linalg.norm(away) < 1e-6:
        away = np.cross(flight, [0.0, 0.0, 1.0]) + [1e-3, 0.0, 0.0]
    away = away / np.linalg.norm(away)
    sideways = np.cross(flight, away)
    J = kinematics.jacobian(robot, q, links[link])[:3, columns]
    inverse = J.T @ np.linalg.inv(J @ J.T + DAMPING**2 * np.eye(3))
    return [inverse @ direction for direction in (away, away + sideways, away - sideways, sideways, -sideways)]
