"""The whole-body task that every solver gets: Talos on both feet reaches with both hands and shifts its weight."""

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
# How much each task counts in a sum of squares, where a solver has but one: feet only if they are not a constraint.
FOOT, HAND, COM, POSTURE = 1e4, 1.0, 1.0, 1e-6
# From the start to the goal [rad]: squat on both legs, turn the torso, lift and bend the arms.
SQUAT = {"leg_{}_3_joint": -0.15, "leg_{}_4_joint": 0.30, "leg_{}_5_joint": -0.15}
ARM = {"arm_{}_1_joint": 0.20, "arm_{}_2_joint": 0.25, "arm_{}_3_joint": 0.20, "arm_{}_5_joint": 0.30}
ELBOW = {"arm_{}_4_joint": -0.60}
TORSO = {"torso_1_joint": 0.15}


@dataclass(frozen=True, eq=False)
class Scene:
    """Where the robot starts (nq,), where hands and feet shall be (4, 4), and its centre of mass (3,)."""

    robot: kd.Robot
    start: Array
    poses: dict[str, Array]
    com: Array

    def joints(self) -> dict[str, float]:
        """Give the joint positions of the start by name."""
        return {name: float(self.start[self.robot.joint(name).q][0]) for name in self.robot.joint_names}

    def errors(self, q: Array) -> dict[str, float]:
        """Measure by forward kinematics how far [mm] the worse hand, the worse foot and the weight are off."""
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
        """Give the configuration (nq,) in kinodyn's order."""


def talos() -> Scene:
    """Stand Talos half sitting, and ask for hands and weight as in another stance on the same footprints.

    So all tasks can be met together, and the goal is within limits.
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
    """List by joint how the goal differs from the start; the right arm mirrors the left."""
    both = {name.format(side): change for name, change in (SQUAT | ELBOW).items() for side in ("left", "right")}
    left = {name.format("left"): change for name, change in ARM.items()}
    right = {name.format("right"): -change for name, change in ARM.items()}
    return both | left | right | TORSO
