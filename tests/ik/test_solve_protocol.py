"""The protocol of TRAC-IK: thousands of random reachable poses from the middle of the limits, verified by Pinocchio.

P. Beeson and B. Ames, "TRAC-IK: an open-source library for improved solving of generic inverse kinematics", 2015.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.urdf_writer import write_urdf
from kinodyn.errors import DescriptionWarning
from kinodyn.model.robot import Robot

TOLERANCE = 1e-5
ARMS_AND_LEGS = [
    ("panda", "panda_link8"),
    ("ur5", "wrist_3_link"),
    ("puma560", "link6"),
    ("humanoid", "left_hand"),
    ("humanoid", "left_foot"),
    ("talos", "gripper_left_base_link"),
    ("icub", "l_hand"),
    ("baxter", "left_gripper"),
    ("pr2", "r_gripper_tool_frame"),
]
# joints that stretch an elbow or line up the axes of a wrist or shoulder when they stand at zero
SINGULAR_JOINTS = {"panda": (1, 3, 5), "ur5": (2, 4), "puma560": (4,), "humanoid": (), "talos": ()}


@dataclass(frozen=True)
class Limb:
    """One frame of a robot, known to both engines."""

    robot: Robot
    frame: str

    def pose(self, q: Array) -> Array:
        return kd.kinematics.pose(self.robot, q, self.frame)

    def solve(self, T: Array) -> kd.ik.IKResult:
        return kd.ik.solve(self.robot, {self.frame: T}, tolerance=TOLERANCE)

    def pose_by_pinocchio(self, q: Array) -> Array:
        model = pin.buildModelFromXML(write_urdf(self.robot.description))
        data, frame = model.createData(), model.getFrameId(self.frame)
        T = np.empty((len(q), 4, 4))
        for i, x in enumerate(kd.convert.pinocchio(self.robot, model).q_to(q)):
            pin.forwardKinematics(model, data, x)
            T[i] = pin.updateFramePlacement(model, data, frame).homogeneous
        return T


def limb(name: str, frame: str) -> Limb:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return Limb(kd.load(name, base="fixed"), frame)


def assert_honest(part: Limb, result: kd.ik.IKResult, T: Array) -> None:
    """Verify by Pinocchio: no false success, no limit violated, residuals and poses as reported."""
    limits = part.robot.limits
    assert np.isfinite(result.q).all()
    assert (result.q >= limits.lower - 1e-9).all() and (result.q <= limits.upper + 1e-9).all()
    np.testing.assert_array_equal(result.success, result.status == "solved")
    reached = part.pose_by_pinocchio(result.q)
    np.testing.assert_allclose(result.T_reached[part.frame], reached, atol=1e-9)
    distance = np.linalg.norm(reached[:, :3, 3] - T[:, :3, 3], axis=-1)
    sine = np.linalg.norm(reached[:, :3, :3] - T[:, :3, :3], axis=(-1, -2)) / np.sqrt(8.0)
    np.testing.assert_allclose(result.residual[:, 0], distance, atol=1e-9)
    np.testing.assert_allclose(np.sin(result.residual[:, 1] / 2), np.minimum(sine, 1.0), atol=1e-9)
    assert (distance[result.success] <= TOLERANCE + 1e-9).all()
    assert (2 * sine[result.success] <= TOLERANCE + 1e-9).all()


def squares(T: Array, T_wanted: Array) -> Array:
    away = T - T_wanted
    return np.asarray((away[..., :3, 3] ** 2).sum(axis=-1) + 0.5 * (away[..., :3, :3] ** 2).sum(axis=(-1, -2)))


@pytest.mark.parametrize(("name", "frame"), ARMS_AND_LEGS)
def test_reachable_poses_are_reached_within_limits(name: str, frame: str) -> None:
    part = limb(name, frame)
    T = part.pose(part.robot.random(10_000, seed=5))
    result = part.solve(T)
    assert_honest(part, result, T)
    assert result.success.mean() >= 0.999


def test_solutions_in_a_corner_of_the_limits_are_found() -> None:
    """Fewer than one start in fifteen, some fewer than one in a hundred, lead to these when limits hold on the way."""
    part = limb("puma560", "link6")
    T = part.pose(part.robot.random(10_000, seed=5)[[284, 644, 4655, 5021, 8656, 9332]])
    result = part.solve(T)
    assert_honest(part, result, T)
    assert result.success.all()


@pytest.mark.parametrize(("name", "frame"), [pair for pair in ARMS_AND_LEGS if pair[0] in SINGULAR_JOINTS])
def test_unreachable_poses_are_reported(name: str, frame: str) -> None:
    part, rng = limb(name, frame), np.random.default_rng(0)
    T = part.pose(part.robot.random(1000, seed=7))
    longest = np.linalg.norm(part.pose(part.robot.random(5000, seed=8))[:, :3, 3], axis=-1).max()
    away = rng.normal(size=(1000, 3))
    away /= np.linalg.norm(away, axis=-1, keepdims=True)
    T[:, :3, 3] = rng.uniform(1.3, 4.0, (1000, 1)) * longest * away
    result = part.solve(T)
    assert_honest(part, result, T)
    assert (result.status == "unreachable").all()
    # nothing that chance tries comes nearer, in squares of metres and of the chords of angles
    tried = squares(part.pose(part.robot.random(5000, seed=9))[:, None], T[:100]).min(axis=0)
    assert (squares(result.T_reached[frame], T)[:100] <= tried).all()


@pytest.mark.parametrize(("name", "frame"), [pair for pair in ARMS_AND_LEGS if SINGULAR_JOINTS.get(pair[0])])
def test_singular_poses_are_reached(name: str, frame: str) -> None:
    part, rng = limb(name, frame), np.random.default_rng(1)
    q = part.robot.random(1000, seed=11)
    q[np.arange(1000), rng.choice(SINGULAR_JOINTS[name], 1000)] = 0.0
    q = np.clip(q, part.robot.limits.lower, part.robot.limits.upper)
    T = part.pose(q)
    result = part.solve(T)
    assert_honest(part, result, T)
    assert result.success.mean() >= 0.999


@pytest.mark.parametrize(("name", "frame"), ARMS_AND_LEGS)
def test_poses_with_a_joint_exactly_at_its_limit_are_reached(name: str, frame: str) -> None:
    part, rng = limb(name, frame), np.random.default_rng(2)
    limits, q = part.robot.limits, part.robot.random(1000, seed=12)
    limited = np.flatnonzero(np.isfinite(limits.upper) & np.isfinite(limits.lower))
    k = rng.choice(limited, 1000)
    q[np.arange(1000), k] = np.where(rng.random(1000) < 0.5, limits.lower[k], limits.upper[k])
    T = part.pose(q)
    result = part.solve(T)
    assert_honest(part, result, T)
    assert result.success.mean() >= 0.999
    assert set(np.unique(result.status)) <= {"solved", "limits", "budget", "singular"}
