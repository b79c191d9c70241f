"""Validators: what is wrong is named with how far; a no is certain; poses are found without the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.description.types import Description, Joint, JointKind, Link, Mimic
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.kinematics import validation
from kinodyn.model.chain import chain_pose
from kinodyn.model.robot import Robot

PANDA, TOOL = kd.load("panda"), "panda_hand_tcp"
Q = PANDA.random(200, seed=1)
ARM = kd.from_dh([kd.DH(a=1.0), kd.DH(a=0.4)])


def at(*p: float) -> Array:
    return kd.spatial.pose(p)


def mixed() -> Robot:
    """A tree of every kind of joint with turned frames, references and a follower of a follower."""
    rng = np.random.default_rng(7)
    kinds: tuple[JointKind, ...] = ("revolute", "prismatic", "planar", "ball", "continuous", "floating", "fixed")
    joints: list[Joint] = []
    for i, kind in enumerate((*kinds, "revolute", "prismatic")):
        T = kd.spatial.pose(rng.normal(size=3), kd.spatial.exp3(rng.normal(size=3)))
        axis = rng.normal(size=3)
        mimic = {7: Mimic("j0", -0.5, 0.2), 8: Mimic("j7", 2.0, -0.1)}.get(i)
        limits = {"lower": -1.0, "upper": 1.5} if kind in ("revolute", "prismatic") else {}
        reference = 0.3 if kind in ("revolute", "prismatic") and mimic is None else 0.0
        axis /= np.linalg.norm(axis)
        joints.append(Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", T, axis, reference, mimic=mimic, **limits))
    return Robot(Description("mixed", tuple(Link(f"l{i}") for i in range(10)), tuple(joints)))


def test_configurations_within_limits_are_reported_as_such() -> None:
    report = validation.within_limits(PANDA, Q.reshape(20, 10, 7))
    assert report and report.ok.shape == (20, 10) and report.violations == () and str(report) == "within limits"
    np.testing.assert_array_equal(report.excess, 0.0)
    assert validation.within_limits(PANDA, [PANDA.limits.lower, PANDA.limits.upper])


def test_violations_are_listed_worst_first_with_amount_and_index() -> None:
    q = np.array(Q[:6]).reshape(2, 3, 7)
    q[1, 2, 3] = PANDA.limits.upper[3] + 0.25
    q[0, 1, 5] = PANDA.limits.lower[5] - 0.5
    report = validation.within_limits(PANDA, q)
    assert not report
    assert report.ok.tolist() == [[True, False, True], [True, True, False]]
    worst, other = report.violations
    assert (worst.joint, worst.state, other.joint, other.state) == ("panda_joint6", (0, 1), "panda_joint4", (1, 2))
    assert worst.excess == pytest.approx(0.5) and other.excess == pytest.approx(0.25)
    assert report.excess[0, 1, 5] == pytest.approx(0.5) and np.count_nonzero(report.excess) == 2
    assert "joint 'panda_joint6' at state [0, 1] is at -0.5175, 0.5 below its lower limit -0.0175" in str(report)
    assert "joint 'panda_joint4' at state [1, 2] is at 0.1802, 0.25 above its upper limit -0.0698" in str(report)


def test_violations_within_the_tolerance_are_accepted() -> None:
    q = PANDA.limits.upper + 1e-9
    assert not validation.within_limits(PANDA, q)
    assert validation.within_limits(PANDA, q, tolerance=2e-9)


def test_joints_without_limits_never_violate_them() -> None:
    assert validation.within_limits(kd.load("planar2r"), [1e6, -1e6])
    humanoid = kd.load("humanoid")
    q = humanoid.random()
    q[:3] = 1e4
    assert validation.within_limits(humanoid, q)


def test_every_reached_pose_is_within_the_reach_bounds() -> None:
    for robot in (PANDA, ARM, kd.load("scara"), kd.load("ur5"), kd.load("puma560")):
        frame = robot.frame_names[-1]
        report = validation.within_reach(robot, kd.kinematics.pose(robot, robot.random(500, seed=2), frame), frame)
        assert report and report.possible.shape == (500,) and report.excess.max() == 0.0
        assert "perhaps within reach" in str(report)


def test_the_bounds_of_the_two_link_arm_are_its_ring() -> None:
    report = validation.within_reach(ARM, [at(1.41, 0, 0), at(0, 1.4, 0), at(0, -0.6, 0), at(0.5, 0, 0)], "link2")
    assert report.possible.tolist() == [False, True, True, False]
    assert (report.min_reach, report.max_reach) == pytest.approx((0.6, 1.4))
    np.testing.assert_allclose(report.excess, [0.01, 0.0, 0.0, 0.1], atol=1e-12)
    assert not report and "2 of 4 out of reach, by up to 0.1 m" in str(report)


def test_a_slide_lengthens_the_chain_by_its_stroke() -> None:
    """A hinge, a slide from 0.2 to 0.7 m, and 0.1 m of tool across it."""
    joints = (
        Joint("turn", "revolute", "base", "arm", at(0.0, 0.0, 1.0)),
        Joint("slide", "prismatic", "arm", "rod", axis=np.array([1.0, 0.0, 0.0]), lower=0.2, upper=0.7),
        Joint("weld", "fixed", "rod", "tool", at(0.0, 0.1, 0.0)),
    )
    robot = Robot(Description("polar", tuple(Link(n) for n in ("base", "arm", "rod", "tool")), joints))
    report = validation.within_reach(robot, at(0.0, 0.0, 1.0), "tool")
    assert (report.min_reach, report.max_reach) == pytest.approx((0.1, 0.8))
    np.testing.assert_array_equal(report.centre, [0.0, 0.0, 1.0])
    assert not report and report.excess == pytest.approx(0.1)


def test_fixed_joints_count_at_their_position() -> None:
    """Three links of 1 m with the middle joint held at a right angle: the first two are one part of sqrt(2) m."""
    robot = kd.load("planar3r")
    options: dict[str, Any] = {"joints": ["joint1", "joint3"], "q0": [0.0, np.pi / 2, 0.0]}
    report = validation.within_reach(robot, at(2.5, 0.0, 0.0), "link3", **options)
    assert (report.min_reach, report.max_reach) == pytest.approx((np.sqrt(2) - 1, np.sqrt(2) + 1))
    assert not report
    assert validation.within_reach(robot, at(2.5, 0.0, 0.0), "link3")


def test_the_reach_of_a_floating_robot_is_measured_from_its_base() -> None:
    robot = kd.load("humanoid")
    q = robot.neutral()
    far = at(50.0, 0.0, 1.0)
    assert not validation.within_reach(robot, far, "left_hand")
    q[:3] = 50.0, 0.0, 0.9
    assert validation.within_reach(robot, far, "left_hand", q0=q)


def test_independently_multiplied_poses_agree_with_the_core() -> None:
    for robot in (PANDA, kd.load("humanoid"), kd.load("scara"), mixed()):
        q = robot.random((3, 4), seed=5)
        for frame in robot.frame_names:
            np.testing.assert_allclose(chain_pose(robot, q, frame), kd.kinematics.pose(robot, q, frame), atol=2e-14)


def test_a_solution_reaches_the_pose_it_was_made_from() -> None:
    report = validation.reaches(
        PANDA, Q, kd.kinematics.pose(PANDA, Q, TOOL), TOOL, tolerance=1e-14, angle_tolerance=1e-7
    )
    assert report and report.ok.shape == (200,)
    assert "reached within" in str(report)


def test_residuals_are_measured_in_metres_and_radians() -> None:
    T = kd.kinematics.pose(PANDA, Q[:3], TOOL) @ kd.spatial.pose([0.03, 0.0, 0.04], kd.spatial.exp3([0.0, 0.2, 0.0]))
    report = validation.reaches(PANDA, Q[:3], T, TOOL)
    np.testing.assert_allclose(report.position, 0.05, atol=1e-13)
    np.testing.assert_allclose(report.angle, 0.2, atol=1e-13)
    assert not report and "3 of 3 miss the target; at most 0.05 m and 0.2 rad off" in str(report)
    for tolerance, turn, ok in ((0.051, 0.21, True), (0.049, 0.21, False), (0.051, 0.19, False), (0.06, np.inf, True)):
        found = validation.reaches(PANDA, Q[:3], T, TOOL, tolerance=tolerance, angle_tolerance=turn)
        assert bool(found) is ok


def test_residuals_are_accurate_down_to_rounding() -> None:
    T = kd.kinematics.pose(PANDA, Q[0], TOOL) @ kd.spatial.exp([1e-10, 0, 0, 0, 0, 1e-9])
    report = validation.reaches(PANDA, Q[0], T, TOOL)
    assert (
        report and report.position == pytest.approx(1e-10, rel=1e-3) and report.angle == pytest.approx(1e-9, rel=1e-3)
    )


def test_configurations_and_targets_broadcast() -> None:
    T = kd.kinematics.pose(PANDA, Q[:5], TOOL)
    report = validation.reaches(PANDA, Q[:5, None], T, TOOL)
    np.testing.assert_array_equal(report.ok, np.eye(5, dtype=bool))
    for i in range(5):
        alone = validation.reaches(PANDA, Q[i], T[2], TOOL)
        assert alone.position == pytest.approx(report.position[i, 2], abs=1e-15)
        assert alone.angle == pytest.approx(report.angle[i, 2], abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: validation.within_limits(PANDA, np.zeros(6)), r"must have shape \(..., 7\), got \(6,\)"),
        (lambda: validation.within_limits(PANDA, np.full(7, np.nan)), "not finite"),
        (lambda: validation.within_limits(PANDA, Q, tolerance=-1.0), "tolerance must be a nonnegative number"),
        (lambda: validation.within_limits(PANDA, Q, tolerance=np.nan), "tolerance must be finite numbers"),
        (lambda: validation.within_limits("panda", Q), "robot must be a kinodyn.Robot"),  # type: ignore[arg-type]
        (lambda: validation.within_reach(PANDA, np.eye(3), TOOL), r"T must have shape \(..., 4, 4\)"),
        (lambda: validation.within_reach(PANDA, np.eye(4), TOOL, q0=Q), "q0 must be one configuration"),
        (lambda: validation.within_reach(PANDA, np.eye(4), "panda_link0"), "none of the given joints moves frame"),
        (lambda: validation.reaches(PANDA, Q, np.zeros((4, 4)), TOOL), "T: the last row"),
        (lambda: validation.reaches(PANDA, Q[:3], np.tile(np.eye(4), (2, 1, 1)), TOOL), r"are not compatible"),
    ],
)
def test_invalid_arguments_are_rejected(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_unknown_frames_are_rejected() -> None:
    for call in (
        lambda: validation.within_reach(PANDA, np.eye(4), "hand"),
        lambda: validation.reaches(PANDA, Q, np.eye(4), "hand"),
    ):
        with pytest.raises(UnknownNameError, match="unknown frame 'hand'"):
            call()
