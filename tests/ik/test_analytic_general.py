"""Arms of general geometry: every solution is found, by continuation from a generic complex pose."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.ik import NoClosedFormError, analytic

from .branches import assert_every_branch_reaches, puma_with_offset_wrist

QUARTER = np.pi / 2

# What each pair of neighbouring axes of an arm is: generic, parallel, intersecting, orthogonal, both of the last two;
# s: they and the next one meet in a point.
GEOMETRIES = [
    "ggggg",
    "pgggg",
    "ggpgg",
    "gpgpg",
    "xgggg",
    "ggxgg",
    "gxgxg",
    "xpxpx",
    "gppgg",
    "ppggg",
    "gsggg",
    "ooooo",
]
GEOMETRIES += ["bbbbb", "bpobb", "bppbo", "oppoo"]


def arm(geometry: str, seed: int = 0) -> kd.Robot:
    """Make a 6R arm with random dimensions."""
    rng = np.random.default_rng([seed, *geometry.encode()])
    rows = []
    for i, pair in enumerate(geometry + "g"):
        a, d, theta = rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5), rng.uniform(-np.pi, np.pi)
        alpha = rng.uniform(0.4, 2.7) if pair in "gxs" else 0.0 if pair == "p" else QUARTER
        met = i > 0 and geometry[i - 1] == "s"
        rows.append(kd.DH(a=0.0 if pair in "xbs" or met else a, alpha=alpha, d=0.0 if met else d, theta=theta))
    return kd.from_dh(rows)


def gaps(found: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the largest difference of the joints (n, m) between configurations (n, 6) and (m, 6), without turns."""
    gap = found[:, None] - q
    return np.abs(gap - 2 * np.pi * np.rint(gap / (2 * np.pi))).max(axis=-1)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_the_joints_that_made_the_target_are_among_the_solutions(geometry: str) -> None:
    robot = arm(geometry)
    frame, q = robot.frame_names[-1], robot.random(60, seed=1)
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame)
    assert (found.status == "solved").all()
    assert_every_branch_reaches(robot, found, T, frame)
    for solutions, valid, joints in zip(found.q, found.valid, q, strict=True):
        assert gaps(solutions[valid], joints[None]).min() < 1e-8
    # Real solutions appear and vanish in pairs.
    assert (analytic(robot, T, frame, limits=False).count % 2 == 0).all()


@pytest.mark.parametrize("geometry", GEOMETRIES[::3])
def test_no_solution_of_a_numeric_search_is_missing(geometry: str) -> None:
    robot = arm(geometry, seed=1)
    frame, n = robot.frame_names[-1], 300
    for T in kd.kinematics.pose(robot, robot.random(3, seed=2), frame):
        found = analytic(robot, T, frame, limits=False)
        numeric = kd.ik.solve(
            robot, {frame: np.broadcast_to(T, (n, 4, 4))}, robot.random(n, seed=3), limits=False, tolerance=1e-9
        )
        assert numeric.success.sum() > n / 2
        assert gaps(numeric.q[numeric.success], found.q[found.valid]).min(axis=1).max() < 1e-5


def test_a_generic_arm_has_sixteen_complex_solutions() -> None:
    robot = arm("ggggg")
    found = analytic(robot, np.eye(4), robot.frame_names[-1])
    assert found.family == "6R of general geometry" and found.q.shape == (16, 6)


def test_one_target_agrees_with_a_batch() -> None:
    robot = arm("xgggg")
    frame = robot.frame_names[-1]
    T = kd.kinematics.pose(robot, robot.random((2, 3), seed=4), frame)
    found, one = analytic(robot, T, frame), analytic(robot, T[1, 2], frame)
    assert found.q.shape == (2, 3, 16, 6)
    np.testing.assert_allclose(one.q[one.valid], found.q[1, 2][found.valid[1, 2]], atol=1e-9)


def test_targets_out_of_reach_are_reported() -> None:
    robot = arm("ggggg")
    T = np.eye(4)
    T[:3, 3] = 50.0
    found = analytic(robot, T, robot.frame_names[-1])
    assert found.status == "unreachable" and np.isnan(found.q).all() and not found.valid.any()


def test_a_double_solution_is_counted_once() -> None:
    """At the boundary of the workspace two solutions become one."""
    robot = arm("ggggg")
    frame = robot.frame_names[-1]
    q = singular_configuration(robot, frame)
    found = analytic(robot, kd.kinematics.pose(robot, q, frame), frame, limits=False)
    assert found.status == "solved"
    near = gaps(found.q[found.valid], q[None])[:, 0]
    assert (near < 1e-3).sum() == 1


def singular_configuration(robot: kd.Robot, frame: str) -> np.ndarray:
    """Find joints at which the determinant of the Jacobian changes sign, by bisection."""
    ends = robot.random(20, seed=5)
    signs = np.sign(np.linalg.det(kd.kinematics.jacobian(robot, ends, frame)))
    low, high = ends[signs < 0][0], ends[signs > 0][0]
    for _ in range(60):
        middle = 0.5 * (low + high)
        if np.linalg.det(kd.kinematics.jacobian(robot, middle, frame)) < 0:
            low = middle
        else:
            high = middle
    return low


def test_a_continuum_of_solutions_is_reported_as_singular() -> None:
    """The axes of joints 4 and 6 of a spherical wrist are aligned, on an arm without a closed form."""
    wrist = [kd.DH(alpha=QUARTER, d=0.3), kd.DH(alpha=-QUARTER), kd.DH(d=0.1)]
    robot = kd.from_dh([kd.DH(a=0.3, alpha=1.0, d=0.2)] * 3 + wrist)
    q = np.array([0.3, 0.5, -0.4, 0.2, 0.0, 0.7])
    T = kd.kinematics.pose(robot, q, "link6")
    found = analytic(robot, T, "link6", q0=q, limits=False)
    assert found.family == "6R of general geometry"
    assert found.status == "singular"
    reached = kd.kinematics.pose(robot, found.q[found.valid], "link6")
    assert np.abs(reached - T).max() < 1e-9


def test_wrist_axes_that_miss_by_a_fraction_of_a_millimetre_are_solved_without_a_tolerance() -> None:
    robot = puma_with_offset_wrist()
    frame, q = robot.frame_names[-1], robot.random(100, seed=3)
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame, q0=q, limits=False)
    np.testing.assert_allclose(kd.kinematics.pose(robot, found.nearest(q), frame), T, atol=1e-9)
    np.testing.assert_allclose(found.nearest(q), q, atol=1e-6)


def seven_joints(seed: int) -> kd.Robot:
    rng = np.random.default_rng(seed)
    sides, angles = rng.uniform(0.1, 0.4, (7, 2)), rng.uniform(0.4, 2.7, 7)
    return kd.from_dh([kd.DH(a=a, alpha=alpha, d=d) for (a, d), alpha in zip(sides, angles, strict=True)])


@pytest.mark.parametrize("given", range(7))
def test_any_joint_of_seven_may_be_given(given: int) -> None:
    robot = seven_joints(0)
    frame, q = robot.frame_names[-1], robot.random(20, seed=1)
    T, name = kd.kinematics.pose(robot, q, frame), f"joint{given + 1}"
    found = analytic(robot, T, frame, redundancy=q[:, given : given + 1], redundant_joint=name)
    assert_every_branch_reaches(robot, found, T, frame)
    assert (found.q[found.valid][:, given] == np.repeat(q[:, given], found.count)).all()
    for solutions, valid, joints in zip(found.q, found.valid, q, strict=True):
        assert gaps(solutions[valid], joints[None]).min() < 1e-8


def test_the_panda_is_solved_with_any_joint_given() -> None:
    robot = kd.load("panda")
    frame, q = "panda_hand_tcp", robot.random(20, seed=1)
    T = kd.kinematics.pose(robot, q, frame)
    for given in range(7):
        name = f"panda_joint{given + 1}"
        found = analytic(robot, T, frame, redundancy=q[:, given : given + 1], redundant_joint=name)
        assert_every_branch_reaches(robot, found, T, frame)
        for solutions, valid, joints in zip(found.q, found.valid, q, strict=True):
            assert gaps(solutions[valid], joints[None]).min() < 1e-7


def test_joints_that_do_not_reach_a_generic_pose_are_refused() -> None:
    """Four parallel axes leave a direction that no joint moves."""
    with pytest.raises(NoClosedFormError, match="parallel"):
        analytic(arm("gpppg"), np.eye(4), "link6")


CHAINS = [
    ("talos_reduced", "leg_left_6_link"),
    ("romeo_small", "l_ankle"),
    ("simple_humanoid_classical", "r_ankle"),
    ("icub_reduced", "l_ankle_2"),
    ("g1_29dof_rev_1_0", "left_ankle_roll_link"),
    ("kinova", "j2s6s200_link_6"),
    ("z1", "link06"),
    ("ur3_robot", "wrist_3_link"),
    ("so100", "jaw"),
    ("baxter", "left_lower_forearm"),
]


@pytest.mark.filterwarnings("ignore::kinodyn.errors.DescriptionWarning")
@pytest.mark.parametrize(("name", "frame"), CHAINS)
def test_six_joints_of_public_robots_are_solved(name: str, frame: str) -> None:
    robot = kd.load(name, base="fixed")
    T = kd.kinematics.pose(robot, robot.neutral(), frame)
    index = list(analytic(robot, T, frame).q_index)
    q = np.tile(robot.neutral(), (30, 1))
    q[:, index] = robot.random(30, seed=1)[:, index]
    found = analytic(robot, kd.kinematics.pose(robot, q, frame), frame, limits=False)
    for solutions, valid, joints in zip(found.q, found.valid, q, strict=True):
        near = gaps(solutions[valid], solutions[valid]) + 10.0 * np.eye(valid.sum())
        assert near.min() > 1e-6
        assert gaps(solutions[valid], joints[None]).min() < 1e-7


@pytest.mark.parametrize("name", ["puma560", "ur5", "ur10_robot"])
@pytest.mark.parametrize("limits", [True, False])
def test_one_target_of_a_closed_form_agrees_with_a_batch(name: str, limits: bool) -> None:
    """A single target is solved in the core."""
    robot = kd.load(name)
    frame = "tool0" if "tool0" in robot.frame_names else robot.frame_names[-1]
    q = robot.random(100, seed=3)
    T = kd.kinematics.pose(robot, q, frame)
    T[:10, 0, 3] += 0.3
    for q0 in (None, q[7]):
        batch = analytic(robot, T, frame, limits=limits, q0=q0)
        for i, pose in enumerate(T):
            one = analytic(robot, pose, frame, limits=limits, q0=q0)
            np.testing.assert_array_equal(one.valid, batch.valid[i])
            np.testing.assert_allclose(one.q, batch.q[i], atol=1e-9)
            np.testing.assert_array_equal(one.outside_limits, batch.outside_limits[i])
            assert one.status == batch.status[i] and one.status.shape == () and one.family == batch.family
            np.testing.assert_allclose(one.residual[one.valid], batch.residual[i][one.valid], atol=1e-9)


@pytest.mark.parametrize("limits", [True, False])
def test_one_target_of_seven_joints_agrees_with_a_batch(limits: bool) -> None:
    robot = kd.load("panda")
    frame, q = "panda_hand_tcp", robot.random(60, seed=3)
    T = kd.kinematics.pose(robot, q, frame)
    T[:5, 0, 3] += 0.4
    swept = analytic(robot, T, frame, limits=limits, redundancy=q[:, 6:7])
    near = analytic(robot, T, frame, limits=limits, q0=q)
    for i, pose in enumerate(T):
        value = float(q[i, 6])
        for batch, one in (
            (swept, analytic(robot, pose, frame, limits=limits, redundancy=value)),
            (near, analytic(robot, pose, frame, limits=limits, q0=q[i])),
        ):
            np.testing.assert_array_equal(one.valid, batch.valid[i])
            np.testing.assert_array_equal(np.isnan(one.q), np.isnan(batch.q[i]))
            np.testing.assert_allclose(np.exp(1j * one.q), np.exp(1j * batch.q[i]), atol=1e-8)  # turns may tie
            if limits:
                np.testing.assert_allclose(one.q[one.valid], batch.q[i][one.valid], atol=1e-8)
            np.testing.assert_array_equal(one.outside_limits, batch.outside_limits[i])
            assert one.status == batch.status[i] and one.joints == batch.joints and one.q_index == batch.q_index
