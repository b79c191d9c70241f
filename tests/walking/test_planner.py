"""The planner on a pendulum: it walks, survives pushes, handles early and late touchdowns, stops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.balance import dcm_feedback, lipm
from kinodyn.walking import Biped, Planner, StepLimits
from kinodyn.walking.phases import DIRECTIONS
from kinodyn.walking.planner import AFTER_PUSH, PUSH

DT, EVERY = 0.01, 3


class Run(NamedTuple):
    stood: bool
    com: Array
    feet: Array
    planner: Planner


def walk(planner: Planner, duration: float, push: tuple[float, Array] | None = None, measured: bool = True) -> Run:
    """Let a pendulum follow the planner, its pressure within the feet; feet must not jump."""
    w, t = planner.body.omega, 0.0
    com, velocity = np.zeros(2), np.zeros(2)
    path, feet = [], []
    for k in range(round(duration / DT)):
        t = k * DT
        if push is not None and k == round(push[0] / DT):
            velocity = velocity + push[1]
        if k % EVERY == 0:
            planner.update(t, com, velocity) if measured else planner.update(t)
        ref = planner.reference(t)
        xi = com + velocity / w
        zmp = dcm_feedback(xi, ref.dcm, ref.zmp, w, gain=2 * w, polygon=ref.phase.polygon)
        com, velocity = lipm.move(com, velocity, zmp, w, DT)
        path.append(com)
        feet.append([ref.feet[side].pose[:3, 3] for side in ("left", "right")])
        if np.linalg.norm(np.array(feet[-1])[:, :2] - com, axis=1).min() > 0.4:  # no leg is that long
            return Run(False, np.array(path), np.array(feet), planner)
    return Run(True, np.array(path), np.array(feet), planner)


def fastest(planner: Planner, distance: float) -> float:
    """Return the peak speed of a quintic over a distance [m] in the part of a single support that is left for it."""
    return 15.0 / 8.0 * distance / ((1.0 - 2.0 * planner.settings.vertical_fraction) * planner.settings.single_support)


@pytest.fixture
def planner(body: Biped, limits: StepLimits) -> Planner:
    return Planner(body, limits=limits)


@pytest.mark.parametrize("velocity", [[0.3, 0, 0], [0.5, 0, 0], [-0.15, 0, 0], [0, 0.1, 0], [0.2, 0, 0.2]])
def test_the_planner_walks_at_the_commanded_velocity(planner: Planner, velocity: list[float]) -> None:
    planner.command(velocity)
    run = walk(planner, 7.0)
    assert run.stood
    step = planner.settings.step_time
    late = round(2 * step / DT)  # the same phase of the gait, two steps apart
    distance = np.linalg.norm(run.com[-1] - run.com[-1 - late])
    assert distance / (late * DT) == pytest.approx(np.hypot(*velocity[:2]), rel=0.1)
    stride = 2.0 * step * (np.hypot(*velocity[:2]) + abs(velocity[2]) * planner.limits.width)
    assert np.abs(np.diff(run.feet, axis=0)).max() < 1.02 * max(fastest(planner, stride), 0.5) * DT  # no jump


def test_references_are_continuous_and_consistent_with_their_derivatives(planner: Planner) -> None:
    planner.command([0.3, 0.0, 0.1])
    before, h = None, 1e-3
    for k in range(2500):
        t = k * h
        if k % 25 == 0:
            planner.update(t)
        ref = planner.reference(t)
        if before is not None:
            np.testing.assert_allclose(
                ref.com - before.com, 0.5 * h * (ref.com_velocity + before.com_velocity), atol=2e-6
            )
            for side, foot in ref.feet.items():
                moved = foot.pose[:3, 3] - before.feet[side].pose[:3, 3]
                mean = 0.5 * h * (foot.velocity[:3] + before.feet[side].velocity[:3])
                # the ground stops a foot that still descends at its touchdown
                lands = foot.contact and not before.feet[side].contact
                stopped = 0.5 * h * planner.settings.touchdown_speed if lands else 0.0
                np.testing.assert_allclose(moved, mean, atol=2e-6 + stopped)
            assert abs(ref.heading - before.heading) < 2e-3
        assert ref.feet["left"].contact or ref.feet["right"].contact
        before = ref


def test_the_heading_is_continuous_over_full_turns(planner: Planner) -> None:
    planner.command([0.0, 0.0, 0.5])
    headings = []
    for t in np.arange(0.0, 16.0, 0.04):
        planner.update(t)
        headings.append(planner.reference(t).heading)
    turn = 0.5 * planner.settings.step_time  # of each step; the mean of the feet
    assert np.abs(np.diff(headings)).max() < 1.02 * fastest(planner, turn) * 0.04 and headings[-1] > 2 * np.pi


def test_random_commands_stops_and_touchdowns_cause_no_jumps(body: Biped, limits: StepLimits) -> None:
    rng = np.random.default_rng(5)
    for _ in range(4):
        planner, before = Planner(body, limits=limits), None
        most = limits.max_velocity(planner.settings.step_time)
        for k in range(600):
            t = k * DT
            if rng.random() < 0.02:
                velocity = rng.uniform(-1, 1, 3) * most
                planner.command(limits.feasible_fraction(velocity * planner.settings.step_time) * velocity)
            if rng.random() < 0.005:
                planner.stop()
            if rng.random() < 0.01:
                planner.delay(t, rng.uniform(0.01, 0.1))
            phase = planner.schedule.at(t)
            if phase.swing is not None and rng.random() < 0.02 and t > phase.start + 0.8 * (phase.end - phase.start):
                planner.touchdown(t, phase.swing.side)
            if k % EVERY == 0:
                assert planner.update(t).status != "failed"
            ref = planner.reference(t)
            assert np.isfinite(ref.com).all() and (ref.feet["left"].contact or ref.feet["right"].contact)
            if before is not None:
                assert np.abs(ref.com[:2] - before.com[:2]).max() < 0.02
                for side, foot in ref.feet.items():
                    assert np.abs(foot.pose[:3, 3] - before.feet[side].pose[:3, 3]).max() < 0.05, (t, side)
            before = ref


def test_the_planner_stops_with_the_feet_together(planner: Planner) -> None:
    planner.command([0.3, 0, 0])
    for t in np.arange(0.0, 2.0, 0.03):
        planner.update(t)
    planner.stop()
    for t in np.arange(2.01, 5.0, 0.03):
        planner.update(t)
    assert planner.standing(5.0)
    ref = planner.reference(5.0)
    left, right = (ref.feet[side].pose for side in ("left", "right"))
    assert abs(left[0, 3] - right[0, 3]) < 1e-9
    np.testing.assert_allclose(ref.com_velocity, 0.0, atol=1e-2)


def test_adapted_steps_survive_pushes_that_fixed_steps_do_not(body: Biped, limits: StepLimits) -> None:
    survived = {True: 0, False: 0}
    angles = 0.3 + np.arange(8) * np.pi / 4
    pushes = [(1.5 + 0.15 * k, 0.35 * np.array([np.cos(a), np.sin(a)])) for k, a in enumerate(angles)]
    for adapt in survived:
        for push in pushes:
            planner = Planner(body, limits=limits, adapt=adapt)
            planner.command([0.3, 0, 0])
            survived[adapt] += walk(planner, 3.8, push).stood
    assert survived[True] >= 7 and survived[False] <= 5, survived


def test_a_pushed_standing_robot_steps(planner: Planner) -> None:
    run = walk(planner, 3.5, (0.2, np.array([0.45, 0.0])))
    assert run.stood and planner.standing(3.5)
    assert run.feet[-1, :, 0].min() > 0.05  # both feet went along


def test_a_push_counts_until_some_time_after_the_steps_suffice_again(planner: Planner) -> None:
    steps, after = planner.schedule, AFTER_PUSH / planner.body.omega
    region = steps.capture_region(0.0)

    def measure(t: float, beyond: float) -> None:  # the DCM is outside of the region by so many adaptation margins
        dcm = (region[0] + beyond * planner.settings.adaptation_margin) * DIRECTIONS[0]
        planner.measure_margin(t, dcm, np.zeros(2))
        assert planner.dcm_margin == pytest.approx(-beyond * planner.settings.adaptation_margin, abs=1e-12)

    measure(0.0, 0.9 * PUSH)  # as in fast walks
    assert planner.recovering and not planner.pushed(0.0)
    measure(0.1, 1.1 * PUSH)
    measure(0.2, 0.5 * PUSH)
    measure(0.3, -2.0)
    assert planner.pushed(0.2 + 0.99 * after) and not planner.pushed(0.2 + 1.01 * after)


def test_an_early_touchdown_starts_the_double_support_at_once(planner: Planner) -> None:
    planner.command([0.3, 0, 0])
    planner.update(0.0)
    phase = next(phase for phase in planner.schedule.phases if phase.swing is not None)
    assert phase.swing is not None
    side, early = phase.swing.side, phase.end - 0.05
    planner.update(early - 0.02)
    where = planner.reference(early).feet[side].pose
    assert not planner.touchdown(early, "left" if side == "right" else "right")
    assert planner.touchdown(early, side)
    planner.update(early)
    ref = planner.reference(early)
    assert ref.feet[side].contact and ref.phase.kind == "double"
    np.testing.assert_allclose(ref.feet[side].pose[:3, 3], where[:3, 3], atol=1e-9)


def test_a_late_touchdown_continues_the_descent(body: Biped, limits: StepLimits) -> None:
    planner = Planner(body, limits=limits, adapt=False)
    planner.command([0.3, 0, 0])
    planner.update(0.0)
    phase = next(phase for phase in planner.schedule.phases if phase.swing is not None)
    t = phase.end - 0.01
    planner.update(t - 0.01)
    before = planner.reference(t)
    assert planner.delay(t, 0.1)
    planner.update(t)
    after = planner.reference(t)
    assert after.remaining == pytest.approx(0.11)
    for side in ("left", "right"):
        np.testing.assert_allclose(after.feet[side].pose, before.feet[side].pose, atol=1e-9)
    assert not planner.delay(0.0, 0.1)


def test_a_command_beyond_the_limits_changes_nothing(planner: Planner) -> None:
    planner.command([0.2, 0, 0])
    with pytest.raises(kd.InputError, match="too fast"):
        planner.command([3.0, 0, 0])
    np.testing.assert_array_equal(planner.velocity, [0.2, 0, 0])
    with pytest.raises(kd.InputError, match="seconds must be"):
        planner.delay(0.0, -1.0)


def test_equal_runs_are_bit_identical(body: Biped, limits: StepLimits) -> None:
    runs = []
    for _ in range(2):
        planner = Planner(body, limits=limits)
        planner.command([0.3, 0, 0.1])
        runs.append(walk(planner, 2.0, (1.0, np.array([0.2, 0.1]))).com)
    np.testing.assert_array_equal(*runs)
