"""Base parameters and exciting trajectories: known ranks, laws, limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.errors import InputError, UnknownNameError
from kinodyn.identification import ExcitingTrajectory, base_parameters, exciting_trajectory, sub_robot, with_parameters

PANDA = kd.load("panda")
HUMAN = kd.load("humanoid")


def test_base_parameters_of_the_planar_arm_agree_with_the_derivation_by_hand() -> None:
    """In a plane a link has m, mx, my, Izz; m1 has no effect, and m2 acts through mx1 and Izz1: six are left."""
    base = base_parameters(kd.load("planar2r"), terms=())
    assert base.rank == 6
    written = " ".join(base.names)
    assert "mx(link2/joint2)" in written and "Izz(link2/joint2)" in written
    assert base.status[base.parameters.index("Izz(link2/joint2)")] == "alone"
    assert base.status[base.parameters.index("m(link1/joint1)")] == "none"


@pytest.mark.parametrize(("name", "rank"), [("panda", 43), ("puma560", 36)])
def test_the_rank_agrees_with_the_literature(name: str, rank: int) -> None:
    """Seven and six turning joints: C. Gaz et al., 2019 (panda); M. Gautier, W. Khalil, 1990 (Puma 560)."""
    assert base_parameters(kd.load(name), terms=()).rank == rank


def test_changes_that_keep_the_base_parameters_keep_the_torques() -> None:
    base = base_parameters(PANDA, terms=())
    rng = np.random.default_rng(0)
    kernel = np.linalg.svd(base.matrix)[2][base.rank :]
    change = kernel.T @ rng.normal(size=len(kernel))
    q, (v, a) = PANDA.random(20), rng.normal(size=(2, 20, 7))
    Y = kd.dynamics.regressor(PANDA, q, v, a)
    np.testing.assert_allclose(Y @ change, 0.0, atol=1e-9 * np.abs(Y).max())
    independent = Y.reshape(-1, 70)[:, list(base.independent)]
    x = PANDA.inertial_parameters
    np.testing.assert_allclose(independent @ (base.matrix @ x), Y.reshape(-1, 70) @ x, atol=1e-9)


def test_the_trajectory_keeps_limits_and_rests_at_both_ends(tmp_path: Path) -> None:
    motion = exciting_trajectory(PANDA, starts=10, iterations=0, period=6.0)
    q, v, a = motion(motion.times(500))
    assert motion.success and motion.effort <= 1.0
    assert (q > PANDA.limits.lower).all() and (q < PANDA.limits.upper).all()
    assert (np.abs(v) < PANDA.limits.velocity).all()
    for time in (0.0, 6.0):
        _, v0, a0 = motion(time)
        np.testing.assert_allclose([v0, a0], 0.0, atol=1e-12)
    h = 1e-5
    np.testing.assert_allclose((motion(1.0 + h)[0] - motion(1.0 - h)[0]) / (2 * h), motion(1.0)[1], atol=1e-8)
    np.testing.assert_allclose((motion(1.0 + h)[1] - motion(1.0 - h)[1]) / (2 * h), motion(1.0)[2], atol=1e-7)
    motion.save(tmp_path / "motion.npz")
    again = ExcitingTrajectory.load(tmp_path / "motion.npz")
    np.testing.assert_array_equal(again(1.5), motion(1.5))
    assert again.joint_names == motion.joint_names


def test_optimisation_improves_on_random_series_and_is_reproducible() -> None:
    robot = kd.load("planar2r")
    calls: list[tuple[int, int]] = []
    rough = exciting_trajectory(robot, starts=5, iterations=0)
    fine = exciting_trajectory(robot, starts=5, iterations=15, progress=lambda done, of: calls.append((done, of)))
    assert fine.condition < 0.95 * rough.condition
    assert calls[0] == (1, 20) and calls[-1] == (20, 20)
    np.testing.assert_array_equal(exciting_trajectory(robot, starts=5, iterations=15)(1.0), fine(1.0))
    large = exciting_trajectory(robot, starts=5, iterations=5, criterion="determinant")
    assert np.isfinite(large.condition)


def test_a_torque_limit_that_cannot_be_kept_is_a_status() -> None:
    heavy = with_parameters(PANDA, 4.0 * PANDA.inertial_parameters)
    motion = exciting_trajectory(heavy, starts=2, iterations=0)
    assert not motion.success and "times its limit" in motion.status


def test_a_part_of_a_robot_agrees_with_the_whole() -> None:
    stand = HUMAN.configuration("standing")
    arm = sub_robot(HUMAN, HUMAN.description.chains["left_arm"], stand)
    q, rates = arm.random(5), np.random.default_rng(0).normal(size=(2, 5, 7))
    q_places = [HUMAN.joint(name).q.start for name in arm.joint_names]
    v_places = [HUMAN.joint(name).v.start for name in arm.joint_names]
    whole, (v, a) = np.tile(stand, (5, 1)), np.zeros((2, 5, HUMAN.nv))
    whole[:, q_places], v[:, v_places], a[:, v_places] = q, *rates
    expected = kd.dynamics.inverse(HUMAN, whole, v, a)[:, v_places]
    np.testing.assert_allclose(kd.dynamics.inverse(arm, q, *rates), expected, atol=1e-12)
    with pytest.raises(UnknownNameError, match="tail"):
        sub_robot(HUMAN, ["tail"])


def test_invalid_settings_are_rejected() -> None:
    with pytest.raises(InputError, match="root_joint have several coordinates; fix them with"):
        exciting_trajectory(HUMAN)
    with pytest.raises(InputError, match="harmonics must be an integer from 3 to"):
        exciting_trajectory(PANDA, harmonics=2)
    with pytest.raises(InputError, match="margin must be at most 1"):
        exciting_trajectory(PANDA, margin=1.5)
    with pytest.raises(InputError, match="parameters of panda_link1, .* are not physically consistent"):
        with_parameters(PANDA, -PANDA.inertial_parameters)


def test_a_search_that_is_told_to_stop_ends_with_the_best_motion_so_far() -> None:
    robot = kd.load("planar2r")
    settings: dict[str, Any] = {"starts": 6, "iterations": 50, "period": 5.0}
    told: list[int] = []

    def after(last: int) -> Callable[[int, int], bool]:
        def progress(done: int, total: int) -> bool:
            told.append(done)
            return done < last

        return progress

    early = exciting_trajectory(robot, **settings, progress=after(6))
    assert told[-1] == 6
    assert early.condition == exciting_trajectory(robot, starts=6, iterations=0, period=5.0).condition
    later = exciting_trajectory(robot, **settings, progress=after(8))
    assert told[-1] == 8 and later.condition < early.condition
