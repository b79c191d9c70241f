"""Whole postures: both hands, both feet, balance and gaze on three humanoids, verified by Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.urdf_writer import write_urdf
from kinodyn.model.robot import Robot

GOALS = 100


class PinocchioModel:
    """Forward kinematics by Pinocchio."""

    def __init__(self, robot: Robot) -> None:
        self.model = pin.buildModelFromXML(write_urdf(robot.description))
        self.data = self.model.createData()
        self.convert = kd.convert.pinocchio(robot, self.model)

    def poses(self, q: Array, frame: str) -> Array:
        T = np.empty((len(q), 4, 4))
        for i, x in enumerate(self.convert.q_to(q)):
            pin.forwardKinematics(self.model, self.data, x)
            T[i] = pin.updateFramePlacement(self.model, self.data, self.model.getFrameId(frame)).homogeneous
        return T

    def com(self, q: Array) -> Array:
        return np.array([pin.centerOfMass(self.model, self.data, x) for x in self.convert.q_to(q)])


@pytest.fixture(scope="module")
def peer(body: Any) -> PinocchioModel:
    return PinocchioModel(body.robot)


def reachable(body: Any, n: int, seed: int) -> Array:
    """Make postures (n, nq) on both feet that the robot can take."""
    rng = np.random.default_rng(seed)
    robot = body.robot
    size = np.r_[np.zeros(6), np.full(robot.nv - 6, 0.4)]
    desired = robot.integrate(body.q, size * rng.normal(size=(n, robot.nv)))
    desired = np.clip(desired, robot.limits.lower, robot.limits.upper)
    made = kd.ik.WholeBody(robot, [*body.stance(), kd.tasks.PostureTask(desired)]).solve(body.q)
    assert made.success.all()
    return made.q


def assert_there(T: Array, wanted: Array, tolerance: float = 1e-6) -> None:
    assert (np.linalg.norm(T[..., :3, 3] - wanted[..., :3, 3], axis=-1) <= tolerance).all()
    turned = np.linalg.norm(T[..., :3, :3] - wanted[..., :3, :3], axis=(-1, -2)) / np.sqrt(2)
    assert (turned <= tolerance).all()


def assert_within(robot: Robot, q: Array) -> None:
    assert (q >= robot.limits.lower - 1e-8).all() and (q <= robot.limits.upper + 1e-8).all()
    np.testing.assert_allclose(np.linalg.norm(q[..., 3:7], axis=-1), 1.0, rtol=0, atol=1e-12)


def gaze_angle(T: Array, target: Array) -> Array:
    """Measure the angle between the frame's x axis and the direction to the target."""
    direction = target - T[..., :3, 3]
    return np.asarray(
        np.arctan2(np.linalg.norm(np.cross(T[..., :3, 0], direction), axis=-1), (T[..., :3, 0] * direction).sum(-1))
    )


def test_random_reachable_postures_are_reached_by_pinocchios_kinematics(body: Any, peer: PinocchioModel) -> None:
    robot = body.robot
    goal = reachable(body, GOALS, 0)
    hands = {hand: kd.kinematics.pose(robot, goal, hand) for hand in body.hands}
    com = kd.kinematics.com(robot, goal)
    T_head = kd.kinematics.pose(robot, goal, body.head)
    seen = T_head[:, :3, 3] + 2.0 * T_head[:, :3, 0]
    tasks = [
        *body.stance(),
        *(kd.tasks.FrameTask(hand, T) for hand, T in hands.items()),
        kd.tasks.ComTask(com, weights=(1, 1, 0)),
        kd.tasks.GazeTask(body.head, seen),
        kd.tasks.PostureTask(body.q),
    ]
    result = kd.ik.WholeBody(robot, tasks).solve(body.q)
    assert result.success.mean() >= 0.98
    np.testing.assert_array_equal(result.success, result.status == "solved")
    assert_within(robot, result.q)
    q = result.q[result.success]
    for hand, T in hands.items():
        assert_there(peer.poses(q, hand), T[result.success])
    for foot in body.feet:
        assert_there(peer.poses(q, foot), np.broadcast_to(body.pose(foot), (len(q), 4, 4)))
    assert (np.linalg.norm(peer.com(q)[:, :2] - com[result.success, :2], axis=-1) <= 1e-6).all()
    assert (gaze_angle(peer.poses(q, body.head), seen[result.success]) <= 1e-6).all()


def test_both_hands_reach_forward_while_the_feet_stay_and_the_head_looks_at_a_hand(
    body: Any, peer: PinocchioModel
) -> None:
    robot = body.robot
    goal = reachable(body, 1, 7)[0]
    targets = [kd.kinematics.pose(robot, goal, hand) for hand in body.hands]
    limit = kd.limits.ComLimit(body.polygon())
    T_head = kd.kinematics.pose(robot, goal, body.head)
    seen = T_head[:3, 3] + 0.5 * T_head[:3, 0]
    tasks = [
        *body.stance(),
        *(kd.tasks.FrameTask(hand, T) for hand, T in zip(body.hands, targets, strict=True)),
        kd.tasks.GazeTask(body.head, seen),
        kd.tasks.PostureTask(body.q),
    ]
    result = kd.ik.WholeBody(robot, tasks, [kd.limits.PositionLimit(), limit]).solve(body.q)
    assert result.success and result.status == "solved" and not result.conflicts
    q = result.q[None]
    for frame, T in zip((*body.hands, *body.feet), (*targets, *map(body.pose, body.feet)), strict=True):
        assert_there(peer.poses(q, frame), T[None])
    assert limit.excess(peer.com(q)) <= 1e-6
    assert gaze_angle(peer.poses(q, body.head), seen) <= 1e-6
    assert_within(robot, result.q)


@pytest.mark.parametrize("far", [3.0, 10.0])
def test_unreachable_targets_are_never_a_success(body: Any, far: float) -> None:
    robot = body.robot
    rng = np.random.default_rng(3)
    direction = rng.normal(size=(30, 3)) * [1, 1, 0.3]
    T = np.repeat(body.pose(body.hands[0])[None], 30, axis=0)
    T[:, :3, 3] += far * direction / np.linalg.norm(direction, axis=-1, keepdims=True)
    tasks = [*body.stance(), kd.tasks.FrameTask(body.hands[0], T, name="hand"), kd.tasks.PostureTask(body.q)]
    result = kd.ik.WholeBody(robot, tasks).solve(body.q)
    assert not result.success.any()
    assert set(np.unique(result.status)) <= {"conflict", "budget"}
    assert np.isfinite(result.q).all()
    assert_within(robot, result.q)
    assert (result.errors["hand"][:, 0] < far).all()


def test_a_start_outside_limits_ends_inside(body: Any) -> None:
    robot = body.robot
    rng = np.random.default_rng(4)
    q0 = np.repeat(body.q[None], 20, axis=0)
    q0[:, 7:] += rng.normal(size=(20, robot.nq - 7))
    assert (q0 < robot.limits.lower).any()
    result = kd.ik.WholeBody(robot, [*body.stance(), kd.tasks.PostureTask(body.q)]).solve(q0)
    assert result.success.mean() >= 0.9  # knees that fold the wrong way can get stuck
    assert_within(robot, result.q)


def test_a_task_that_is_not_required_does_not_affect_success(person: Any) -> None:
    far = person.pose("left_palm", (3.0, 0.0, 0.0))
    for required, expected in ((True, False), (False, True)):
        hand = kd.tasks.FrameTask("left_palm", far, required=required)
        result = kd.ik.WholeBody(person.robot, [*person.stance(), hand]).solve(person.q)
        assert bool(result.success) is expected
        assert result.errors["left_palm"][0] > 1.0


@pytest.mark.parametrize("offset", [(0.1, 0.05, 0.15), (0.35, 0.1, 0.3)])
def test_custom_tasks_take_the_same_steps_as_native_ones(person: Any, offset: tuple[float, float, float]) -> None:
    robot = person.robot
    native = kd.tasks.FrameTask("left_palm", person.pose("left_palm", offset)[:3, 3])
    own = kd.tasks.CustomTask("own", lambda r, q: (native.error(r, q), native.jacobian(r, q)), rows=3)
    results = [
        kd.ik.WholeBody(robot, [*person.stance(), task, kd.tasks.PostureTask(person.q)]).solve(person.q)
        for task in (native, own)
    ]
    assert results[0].success and results[0].iterations == results[1].iterations < 100
    np.testing.assert_allclose(results[1].q, results[0].q, atol=1e-9)
