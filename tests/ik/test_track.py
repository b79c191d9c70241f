"""Tracking of paths of poses: one continuous branch within limits, or the sample and the reason of a break."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.model.robot import Robot

from .tracked_paths import PANDA, PUMA, UR5, assert_honest, circle, least_norm, line, load, narrowed

ARMS = [
    ("panda", "panda_link8", PANDA),
    ("ur5", "wrist_3_link", UR5),
    ("puma560", "link6", PUMA),
    ("planar3r", "link3", np.array([0.3, 1.6, 0.5])),
    ("scara", "link4", np.array([0.3, 0.9, 0.1, 0.5])),
    ("humanoid", "left_hand", None),
]


def bent(robot: Robot) -> Array:
    """Make a posture of the humanoid with its left arm in the middle of its ranges."""
    q = robot.configuration("standing")
    for name in robot.description.chains["left_arm"]:
        place = robot.joint(name).q
        q[place] = 0.5 * (robot.limits.lower[place] + robot.limits.upper[place])
    return q


def turning(robot: Robot, frame: str, q0: Array, samples: int = 100) -> Array:
    T = np.tile(kd.kinematics.pose(robot, q0, frame), (samples, 1, 1))
    T[:, :3, :3] = kd.spatial.rot_z(0.5 * np.sin(np.linspace(0.0, 6.0, samples))) @ T[:, :3, :3]
    return T


@pytest.mark.parametrize("make", [circle, turning])
@pytest.mark.parametrize(("name", "frame", "q0"), ARMS)
def test_arms_follow_circles_and_rotations_from_q0(name: str, frame: str, q0: Array | None, make: Any) -> None:
    robot = load(name)
    start = bent(robot) if q0 is None else q0
    T = make(robot, frame, start)
    path = kd.ik.track(robot, T, frame, start)
    assert_honest(robot, path, frame, T)
    assert path.success and path.residual.max() < 1e-9
    np.testing.assert_array_equal(path.q[0], start)


@pytest.mark.parametrize(("name", "frame", "q0"), ARMS)
def test_without_a_start_one_is_found(name: str, frame: str, q0: Array | None) -> None:
    robot = load(name)
    T = circle(robot, frame, bent(robot) if q0 is None else q0, samples=40)
    path = kd.ik.track(robot, T, frame)
    assert_honest(robot, path, frame, T)
    assert path.success and path.tried > 1


@pytest.mark.parametrize(("name", "frame", "q0"), ARMS[1:3])
def test_every_sample_is_on_the_branch_of_the_previous_one(name: str, frame: str, q0: Array) -> None:
    robot = load(name)
    T = circle(robot, frame, q0, radius=0.1, samples=300)
    path = kd.ik.track(robot, T, frame, q0)
    assert path.success
    found = kd.ik.analytic(robot, T[1:], frame, q0=path.q[:-1])
    np.testing.assert_allclose(found.nearest(path.q[:-1]), path.q[1:], atol=1e-7)
    # the sign of det J tells branches apart on either side of a singularity
    assert len(np.unique(np.sign(np.linalg.det(kd.kinematics.jacobian(robot, path.q, frame))))) == 1


@pytest.mark.parametrize(("name", "frame"), [("puma560", "link6"), ("ur5", "wrist_3_link"), ("scara", "link4")])
def test_a_joint_path_away_from_singularities_is_recovered(name: str, frame: str) -> None:
    robot = load(name)
    ends = 0.5 * robot.random((60, 2), seed=3)
    s = np.linspace(0.0, 1.0, 60)[:, None]
    q = ends[:, :1] * (1 - s) + ends[:, 1:] * s
    smallest = np.linalg.svd(kd.kinematics.jacobian(robot, q, frame), compute_uv=False)[..., robot.nv - 1]
    q = q[smallest.min(axis=1) > 0.02]
    assert len(q) >= 3
    path = kd.ik.track(robot, kd.kinematics.pose(robot, q, frame), frame, q[:, 0])
    assert path.success.all()
    np.testing.assert_allclose(path.q, q, atol=1e-7)


def test_from_elsewhere_the_path_starts_with_the_nearest_configuration() -> None:
    robot = load("puma560")
    T = circle(robot, "link6", PUMA)
    away = PUMA + [0.2, -0.1, 0.1, 0.2, 0.1, -0.3]
    path = kd.ik.track(robot, T, "link6", away)
    np.testing.assert_allclose(path.q[0], kd.ik.analytic(robot, T[0], "link6", q0=away).nearest(away), atol=1e-8)
    np.testing.assert_allclose(path.q, kd.ik.track(robot, T, "link6", PUMA).q, atol=1e-8)


def test_halving_the_sampling_distance_gives_the_same_path() -> None:
    robot = load("ur5")
    fine = circle(robot, "wrist_3_link", UR5, radius=0.15, samples=161)
    whole, half = (kd.ik.track(robot, fine[::step], "wrist_3_link", UR5).q for step in (1, 2))
    np.testing.assert_allclose(half, whole[::2], atol=1e-8)
    arm = load("panda")  # redundant: the same up to the size of steps in the null space
    fine = circle(arm, "panda_link8", PANDA, samples=401)
    whole, half = (kd.ik.track(arm, fine[::step], "panda_link8", PANDA).q for step in (1, 2))
    np.testing.assert_allclose(half, whole[::2], atol=0.02)


def test_an_unreachable_path_breaks_at_the_workspace_boundary() -> None:
    robot = kd.load("planar2r")
    T = np.tile(np.eye(4), (200, 1, 1))
    T[:, 0, 3] = np.linspace(1.0, 2.5, 200)
    path = kd.ik.track(robot, T, "link2", [np.pi / 3, -2 * np.pi / 3], position_only=True)
    assert path.status == "unreachable" and abs(path.reached - np.count_nonzero(T[:, 0, 3] <= 2.0)) <= 1
    assert (path.q[: path.reached, 1] <= 0.0).all()  # the elbow stays on its side
    assert "no configuration" in str(path.reasons)


def test_a_branch_ends_in_a_singularity_where_two_closed_forms_vanish() -> None:
    robot, frame = load("ur5"), "wrist_3_link"
    T = line(robot, frame, UR5, [0.0, 0.8, 0.0], 150)
    starts = kd.ik.analytic(robot, T[0], frame).q
    path = kd.ik.track(robot, T, frame, starts)
    counts = kd.ik.analytic(robot, T, frame, limits=False).count
    ended = np.flatnonzero(~path.success)
    assert len(ended) == counts[0] - counts[-1] > 0 and (path.status[ended] == "singular").all()
    vanished = np.flatnonzero(np.diff(counts)) + 1  # samples that have fewer branches than the one before
    assert all(np.abs(vanished - reached).min() <= 1 for reached in path.reached[ended])


def test_an_unreachable_first_pose_leaves_an_empty_path() -> None:
    robot = load("panda")
    T = line(robot, "panda_link8", PANDA, [0.0, 0.0, 0.0], 5)
    T[:, 0, 3] += 3.0
    for q0 in (None, PANDA):
        path = kd.ik.track(robot, T, "panda_link8", q0)
        assert path.reached == 0 and path.status == "unreachable" and np.isnan(path.q).all() and path.motion == 0.0


def test_a_path_into_a_limit_names_the_joint_and_the_side() -> None:
    robot = load("scara")
    q0 = np.array([0.3, 0.9, 0.1, 0.5])
    lift = robot.joint("joint3").q
    down = line(robot, "link4", q0, [0.0, 0.0, -1.0], 101)
    up = line(robot, "link4", q0, [0.0, 0.0, 1.0], 101)
    path = kd.ik.track(robot, np.stack([down, up]), "link4", q0)
    assert (path.status == "limits").all() and (path.joint == "joint3").all()
    assert sorted(path.side) == ["lower", "upper"]
    stroke = {"lower": 0.1 - robot.limits.lower[lift], "upper": robot.limits.upper[lift] - 0.1}
    for side, reached in zip(path.side, path.reached, strict=True):
        assert abs(reached - 1 - stroke[side][0] / 0.01) <= 1
    assert "joint 'joint3' is at its" in path.reasons[0]


def test_without_limits_the_path_continues() -> None:
    robot = load("scara")
    q0 = np.array([0.3, 0.9, 0.1, 0.5])
    path = kd.ik.track(robot, line(robot, "link4", q0, [0.0, 0.0, -1.0]), "link4", q0, limits=False)
    assert path.success and (path.q[-1] > robot.limits.upper).any() | (path.q[-1] < robot.limits.lower).any()


def test_a_start_beyond_limits_is_reported() -> None:
    robot = load("puma560")
    q0 = PUMA + [0.0, 0.0, 0.0, 0.0, 2.0, 0.0]
    path = kd.ik.track(robot, line(robot, "link6", q0, [0.1, 0.0, 0.0]), "link6", q0)
    assert (path.reached, path.status, path.joint, path.side) == (0, "limits", "joint5", "upper")


@pytest.mark.parametrize(("name", "frame", "q0"), ARMS[1:3])
def test_the_smooth_path_through_the_wrist_singularity_is_taken(name: str, frame: str, q0: Array) -> None:
    robot = load(name)
    q = np.tile(q0, (101, 1))
    q[:, 4] = np.linspace(-0.4, 0.41, 101)  # the fifth joint straightens the wrist and goes on
    T = kd.kinematics.pose(robot, q, frame)
    path = kd.ik.track(robot, T, frame, q[0])
    assert_honest(robot, path, frame, T)
    np.testing.assert_allclose(path.q, q, atol=1e-5)
    assert path.crossed.any() and path.singular_value.min() < 0.01


def test_a_near_miss_of_the_wrist_singularity_breaks_or_turns_the_wrist() -> None:
    robot = load("puma560")
    q = np.tile([0.0, 0.8, -2.8, 0.0, 0.0, 0.5], (81, 1))
    q[:, 4] = np.linspace(-0.2, 0.2, 81)
    T = kd.kinematics.pose(robot, q, "link6")
    # A side step of the tool: the wrist must now pass its singularity at 0.02 rad.
    T[:, :3, :3] = T[:, :3, :3] @ kd.spatial.rot_x(0.02)
    start = kd.ik.analytic(robot, T[0], "link6", q0=q[0]).nearest(q[0])
    strict = kd.ik.track(robot, T, "link6", start, max_step=0.1)
    assert_honest(robot, strict, "link6", T, 0.1)
    assert strict.status == "singular" and strict.joint in ("joint4", "joint6")
    assert abs(int(strict.reached) - 40) < 12
    free = kd.ik.track(robot, T, "link6", start, max_step=np.inf, limits=False)
    assert free.success and np.ptp(free.q[:, 3]) > 2.0  # the branch goes on by half a turn of the fourth joint


def crossing_lines(robot: Robot, frame: str, seed: int, samples: int) -> Array:
    """Draw straight lines of joints (n, samples, nq) on which det J changes its sign; so there is a way for each."""
    ends = robot.random((24, 2), seed=seed) * np.minimum(1.0, np.pi / robot.limits.upper)
    q, fine = (ends[:, :1] + s[:, None] * (ends[:, 1:] - ends[:, :1]) for s in _shares(samples, 500))
    sign = np.sign(np.linalg.det(kd.kinematics.jacobian(robot, fine, frame)))
    return np.asarray(q[(np.diff(sign, axis=1) != 0).any(axis=1)])


def _shares(*samples: int) -> list[Array]:
    return [np.linspace(0.0, 1.0, n) for n in samples]


def assert_no_jump(robot: Robot, q: Array, T: Array, frame: str) -> None:
    """Verify each step by the frame halfway: near the screw from one sample to the next."""
    screw = kd.spatial.log(np.linalg.inv(T[:-1]) @ T[1:])
    halfway = kd.kinematics.pose(robot, robot.interpolate(q[:-1], q[1:], 0.5), frame)
    left = kd.spatial.log(np.linalg.inv(T[:-1] @ kd.spatial.exp(0.5 * screw)) @ halfway)
    assert (np.linalg.norm(left, axis=-1) <= 0.11 * np.linalg.norm(screw, axis=-1)).all()


@pytest.mark.parametrize(("name", "frame"), [("puma560", "link6"), ("ur5", "wrist_3_link")])
def test_straight_joint_paths_through_singularities_are_followed_to_the_end(name: str, frame: str) -> None:
    robot = load(name)
    fine = crossing_lines(robot, frame, 21, 49)[:14]
    T = kd.kinematics.pose(robot, fine, frame)
    coarse, halved = (kd.ik.track(robot, T[:, ::step], frame, fine[:, 0]) for step in (2, 1))
    searched = np.flatnonzero((coarse.tried > 1) & (halved.tried > 1) & coarse.success & halved.success)
    assert len(fine) == 14 and len(searched) >= 1
    for path, samples in ((coarse, T[:, ::2]), (halved, T)):
        assert path.success.mean() >= 0.95
        for i in searched:
            assert path.crossed[i].any() and path.residual[i].max() <= 1e-6
            assert (np.abs(np.diff(path.q[i], axis=0)) <= 0.5).all()
            assert (path.q[i] >= robot.limits.lower - 1e-9).all() and (path.q[i] <= robot.limits.upper + 1e-9).all()
            assert_no_jump(robot, path.q[i], samples[i], frame)
    # In a singularity one joint may turn a little against another; another way would be much farther off.
    np.testing.assert_allclose(halved.q[searched, ::2], coarse.q[searched], atol=0.01)


def test_without_a_start_full_turns_of_the_first_configuration_are_tried() -> None:
    robot = load("puma560")
    q = np.tile(PUMA, (90, 1))
    q[:, 5] = np.linspace(-4.5, 4.5, 90)  # almost all of the range of the last joint
    T = kd.kinematics.pose(robot, q, "link6")
    path = kd.ik.track(robot, T, "link6")
    assert_honest(robot, path, "link6", T)
    assert path.success and path.q[0, 5] < -np.pi


def test_without_a_closed_form_a_path_through_a_singularity_is_found_too() -> None:
    robot = load("scara")
    ends = robot.random((60, 2), seed=77)
    q = ends[:, :1] + np.linspace(0.0, 1.0, 40)[:, None] * (ends[:, 1:] - ends[:, :1])
    q = q[np.sign(q[:, 0, 1]) != np.sign(q[:, -1, 1])]  # the arm is stretched on the way
    path = kd.ik.track(robot, kd.kinematics.pose(robot, q, "link4"), "link4", q[:, 0])
    assert path.success.mean() >= 0.95 and (path.tried > 1).any()


def test_joints_that_do_not_move_the_frame_keep_their_position() -> None:
    robot, ends = load("puma560"), load("puma560").random((20, 2), seed=5)[[3, 16]]
    q = ends[:, :1] + np.linspace(0.0, 1.0, 60)[:, None] * (ends[:, 1:] - ends[:, :1])
    T = kd.kinematics.pose(robot, q, "link4")
    T[..., :3, :3] = kd.kinematics.pose(robot, q, "link6")[..., :3, :3]
    path = kd.ik.track(robot, T, "link4", q[:, 0], position_only=True)
    assert path.success.all() and (path.tried > 1).any()
    np.testing.assert_array_equal(path.q[..., 3:], np.broadcast_to(q[:, :1, 3:], path.q[..., 3:].shape))
    alone = kd.ik.track(robot, T[1], "link4", q[1, 0], position_only=True)
    np.testing.assert_allclose(alone.q, path.q[1], atol=1e-6)


@pytest.mark.parametrize("gap", [0.0, 1e-3])
def test_branches_switch_only_where_they_meet(gap: float) -> None:
    robot = narrowed(kd.load("planar2r"), 1, -1.2, 3.0)
    t = np.linspace(-0.5, 0.9, 160)  # the elbow would go from -1 to 1.8, or back to its limit
    reach = 2.0 * np.cos(np.sqrt(gap + t * t))
    T = np.tile(np.eye(4), (160, 1, 1))
    T[:, :2, 3] = reach[:, None] * np.stack([np.cos(t), np.sin(t)], axis=1)
    elbow = -2.0 * np.sqrt(gap + t[0] ** 2)
    path = kd.ik.track(robot, T, "link2", [t[0] - 0.5 * elbow, elbow], position_only=True)
    if gap == 0.0:
        assert path.success and (path.q[-1, 1] > 1.7) and path.crossed.sum() == 1
        return
    assert (path.status, path.joint, path.side) == ("limits", "joint2", "lower") and path.tried > 1
    assert path.reached == np.flatnonzero(-2.0 * np.sqrt(gap + t * t) < -1.2)[0]
    assert (path.q[: path.reached, 1] < 0.0).all()


def test_a_break_that_no_path_avoids_stays_after_the_search() -> None:
    robot = load("puma560")
    q = np.tile(PUMA, (80, 1))
    q[:, 0] = np.linspace(2.0, 3.5, 80)  # the whole arm turns past the limit of its first joint
    path = kd.ik.track(robot, kd.kinematics.pose(robot, q, "link6"), "link6", q[0])
    assert (path.status, path.joint, path.side) == ("limits", "joint1", "upper") and path.tried > 1
    assert path.reached == np.flatnonzero(q[:, 0] > robot.limits.upper[0])[0]
    np.testing.assert_allclose(path.q[: path.reached], q[: path.reached], atol=1e-8)
    far = kd.ik.track(robot, line(robot, "link6", PUMA, [1.5, 0.0, 0.0]), "link6", PUMA)
    assert far.status == "unreachable" and far.tried == 1  # there is nothing to search for


def test_a_path_that_pauses_before_a_singularity_crosses_it() -> None:
    robot = load("puma560")
    q = np.tile(PUMA, (70, 1))
    q[:, 4] = np.concatenate([np.linspace(-0.4, -0.01, 30), np.full(10, -0.01), np.linspace(0.003, 0.38, 30)])
    T = kd.kinematics.pose(robot, q, "link6")
    path = kd.ik.track(robot, T, "link6", q[0])
    assert path.success
    np.testing.assert_allclose(path.q, q, atol=1e-5)


def test_a_redundant_arm_passes_a_limit_by_moving_in_its_null_space() -> None:
    robot, frame = load("panda"), "panda_link8"
    q0 = PANDA.copy()
    turns = np.linspace(0.0, 2.2, 120)
    T = np.tile(kd.kinematics.pose(robot, q0, frame), (120, 1, 1))
    T = np.array([kd.spatial.pose([0, 0, 0], kd.spatial.rot_z(a)) for a in turns]) @ T
    q0[0] = 0.0
    narrow = narrowed(robot, 0, -1.0, 1.0)
    least = least_norm(narrow, T, frame, q0)
    assert least[:, 0].max() > 1.0  # the smallest motion breaks the limit
    path = kd.ik.track(narrow, T, frame, q0)
    assert_honest(narrow, path, frame, T)
    assert path.success
