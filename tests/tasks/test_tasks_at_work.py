"""What each kind of task makes a robot do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot


@pytest.fixture(scope="module")
def robot() -> Robot:
    return kd.load("humanoid")


@pytest.fixture(scope="module")
def q(robot: Robot) -> Array:
    return robot.configuration("standing")


def shifted(robot: Robot, q: Array, frame: str, shift: tuple[float, float, float]) -> Array:
    T = np.array(kd.kinematics.pose(robot, q, frame))
    T[:3, 3] += shift
    return T


def soles() -> list[kd.tasks.Task]:
    return [kd.tasks.ContactTask("left_sole"), kd.tasks.ContactTask("right_sole")]


def seen_from(robot: Robot, q: Array, frame: str, other: str) -> Array:
    """Return the pose of a frame in another."""
    return np.linalg.inv(kd.kinematics.pose(robot, q, other)) @ kd.kinematics.pose(robot, q, frame)


def test_a_hand_keeps_its_pose_in_the_other_while_both_move(robot: Robot, q: Array) -> None:
    before = seen_from(robot, q, "left_palm", "right_palm")
    grip = kd.tasks.FrameTask("left_palm", relative_to="right_palm", priority=0, name="grip")
    move = kd.tasks.FrameTask("right_palm", shifted(robot, q, "right_palm", (0.1, 0.05, 0.1)), gain=0.02)
    solver = kd.ik.WholeBody(robot, [*soles(), grip, move, kd.tasks.PostureTask(q)])
    x = q
    for _ in range(100):
        x = solver.step(x, 0.01).q
        np.testing.assert_allclose(seen_from(robot, x, "left_palm", "right_palm"), before, rtol=0, atol=1e-3)
    x = solver.solve(x).q
    np.testing.assert_allclose(seen_from(robot, x, "left_palm", "right_palm"), before, rtol=0, atol=1e-6)
    np.testing.assert_allclose(kd.kinematics.pose(robot, x, "right_palm"), move.target, rtol=0, atol=1e-6)
    moved = kd.kinematics.pose(robot, x, "left_palm")[:3, 3] - kd.kinematics.pose(robot, q, "left_palm")[:3, 3]
    np.testing.assert_allclose(moved, [0.1, 0.05, 0.1], rtol=0, atol=1e-5)


def test_the_point_of_the_frame_reaches_the_target(robot: Robot, q: Array) -> None:
    point, target = np.array([0.1, 0.02, -0.03]), np.array([0.35, 0.25, 1.0])
    for task in (
        kd.tasks.FrameTask("left_palm", target, point=point),
        kd.tasks.FrameTask("left_palm", [[0, 0, 1, 0.35], [0, 1, 0, 0.25], [-1, 0, 0, 1.0], [0, 0, 0, 1]], point=point),
    ):
        result = kd.ik.WholeBody(robot, [*soles(), task, kd.tasks.PostureTask(q)]).solve(q)
        assert result.success
        T = kd.kinematics.pose(robot, result.q, "left_palm")
        np.testing.assert_allclose(T[:3, 3] + T[:3, :3] @ point, target, rtol=0, atol=1e-6)


def test_rows_without_weight_are_free(robot: Robot, q: Array) -> None:
    target = shifted(robot, q, "left_palm", (0.1, 0.1, 0.1))
    upright = kd.tasks.FrameTask("left_palm", target, weights=(0, 0, 0, 1, 1, 1), name="upright")
    height = kd.tasks.FrameTask("left_palm", target[:3, 3], weights=(0, 0, 1), name="height")
    result = kd.ik.WholeBody(robot, [*soles(), upright, height, kd.tasks.PostureTask(q)]).solve(q)
    assert result.success
    T = kd.kinematics.pose(robot, result.q, "left_palm")
    np.testing.assert_allclose(T[:3, :3], target[:3, :3], rtol=0, atol=2e-6)
    assert T[2, 3] == pytest.approx(target[2, 3], abs=1e-6)
    assert np.abs(T[:2, 3] - target[:2, 3]).max() > 0.01


def test_objects_with_as_matrix_are_accepted_as_targets(robot: Robot, q: Array) -> None:
    class Placed:
        def as_matrix(self) -> Array:
            return shifted(robot, q, "left_palm", (0.05, 0.0, 0.0))

    result = kd.ik.WholeBody(robot, [*soles(), kd.tasks.FrameTask("left_palm", Placed())]).solve(q)
    assert result.success


def test_arms_compensate_the_angular_momentum_of_a_leg(robot: Robot, q: Array) -> None:
    swing = kd.tasks.FrameTask("left_sole", shifted(robot, q, "left_sole", (0.3, 0.0, 0.2)), gain=0.1)
    still = kd.tasks.MomentumTask(weights=(0, 0, 0, 1, 1, 1), priority=0)
    solver = kd.ik.WholeBody(robot, [still, swing], [kd.limits.PositionLimit()])
    without = kd.ik.WholeBody(robot, [swing], [kd.limits.PositionLimit()]).step(q, 0.01)
    assert np.abs(kd.centroidal.momentum(robot, q, without.v)[3:]).max() > 0.1
    x = q
    for _ in range(30):
        step = solver.step(x, 0.01)
        np.testing.assert_allclose(kd.centroidal.momentum(robot, x, step.v)[3:], 0.0, rtol=0, atol=1e-7)
        x = step.q
    assert swing.missing(robot, x)[0] < 0.3 * swing.missing(robot, q)[0]


def test_a_desired_momentum_is_reached_whatever_the_step(robot: Robot, q: Array) -> None:
    wanted = np.array([10.0, -5.0, 3.0, 1.0, 2.0, -1.0])
    for dt in (0.001, 0.1):
        v = kd.ik.WholeBody(robot, [kd.tasks.MomentumTask(wanted)], [], damping=0.0).step(q, dt).v
        np.testing.assert_allclose(kd.centroidal.momentum(robot, q, v), wanted, rtol=1e-6)


def test_a_posture_by_joint_moves_those_joints_alone(robot: Robot, q: Array) -> None:
    goal = q.copy()
    elbow, knee = robot.joint("left_elbow"), robot.joint("right_knee")
    goal[elbow.q] += 0.3
    goal[knee.q] += 0.2
    task = kd.tasks.PostureTask(goal, weights={"left_elbow": 2.0, "right_knee": 0.0})
    step = kd.ik.WholeBody(robot, [task], []).step(q, 1.0)
    expected = np.zeros(robot.nv)
    expected[elbow.v] = 0.3
    np.testing.assert_allclose(step.v, expected, rtol=0, atol=0.01)
    assert set(np.flatnonzero(step.v)) == set(range(*elbow.v.indices(robot.nv)))


def test_a_posture_does_not_affect_a_floating_base_by_default(robot: Robot, q: Array) -> None:
    goal = robot.integrate(q, np.r_[0.1, 0.2, 0.3, 0.1, 0.2, 0.3, np.full(robot.nv - 6, 0.05)])
    alone = kd.ik.WholeBody(robot, [kd.tasks.PostureTask(goal)], []).step(q, 1.0)
    np.testing.assert_array_equal(alone.v[:6], 0.0)
    told = kd.ik.WholeBody(robot, [kd.tasks.PostureTask(goal, weights=np.ones(robot.nv))], []).solve(q)
    np.testing.assert_allclose(robot.difference(told.q, goal), 0.0, rtol=0, atol=1e-6)


def test_two_postures_of_one_level_meet_in_between(robot: Robot, q: Array) -> None:
    goals = [q.copy(), q.copy()]
    goals[0][7:] += 0.1
    goals[1][7:] -= 0.1
    tasks = [
        kd.tasks.PostureTask(goal, name=str(k), weights=w)
        for k, (goal, w) in enumerate(zip(goals, (1, 2), strict=True))
    ]
    result = kd.ik.WholeBody(robot, tasks, []).solve(q)
    np.testing.assert_allclose(result.q[7:], q[7:] - 0.06, rtol=0, atol=1e-6)


def look(robot: Robot, q: Array, target: Array, axis: Array) -> float:
    """Measure the angle [rad] between an axis of the head and the direction to the target."""
    T = kd.kinematics.pose(robot, q, "head")
    direction, axis = target - T[:3, 3], T[:3, :3] @ (axis / np.linalg.norm(axis))
    return float(np.arctan2(np.linalg.norm(np.cross(axis, direction)), axis @ direction))


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (1.0, 1.0, -1.0)])
def test_a_gaze_ends_on_its_target_wherever_it_is(axis: tuple[float, float, float]) -> None:
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    rng = np.random.default_rng(0)
    for direction in (*rng.normal(size=(10, 3)), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)):
        target = kd.kinematics.pose(robot, q, "head")[:3, 3] + 2 * np.asarray(direction)
        result = kd.ik.WholeBody(
            robot, [kd.tasks.GazeTask("head", target, axis=axis), kd.tasks.PostureTask(q)], []
        ).solve(q)
        assert result.success
        assert look(robot, result.q, target, np.array(axis)) <= 1e-6


def test_a_gaze_straight_away_from_its_target_turns_round(robot: Robot, q: Array) -> None:
    T = kd.kinematics.pose(robot, q, "head")
    behind = T[:3, 3] - 3 * T[:3, 0]
    task = kd.tasks.GazeTask("head", behind)
    assert look(robot, q, behind, np.array([1.0, 0.0, 0.0])) == pytest.approx(np.pi)
    assert np.linalg.norm(task.error(robot, q)) == pytest.approx(np.pi)
    solver = kd.ik.WholeBody(robot, [task], [kd.limits.VelocityLimit(2.0)])
    angles, x = [], q
    for _ in range(200):
        x = solver.step(x, 0.02).q
        angles.append(look(robot, x, behind, np.array([1.0, 0.0, 0.0])))
    assert angles[0] < np.pi and angles[-1] < 1e-6
    assert (np.diff(angles) <= 1e-9).all()


def test_a_gaze_at_zero_distance_has_no_direction(robot: Robot, q: Array) -> None:
    eye = kd.kinematics.pose(robot, q, "head")[:3, 3]
    task = kd.tasks.GazeTask("head", eye)
    np.testing.assert_array_equal(task.error(robot, q), 0.0)
    step = kd.ik.WholeBody(robot, [task], []).step(q, 0.01)
    np.testing.assert_array_equal(step.v, 0.0)
    result = kd.ik.WholeBody(robot, [*soles(), task]).solve(q)
    assert np.isfinite(result.q).all()


def test_turning_about_the_line_of_sight_is_free(robot: Robot, q: Array) -> None:
    T = kd.kinematics.pose(robot, q, "head")
    rolled = T.copy()
    rolled[:3, :3] = T[:3, :3] @ Rotation.from_rotvec([0.3, 0.0, 0.0]).as_matrix()
    tasks = [kd.tasks.GazeTask("head", T[:3, 3] + T[:3, 0], priority=0), kd.tasks.FrameTask("head", rolled)]
    assert kd.ik.WholeBody(robot, tasks, []).solve(q).success


def test_changes_between_steps_take_effect_at_once(robot: Robot, q: Array) -> None:
    hand = kd.tasks.FrameTask("left_palm", shifted(robot, q, "left_palm", (0.1, 0.0, 0.0))[:3, 3])
    solver = kd.ik.WholeBody(robot, [hand], [], damping=0.0)
    J = hand.jacobian(robot, q)

    def displacement() -> Array:
        return np.asarray(J @ solver.step(q, 1.0).v)

    np.testing.assert_allclose(displacement(), [0.1, 0.0, 0.0], rtol=0, atol=1e-9)
    hand.target = shifted(robot, q, "left_palm", (0.0, 0.2, 0.0))[:3, 3]
    np.testing.assert_allclose(displacement(), [0.0, 0.2, 0.0], rtol=0, atol=1e-9)
    hand.gain = 0.5
    np.testing.assert_allclose(displacement(), [0.0, 0.1, 0.0], rtol=0, atol=1e-9)
    hand.weights = (1.0, 0.0, 1.0)
    assert np.abs(displacement()).max() < 1e-9
    hand.weights = (0.0, 1.0, 0.0)
    assert displacement()[1] == pytest.approx(0.1, abs=1e-8)


def test_a_contact_stays_where_it_was_first_seen_until_reset(robot: Robot, q: Array) -> None:
    foot = kd.tasks.ContactTask("left_sole")
    solver = kd.ik.WholeBody(robot, [foot])
    solver.step(q, 0.01)
    np.testing.assert_allclose(foot.target, kd.kinematics.pose(robot, q, "left_sole"), rtol=0, atol=1e-12)
    elsewhere = q.copy()
    elsewhere[0] += 0.1
    assert solver.step(elsewhere, 0.01).errors[0, 0] == pytest.approx(0.1)
    solver.reset()
    assert solver.step(elsewhere, 0.01).errors[0, 0] == pytest.approx(0.0, abs=1e-12)
    given = kd.tasks.ContactTask("left_sole", kd.kinematics.pose(robot, q, "left_sole"))
    solver = kd.ik.WholeBody(robot, [given])
    solver.reset()
    assert solver.step(elsewhere, 0.01).errors[0, 0] == pytest.approx(0.1)
