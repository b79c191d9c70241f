"""Which targets limbs reach, compared with postures drawn at random, distances and a bounded optimisation by SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import least_squares

import kinodyn as kd
from kinodyn.model.robot import Robot
from kinodyn.retarget.body import Body
from kinodyn.retarget.contacts import find_contacts
from kinodyn.retarget.human import normalise
from kinodyn.retarget.keypoints import key_points
from kinodyn.retarget.reach import REACH, Reachable, reachable
from kinodyn.retarget.targets import CORNERS, Targets, make_targets


def targets_of(body: Body) -> Targets:
    motion = kd.retarget.example_motion(3)
    human = normalise(motion, key_points(motion), 30.0)
    return make_targets(body, human, find_contacts(human))


def wrist(robot: Robot, body: Body, q: np.ndarray) -> np.ndarray:
    """Return positions (..., 3) of the left wrist."""
    arm = body.arms["left"]
    local = np.linalg.inv(body.pose(arm.links[-1])) @ [*arm.tip, 1.0]
    return (kd.kinematics.pose(robot, q, arm.links[-1]) @ local)[..., :3]


def arm_coordinates(robot: Robot, body: Body) -> np.ndarray:
    return np.array([joint.q.start for joint in robot.joints if joint.child in body.arms["left"].links])


def reached(body: Body, q: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return which positions (n, 3) of the left wrist are in reach at q (n, nq)."""
    targets = targets_of(body)
    row = 2 * CORNERS + targets.names.index("left_wrist")
    n = len(wanted)
    targets.positions[row, :n] = wanted
    padded = np.repeat(body.q[None], targets.positions.shape[1], axis=0)
    padded[:n] = q
    far = np.full((2, len(padded)), 1.1 * REACH)  # distances in the motion that do not show that targets are in reach
    found = reachable(body, padded, targets, far, np.zeros((2, len(padded))))
    assert isinstance(found, Reachable) and found.feet.all()
    return found.hands[0, :n]


@pytest.mark.parametrize("name", ["humanoid", "g1"])
def test_what_any_posture_of_the_arm_reaches_is_reachable(name: str) -> None:
    robot = kd.load(name)
    body, rng = Body.from_robot(robot), np.random.default_rng(3)
    at = arm_coordinates(robot, body)
    q = np.repeat(body.q[None], 60, axis=0)
    posed = q.copy()
    posed[:, at] = rng.uniform(robot.limits.lower[at], robot.limits.upper[at], (60, len(at)))
    assert reached(body, q, wrist(robot, body, posed)).mean() == 1.0


def test_what_is_farther_than_the_arm_is_long_is_not_reachable() -> None:
    robot = kd.load("humanoid")
    body = Body.from_robot(robot)
    arm, rng = body.arms["left"], np.random.default_rng(4)
    directions = rng.normal(size=(40, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    length = arm.upper + arm.lower + np.linalg.norm(body.pose(arm.links[0])[:3, 3] - arm.root)
    q = np.repeat(body.q[None], 40, axis=0)
    assert not reached(body, q, body.pose(arm.links[0])[:3, 3] + (length + 2 * REACH) * directions).any()


def test_reach_is_that_of_a_bounded_optimisation() -> None:
    """Positions around the shoulder, within its length: limits of joints decide."""
    robot = kd.load("humanoid")
    body, rng = Body.from_robot(robot), np.random.default_rng(5)
    at, root = arm_coordinates(robot, body), body.arms["left"].root
    limits = robot.limits.lower[at], robot.limits.upper[at]
    wanted = root + rng.uniform(-0.6, 0.6, (40, 3))
    least = [nearest(robot, body, at, limits, position, rng) for position in wanted]
    found = reached(body, np.repeat(body.q[None], 40, axis=0), wanted)
    clear = np.abs(np.array(least) - REACH) > 1e-3
    assert 5 < found.sum() < 35
    np.testing.assert_array_equal(found[clear], np.array(least)[clear] < REACH)


def nearest(
    robot: Robot,
    body: Body,
    at: np.ndarray,
    limits: tuple[np.ndarray, np.ndarray],
    wanted: np.ndarray,
    rng: np.random.Generator,
) -> float:
    """Return the least distance of the wrist from a position [m], from several starts."""

    def error(angles: np.ndarray) -> np.ndarray:
        q = body.q.copy()
        q[at] = angles
        return wrist(robot, body, q) - wanted

    starts = rng.uniform(*limits, (6, len(at)))
    return min(float(np.linalg.norm(least_squares(error, start, bounds=limits).fun)) for start in starts)


def test_the_report_has_the_share_in_reach_and_the_error_there() -> None:
    report = kd.retarget.retarget(kd.retarget.example_motion(3), kd.load("humanoid")).report
    assert report.hand_reach == report.foot_reach == 1.0
    assert report.reachable_hand_error == report.hand_error and report.reachable_foot_error == report.foot_error
