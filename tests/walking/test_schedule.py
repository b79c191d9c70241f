"""The contact schedule: phases without gaps, the nominal LIPM trajectory, the capture region."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.balance import lipm, margin
from kinodyn.walking import (
    Biped,
    ContactSchedule,
    GaitSettings,
    LIPMTrajectory,
    StepLimits,
    footsteps_from_velocity,
    standing_feet,
)
from kinodyn.walking.phases import DIRECTIONS


@pytest.fixture(scope="module")
def schedule(body: Biped, limits: StepLimits) -> ContactSchedule:
    settings = GaitSettings.from_robot(body)
    plan = footsteps_from_velocity(body, [0.3, 0.0, 0.2], steps=6, limits=limits, step_time=settings.step_time)
    return ContactSchedule(body, standing_feet(body), plan, settings)


def test_phases_follow_each_other_and_alternate(schedule: ContactSchedule) -> None:
    kinds = [phase.kind for phase in schedule.phases]
    assert kinds == ["start", "start", "single", *["double", "single"] * 6, "stop", "stand"]
    for phase, following in zip(schedule.phases, schedule.phases[1:], strict=False):
        assert phase.end == following.start
        np.testing.assert_allclose(phase.zmp[1], following.zmp[0], atol=1e-12)
        if phase.swing is not None:
            assert following.feet[phase.swing.side] is phase.swing
            assert set(phase.feet) == {"left", "right"} - {phase.swing.side}
    assert schedule.contacts(0.0) == {"left": True, "right": True}
    assert sum(schedule.contacts(schedule.phases[2].start + 0.01).values()) == 1


def test_the_planned_zmp_is_always_in_the_feet(schedule: ContactSchedule) -> None:
    for t in np.linspace(0, schedule.end + 0.5, 300):
        assert margin(schedule.at(t).polygon, schedule.nominal.at(t).zmp) > 0.005


def test_the_pendulum_obeys_its_equation_starts_and_ends_at_rest(schedule: ContactSchedule) -> None:
    t = np.linspace(0, schedule.end + 2.0, 2001)
    motion, w = schedule.nominal(t), schedule.body.omega
    np.testing.assert_allclose(motion.acceleration, w**2 * (motion.com - motion.zmp), atol=1e-9)
    np.testing.assert_allclose(motion.dcm, motion.com + motion.velocity / w, atol=1e-12)
    h = t[1] - t[0]
    np.testing.assert_allclose(
        np.diff(motion.com, axis=0) / h, 0.5 * (motion.velocity[1:] + motion.velocity[:-1]), atol=1e-4
    )
    np.testing.assert_allclose(motion.velocity[0], 0.0, atol=1e-12)
    np.testing.assert_allclose(motion.velocity[-1], 0.0, atol=2e-4)
    one = [schedule.nominal.at(float(s)) for s in t[::100]]
    for k in range(5):
        np.testing.assert_allclose([m[k] for m in one], motion[k][::100], atol=1e-12)


def test_a_trajectory_of_minutes_is_as_exact_as_one_of_seconds() -> None:
    times = np.arange(0.0, 300.0, 0.5)
    zmp = 0.1 * np.random.default_rng(0).normal(size=(len(times), 2))
    path = LIPMTrajectory(times, zmp, 3.3, com=(0.0, 0.0), dcm_end=zmp[-1])
    late = path.at(200.2)
    ended = lipm.move(late.com, late.velocity, late.zmp, 3.3, 0.1, zmp_rate=(zmp[401] - zmp[400]) / 0.5)
    np.testing.assert_allclose(path.at(200.3).com, ended[0], atol=1e-12)
    assert np.abs(path.com).max() < 1.0
    np.testing.assert_allclose(path.com, path(times).com, atol=1e-12)
    np.testing.assert_allclose(path.dcm, path(times).dcm, atol=1e-10)
    with pytest.raises(kd.InputError, match="starts at 0 s"):
        path(-1.0)


def test_the_capture_region_is_reached_with_the_zmp_on_the_edge(schedule: ContactSchedule) -> None:
    """At the bound, the farthest pressure in a direction, all the time, ends exactly at the edge of the last feet."""
    w = schedule.body.omega
    t0 = schedule.phases[2].start + 0.1
    for k, direction in enumerate(DIRECTIONS):
        xi = float(schedule.capture_region(t0)[k])
        for phase in schedule.phases[schedule.index(t0) : -1]:
            start = max(t0, phase.start)
            reach = [float((sole @ direction).max()) for sole in phase.soles]
            edge = float((phase.polygon @ direction).max())
            ends = (reach[0], reach[1]) if phase.kind == "double" else (edge, edge)
            rate = (ends[1] - ends[0]) / (phase.end - start)
            xi = float(lipm.move_dcm(xi, ends[0], w, phase.end - start, zmp_rate=rate))
        assert xi == pytest.approx(float((schedule.phases[-1].polygon @ direction).max()), abs=1e-6)
    assert schedule.capture_margin(t0, schedule.dcm(t0)) > 0.01
    assert schedule.capture_margin(t0, schedule.dcm(t0) + [0.5, 0.0]) < 0.0


def test_invalid_arguments_are_rejected(body: Biped, limits: StepLimits) -> None:
    feet = standing_feet(body)
    with pytest.raises(kd.InputError, match="feet must alternate"):
        ContactSchedule(body, feet, [feet["left"], feet["left"]], GaitSettings.from_robot(body))
    with pytest.raises(kd.InputError, match="start must have both feet"):
        ContactSchedule(body, {"left": feet["left"]}, [], GaitSettings.from_robot(body))
    with pytest.raises(kd.InputError, match="leaves nothing"):
        ContactSchedule(body, feet, [], GaitSettings.from_robot(body, zmp_margin=0.2))
