"""Laws of poses, velocities and accelerations, on every robot of the zoo, nine states of each."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot
from kinodyn.spatial import adjoint

from ..laws import Close, Draw, N, Rate, frames, times, transposed

K = kd.kinematics


def test_the_local_velocity_is_the_derivative_of_the_pose(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate
) -> None:
    q, v, _, _ = states(robot, N)
    for frame in frames(robot):
        T, T_dot = K.pose(robot, q, frame), rate(lambda t, f=frame: K.pose(robot, robot.integrate(q, t * v), f))
        twist, R = np.linalg.inv(T) @ T_dot, T[:, :3, :3]
        angular = np.stack([twist[:, 2, 1], twist[:, 0, 2], twist[:, 1, 0]], axis=-1)
        assert_close(K.velocity(robot, q, v, frame, reference="local"), np.hstack([twist[:, :3, 3], angular]), 1e-9)
        aligned = np.hstack([times(R, twist[:, :3, 3]), times(R, angular)])
        assert_close(K.velocity(robot, q, v, frame), aligned, 1e-9)
        moved = np.hstack([aligned[:, :3] + np.cross(T[:, :3, 3], aligned[:, 3:]), aligned[:, 3:]])
        assert_close(K.velocity(robot, q, v, frame, reference="world"), moved, 1e-9)


@pytest.mark.parametrize("reference", ["local_world_aligned", "local", "world"])
def test_velocity_is_jacobian_times_v(
    robot: Robot, states: Draw, assert_close: Close, reference: kd.kinematics.Reference
):
    q, v, _, _ = states(robot, N)
    for frame in frames(robot):
        J = K.jacobian(robot, q, frame, reference=reference)
        assert_close(times(J, v), K.velocity(robot, q, v, frame, reference=reference), 1e-12)


@pytest.mark.parametrize("reference", ["local_world_aligned", "local", "world"])
def test_jacobian_dot_is_the_rate_of_the_jacobian(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate, reference: kd.kinematics.Reference
) -> None:
    q, v, _, _ = states(robot, N)
    for frame in frames(robot):
        J_dot = rate(lambda t, f=frame: K.jacobian(robot, robot.integrate(q, t * v), f, reference=reference))
        assert_close(K.jacobian_dot(robot, q, v, frame, reference=reference), J_dot, 1e-8)


@pytest.mark.parametrize(
    ("reference", "kind"), [("local_world_aligned", "classical"), ("local", "spatial"), ("world", "spatial")]
)
def test_acceleration_is_jacobian_times_a_and_its_rate_times_v(
    robot: Robot, states: Draw, assert_close: Close, reference: kd.kinematics.Reference, kind: str
) -> None:
    q, v, a, _ = states(robot, N)
    for frame in frames(robot):
        J = K.jacobian(robot, q, frame, reference=reference)
        J_dot = K.jacobian_dot(robot, q, v, frame, reference=reference)
        found = K.acceleration(robot, q, v, a, frame, reference=reference, kind=kind)  # type: ignore[arg-type]
        assert_close(found, times(J, a) + times(J_dot, v))


def test_accelerations_of_all_references_and_kinds_describe_one_motion(
    robot: Robot, states: Draw, assert_close: Close
) -> None:
    q, v, a, _ = states(robot, N)
    for frame in frames(robot):
        T = K.pose(robot, q, frame)
        R = T[:, :3, :3]
        twist = K.velocity(robot, q, v, frame)
        classical, spatial = (
            K.acceleration(robot, q, v, a, frame),
            K.acceleration(robot, q, v, a, frame, kind="spatial"),
        )
        assert_close(classical[:, :3] - np.cross(twist[:, 3:], twist[:, :3]), spatial[:, :3])
        assert_close(classical[:, 3:], spatial[:, 3:])
        turned = np.hstack(
            [times(R, part) for part in np.hsplit(K.acceleration(robot, q, v, a, frame, reference="local"), 2)]
        )
        assert_close(turned, classical)
        carried = times(adjoint(T), K.acceleration(robot, q, v, a, frame, reference="local", kind="spatial"))
        assert_close(K.acceleration(robot, q, v, a, frame, reference="world", kind="spatial"), carried)


def test_the_com_jacobian_is_the_derivative_of_the_com(
    robot: Robot, states: Draw, assert_close: Close, rate: Rate
) -> None:
    q, v, a, _ = states(robot, N)
    velocity = rate(lambda t: K.com(robot, robot.integrate(q, t * v)))
    assert_close(times(K.com_jacobian(robot, q), v), velocity, 1e-9)
    assert_close(K.com_velocity(robot, q, v), velocity, 1e-9)
    acceleration = rate(lambda t: K.com_velocity(robot, robot.integrate(q, t * v), v + t * a))
    assert_close(K.com_acceleration(robot, q, v, a), acceleration, 1e-8)


def test_the_yoshikawa_measure_is_the_root_of_det_j_jt(robot: Robot, states: Draw, assert_close: Close) -> None:
    q, _, _, _ = states(robot, N)
    J = K.jacobian(robot, q, frames(robot)[0])
    for part, rows in {"all": J, "linear": J[:, :3], "angular": J[:, 3:]}.items():
        squared = np.linalg.det(rows @ transposed(rows))
        found = K.manipulability(robot, q, frames(robot)[0], part=part)  # type: ignore[arg-type]
        assert_close(found**2, squared, 1e-9)


def test_aligned_is_short_for_local_world_aligned(robot: Robot, states: Draw) -> None:
    q, v, a, _ = states(robot, N)
    frame = frames(robot)[0]
    np.testing.assert_array_equal(K.jacobian(robot, q, frame, reference="aligned"), K.jacobian(robot, q, frame))
    np.testing.assert_array_equal(
        K.acceleration(robot, q, v, a, frame, reference="aligned"), K.acceleration(robot, q, v, a, frame)
    )


def test_frames_are_those_of_this_call_whichever_sequence_gave_them_before() -> None:
    """A tuple of names is looked up once; lists may change, and equal tuples of another robot mean other frames."""
    robot, other = kd.load("panda"), kd.load("ur5")
    q = robot.random(seed=0)
    every = kd.kinematics.poses(robot, q)
    first, second = robot.frame_names[2], robot.frame_names[-1]
    constant, changing = (first, second), [first, second]
    for names in (constant, (second, first), constant, changing, (first,), (), constant):
        expected = every[[robot.frame_names.index(name) for name in names]]
        np.testing.assert_array_equal(kd.kinematics.poses(robot, q, frames=names), expected)
        np.testing.assert_array_equal(kd.kinematics.poses(robot, q[None], frames=names), expected[None])
    changing.reverse()
    np.testing.assert_array_equal(kd.kinematics.poses(robot, q, frames=changing), every[[-1, 2]])
    with pytest.raises(kd.errors.UnknownNameError):
        kd.kinematics.poses(other, other.neutral(), frames=constant)
