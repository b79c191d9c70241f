"""Tasks at the acceleration level: their errors decay like oscillators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

STEP = 1e-3


def along(robot: Robot, q: Array, v: Array, a: Array, h: float) -> Array:
    """Move for time h, well enough for second derivatives: in small steps of the exact velocity."""
    n = 64
    for k in range(n):
        t = (k + 0.5) * h / n
        q = robot.integrate(q, (v + t * a) * h / n)
    return q


def moved_pose(T: Array, velocity: Array, acceleration: Array, t: float) -> Array:
    """Move a pose for time t with the velocity of its origin and its angular velocity, in the axes it is given in."""
    turn = t * velocity[3:] + 0.5 * t * t * acceleration[3:]
    result = T.copy()
    result[:3, 3] += t * velocity[:3] + 0.5 * t * t * acceleration[:3]
    result[:3, :3] = Rotation.from_rotvec(turn).as_matrix() @ T[:3, :3]
    return result


def moved(robot: Robot, task: Any, start: Array, t: float) -> Array:
    """Move the target of a task for time t."""
    velocity, acceleration = task.velocity, task.acceleration
    if start.shape == (4, 4):
        return moved_pose(start, velocity, acceleration, t)
    if isinstance(task, kd.tasks.PostureTask):
        return along(robot, start, velocity, acceleration, t)
    return start + t * velocity + 0.5 * t * t * acceleration


MOVING: dict[str, Callable[[Robot, Array], Any]] = {
    "pose": lambda robot, T: kd.tasks.FrameTask("left_palm", T),
    "relative pose": lambda robot, T: kd.tasks.FrameTask(
        "left_palm", T, relative_to="right_thigh", point=(0.1, 0.0, 0.2)
    ),
    "position": lambda robot, T: kd.tasks.FrameTask("left_palm", T[:3, 3], point=(0.02, 0.03, 0.04)),
    "relative position": lambda robot, T: kd.tasks.FrameTask("left_palm", T[:3, 3], relative_to="torso"),
    "com": lambda robot, T: kd.tasks.ComTask([0.1, 0.2, 0.9]),
    "posture": lambda robot, T: kd.tasks.PostureTask(robot.random(seed=7), weights=np.ones(robot.nv)),
    "gaze": lambda robot, T: kd.tasks.GazeTask("head", T[:3, 3] + [1.0, 0.4, 0.2], axis=(1.0, 0.3, 0.0)),
}


@pytest.mark.parametrize("kind", MOVING)
def test_errors_decay_like_an_oscillator_while_robot_and_target_move(kind: str) -> None:
    robot = kd.load("humanoid")
    rng = np.random.default_rng(4)
    q = robot.integrate(robot.configuration("standing"), 0.2 * rng.normal(size=robot.nv))
    v = 0.5 * rng.normal(size=robot.nv)
    task = MOVING[kind](robot, moved_pose(kd.kinematics.pose(robot, q, "left_palm"), *rng.normal(size=(2, 6)), 0.3))
    size = robot.nv if kind == "posture" else 6 if "pose" in kind else 3
    task.velocity, task.acceleration = rng.normal(size=(2, size))
    task.frequency, task.damping_ratio = 5.0, 0.7
    result = kd.control.InverseDynamicsQP(robot, [task], limits=[]).solve(kd.State(robot, q, v))
    assert task.target is not None
    start, errors = task.target, []
    for t in (-2 * STEP, -STEP, 0.0, STEP, 2 * STEP):
        task.target = moved(robot, task, start, t)
        errors.append(task.error(robot, along(robot, q, v, result.a, t)))
    rate = (8 * (errors[3] - errors[1]) - (errors[4] - errors[0])) / (12 * STEP)
    second = (16 * (errors[3] + errors[1]) - 30 * errors[2] - errors[4] - errors[0]) / (12 * STEP**2)
    expected = result.errors[task.name] - 7.0 * rate - 25.0 * errors[2]
    np.testing.assert_allclose(second, expected, rtol=0, atol=2e-5 * (1 + np.abs(expected).max()))


def test_a_gaze_turns_at_the_desired_rate() -> None:
    robot = kd.load("panda")
    rng = np.random.default_rng(2)
    q, v = 0.5 * (robot.limits.lower + robot.limits.upper), 0.3 * rng.normal(size=7)
    target = np.array([0.6, 0.3, 0.1])
    task = kd.tasks.GazeTask("panda_hand_tcp", target, axis=(0, 0, 1), name="gaze")
    controller = kd.control.InverseDynamicsQP(robot, [task], limits=[], acceleration_weight=1e-6)
    dt, angles = 1e-3, []
    for _ in range(1500):
        tau = controller(0.0, kd.State(robot, q, v))
        v = v + dt * kd.dynamics.forward(robot, q, v, tau)
        q = q + dt * v
        angles.append(float(np.linalg.norm(task.error(robot, q))))
    # critically damped at 10 rad/s: gone after 1.5 s, without swinging through
    assert angles[-1] < 1e-3 * max(angles) and max(angles[500:]) < 0.1 * max(angles)


def test_a_custom_task_is_tracked_with_its_drift() -> None:
    robot = kd.load("panda")
    q, v = 0.5 * (robot.limits.lower + robot.limits.upper), np.full(7, 0.2)

    def height(robot: Robot, q: Array) -> tuple[Array, Array]:
        T = kd.kinematics.pose(robot, q, "panda_hand_tcp")
        return 0.5 - T[..., 2:3, 3], kd.kinematics.jacobian(robot, q, "panda_hand_tcp")[..., 2:3, :]

    own = kd.control.InverseDynamicsQP(robot, [kd.tasks.CustomTask("height", height, rows=1)], limits=[])
    frame = kd.tasks.FrameTask("panda_hand_tcp", [0.0, 0.0, 0.5], weights=(0, 0, 1), name="point")
    known = kd.control.InverseDynamicsQP(robot, [frame], limits=[])
    state = kd.State(robot, q, v)
    np.testing.assert_allclose(own.solve(state).a, known.solve(state).a, atol=1e-6)


def test_robots_with_every_joint_type_are_controlled(every_kind: Robot) -> None:
    rng = np.random.default_rng(3)
    q, v = every_kind.random(seed=4), rng.normal(size=every_kind.nv)
    task = kd.tasks.PostureTask(every_kind.random(seed=5), weights=np.ones(every_kind.nv))
    controller = kd.control.InverseDynamicsQP(every_kind, [task], limits=[kd.limits.TorqueLimit()])
    result = controller.solve(kd.State(every_kind, q, v))
    effort = kd.dynamics.inverse(every_kind, q, v, result.a)
    np.testing.assert_allclose(effort, result.tau, atol=1e-8 * np.abs(effort).max())
    free = every_kind.joint("j7").v
    np.testing.assert_array_equal(result.tau[free], 0.0)  # nothing drives what floats


def test_a_loop_stays_closed_and_carries_unactuated_loads() -> None:
    robot = kd.load("humanoid")
    q = robot.configuration("standing")
    T = [kd.kinematics.pose(robot, q, hand) for hand in ("left_palm", "right_palm")]
    bar = kd.contact.Loop("left_palm", "right_palm", T_other=np.linalg.inv(T[1]) @ T[0], name="bar")
    feet = [kd.contact.Contact(foot) for foot in ("left_sole", "right_sole")]
    reach = kd.tasks.FrameTask("left_palm", T[0] + np.eye(4)[0][:, None] * [0, 0, 0, 0.1])
    tasks: list[Any] = [reach, kd.tasks.PostureTask(q, weights=0.1)]
    limp = {name: 1e-3 for name in robot.joint_names if name.startswith(("right_shoulder", "right_elbow"))}
    limits = [kd.limits.PositionLimit(), kd.limits.VelocityLimit(), kd.limits.TorqueLimit(limp)]
    controller = kd.control.InverseDynamicsQP(robot, tasks, contacts=[*feet, bar], limits=limits)
    result = controller.solve(kd.State(robot, q))
    assert result.status == "solved"
    left, right = (kd.kinematics.acceleration(robot, q, 0 * result.a, result.a, h) for h in ("left_palm", "right_palm"))
    arm = T[0][:3, 3] - T[1][:3, 3]
    np.testing.assert_allclose(left[:3], right[:3] + np.cross(right[3:], arm), atol=1e-9)
    np.testing.assert_allclose(left[3:], right[3:], atol=1e-9)
    assert np.abs(left).max() > 0.5 and np.abs(result.forces["bar"]).max() > 1.0
    # on the left hand, in the axes of the place in the other, which are those of the left hand itself
    R = np.kron(np.eye(2), T[0][:3, :3])
    wrenches = {name: result.forces[name] for name in ("left_sole", "right_sole")}
    on_left = R @ result.forces["bar"]
    wrenches["left_palm"] = on_left
    wrenches["right_palm"] = -on_left - np.concatenate([np.zeros(3), np.cross(arm, on_left[:3])])
    effort = kd.dynamics.inverse(robot, q, 0 * result.a, result.a, wrenches)
    np.testing.assert_allclose(effort, result.tau, atol=1e-9 * 9.81 * robot.mass)
