"""What the tests of whole-body motion share: three humanoids, robots of every kind of joint, every instruction set."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import nnls

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Joint, Link
from kinodyn.errors import DescriptionWarning
from kinodyn.model.robot import Robot


@dataclass(frozen=True)
class Humanoid:
    """A humanoid as it stands, and the frames that tasks are about."""

    robot: Robot
    q: Array
    feet: tuple[str, str]
    hands: tuple[str, str]
    head: str

    def pose(self, frame: str, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Array:
        """Return where a frame stands, shifted in the world."""
        T = np.array(kd.kinematics.pose(self.robot, self.q, frame))
        T[:3, 3] += shift
        return T

    def stance(self) -> list[kd.tasks.Task]:
        """Keep both feet where they stand."""
        return [kd.tasks.ContactTask(foot, self.pose(foot)) for foot in self.feet]

    def polygon(self) -> Array:
        """Return corners (8, 2) around both feet."""
        corners = np.array([[-0.05, -0.04], [0.1, -0.04], [0.1, 0.04], [-0.05, 0.04]])
        return np.concatenate([self.pose(foot)[:2, 3] + corners for foot in self.feet])

    def draw(self, n: int, spread: float, rng: np.random.Generator) -> Array:
        """Draw states (n, nq) within limits, the joints `spread` around those of the stance, the base less."""
        size = np.r_[np.full(6, 0.2), np.ones(self.robot.nv - 6)] * spread
        q = self.robot.integrate(self.q, size * rng.normal(size=(n, self.robot.nv)))
        return np.clip(q, self.robot.limits.lower, self.robot.limits.upper)


def bent(robot: Robot) -> Array:
    """Bend the knees and elbows of g1, which comes without a named configuration."""
    q = robot.neutral()
    for side in ("left", "right"):
        for joint, angle in (("hip_pitch", -0.3), ("knee", 0.6), ("ankle_pitch", -0.3), ("elbow", 0.5)):
            q[robot.joint(f"{side}_{joint}_joint").q] = angle
    return q


def humanoid(name: str) -> Humanoid:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        robot = kd.load(name, base="floating")
    if name == "humanoid":
        return Humanoid(
            robot,
            robot.configuration("standing"),
            ("left_sole", "right_sole"),
            ("left_palm", "right_palm"),
            "head",
        )
    if name == "talos":
        hands = ("gripper_left_base_link", "gripper_right_base_link")
        feet = ("left_sole_link", "right_sole_link")
        return Humanoid(robot, robot.configuration("half_sitting"), feet, hands, "head_2_link")
    feet, hands = ("left_ankle_roll_link", "right_ankle_roll_link"), ("left_rubber_hand", "right_rubber_hand")
    return Humanoid(robot, bent(robot), feet, hands, "torso_link")


@pytest.fixture(scope="session", params=["humanoid", "talos", "g1"])
def body(request: pytest.FixtureRequest) -> Humanoid:
    """Give each humanoid in turn."""
    return humanoid(request.param)


@pytest.fixture(scope="session")
def person() -> Humanoid:
    """Give the bundled humanoid."""
    return humanoid("humanoid")


def unbalanced(gradient: Array, either_sign: Array, pushing: Array) -> float:
    """Return the norm of what is left of a gradient after rows of either sign and rows that only push against it."""
    columns = np.concatenate([np.zeros((1, len(gradient))), either_sign, -either_sign, pushing]).T
    multipliers, _ = nnls(columns, -gradient, maxiter=10000)
    return float(np.linalg.norm(gradient + columns @ multipliers))


@pytest.fixture(scope="session", name="unbalanced")
def unbalanced_fixture() -> Callable[[Array, Array, Array], float]:
    """Give the certificate of optimality: a level is at its best where nothing of its gradient is left."""
    return unbalanced


@pytest.fixture(scope="session")
def sliders() -> Callable[..., Robot]:
    """Give the maker of robots whose n joints slide independently, so that steps are vectors."""

    def make(n: int, lower: float = -np.inf, upper: float = np.inf) -> Robot:
        links = tuple(Link(f"l{i}") for i in range(n + 1))
        joints = tuple(
            Joint(f"j{i}", "prismatic", f"l{i}", f"l{i + 1}", np.eye(4), np.eye(3)[0], lower=lower, upper=upper)
            for i in range(n)
        )
        return Robot(Description("sliders", links, joints))

    return make
