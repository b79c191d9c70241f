"""The whole-body problem of the benchmark: Talos stands on both feet, reaches with both hands and moves its CoM."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np

import kinodyn as kd
from setups import Array

HANDS = ("gripper_left_base_link", "gripper_right_base_link")
FEET = ("left_sole_link", "right_sole_link")
DT = 0.01  # [s]
# Weights of the tasks for solvers with a single least-squares cost; that of the feet if they are not constraints.
FOOT, HAND, COM, POSTURE = 1e4, 1.0, 1.0, 1e-6
# From the start to the goal [rad]: squat, turn the torso, lift and bend the arms.
SQUAT = {"leg_{}_3_joint": -0.15, "leg_{}_4_joint": 0.30, "leg_{}_5_joint": -0.15}
ARM = {"arm_{}_1_joint": 0.20, "arm_{}_2_joint": 0.25, "arm_{}_3_joint": 0.20, "arm_{}_5_joint": 0.30}
ELBOW = {"arm_{}_4_joint": -0.60}
TORSO = {"torso_1_joint": 0.15}


@dataclass(frozen=True, eq=False)
class Scene:
    """Initial configuration (nq,), target poses (4, 4) of hands and feet, target CoM (3,)."""

    robot: kd.Robot
    start: Array
    poses: dict[str, Array]
    com: Array

    def joints(self) -> dict[str, float]:
        """Return the initial joint positions by name."""
        return {name: float(self.start[self.robot.joint(name).q][0]) for name in self.robot.joint_names}

    def errors(self, q: Array) -> dict[str, float]:
        """Return the errors [mm] of the worse hand, the worse foot and the CoM, by forward kinematics."""
        robot = self.robot
        off = {
            frame: 1e3 * float(np.linalg.norm(kd.kinematics.pose(robot, q, frame)[:3, 3] - T[:3, 3]))
            for frame, T in self.poses.items()
        }
        return {
            "hands": max(off[frame] for frame in HANDS),
            "feet": max(off[frame] for frame in FEET),
            "com": 1e3 * float(np.linalg.norm(kd.kinematics.com(robot, q) - self.com)),
            "beyond limits": max(0.0, float(np.maximum(q - robot.limits.upper, robot.limits.lower - q)[7:].max())),
        }


class Loop(Protocol):
    """A solver in a control loop, ready to step."""

    def reset(self) -> None:
        """Go back to the start."""

    def step(self) -> None:
        """Solve once and move the robot by DT."""

    def position(self) -> Array:
        """Return the configuration (nq,) in kinodyn's order."""


def talos() -> Scene:
    """Return the scene: Talos half sitting, with hands and CoM of another posture on the same footprints as targets.

    All targets can thus be reached together, within limits.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        robot = kd.load("talos")
    start = robot.configuration("half_sitting")
    goal = start.copy()
    for name, change in changes().items():
        goal[robot.joint(name).q] += change
    foot = FEET[0]
    goal[:3] += kd.kinematics.pose(robot, start, foot)[:3, 3] - kd.kinematics.pose(robot, goal, foot)[:3, 3]
    poses = {frame: kd.kinematics.pose(robot, start, frame) for frame in FEET}
    poses |= {frame: kd.kinematics.pose(robot, goal, frame) for frame in HANDS}
    return Scene(robot, start, poses, kd.kinematics.com(robot, goal))


def changes() -> dict[str, float]:
    """Return the difference between goal and start by joint; the right arm mirrors the left."""
    both = {name.format(side): change for name, change in (SQUAT | ELBOW).items() for side in ("left", "right")}
    left = {name.format("left"): change for name, change in ARM.items()}
    right = {name.format("right"): -change for name, change in ARM.items()}
    return both | left | right | TORSO
