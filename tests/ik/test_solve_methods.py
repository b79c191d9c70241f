"""Every method by name: its first step is that of the textbook, and its status is right on every kind of robot."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import DescriptionWarning, InputError
from kinodyn.model.robot import Robot

CORE = ("lm", "dls", "pinv", "newton", "transpose")
METHODS = ("auto", *CORE, "optimise")
STATUSES = {"solved", "limits", "unreachable", "singular", "budget"}


def scara() -> Robot:
    rows = [
        kd.DH(a=0.4, lower=-2.0, upper=2.0),
        kd.DH(a=0.3, alpha=np.pi, lower=-2.5, upper=2.5),
        kd.DH(joint="prismatic", lower=0.0, upper=0.3),
        kd.DH(lower=-3.0, upper=3.0),
    ]
    return kd.from_dh(rows)


def load(name: str) -> tuple[Robot, str]:
    if name == "scara":
        robot = scara()
        return robot, robot.frame_names[-1]
    if name == "one joint":
        robot = kd.from_dh([kd.DH(a=0.5, lower=-1.0, upper=1.0)])
        return robot, robot.frame_names[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        if name == "free humanoid":
            return kd.load("humanoid"), "left_hand"
        robot = kd.load(name, base="fixed")
    frames = {"ur5": "wrist_3_link", "panda": "panda_link8", "pr2": "r_gripper_tool_frame", "puma560": "link6"}
    followers = [joint for joint in robot.joints if joint.mimic]
    return robot, frames[name] if name in frames else followers[-1].child


ROBOTS = ("ur5", "panda", "free humanoid", "scara", "romeo", "pr2", "one joint")  # romeo: fingers that follow


def nearby(robot: Robot, count: int, size: float) -> tuple[Array, Array]:
    """Draw starts well within limits, and configurations a little away from them."""
    low, high = robot.sampling_range()
    start = robot.random(count, seed=4)
    single = np.isfinite(robot.limits.upper)
    start[:, single] = (0.5 * (low + high) + 0.6 * (start - 0.5 * (low + high)))[:, single]
    q = robot.integrate(start, size * np.random.default_rng(5).normal(size=(count, robot.nv)))
    return start, np.clip(q, robot.limits.lower, robot.limits.upper)


def error_of(T: Array, T_wanted: Array) -> Array:
    """The error that the core makes small: metres, and 2 sin(angle / 2) about the axis."""
    turn = Rotation.from_matrix(T_wanted[:3, :3] @ T[:3, :3].T).as_quat()
    return np.concatenate([T_wanted[:3, 3] - T[:3, 3], 2 * turn[:3] * np.sign(turn[3])])


def step_of_the_book(method: str, J: Array, e: Array) -> Array:
    if method == "transpose":
        g = J.T @ e
        return np.asarray(g * (g @ g) / ((J @ g) @ (J @ g)))
    if method == "lm":
        return np.asarray(np.linalg.solve(J.T @ J + 0.05 * (e @ e) * np.eye(J.shape[1]), J.T @ e))
    s = np.linalg.svd(J, compute_uv=False)
    if method == "dls":  # with the book's product of singular values over the greatest
        damping = (0.01 * s[0] * max(0.0, 1 - 100 * np.prod(s / s[0]))) ** 2
        damped = np.concatenate([J, np.sqrt(damping) * np.eye(J.shape[1])])
        return np.asarray(np.linalg.pinv(damped) @ np.concatenate([e, np.zeros(J.shape[1])]))
    return np.asarray(np.linalg.pinv(J, rcond=1e-3 if method == "pinv" else 1e-15) @ e)


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("method", CORE)
@pytest.mark.parametrize("name", ["ur5", "panda", "scara"])
def test_the_first_step_is_that_of_the_textbook(name: str, method: str) -> None:
    robot, frame = load(name)
    start, q = nearby(robot, 20, 0.02)
    if name == "scara":
        T = kd.kinematics.pose(robot, q, frame)
        options: dict[str, Any] = {"weights": [1, 1, 1, 0, 0, 1]}
        rows = [0, 1, 2, 5]
    else:
        T, options, rows = kd.kinematics.pose(robot, q, frame), {}, list(range(6))
    result = kd.ik.solve(
        robot, {frame: T}, start, method=method, iterations=1, restarts=0, limits=False, tolerance=1e-12, **options
    )
    for k in range(20):
        J = kd.kinematics.jacobian(robot, start[k], frame)[rows]
        e = error_of(kd.kinematics.pose(robot, start[k], frame), T[k])[rows]
        step = step_of_the_book(method, J, e)
        step /= max(1.0, np.abs(step).max())  # no joint goes further than a radian or metre at once
        np.testing.assert_allclose(result.q[k] - start[k], step, rtol=1e-6, atol=1e-9)
        assert result.iterations[k] == 1


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize("method", CORE)
def test_a_single_target_has_the_result_of_a_batch(method: str) -> None:
    robot, frame = load("panda")
    start, q = nearby(robot, 30, 0.1)
    T = kd.kinematics.pose(robot, q, frame)
    options: dict[str, Any] = {"method": method, "restarts": 0, "tolerance": 1e-3}
    many = kd.ik.solve(robot, {frame: T}, start, **options)
    assert many.success.mean() > 0.8
    for k in many.success.nonzero()[0]:
        alone = kd.ik.solve(robot, {frame: T[k]}, start[k], **options)
        np.testing.assert_allclose(alone.q, many.q[k], atol=1e-6)
        assert abs(alone.iterations - many.iterations[k]) <= 1  # rounding may decide about the last one


@pytest.mark.parametrize("method", CORE)
def test_overdetermined_targets_get_the_least_squares_step(method: str) -> None:
    robot, frame = load("ur5")
    frames = ("forearm_link", frame)
    start, q = nearby(robot, 20, 0.02)
    targets = {name: kd.kinematics.pose(robot, q, name) for name in frames}
    targets[frame][:, :3, 3] += 0.01  # which the forearm does not follow
    once: dict[str, Any] = {"iterations": 1, "restarts": 0, "limits": False, "tolerance": 1e-12}
    result = kd.ik.solve(robot, targets, start, method=method, **once)
    for k in range(20):
        J = np.concatenate([kd.kinematics.jacobian(robot, start[k], name) for name in frames])
        poses = {name: kd.kinematics.pose(robot, start[k], name) for name in frames}
        e = np.concatenate([error_of(poses[name], targets[name][k]) for name in frames])
        step = step_of_the_book(method, J, e)
        np.testing.assert_allclose(result.q[k] - start[k], step / max(1.0, np.abs(step).max()), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", CORE)
def test_a_very_distant_target_causes_no_overflow(method: str) -> None:
    robot = kd.load("planar3r")
    T = kd.kinematics.pose(robot, robot.random(4, seed=0), "link3")
    T[:, :3, 3] *= 1e40
    result = kd.ik.solve(robot, {"link3": T}, method=method, restarts=2)
    assert np.isfinite(result.q).all() and not result.success.any()


def test_damping_keeps_steps_short_where_the_arm_is_singular() -> None:
    robot, frame = load("puma560")
    q0 = np.array([0.1, 0.8, -1.2, 0.4, 1e-7, 0.3])  # the axes of the wrist all but in line
    q = q0 + [0.01, -0.01, 0.02, 0.03, 0.02, -0.01]
    T = kd.kinematics.pose(robot, q, frame)
    once = {"iterations": 1, "restarts": 0, "limits": False}
    moved = {m: np.abs(kd.ik.solve(robot, {frame: T}, q0, method=m, **once).q - q0).max() for m in ("pinv", "dls")}  # type: ignore[arg-type]
    assert moved["dls"] < 0.2 and moved["pinv"] < 0.2
    exactly = q0 * [1, 1, 1, 1, 0, 1]
    stopped = kd.ik.solve(robot, {frame: T}, exactly, method="newton", restarts=0)
    assert stopped.status == "singular" and stopped.iterations == 0
    np.testing.assert_array_equal(stopped.q, exactly)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ROBOTS)
def test_every_method_reaches_near_targets_on_every_kind_of_robot(name: str, method: str) -> None:
    robot, frame = load(name)
    start, q = nearby(robot, 4 if method == "optimise" else 40, 0.1)
    T = kd.kinematics.pose(robot, q, frame)
    tolerance = 1e-3 if method == "transpose" else 1e-6
    result = kd.ik.solve(robot, {frame: T}, start, method=method, tolerance=tolerance)  # type: ignore[arg-type]
    assert_true(robot, result, frame, T, tolerance)
    assert result.success.mean() >= (0.8 if method == "transpose" else 0.97)
    assert (result.iterations[result.success] > 0).all()


def assert_true(robot: Robot, result: kd.ik.IKResult, frame: str, T: Array, tolerance: float) -> None:
    found = kd.kinematics.pose(robot, result.q, frame)
    np.testing.assert_allclose(result.T_reached[frame], found, atol=1e-13)
    np.testing.assert_allclose(result.residual[..., 0], np.linalg.norm((found - T)[..., :3, 3], axis=-1), atol=1e-12)
    assert set(np.unique(result.status)) <= STATUSES
    np.testing.assert_array_equal(result.success, result.status == "solved")
    assert (result.residual[result.success] <= tolerance).all()
    assert (result.q >= robot.limits.lower - 1e-9).all() and (result.q <= robot.limits.upper + 1e-9).all()


@pytest.mark.parametrize("method", METHODS)
def test_a_failing_method_does_not_report_unreachable(method: str) -> None:
    """Whatever gives up, without restarts, on poses that can be reached: it is the budget or a singularity."""
    robot, frame = load("puma560")
    T = kd.kinematics.pose(robot, robot.random(5 if method == "optimise" else 200, seed=1), frame)
    result = kd.ik.solve(robot, {frame: T}, method=method, restarts=0, iterations=5)  # type: ignore[arg-type]
    assert_true(robot, result, frame, T, 1e-6)
    assert set(np.unique(result.status)) <= {"solved", "budget", "singular"}
    assert not result.success.all()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_reports_unreachable_targets(method: str) -> None:
    robot, frame = load("scara")
    T = np.tile(kd.kinematics.pose(robot, robot.neutral(), frame), (3, 1, 1))
    T[:, 0, 3] = [1.5, 2.0, 3.0]
    result = kd.ik.solve(robot, {frame: T}, method=method, restarts=4)  # type: ignore[arg-type]
    assert_true(robot, result, frame, T, 1e-6)
    assert set(np.unique(result.status)) <= {"unreachable", "singular", "budget"}
    assert (result.residual[:, 0] >= T[:, 0, 3] - 0.7 - 1e-9).all()
    if method in ("auto", "optimise"):
        np.testing.assert_allclose(result.T_reached[frame][:, 0, 3], 0.7, atol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_fixed_frame_is_solved_or_unreachable(method: str) -> None:
    robot, _ = load("scara")
    frame = robot.frame_names[0]
    T = np.tile(kd.kinematics.pose(robot, robot.neutral(), frame), (2, 1, 1))
    T[1, 0, 3] += 1.0
    result = kd.ik.solve(robot, {frame: T}, method=method, restarts=1)  # type: ignore[arg-type]
    assert list(result.status) in (["solved", "unreachable"], ["solved", "singular"])


@pytest.mark.parametrize("method", METHODS)
def test_targets_half_a_turn_away_are_solved(method: str) -> None:
    robot = kd.from_dh([kd.DH(a=0.5)])
    T = kd.kinematics.pose(robot, np.array([np.pi]), "link1")
    result = kd.ik.solve(robot, {"link1": T}, np.zeros(1), restarts=0, method=method, weights=[0, 0, 0, 1, 1, 1])  # type: ignore[arg-type]
    assert result.success and result.iterations > 0


def test_joints_outside_their_limits_return_within_them() -> None:
    robot, frame = load("panda")
    q = robot.random(20, seed=1)
    result = kd.ik.solve(robot, {frame: kd.kinematics.pose(robot, q, frame)}, q + 5.0)
    assert result.success.all()
    assert (result.q >= robot.limits.lower).all() and (result.q <= robot.limits.upper).all()
    humanoid = kd.load("humanoid", base="fixed")
    T = kd.kinematics.pose(humanoid, humanoid.random(seed=2), "left_hand")
    assert kd.ik.solve(humanoid, {"left_hand": T}, humanoid.neutral() + 4.0).success  # the legs stay, within limits


def test_no_attempt_starts_after_the_time_limit() -> None:
    robot, frame = load("panda")
    T = kd.kinematics.pose(robot, robot.random(4000, seed=1), frame)
    limited = kd.ik.solve(robot, {frame: T}, time_limit=1e-9)
    assert_true(robot, limited, frame, T, 1e-6)
    assert 0 < limited.success.sum() < 1000
    assert (limited.status[~limited.success] == "budget").all()
    assert (limited.iterations[1000:] == 0).all()
    unlimited = kd.ik.solve(robot, {frame: T}, time_limit=600.0)
    np.testing.assert_array_equal(unlimited.q, kd.ik.solve(robot, {frame: T}).q)


def test_weights_decide_how_conflicting_targets_share_the_error() -> None:
    robot = kd.load("planar2r")
    frame = robot.frame_names[-1]
    T = kd.kinematics.pose(robot, np.array([0.3, 0.8]), frame)
    T[:3, :3] = T[:3, :3] @ Rotation.from_euler("z", 0.5).as_matrix()  # two joints cannot have a place and an angle
    for method in ("auto", "optimise"):
        light, heavy = (
            kd.ik.solve(robot, {frame: T}, method=method, restarts=4, weights=[1, 1, 1, w, w, w])  # type: ignore[arg-type]
            for w in (0.1, 10.0)
        )
        assert heavy.residual[1] < 0.1 * light.residual[1]
        assert light.residual[0] < 0.1 * heavy.residual[0]
        assert {str(light.status), str(heavy.status)} == {"unreachable"}


def test_invalid_methods_and_budgets_are_rejected() -> None:
    robot, frame = load("ur5")
    T = np.eye(4)
    for method in ("LM", "gauss", None, 3):
        with pytest.raises(kd.InputError, match='method must be "auto", "lm", "dls", .* or "optimise", got'):
            kd.ik.solve(robot, {frame: T}, method=method)  # type: ignore[arg-type]
    for limit in (0.0, -1.0, np.nan, np.inf, "soon"):
        with pytest.raises(InputError, match="time_limit must be a (positive )?number"):
            kd.ik.solve(robot, {frame: T}, time_limit=limit)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="are not compatible"):
        kd.ik.solve(robot, {frame: np.tile(T, (3, 1, 1))}, np.zeros((2, 6)))
    chain = kd.from_dh([kd.DH(a=0.01)] * 128)
    with pytest.raises(InputError, match="targets must have at most 126 frames"):
        kd.ik.solve(chain, dict.fromkeys(chain.frame_names[-127:], T))
    q = chain.random(seed=0)
    targets = dict(zip(chain.frame_names[-126:], kd.kinematics.poses(chain, q)[-126:], strict=True))
    assert kd.ik.solve(chain, targets, q, restarts=0).success
    with pytest.raises(InputError, match="weights are given for 'elbow'"):
        kd.ik.solve(robot, {frame: T}, weights={"elbow": 1.0})
    for method in METHODS:
        assert kd.ik.solve(robot, {frame: np.empty((0, 4, 4))}, method=method).status.shape == (0,)  # type: ignore[arg-type]
