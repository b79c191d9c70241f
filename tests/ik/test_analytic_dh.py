"""Closed forms of arms made from Denavit-Hartenberg tables: random offsets, any base, any tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.ik import NoClosedFormError, analytic

from .branches import assert_among, assert_every_branch_reaches

N = 10_000
QUARTER = np.pi / 2


def random_pose(rng: np.random.Generator) -> np.ndarray:
    """Draw a pose within a metre of the origin."""
    return kd.spatial.pose(rng.uniform(-1, 1, 3), kd.spatial.exp3(rng.normal(size=3)))


def dh_robot(rows: list[tuple[float, float, float, float]], rng: np.random.Generator) -> kd.Robot:
    """Make a robot from rows (a, alpha, d, theta), on a random base with a random tool."""
    table = [kd.DH(a=a, alpha=alpha, d=d, theta=theta) for a, alpha, d, theta in rows]
    return kd.from_dh(table, base=random_pose(rng), tool=random_pose(rng))


def offset_elbow(seed: int) -> kd.Robot:
    """Make a spherical-wrist arm with parallel shoulder and elbow, every other offset and the wrist angles random."""
    rng = np.random.default_rng(seed)
    a, d, t = rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.5, 0.5, 6), rng.uniform(-np.pi, np.pi, 6)
    skew, bend = rng.uniform(0.5, 2.5), rng.uniform(1.2, 1.9)
    angles = [skew, 0.0, QUARTER, bend, -bend, 0.0]
    links = [(a[0], d[0]), (a[1], d[1]), (a[2], d[2]), (0.0, d[3]), (0.0, 0.0), (0.0, d[5])]
    return dh_robot([(x, alpha, z, th) for (x, z), alpha, th in zip(links, angles, t, strict=True)], rng)


def meeting_shoulder(seed: int) -> kd.Robot:
    """Make a spherical-wrist arm whose first two axes meet and whose third lies anywhere."""
    rng = np.random.default_rng(seed)
    a, d, t = rng.uniform(0.1, 0.5, 3), rng.uniform(-0.5, 0.5, 6), rng.uniform(-np.pi, np.pi, 6)
    angles = [*rng.uniform(0.5, 2.5, 3), QUARTER, QUARTER, 0.0]
    links = [(0.0, d[0]), (a[1], d[1]), (a[2], d[2]), (0.0, d[3]), (0.0, 0.0), (0.0, d[5])]
    return dh_robot([(x, alpha, z, th) for (x, z), alpha, th in zip(links, angles, t, strict=True)], rng)


def meeting_elbow(seed: int) -> kd.Robot:
    """Make a spherical-wrist arm whose second and third axis meet, away from the first."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(0.2, 0.5, 6)
    links = [(0.3, 0.9, d[0]), (0.0, 1.3, d[1]), (0.2, 1.1, d[2]), (0.0, QUARTER, d[3]), (0.0, -QUARTER, 0.0)]
    return dh_robot([*((a, alpha, z, 0.3) for a, alpha, z in links), (0.0, 0.0, d[5], 0.1)], rng)


def parallel_shoulder(seed: int) -> kd.Robot:
    """Make a spherical-wrist arm whose first two axes are parallel, as a SCARA with a tilted third."""
    rng = np.random.default_rng(seed)
    d = rng.uniform(0.2, 0.5, 6)
    links = [(0.4, 0.0, d[0]), (0.3, 1.0, d[1]), (0.2, 1.1, d[2]), (0.0, QUARTER, d[3]), (0.0, -QUARTER, 0.0)]
    return dh_robot([*((a, alpha, z, 0.3) for a, alpha, z in links), (0.0, 0.0, d[5], 0.1)], rng)


def srs(seed: int) -> kd.Robot:
    """Make a 7R arm with spherical shoulder and wrist, as an iiwa has, with stops at 2.8 rad."""
    rng = np.random.default_rng(seed)
    angles = [-QUARTER, QUARTER, QUARTER, -QUARTER, -QUARTER, QUARTER, 0.0]
    lengths = [0.36, 0.0, 0.42, 0.0, 0.4, 0.0, 0.126]
    rows = [kd.DH(alpha=alpha, d=d, lower=-2.8, upper=2.8) for alpha, d in zip(angles, lengths, strict=True)]
    return kd.from_dh(rows, base=random_pose(rng))


MADE = [offset_elbow, meeting_shoulder, meeting_elbow, parallel_shoulder]


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_arms_with_random_offsets_base_and_tool_are_solved(make: Callable[[int], kd.Robot], seed: int) -> None:
    robot = make(seed)
    frame, q = robot.frame_names[-1], robot.random(N, seed=2)
    T = kd.kinematics.pose(robot, q, frame)
    found = analytic(robot, T, frame)
    assert found.q.shape == (N, 8, 6)
    assert_every_branch_reaches(robot, found, T, frame)
    assert_among(robot, frame, found, q)


@pytest.mark.parametrize("given", range(7))
def test_a_spherical_shoulder_and_wrist_accept_the_joints_that_leave_a_closed_form(given: int) -> None:
    robot = srs(0)
    frame, q = robot.frame_names[-1], robot.random(60, seed=4)
    T, name = kd.kinematics.pose(robot, q, frame), f"joint{given + 1}"
    if given == 3:  # the elbow's angle follows from the distance between shoulder and wrist: it cannot be chosen
        with pytest.raises(NoClosedFormError, match="joint4"):
            analytic(robot, T, frame, redundancy=q[:, given : given + 1], redundant_joint=name)
        return
    found = analytic(robot, T, frame, redundancy=q[:, given : given + 1], redundant_joint=name)
    assert_every_branch_reaches(robot, found, T, frame)
    assert_among(robot, frame, found, q, name)


MJCF = """
<mujoco><worldbody><body pos="0.3 0.1 2" euler="10 20 30"><joint name="a" axis="0 0 -1" ref="15"/><geom size="0.1"/>
  <body pos="0.5 0 0.1"><joint name="b" axis="0 0 1" pos="0.1 0.2 0"/><geom size="0.1"/>
    <body pos="0.4 0.1 0"><joint name="c" axis="0 0 1" ref="-40"/><geom size="0.1"/>
      <site name="tip" pos="0.2 0.1 0.3" euler="30 0 0"/></body></body></body></worldbody></mujoco>
"""


def test_a_planar_arm_from_mjcf_with_tilted_base_shifted_zeros_and_opposite_axes_is_solved(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(MJCF)
    robot = kd.load(tmp_path / "arm.xml", base="fixed")
    q = robot.random(N, seed=1)
    T = kd.kinematics.pose(robot, q, "tip")
    found = analytic(robot, T, "tip")
    assert found.family == "planar 3R" and (found.status == "solved").all()
    assert_every_branch_reaches(robot, found, T, "tip")
    assert_among(robot, "tip", found, q)
