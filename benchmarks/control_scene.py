"""The motion for inverse dynamics controllers: Talos sways on both feet and moves its hands."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

import kinodyn as kd
from setups import Array

FEET = ("left_sole_link", "right_sole_link")
HANDS = ("gripper_left_base_link", "gripper_right_base_link")
TORSO = "torso_2_link"
SOLE = [[0.1, 0.06, 0.0], [0.1, -0.06, 0.0], [-0.1, -0.06, 0.0], [-0.1, 0.06, 0.0]]  # [m]
FRICTION, FREQUENCY = 0.6, 10.0  # [-], [rad/s]
# Weights of task rows (errors count with their squares); the regularisation is the one that TSID's solver adds.
COM, HAND, TURN, POSTURE, REGULARISATION = 10.0, 1.0, 1.0, 0.1, 1e-4
DT, PERIOD = 2e-3, 1.0  # [s]
SWAY, LIFT = np.array([0.0, 0.03, 0.0]), np.array([0.05, 0.0, 0.08])  # [m]

# position, velocity, acceleration
Reference: TypeAlias = tuple[Array, Array, Array]
Tick: TypeAlias = tuple[float, Array, Array, Reference, dict[str, Reference]]


@dataclass(frozen=True, eq=False)
class Motion:
    """A robot, its initial configuration (nq,), and for each tick: time, q, v, references of the CoM and the hands."""

    robot: kd.Robot
    start: Array
    ticks: list[Tick]


def talos() -> kd.Robot:
    """Load Talos."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        return kd.load("talos")


def references(robot: kd.Robot, q0: Array, t: float) -> tuple[Reference, dict[str, Reference]]:
    """Return the references of CoM and hands at time t: one oscillation per period."""
    w = 2.0 * np.pi / PERIOD
    shape = 0.5 * (1.0 - np.cos(w * t)), 0.5 * w * np.sin(w * t), 0.5 * w * w * np.cos(w * t)
    p, rate, gain = (part * SWAY for part in shape)
    com = (kd.kinematics.com(robot, q0) + p, rate, gain)
    hands = {}
    for hand in HANDS:
        T = kd.kinematics.pose(robot, q0, hand)
        T[:3, 3] += shape[0] * LIFT
        twists = [np.concatenate([part * LIFT, np.zeros(3)]) for part in shape[1:]]
        hands[hand] = (T, twists[0], twists[1])
    return com, hands
