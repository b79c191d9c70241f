"""MPC: the closed-form solution where no constraint is active, and all constraints always."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.balance import margin
from kinodyn.walking import (
    MPC,
    Biped,
    ContactSchedule,
    GaitSettings,
    MPCPlan,
    MPCWeights,
    StepLimits,
    footsteps_from_velocity,
    standing_feet,
)


@pytest.fixture(scope="module")
def schedules(body: Biped, limits: StepLimits) -> list[ContactSchedule]:
    """Make schedules for commands in all directions."""
    settings, rng = GaitSettings.from_robot(body), np.random.default_rng(0)
    result = []
    while len(result) < 25:
        v = rng.uniform(-1, 1, 3) * limits.max_velocity(settings.step_time)
        if limits.fits(v * settings.step_time):
            plan = footsteps_from_velocity(body, v, steps=6, limits=limits, step_time=settings.step_time)
            result.append(ContactSchedule(body, standing_feet(body), plan, settings))
    return result


def assert_kept(schedule: ContactSchedule, plan: MPCPlan, t: float) -> None:
    """Look at the plan at many instants: the zero moment point is in the polygon of the feet that stand then."""
    times = np.linspace(t, plan.trajectory.end, 60)
    zmp = plan.trajectory(times).zmp
    landed = schedule.at(t).step
    for time, p in zip(times, zmp, strict=True):
        phase = schedule.at(time)
        feet = {}
        for side, foot in phase.feet.items():
            index = next((k for k, step in enumerate(plan.planned) if step is foot), None)
            feet[side] = foot if index is None or len(plan.shifts) == 0 else plan.steps[index]
        corners = np.concatenate([schedule.builder.soles.polygon(foot) for foot in feet.values()])
        assert margin(corners, p) > -1e-6, (time, phase.kind, phase.step - landed)


def test_from_the_nominal_state_the_plan_is_the_closed_form_solution(
    schedules: list[ContactSchedule], limits: StepLimits
) -> None:
    for schedule in schedules:
        for t in (0.0, 0.8, 1.7, schedule.end - 0.3, schedule.end + 1.0):
            own = schedule.nominal.at(t)
            for mpc in (MPC(), MPC(limits=limits)):
                plan = mpc(schedule, t, own.com, own.velocity)
                assert plan.status == "solved" and len(plan.trajectory.times) == 16
                np.testing.assert_allclose(plan.trajectory.zmp, schedule.nominal(plan.trajectory.times).zmp, atol=1e-6)
                np.testing.assert_allclose(plan.trajectory.com, schedule.nominal(plan.trajectory.times).com, atol=1e-6)
                np.testing.assert_allclose(plan.shifts, 0.0, atol=1e-6)


def test_thousands_of_plans_satisfy_their_constraints(schedules: list[ContactSchedule]) -> None:
    rng, mpc = np.random.default_rng(1), MPC()
    statuses = []
    for k in range(1500):
        schedule = schedules[k % len(schedules)]
        t = rng.uniform(0, schedule.end)
        own = schedule.nominal.at(t)
        com, velocity = own.com + 0.01 * rng.normal(size=2), own.velocity + 0.1 * rng.normal(size=2)
        plan = mpc(schedule, t, com, velocity)
        statuses.append(plan.status)
        assert (plan.missed > 0) == (plan.status == "relaxed")
        # it starts where the mass is, and ends where the following steps can catch it, or misses by what it says
        start = plan.trajectory.at(t)
        np.testing.assert_allclose([*start.com, *start.velocity], [*com, *velocity], atol=1e-8)
        fade = np.exp(-schedule.body.omega * (plan.trajectory.end - t))
        room = schedule.capture_margin(plan.trajectory.end, plan.trajectory.dcm[-1])
        assert room * fade == pytest.approx(-plan.missed, abs=2e-6) if plan.missed else room * fade > -2e-6
        if k % 10 == 0:
            assert_kept(schedule, plan, t)
    assert statuses.count("solved") > 1000 and statuses.count("relaxed") > 20
    assert "failed" not in statuses


def test_shifted_footsteps_stay_within_limits_and_the_zmp_in_the_feet(
    schedules: list[ContactSchedule], limits: StepLimits
) -> None:
    rng, mpc, plain = np.random.default_rng(2), MPC(limits=limits), MPC()
    saved = 0
    for k in range(500):
        schedule = schedules[k % len(schedules)]
        t = rng.uniform(0, schedule.end)
        own = schedule.nominal.at(t)
        velocity = own.velocity + 0.15 * rng.normal(size=2)
        plan = mpc(schedule, t, own.com, velocity)
        assert plan.status != "failed"
        stance = schedule.stance_before(schedule.at(t).step)
        for step in plan.steps[: len(plan.shifts)]:
            assert float(limits.excess(step.side, step.relative_to(stance))) < 1e-6
            stance = step
        fixed = plain(schedule, t, own.com, velocity)
        assert plan.missed <= fixed.missed + 1e-6
        saved += fixed.status == "relaxed" and plan.status == "solved"
        if k % 5 == 0:
            assert_kept(schedule, plan, t)
    assert saved > 10


def test_jumps_of_the_zmp_are_penalised_and_travel_bounds_the_shift(
    schedules: list[ContactSchedule], limits: StepLimits
) -> None:
    schedule = schedules[0]
    t = schedule.phases[4].start + 0.05
    own = schedule.nominal.at(t)
    velocity = own.velocity + [0.1, 0.0]
    free, held = (
        MPC(weights=MPCWeights(rate=0.05))(schedule, t, own.com, velocity, zmp=zmp) for zmp in (None, own.zmp)
    )
    assert np.linalg.norm(held.trajectory.zmp[0] - own.zmp) < np.linalg.norm(free.trajectory.zmp[0] - own.zmp)
    near = MPC(limits=limits)(schedule, t, own.com, velocity, travel=0.001)
    assert np.abs(near.shifts[0]).max() <= 0.0015


def test_equal_problems_have_bit_identical_plans(schedules: list[ContactSchedule], limits: StepLimits) -> None:
    mpc, schedule = MPC(limits=limits), schedules[3]
    first, second = (mpc(schedule, 1.3, [0.1, 0.0], [0.2, 0.1]) for _ in range(2))
    np.testing.assert_array_equal(first.trajectory.zmp, second.trajectory.zmp)
    np.testing.assert_array_equal(first.shifts, second.shifts)


def test_invalid_arguments_are_rejected(schedules: list[ContactSchedule]) -> None:
    with pytest.raises(kd.InputError, match="samples must be"):
        MPC(samples=1)
    with pytest.raises(kd.InputError, match="dt must be"):
        MPC(dt=0.0)
    with pytest.raises(kd.InputError, match="zmp must be a number from"):
        MPCWeights(zmp=0.0)
    with pytest.raises(kd.InputError, match="adapt=True needs step limits"):
        MPC()(schedules[0], 0.0, [0, 0], [0, 0], adapt=True)
    with pytest.raises(kd.InputError, match="com must be finite numbers"):
        MPC()(schedules[0], 0.0, [np.nan, 0], [0, 0])
