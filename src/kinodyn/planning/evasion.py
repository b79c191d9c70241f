"""Evasive targets: configurations near the current one, mostly those that move the threatened links aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinodyn import kinematics
from kinodyn.arrays import Array
from kinodyn.collision.refinement import robot_spheres
from kinodyn.model.robot import Robot
from kinodyn.planning.moving_obstacles import MovingObstacle

DISTANCES = (0.15, 0.3, 0.5)  # [m] by which the threatened point moves aside
DIRECTIONS = 8  # at right angles to the flight
LINKS = 3  # that an obstacle touches or nearly touches, of which points move aside
TARGET_DISTANCES = (0.3, 0.6, 1.2)  # [rad or m] of random targets
TARGETS_PER_DISTANCE = 16
DAMPING = 0.05  # of the inverse of the Jacobian
TIMES = 80  # at which the obstacle is evaluated


def evasion_targets(
    robot: Robot,
    q: Array,
    columns: NDArray[np.intp],
    q_index: NDArray[np.intp],
    threats: Sequence[MovingObstacle],
    times: tuple[float, float],
    rng: np.random.Generator,
) -> Iterator[Array]:
    """Yield evasive positions of the group (n,): aside and at random, in turn.

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
    aside = (distance * step for distance in DISTANCES for step in steps)
    anywhere = (
        rng.uniform(-reach, reach, len(columns)) for _ in range(TARGETS_PER_DISTANCE) for reach in TARGET_DISTANCES
    )
    for both in zip_longest(aside, anywhere):
        for step in both:
            if step is not None:
                yield np.clip(q[q_index] + step, lower, upper)


class _Contact(NamedTuple):
    """A point of a link (3,), and the unit vectors (3,) of the flight there and away from it."""

    link: str
    point: Array
    flight: Array
    away: Array


def _aside(
    robot: Robot, q: Array, columns: NDArray[np.intp], obstacle: MovingObstacle, times: tuple[float, float]
) -> list[Array]:
    """Return joint motions (n,) that move the points nearest to the path of an obstacle aside by a metre."""
    steps = []
    for contact in _contacts(robot, q, obstacle, times):
        T = kinematics.pose(robot, q, contact.link)
        J = kinematics.jacobian(robot, q, contact.link)[:, columns]
        moving = J[:3] - np.cross(contact.point - T[:3, 3], J[3:], axisb=0, axisc=0)
        if np.abs(moving).max() < 1e-6:
            continue  # the base
        inverse = moving.T @ np.linalg.inv(moving @ moving.T + DAMPING**2 * np.eye(3))
        sideways = np.cross(contact.flight, contact.away)
        # away first, then alternately to both sides of it
        turns = np.pi * np.array([0, *(side * k for k in range(1, DIRECTIONS) for side in (1, -1))]) / (DIRECTIONS / 2)
        for turn in turns[:DIRECTIONS]:
            steps.append(inverse @ (np.cos(turn) * contact.away + np.sin(turn) * sideways))
    return steps


def _contacts(robot: Robot, q: Array, obstacle: MovingObstacle, times: tuple[float, float]) -> list[_Contact]:
    """Return the points of those links that come nearest to the path of an obstacle."""
    spheres, t = robot_spheres(robot), np.linspace(*times, TIMES)
    path = obstacle.at(t)
    velocity = obstacle.velocity + (t - obstacle.time)[:, None] * obstacle.acceleration
    found = []
    for link, T in zip(spheres.links, kinematics.poses(robot, q, frames=list(spheres.links)), strict=True):
        rows = spheres.of_link(link)
        centres = rows[:, :3] @ T[:3, :3].T + T[:3, 3]
        gaps = np.linalg.norm(centres[:, None] - path, axis=2) - rows[:, 3:]
        i, k = np.unravel_index(int(gaps.argmin()), gaps.shape)
        flight = velocity[k] / max(float(np.linalg.norm(velocity[k])), 1e-9)
        away = centres[i] - path[k]
        away = away - (away @ flight) * flight
        if np.linalg.norm(away) < 1e-6:
            away = np.cross(flight, [0.0, 0.0, 1.0]) + [1e-3, 0.0, 0.0]
        found.append((gaps[i, k], _Contact(link, centres[i], flight, away / np.linalg.norm(away))))
    found.sort(key=lambda one: one[0])
    return [contact for _, contact in found[:LINKS]]
