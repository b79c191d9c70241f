"""A single target: the core solves several starts at once, with the result of solving them one by one."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.errors import DescriptionWarning
from kinodyn.ik.space import space_of
from kinodyn.ik.starts import MAX_PARALLEL_STARTS, QuasiRandomStarts
from kinodyn.model.robot import Robot

ARMS = [("panda", "panda_link8"), ("ur5", "wrist_3_link"), ("puma560", "link6")]
TOGETHER = 4


def load(name: str) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return kd.load(name, base="fixed")


def one_by_one(robot: Robot, frame: str, T: Array, starts: Array) -> list[kd.ik.IKResult]:
    return [kd.ik.solve(robot, {frame: T}, start, method="lm", restarts=0) for start in starts]


def expected(robot: Robot, start: Array, tries: list[kd.ik.IKResult]) -> kd.ik.IKResult | None:
    """The first try if it succeeds; else, of the first four that hold a success, the success nearest to the start."""
    if tries[0].success:
        return tries[0]
    for k in range(0, len(tries), TOGETHER):
        found = [one for one in tries[k : k + TOGETHER] if one.success]
        if found:
            away = [np.linalg.norm(robot.difference(start, one.q)) for one in found]
            return found[int(np.argmin(away))]
    return None


@pytest.mark.usefixtures("instruction_set")
@pytest.mark.parametrize(("name", "frame"), ARMS)
def test_the_result_is_that_of_the_starts_one_by_one(name: str, frame: str) -> None:
    robot = load(name)
    space = space_of(robot, (frame,), None)
    middle = space.middle[None]
    further = QuasiRandomStarts(space, 5).draw(np.repeat(middle, MAX_PARALLEL_STARTS, axis=0))
    starts = np.concatenate([middle, further])
    places = []
    for T in kd.kinematics.pose(robot, robot.random(60, seed=3), frame):
        tries = one_by_one(robot, frame, T, starts)
        best = expected(robot, space.middle, tries)
        found = kd.ik.solve(robot, {frame: T}, method="lm", restarts=MAX_PARALLEL_STARTS, seed=5)
        assert found.success == (best is not None)
        if best is None:
            continue
        np.testing.assert_allclose(found.q, best.q, atol=1e-5)
        assert abs(found.iterations - best.iterations) <= 1
        places.append(next(k for k, one in enumerate(tries) if one is best))
    assert len(places) >= 50
    assert min(places) == 0 and max(places) >= TOGETHER  # some by the first start, some by later ones


@pytest.mark.parametrize(("name", "frame"), ARMS)
def test_a_single_result_equals_one_of_a_batch(name: str, frame: str) -> None:
    robot = load(name)
    for q in robot.random(30, seed=6):
        T = kd.kinematics.pose(robot, q, frame)
        alone, row = kd.ik.solve(robot, {frame: T}), kd.ik.solve(robot, {frame: T[None]})
        for field in ("q", "success", "status", "residual", "active_limits", "iterations"):
            ours, theirs = getattr(alone, field), getattr(row, field)
            assert ours.shape == theirs.shape[1:] and ours.dtype == theirs.dtype
            assert ours.flags.writeable and ours.flags.c_contiguous
        limits = robot.limits
        at = (alone.q <= limits.lower + 1e-9) | (alone.q >= limits.upper - 1e-9)
        np.testing.assert_array_equal(alone.active_limits, at)
        np.testing.assert_allclose(alone.T_reached[frame], kd.kinematics.pose(robot, alone.q, frame), atol=1e-12)
        np.testing.assert_allclose(alone.residual[0], np.linalg.norm((alone.T_reached[frame] - T)[:3, 3]), atol=1e-12)
        assert alone.success and (alone.residual <= 1e-6).all()


@pytest.mark.usefixtures("instruction_set")
def test_several_frames_of_a_floating_robot() -> None:
    robot = kd.load("humanoid")
    q0 = robot.configuration("standing")
    moved = robot.integrate(q0, 0.1 * np.random.default_rng(1).normal(size=(10, robot.nv)))
    for q in np.clip(moved, robot.limits.lower, robot.limits.upper):
        targets = {frame: kd.kinematics.pose(robot, q, frame) for frame in ("left_hand", "right_sole")}
        found = kd.ik.solve(robot, targets, q0)
        assert found.success and list(found.T_reached) == list(targets)
        for frame, T in targets.items():
            np.testing.assert_allclose(found.T_reached[frame], T, atol=2e-6)
            np.testing.assert_allclose(kd.kinematics.pose(robot, found.q, frame), T, atol=2e-6)


@pytest.mark.parametrize("restarts", [1, 2, 5, 64])
def test_an_unreachable_target_is_reported_for_any_number_of_restarts(restarts: int) -> None:
    robot = load("ur5")
    T = np.eye(4)
    T[:3, 3] = 3.0, 1.0, 0.5
    found = kd.ik.solve(robot, {"wrist_3_link": T}, restarts=restarts)
    assert found.status == "unreachable" and not found.success
    batch = kd.ik.solve(robot, {"wrist_3_link": T[None]}, restarts=64)
    np.testing.assert_allclose(found.residual[0], batch.residual[0, 0], rtol=0.05)
