"""Robots that stand on their feet, for all judges of contacts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import DescriptionWarning
from kinodyn.model.robot import Robot

STATES = 100

# Feet, whether they are flat, and two frames that could hold each other.
WALKERS = {
    "humanoid": (("left_sole", "right_sole"), True, ("left_palm", "right_palm")),
    "talos": (("left_sole_link", "right_sole_link"), True, ("gripper_left_base_link", "gripper_right_base_link")),
    "g1": (("left_ankle_roll_link", "right_ankle_roll_link"), True, ("left_rubber_hand", "right_rubber_hand")),
    "go2": (("FL_foot", "FR_foot", "RL_foot", "RR_foot"), False, ("FL_foot", "RR_foot")),
    "solo12": (("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"), False, ("FL_FOOT", "HR_FOOT")),
}


@dataclass(frozen=True)
class Walker:
    """A robot at random states, without armature and damping, which not every engine has."""

    robot: Robot
    feet: tuple[str, ...]
    flat: bool
    pair: tuple[str, str]
    q: Array
    v: Array
    tau: Array
    point: Array  # where feet touch, in their frames

    def contacts(self, *, flat: bool | None = None) -> list[kd.contact.Contact]:
        kind = "surface" if (self.flat if flat is None else flat) else "point"
        return [kd.contact.Contact(foot, kind=kind, point=self.point) for foot in self.feet]

    @staticmethod
    def assert_agree(found: Array, expected: list[Array], tolerance: float = 1e-8) -> None:
        """Compare vectors (states, n), relative to the greatest number of each state."""
        theirs = np.stack(expected)
        assert found.shape == theirs.shape
        worst = float((np.abs(found - theirs).max(axis=-1) / np.abs(theirs).max(axis=-1)).max())
        assert worst < tolerance, f"differ by {worst:.1e}"


@pytest.fixture(scope="session", params=WALKERS)
def walker(request: pytest.FixtureRequest) -> Walker:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        robot = kd.load(request.param, base="floating").replace(damping=0.0, armature=0.0)
    rng = np.random.default_rng(1)
    v, tau = rng.normal(size=(2, STATES, robot.nv)) * [[[1.0]], [[20.0]]]
    return Walker(robot, *WALKERS[request.param], robot.random(STATES, seed=2), v, tau, np.array([0.03, -0.02, 0.01]))
