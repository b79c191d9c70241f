"""Tracking: joint ranges, breaks, free directions, batches, arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinodyn as kd
from kinodyn.errors import InputError, UnknownNameError

from .tracked_paths import PANDA, PUMA, UR5, assert_honest, circle, line, load


def test_continuous_joints_rotate_beyond_pi() -> None:
    robot = kd.load("planar3r")
    q0 = np.array([0.3, 0.5, 0.4])
    turns = np.array([kd.spatial.pose([0, 0, 0], kd.spatial.rot_z(a)) for a in np.linspace(0.0, 15.0, 150)])
    path = kd.ik.track(robot, turns @ kd.kinematics.pose(robot, q0, "link3"), "link3", q0)
    assert path.success
    np.testing.assert_allclose(path.q[-1], q0 + [15.0, 0.0, 0.0], atol=1e-8)


def test_a_range_of_more_than_a_turn_is_used_and_not_wrapped() -> None:
    robot = load("ur5")
    turns = np.array([kd.spatial.pose([0, 0, 0], kd.spatial.rot_z(a)) for a in np.linspace(0.0, 7.0, 141)])
    T = turns @ kd.kinematics.pose(robot, UR5, "wrist_3_link")
    path = kd.ik.track(robot, T, "wrist_3_link", UR5)
    assert (path.status, path.joint, path.side) == ("limits", "shoulder_pan_joint", "upper")
    np.testing.assert_allclose(path.q[: path.reached, 0], 0.3 + np.linspace(0.0, 7.0, 141)[: path.reached], atol=1e-8)
    assert path.q[path.reached - 1, 0] + 0.05 > 2 * np.pi


def test_a_step_beyond_max_step_is_reported_and_a_larger_max_step_allows_it() -> None:
    robot = load("ur5")
    T = circle(robot, "wrist_3_link", UR5, samples=12)
    strict = kd.ik.track(robot, T, "wrist_3_link", UR5, max_step=0.01)
    assert (strict.status, strict.reached) == ("step", 1) and strict.joint in robot.joint_names
    assert kd.ik.track(robot, T, "wrist_3_link", UR5, max_step=np.inf).success


def test_samples_that_are_a_branch_apart_break() -> None:
    robot = kd.load("planar3r")
    q = np.array([[0.2, 0.9, 0.3], [0.2, 0.9, 0.3], [2.9, -1.4, 0.9], [2.9, -1.4, 0.9]])
    path = kd.ik.track(robot, kd.kinematics.pose(robot, q, "link3"), "link3", q[0])
    assert path.reached == 2 and path.status in ("step", "singular")


def test_position_only_and_weights_leave_directions_free() -> None:
    robot = load("puma560")
    T = line(robot, "link6", PUMA, [0.1, 0.1, 0.1])
    T[:, :3, :3] = np.eye(3)
    path = kd.ik.track(robot, T, "link6", PUMA, position_only=True)
    assert path.success and (path.residual[:, 1] == 0.0).all()
    np.testing.assert_allclose(kd.kinematics.pose(robot, path.q, "link6")[:, :3, 3], T[:, :3, 3], atol=1e-9)
    T = line(robot, "link6", PUMA, [0.05, 0.05, 5.0])
    level = kd.ik.track(robot, T, "link6", PUMA, weights=[1, 1, 0, 1, 1, 0])
    assert level.success
    found = kd.kinematics.pose(robot, level.q, "link6")
    np.testing.assert_allclose(found[:, :2, 3], T[:, :2, 3], atol=1e-8)
    np.testing.assert_allclose(found[:, 2, :3], T[:, 2, :3], atol=1e-7)  # only turned about the world's z


def test_a_floating_base_moves_with_the_hand() -> None:
    robot = kd.load("humanoid")
    q0 = robot.configuration("standing")
    T = line(robot, "left_hand", q0, [3.0, 0.0, 0.0])
    path = kd.ik.track(robot, T, "left_hand", q0)
    assert path.success
    np.testing.assert_allclose(kd.kinematics.pose(robot, path.q, "left_hand"), T, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(path.q[:, 3:7], axis=-1), 1.0, atol=1e-9)


def test_a_batch_of_paths_agrees_with_single_paths() -> None:
    robot, frame = load("ur5"), "wrist_3_link"
    directions = [[0.2, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, -0.2], [2.0, 0.0, 0.0]]
    T = np.stack([line(robot, frame, UR5, direction, 30) for direction in directions]).reshape(2, 2, 30, 4, 4)
    path = kd.ik.track(robot, T, frame, UR5)
    assert path.q.shape == (2, 2, 30, 6) and path.success.shape == (2, 2) and path.residual.shape == (2, 2, 30, 2)
    for index in np.ndindex(2, 2):
        alone = kd.ik.track(robot, T[index], frame, UR5)
        np.testing.assert_allclose(path.q[index], alone.q, atol=1e-9)
        assert (path.status[index], path.reached[index]) == (alone.status, alone.reached)
    starts = np.tile(UR5, (3, 1, 1, 1))
    assert kd.ik.track(robot, T, frame, starts).q.shape == (3, 2, 2, 30, 6)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(["puma560", "ur5", "panda"]))
def test_steps_are_those_that_the_jacobian_predicts(seed: int, name: str) -> None:
    robot = load(name)
    frame = {"puma560": "link6", "ur5": "wrist_3_link", "panda": "panda_link8"}[name]
    rng = np.random.default_rng(seed)
    q0 = robot.random(seed=seed)
    T = line(robot, frame, q0, 0.3 * rng.normal(size=3), 150)
    path = kd.ik.track(robot, T, frame, q0, null_gain=0.0)
    assert_honest(robot, path, frame, T)
    n = int(path.reached)
    J = kd.kinematics.jacobian(robot, path.q[:n], frame)
    # A joint that stands at a limit does not help: the others alone must give the motion.
    held = np.minimum(path.q[:n] - robot.limits.lower, robot.limits.upper - path.q[:n]) < 1e-9
    held[:-1] |= held[1:]
    smallest = np.linalg.svd(J * ~held[:, None], compute_uv=False)[:, 5]
    regular = np.minimum(smallest[:-1], smallest[1:]) > 0.1
    if not regular.any() or path.tried > 1:
        return
    twist = kd.spatial.pose_error(T[: n - 1], T[1:n])[regular]
    moved = np.diff(path.q[:n], axis=0)[regular]
    seen = (J[:-1][regular] @ moved[..., None])[..., 0]
    length = np.linalg.norm(twist, axis=-1)
    assert (np.linalg.norm(moved, axis=-1) <= 2.0 * length / 0.1 + 1e-9).all()
    assert (np.linalg.norm(seen - twist, axis=-1) <= 0.5 * length + 1e-9).all()


@pytest.mark.parametrize(("name", "frame"), [("ur5", "wrist_3_link"), ("puma560", "link6")])
def test_screws_in_all_directions_end_with_a_correct_status(name: str, frame: str) -> None:
    robot, rng = load(name), np.random.default_rng(102)
    start = robot.random(16, seed=102)
    twist = rng.normal(size=(16, 1, 6)) * [0.4, 0.4, 0.4, 1.0, 1.0, 1.0] * np.linspace(0.0, 1.0, 54)[:, None]
    T = kd.kinematics.pose(robot, start, frame)[:, None] @ kd.spatial.exp(twist)
    path = kd.ik.track(robot, T, frame, start)
    for i in range(16):
        alone = kd.ik.track(robot, T[i], frame, start[i])
        assert_honest(robot, alone, frame, T[i])
        assert (path.status[i], path.reached[i]) == (alone.status, alone.reached)
        assert bool(alone.joint) == bool(alone.side) or alone.status in ("step", "singular")
    assert path.success.any() and not path.success.all()


def test_one_sample_is_a_path() -> None:
    robot = load("panda")
    path = kd.ik.track(robot, line(robot, "panda_link8", PANDA, [0, 0, 0], 1), "panda_link8", PANDA)
    assert path.success and path.q.shape == (1, 7) and path.motion == 0.0


def test_a_path_at_rest_is_followed() -> None:
    robot = load("panda")
    path = kd.ik.track(robot, line(robot, "panda_link8", PANDA, [0, 0, 0], 20), "panda_link8", PANDA)
    assert path.success
    np.testing.assert_allclose(path.q, np.tile(PANDA, (20, 1)), atol=1e-12)


def test_half_a_turn_between_two_samples_is_followed_in_between() -> None:
    robot = kd.load("planar3r")
    q = np.array([[0.3, 0.8, 0.5], [0.3, 0.8, 0.5 + np.pi]])
    path = kd.ik.track(robot, kd.kinematics.pose(robot, q, "link3"), "link3", q[0], max_step=np.inf)
    assert path.success
    np.testing.assert_allclose(np.abs(path.q[1] - path.q[0]), [0.0, 0.0, np.pi], atol=1e-8)  # either way round
    strict = kd.ik.track(robot, kd.kinematics.pose(robot, q, "link3"), "link3", q[0])
    assert (strict.status, strict.reached, strict.joint) == ("step", 1, "joint3")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"T_path": np.full((3, 4, 4), np.nan)}, InputError, "T_path"),
        ({"T_path": np.eye(4)}, InputError, "at least one pose"),
        ({"T_path": np.zeros((0, 4, 4))}, InputError, "at least one pose"),
        ({"T_path": np.zeros((3, 4, 4))}, InputError, "T_path"),
        ({"frame": "hand"}, UnknownNameError, "hand"),
        ({"frame": "panda_link0"}, InputError, "no joint moves"),
        ({"q0": np.zeros(6)}, InputError, "q"),
        ({"q0": np.full(7, np.nan)}, InputError, "q"),
        ({"q0": np.zeros((2, 7)), "T_path": np.tile(np.eye(4), (3, 5, 1, 1))}, InputError, r"are not compatible"),
        ({"max_step": 0.0}, InputError, "max_step"),
        ({"max_step": [1.0, 2.0]}, InputError, "max_step"),
        ({"max_step": np.nan}, InputError, "max_step"),
        ({"tolerance": -1.0}, InputError, "tolerance"),
        ({"null_gain": -1.0}, InputError, "null_gain"),
        ({"weights": [1, 1, 1]}, InputError, "weights"),
        ({"weights": [0, 0, 0, 1, 1, 1], "position_only": True}, InputError, "no direction"),
        ({"seed": -1}, InputError, "seed"),
        ({"robot": "panda"}, InputError, "robot"),
    ],
)
def test_invalid_arguments_raise(change: dict[str, Any], error: type[Exception], words: str) -> None:
    robot = load("panda")
    T = line(robot, "panda_link8", PANDA, [0.1, 0.0, 0.0], 3)
    arguments = {"robot": robot, "T_path": T, "frame": "panda_link8", "q0": PANDA} | change
    with pytest.raises(error, match=words):
        kd.ik.track(**arguments)


def test_the_plot_shows_joints_limits_and_the_break() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    robot = load("scara")
    q0 = np.array([0.3, 0.9, 0.1, 0.5])
    path = kd.ik.track(robot, line(robot, "link4", q0, [0.0, 0.05, -1.0])[None], "link4", q0)
    ax = path.plot(path=(0,))
    labels = ax.get_legend_handles_labels()[1]
    assert {"joint1", "joint2", "joint3", "limits"} <= set(labels) and ax.get_xlabel() == "sample"
    assert len(ax.lines) == 1 + 3 * (len(labels) - 1)  # each joint with two limits, and the break
    with pytest.raises(InputError, match="index of one path"):
        path.plot()
    matplotlib.pyplot.close(ax.figure)
