"""Status of closed-form inverse kinematics: out of reach, at limits, singular, unsolvable, wrong arguments."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinodyn as kd
from kinodyn.ik import NoClosedFormError, analytic

from .branches import puma_with_offset_wrist


def test_two_links_have_both_elbows_and_the_nearest_can_be_chosen() -> None:
    robot = kd.load("planar2r")
    found = analytic(robot, [1.0, 1.0, 0.0], "link2")
    assert found.family == "planar 2R" and found.count == 2
    np.testing.assert_allclose(found.nearest([1.4, -1.0]), [np.pi / 2, -np.pi / 2], atol=1e-12)
    np.testing.assert_allclose(found.nearest([0.2, 1.0]), [0.0, np.pi / 2], atol=1e-12)


def test_two_links_out_of_reach_are_reported_or_clamped() -> None:
    robot = kd.load("planar2r")
    far = np.array([[3.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 4.0, 1.0]])
    found = analytic(robot, far, "link2")
    assert found.status.tolist() == ["unreachable", "solved", "unreachable"]
    assert np.isnan(found.q[0]).all() and "no configuration" in found.reasons[0]
    clamped = analytic(robot, far, "link2", clamp=True)
    assert clamped.status.tolist() == ["solved"] * 3 and clamped.clamped.tolist() == [True, False, True]
    assert clamped.count.tolist() == [1, 2, 1]  # stretched out, both elbows are one
    tips = kd.kinematics.pose(robot, clamped.nearest([0.0, 0.0]), "link2")[:, :3, 3]
    np.testing.assert_allclose(tips, [[2, 0, 0], [0, 1, 0], [0, 2, 0]], atol=1e-9)


def test_targets_inside_the_inner_radius_are_clamped_to_it() -> None:
    robot = kd.from_dh([kd.DH(a=1.0), kd.DH(a=0.4)])
    found = analytic(robot, [[0.3, 0.0, 0.0], [0.0, 0.0, 0.0]], robot.frame_names[-1], clamp=True)
    tips = kd.kinematics.pose(robot, found.nearest([0.0, 0.0]), robot.frame_names[-1])[:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(tips, axis=-1), 0.6, atol=1e-9)


def test_a_target_at_the_first_axis_of_equal_links_is_singular_and_the_joint_stays_at_q0() -> None:
    found = analytic(kd.load("planar2r"), [0.0, 0.0, 0.0], "link2", q0=[0.7, 3.0])
    assert found.status == "singular" and found.count == 1 and "free" in found.reasons[()]
    np.testing.assert_allclose(found.nearest([0.7, 3.0]), [0.7, np.pi], atol=1e-7)


@pytest.mark.parametrize("aligned", [0.0, np.pi])
@pytest.mark.parametrize("name", ["ur5", "puma560"])
def test_a_wrist_that_is_hardly_bent_is_reachable_at_the_angle_that_made_the_target(name: str, aligned: float) -> None:
    """The cosine of a bend of 1e-8 is 1: the bend is found from its sine."""
    robot = kd.load(name)
    frame, q = robot.frame_names[-1], robot.random(600, seed=1)
    bend = np.repeat([1e-9, 1e-8, 3e-8, 1e-7, 1e-6, 1e-5], 100)
    q[:, 4] = aligned + np.tile([-1.0, 1.0], 300) * bend
    found = analytic(robot, kd.kinematics.pose(robot, q, frame), frame, limits=False)
    assert (found.status == "solved").all() and found.residual[found.valid].max() <= 1e-9
    gap = found.q[..., 4] - q[:, None, 4]
    gap -= 2.0 * np.pi * np.rint(gap / (2.0 * np.pi))
    assert np.nanmin(np.abs(gap), axis=-1).max() < 1e-10


def test_a_straight_wrist_keeps_the_free_joint_and_is_solved() -> None:
    robot = kd.load("puma560")
    frame, q = robot.frame_names[-1], robot.random(1000, seed=2)
    q[:, 4] = 0.0
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame, q0=q)
    assert (found.status == "singular").all()
    gap = np.abs(found.nearest(q) - q).max(axis=-1)
    assert gap.max() < 1e-6
    assert found.residual[found.valid].max() < 1e-9


@pytest.mark.parametrize("name", ["planar2r", "planar3r", "puma560", "ur5", "ur5_robot", "panda"])
def test_right_angles_are_solved_and_reported_singular_where_a_joint_is_free(name: str) -> None:
    robot = kd.load(name)
    frame = "tool0" if name == "ur5_robot" else robot.frame_names[-1]
    turns = [0.0, np.pi / 2, np.pi] + ([-np.pi / 2] if robot.nq < 7 else [])
    q = np.array(list(itertools.product(turns, repeat=robot.nq)))
    T = kd.kinematics.pose(robot, q, frame)
    more = {"redundancy": q[:, 6:]} if robot.nq == 7 else {}
    found = analytic(robot, T, frame, limits=False, **more)
    assert np.isin(found.status, ["solved", "singular"]).all()
    assert found.residual[found.valid].max() < 1e-9
    if (
        robot.nq == 6
    ):  # with joint 5 at 0 or pi two axes of the puma's wrist are one line, and four of the ur5's parallel
        in_line = np.abs(np.sin(q[:, 4])) < 0.5
        np.testing.assert_array_equal(found.status == "singular", in_line)
    at_home = analytic(robot, T, frame, limits=False, q0=q, **more)
    gap = at_home.q - q[:, None]
    gap -= 2 * np.pi * np.rint(gap / (2 * np.pi))
    assert np.where(at_home.valid, np.abs(gap).max(axis=-1), np.inf).min(axis=-1).max() < 1e-6


@pytest.mark.parametrize("bend", [1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("name", ["puma560", "ur5"])
def test_a_nearly_singular_wrist_loses_no_solution(name: str, bend: float) -> None:
    robot = kd.load(name)
    frame, q = robot.frame_names[-1], robot.random(300, seed=3)
    q[:, 4] = bend
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame, q0=q)
    assert found.valid.any(axis=-1).all()
    assert (np.isin(found.status, ["solved", "singular"])).all()


@pytest.mark.parametrize("name", ["planar3r", "puma560", "ur5"])
def test_the_workspace_boundary_is_reached_and_beyond_it_is_not(name: str) -> None:
    robot = kd.load(name)
    frame, q = robot.frame_names[-1], robot.random(500, seed=4)
    # The puma's wrist stands 0.4318 m up and 0.0203 m out from its elbow at zero, where the upper arm points out.
    straight = {"planar3r": (1, 0.0), "puma560": (2, -np.arctan2(0.4318, 0.0203)), "ur5": (2, 0.0)}
    joint, angle = straight[name]
    q[:, joint] = angle
    T = kd.kinematics.pose(robot, q, frame)
    assert (analytic(robot, T, frame, limits=False).valid.any(axis=-1)).all()
    T[:, :3, 3] *= 5.0
    assert (analytic(robot, T, frame, limits=False).status == "unreachable").all()


def test_solutions_beyond_limits_report_the_joints_that_violate_them() -> None:
    robot = kd.load("puma560")
    frame = robot.frame_names[-1]
    q = np.array([3.0, 0.3, 0.2, 0.4, 0.5, 0.6])  # joint1 stops at 2.79
    T = kd.kinematics.pose(robot, q, frame)
    free = analytic(robot, T, frame, limits=False)
    held = analytic(robot, T, frame)
    assert free.count == 8 and held.count < 8
    assert (held.outside_limits.any(axis=-1) == ~held.valid).all()
    gap = np.abs(free.q - q).max(axis=-1)
    assert gap.min() < 1e-9 and not held.valid[np.argmin(gap)] and held.outside_limits[np.argmin(gap), 0]


def test_limits_that_no_solution_satisfies_are_reported_with_the_joint() -> None:
    robot = kd.from_dh([kd.DH(a=1.0, lower=-0.1, upper=0.1), kd.DH(a=1.0)])
    found = analytic(robot, [-1.0, 1.0, 0.0], robot.frame_names[-1])
    assert found.status == "limits" and not found.valid.any()
    assert "joint1" in found.reasons[()] and "joint2" not in found.reasons[()]
    assert np.isfinite(found.q).all()


def test_full_turns_bring_angles_into_limits_and_near_to_q0() -> None:
    table = [kd.DH(a=1.0, lower=3.0, upper=8.0), kd.DH(a=1.0)]
    robot = kd.from_dh(table)
    frame = robot.frame_names[-1]
    found = analytic(robot, [1.0, 1.0, 0.0], frame)
    assert found.count == 2 and ((found.q[:, 0] >= 3.0) & (found.q[:, 0] <= 8.0)).all()
    near = analytic(robot, [1.0, 1.0, 0.0], frame, q0=[7.0, 20.0])
    assert (np.abs(near.q[:, 1] - 20.0) <= np.pi).all()


def test_a_joint_exactly_at_its_limit_is_kept() -> None:
    robot = kd.load("puma560")
    frame, q = robot.frame_names[-1], robot.random(2000, seed=6)
    q[:1000, 0], q[1000:, 3] = robot.limits.upper[0], robot.limits.lower[3]
    found = analytic(robot, kd.kinematics.pose(robot, q, frame), frame)
    gap = found.q - q[:, None]
    gap -= 2 * np.pi * np.rint(gap / (2 * np.pi))
    assert np.where(found.valid, np.abs(gap).max(axis=-1), np.inf).min(axis=-1).max() < 1e-7
    assert (found.q[found.valid] <= robot.limits.upper).all() and (found.q[found.valid] >= robot.limits.lower).all()


@pytest.mark.parametrize("far", [1e3, 1e9, 1e60])
@pytest.mark.parametrize("name", ["planar2r", "planar3r", "puma560", "ur5", "panda"])
def test_distant_targets_are_unreachable_without_overflow(name: str, far: float) -> None:
    robot = kd.load(name)
    T = kd.spatial.pose([far, -far, far])
    more = {"redundancy": 0.2} if name == "panda" else {}
    found = analytic(robot, T, robot.frame_names[-1], **more)
    assert found.status == "unreachable" and np.isfinite(found.residual).all()


def test_a_robot_far_from_the_origin_is_solved_as_well() -> None:
    rows = [kd.DH(a=1.0), kd.DH(a=0.7), kd.DH(a=0.3)]
    robot = kd.from_dh(rows, base=kd.spatial.pose([500.0, -300.0, 200.0], kd.spatial.rot_x(0.4)))
    q = robot.random(1000, seed=1)
    found = analytic(robot, kd.kinematics.pose(robot, q, robot.frame_names[-1]), robot.frame_names[-1])
    assert (found.status == "solved").all()


def test_a_pose_out_of_the_plane_is_unreachable_for_three_links() -> None:
    T = kd.spatial.pose([1.0, 0.5, 0.0], kd.spatial.rot_x(0.3))
    assert analytic(kd.load("planar3r"), T, "link3").status == "unreachable"


def test_batch_axes_and_single_targets_agree() -> None:
    robot = kd.load("ur5")
    frame, q = robot.frame_names[-1], robot.random((2, 3), seed=9)
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame)
    assert found.q.shape == (2, 3, 8, 6) and found.valid.shape == (2, 3, 8) and found.status.shape == (2, 3)
    one = analytic(robot, T[1, 2], frame)
    np.testing.assert_allclose(one.q, found.q[1, 2], atol=1e-12)
    assert analytic(robot, np.empty((0, 4, 4)), frame).q.shape == (0, 8, 6)


def test_a_chain_without_closed_form_raises_with_the_reason() -> None:
    planar = kd.from_dh([kd.DH(a=0.3)] * 6)
    with pytest.raises(NoClosedFormError, match="axes 2, 3 and 4 are parallel, but so is one of their neighbours"):
        analytic(planar, np.eye(4), planar.frame_names[-1])
    wrist = [(0.0, np.pi / 2, 0.3, 0.0), (0.0, -np.pi / 2, 0.0, 0.0), (0.0, 0.0, 0.1, 0.0)]
    two_wrists = kd.from_dh(
        [kd.DH(*row) for row in [(0.0, np.pi / 2, 0.2, 0.0), (0.0, -np.pi / 2, 0.0, 0.0)] + wrist[:1] + wrist]
    )
    with pytest.raises(NoClosedFormError, match="intersect in a point, but"):
        analytic(two_wrists, np.eye(4), two_wrists.frame_names[-1])
    with pytest.raises(NoClosedFormError, match="joints 1 and 2 are not parallel: their angle is 57.3 degrees"):
        analytic(kd.from_dh([kd.DH(a=1.0, alpha=1.0), kd.DH(a=1.0)]), [1.0, 0.0, 0.0], "link2")


def test_unsupported_chains_are_rejected_with_an_alternative() -> None:
    scara = kd.load("scara")
    with pytest.raises(NoClosedFormError, match="'joint3' is prismatic"):
        analytic(scara, np.eye(4), "link4")
    humanoid = kd.load("humanoid")
    with pytest.raises(NoClosedFormError, match=r"8 revolute joints .*joints=\["):
        analytic(humanoid, np.eye(4), "left_hand")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"T": np.full((4, 4), np.nan)}, "NaN"),
        ({"T": np.eye(3)}, "shape"),
        ({"T": np.eye(4) * 2}, "last row"),
        ({"q0": np.zeros(5)}, r"q0 must have shape \(..., 6\)"),
        ({"redundancy": 0.3}, "seven joints"),
        ({"redundant_joint": "joint1"}, "seven joints"),
        ({"clamp": True}, "planar 2R"),
        ({"joints": "joint1"}, "sequence of joint names"),
        ({"frame": 99}, "frame must be a name or an index in frame_names, .*, got 99"),
        ({"frame": [0]}, "frame must be a name or an index"),
        ({"T": np.broadcast_to(np.eye(4), (3, 4, 4)), "q0": np.zeros((2, 6))}, r"are not compatible"),
    ],
)
def test_invalid_arguments_are_rejected(arguments: dict[str, object], words: str) -> None:
    robot = kd.load("puma560")
    given = {"T": np.eye(4), "frame": robot.frame_names[-1], **arguments}
    with pytest.raises(kd.InputError, match=words):
        analytic(robot, **given)  # type: ignore[arg-type]


def test_unknown_names_are_rejected() -> None:
    robot = kd.load("puma560")
    with pytest.raises(kd.UnknownNameError, match="frame"):
        analytic(robot, np.eye(4), "nowhere")
    with pytest.raises(kd.UnknownNameError, match="joint9"):
        analytic(robot, np.eye(4), robot.frame_names[-1], joints=["joint9"])


def test_seven_joints_need_a_redundancy_or_q0() -> None:
    robot = kd.load("panda")
    q = robot.random(seed=1)
    T = kd.kinematics.pose(robot, q, "panda_hand_tcp")
    with pytest.raises(kd.InputError, match="'panda_joint7'"):
        analytic(robot, T, "panda_hand_tcp")
    np.testing.assert_allclose(analytic(robot, T, "panda_hand_tcp", q0=q).nearest(q), q, atol=1e-7)
    found = analytic(robot, T, "panda_hand_tcp", redundancy=q[2], redundant_joint="panda_joint3")
    np.testing.assert_allclose(found.nearest(q), q, atol=1e-7)


def test_fixed_joints_must_not_differ_between_targets() -> None:
    robot = kd.load("puma560")
    q = robot.random(2, seed=1)
    with pytest.raises(kd.InputError, match="not solved for"):
        analytic(robot, np.eye(4), "link3", joints=["joint2", "joint3"], q0=q)


def rounded(name: str, digits: int) -> kd.Robot:
    """Round the angles of all joints, as files do that write 1.5708 for pi / 2."""
    description = kd.load(name).description
    joints = []
    for joint in description.joints:
        T = joint.T_parent_child.copy()
        angles = Rotation.from_matrix(T[:3, :3]).as_euler("xyz")
        T[:3, :3] = Rotation.from_euler("xyz", np.round(angles, digits)).as_matrix()
        joints.append(replace(joint, T_parent_child=T))
    return kd.Robot(replace(description, joints=tuple(joints)))


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"])
def test_poses_in_single_precision_are_reached(name: str) -> None:
    robot = kd.load(name)
    frame, q = robot.frame_names[-1], robot.random(50, seed=1)
    T = kd.kinematics.pose(robot, q, frame)
    found = kd.ik.analytic(robot, T.astype(np.float32), frame, q0=q, limits=False)
    assert (found.status != "unreachable").all()
    best = np.abs(kd.kinematics.pose(robot, found.nearest(q), frame) - T).max()
    assert best < 1e-6


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"])
def test_arms_whose_files_round_angles_are_solved_to_full_precision(name: str) -> None:
    robot = rounded(name, 4)
    frame, q = robot.frame_names[-1], robot.random(100, seed=2)
    T = kd.kinematics.pose(robot, q, frame)
    found = kd.ik.analytic(robot, T, frame, q0=q, limits=False)
    assert (found.status != "unreachable").all()
    np.testing.assert_allclose(kd.kinematics.pose(robot, found.nearest(q), frame), T, atol=1e-9)


def test_a_tolerance_accepts_axes_that_nearly_meet() -> None:
    robot = puma_with_offset_wrist()
    frame, q = robot.frame_names[-1], robot.random(50, seed=3)
    T = kd.kinematics.pose(robot, q, frame)
    assert kd.ik.analytic(robot, T, frame, q0=q).family == "6R of general geometry"
    found = kd.ik.analytic(robot, T, frame, q0=q, limits=False, tolerance=1e-4)
    assert (found.status != "unreachable").mean() > 0.95
    solved = found.status != "unreachable"
    np.testing.assert_allclose(kd.kinematics.pose(robot, found.nearest(q)[solved], frame), T[solved], atol=1e-9)


def singular_poses(name: str, joint: str | None) -> tuple[kd.Robot, np.ndarray]:
    """Sample configurations at which the arm is singular or stretched, some of them with an axis-aligned tool."""
    robot = kd.load(name)
    rng = np.random.default_rng(5)
    q = rng.uniform(np.maximum(robot.limits.lower, -3.0), np.minimum(robot.limits.upper, 3.0), (80, robot.nq))
    if name != "panda":
        q[40:] = np.round(q[40:] / (np.pi / 4)) * np.pi / 4
    if joint == "elbow of puma560":
        q[:, 2] = np.arctan2(-0.4318, 0.0203)  # the wrist farthest from the shoulder
    elif joint is not None:
        q[:, robot.joint(joint).q] = 0.0
    return robot, q


@pytest.mark.parametrize(
    ("name", "joint", "given"),
    [
        ("ur5", "wrist_2_joint", None),
        ("ur5", "elbow_joint", None),
        ("puma560", "joint5", None),
        ("puma560", "elbow of puma560", None),
        ("panda", "panda_joint2", "panda_joint2"),
        ("panda", "panda_joint5", "panda_joint4"),
        ("panda", "panda_joint5", "panda_joint6"),
        ("panda", "panda_joint2", "panda_joint7"),
    ],
)
def test_rounded_poses_at_singularities_are_reached_within_their_rounding(
    name: str, joint: str, given: str | None
) -> None:
    robot, q = singular_poses(name, joint)
    frame = robot.frame_names[-1]
    T = kd.kinematics.pose(robot, q, frame)
    single = T.astype(np.float32)
    found = kd.ik.analytic(robot, single, frame, q0=q, limits=False, redundant_joint=given)
    assert (found.status != "unreachable").all()
    best = found.nearest(q)
    np.testing.assert_allclose(kd.kinematics.pose(robot, best, frame), T, atol=1e-6)
    kept = np.isfinite(found.q).all(axis=-1)
    assert found.residual[kept].max() < 1e-6
    one = kd.ik.analytic(robot, single[0], frame, q0=q[0], limits=False, redundant_joint=given)
    assert one.status == found.status[0]
    np.testing.assert_array_equal(one.valid, found.valid[0])


def test_a_position_that_was_rounded_is_reached_at_a_singular_orientation() -> None:
    robot, q = singular_poses("ur5", "wrist_2_joint")
    T = kd.kinematics.pose(robot, q[40:], "wrist_3_link")
    T[:, :3, 3] = T[:, :3, 3].round(7)
    found = kd.ik.analytic(robot, T, "wrist_3_link", q0=q[40:], limits=False)
    assert (found.status != "unreachable").all()


def test_branches_that_meet_within_rounding_errors_count_once() -> None:
    robot = kd.load("planar2r")
    T = np.array([2.0 + 1e-7, 0.0, 0.0])
    found = kd.ik.analytic(robot, T, "link2")
    assert found.status == "solved" and found.count == 1
    np.testing.assert_allclose(found.residual[found.valid], 1e-7, rtol=1e-6)
    np.testing.assert_allclose(found.q[found.valid], 0.0, atol=1e-3)


def test_targets_beyond_the_accuracy_of_poses_are_unreachable() -> None:
    robot = kd.load("planar2r")
    assert kd.ik.analytic(robot, [2.0 + 2e-6, 0.0, 0.0], "link2").status == "unreachable"
