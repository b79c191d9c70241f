"""Arms and paths for the tests of tracking."""

from __future__ import annotations

import numpy as np

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

PANDA = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.8, 0.5])


PUMA = np.array([0.0, 0.8, -2.8, 0.1, 0.6, 0.5])


UR5 = np.array([0.3, -1.4, 1.5, -1.0, 1.0, 0.5])


def load(name: str) -> Robot:
    return kd.load(name, base="fixed")


def line(robot: Robot, frame: str, q0: Array, displacement: Array | list[float], samples: int = 100) -> Array:
    T = np.tile(kd.kinematics.pose(robot, q0, frame), (samples, 1, 1))
    T[:, :3, 3] += np.linspace(0.0, 1.0, samples)[:, None] * np.asarray(displacement)
    return T


def circle(robot: Robot, frame: str, q0: Array, radius: float = 0.06, samples: int = 100) -> Array:
    T = np.tile(kd.kinematics.pose(robot, q0, frame), (samples, 1, 1))
    angle = np.linspace(0.0, 2 * np.pi, samples)
    T[:, 0, 3] += radius * (np.cos(angle) - 1.0)
    T[:, 1, 3] += radius * np.sin(angle)
    return T


def assert_honest(robot: Robot, path: kd.ik.TrackResult, frame: str, T: Array, max_step: float = 0.5) -> None:
    """Verify without the follower: poses, limits, steps, and that what is not reached is not there."""
    n = int(path.reached)
    assert path.success == (n == len(T)) == (path.status == "solved") == (path.reasons == "")
    assert np.isfinite(path.q[:n]).all() and np.isnan(path.q[n:]).all() and np.isnan(path.residual[n:]).all()
    found = kd.kinematics.pose(robot, path.q[:n], frame)
    np.testing.assert_allclose(found, T[:n], atol=1e-6)
    np.testing.assert_allclose(
        path.residual[:n, 0], np.linalg.norm(found[:, :3, 3] - T[:n, :3, 3], axis=-1), atol=1e-12
    )
    assert (path.q[:n] >= robot.limits.lower - 1e-9).all() and (path.q[:n] <= robot.limits.upper + 1e-9).all()
    assert (np.abs(robot.difference(path.q[: n - 1], path.q[1:n])) <= max_step + 1e-12).all()


def narrowed(robot: Robot, i: int, lower: float, upper: float) -> Robot:
    """Make the robot anew with other limits of one joint."""
    from dataclasses import replace

    name = robot.joint_names[i]
    joints = tuple(
        replace(joint, kind="revolute", lower=lower, upper=upper) if joint.name == name else joint
        for joint in robot.description.joints
    )
    return Robot(replace(robot.description, joints=joints))


def least_norm(robot: Robot, T: Array, frame: str, q0: Array) -> Array:
    path = [q0]
    for pose in T[1:]:
        q = path[-1]
        for _ in range(6):
            error = kd.spatial.pose_error(kd.kinematics.pose(robot, q, frame), pose)
            q = q + kd.ik.velocity.least_norm(kd.kinematics.jacobian(robot, q, frame), error)
        path.append(q)
    return np.array(path)
