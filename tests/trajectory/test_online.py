"""Online trajectories: continuity, limits, budgets, rejected targets."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn import trajectory as tr
from kinodyn.arrays import Array
from kinodyn.errors import InputError

LIMITS = {"velocity": 1.0, "acceleration": 2.0, "jerk": 10.0}


def start(**arguments: object) -> tr.OnlineTrajectory:
    return tr.OnlineTrajectory([0.0, 0.0], **{**LIMITS, **arguments})  # type: ignore[arg-type]


def assert_same(before: tuple[Array, ...], after: tuple[Array, ...]) -> None:
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(new, old, atol=1e-12)


def test_ten_thousand_targets_at_random_times_cause_no_jump_and_violate_no_limit(panda: kd.Robot) -> None:
    rng = np.random.default_rng(0)
    acceleration, jerk, low, high = 8.0, 60.0, panda.limits.lower, panda.limits.upper
    online = tr.OnlineTrajectory(panda.random(seed=0), acceleration=acceleration, jerk=jerk, robot=panda)
    targets, moving = rng.uniform(low, high, size=(10_000, 7)), rng.uniform(-0.3, 0.3, size=(10_000, 7))
    waits = rng.exponential(0.3, size=10_000) + 1e-4
    jumps, loads, outside = np.zeros(3), np.zeros(2), -np.inf
    accepted = 0
    for k in range(10_000):
        before = online.state()
        accepted += bool(online.set_target(targets[k], moving[k] * panda.limits.velocity * (k % 2)))
        after = online.state()
        jumps = np.maximum(jumps, [np.abs(new - old).max() for old, new in zip(before, after, strict=True)])
        q, v, a = online.step(waits[k])
        loads = np.maximum(loads, [(np.abs(v) / panda.limits.velocity).max(), np.abs(a).max() / acceleration])
        outside = max(outside, (q - high).max(), (low - q).max())
    assert accepted > 9_000
    assert jumps.max() < 1e-12
    assert loads.max() <= 1.0 + 1e-9 and outside <= 1e-9


def test_whole_plans_between_changes_keep_limits_and_join() -> None:
    online, rng = start(), np.random.default_rng(1)
    for _ in range(30):
        before = online.state()
        assert online.set_target(rng.uniform(-1.0, 1.0, 2), rng.uniform(-0.4, 0.4, 2))
        assert_same(before, online.state())
        assert tr.check(None, online.plan(), tolerance=1e-7, **LIMITS).ok  # type: ignore[arg-type]
        q, v, a = online.step(float(rng.uniform(0.05, 1.0)))
        for order, value in enumerate((q, v, a)):
            np.testing.assert_allclose(online(online.time, order), value, atol=1e-9)


def test_a_target_is_reached_and_a_moving_one_is_passed_before_the_stop() -> None:
    online = start()
    arrival = online.set_target([0.5, -0.5]).arrival
    q, v, a = online.step(arrival)
    assert_same((np.array([0.5, -0.5]), np.zeros(2), np.zeros(2)), (q.round(9), v.round(9), a.round(9)))
    assert online.set_target([0.8, 0.0], [0.3, 0.2])
    q, v, _ = online.step(online.arrival - online.time)
    np.testing.assert_allclose(q, [0.8, 0.0], atol=1e-8)
    np.testing.assert_allclose(v, [0.3, 0.2], atol=1e-8)
    assert online.duration > online.arrival
    _, v, a = online.step(5.0)
    np.testing.assert_allclose([v, a], 0.0, atol=1e-9)
    assert np.array_equal(online.step(1.0)[0], online.step(1.0)[0])


def test_a_missed_budget_keeps_the_previous_motion_and_is_reported() -> None:
    ticks = iter([0.0, 1e-4, 1.0, 1.5, 2.0, 2.0001])
    online = start(budget=1e-3, clock=lambda: next(ticks))
    assert online.set_target([1.0, 1.0]).status == "accepted"
    online.step(0.3)
    before, end = online.state(), online.duration
    late = online.set_target([-1.0, 0.0])
    assert late.status == "late" and not late and "budget" in late.reason and late.calculation == 0.5
    assert online.missed == 1 and online.duration == end
    assert_same(before, online.state())
    assert online.set_target([-1.0, 0.0]) and online.missed == 1


def test_targets_beyond_limits_are_rejected_with_a_reason_and_the_motion_continues(panda: kd.Robot) -> None:
    online = tr.OnlineTrajectory(panda.random(seed=0), acceleration=8.0, jerk=60.0, robot=panda)
    assert online.set_target(panda.random(seed=1))
    online.step(0.2)
    before, end = online.state(), online.duration
    far, fast = panda.random(seed=2), np.zeros(7)
    far[3], fast[2] = 2.0, 3.0
    near = np.array(panda.limits.upper) - 1e-3
    for rejected, word in (
        (online.set_target(far), "panda_joint4"),
        (online.set_target(panda.random(seed=2), fast), "panda_joint3"),
        (online.set_target(panda.random(seed=2), None, 20.0 * np.ones(7)), "acceleration"),
        (online.set_target(near, 0.5 * panda.limits.velocity), "violate its position limit"),
    ):
        assert rejected.status == "rejected" and word in rejected.reason
    for wrong in ([np.nan] * 7, [0.0] * 6):
        with pytest.raises(InputError):
            online.set_target(wrong)
    assert online.duration == end
    assert_same(before, online.state())


def test_starts_outside_the_limits_return_within_them(panda: kd.Robot) -> None:
    q0 = panda.random(seed=0)
    q0[0] = panda.limits.upper[0] + 0.2
    v0 = np.zeros(7)
    v0[0], v0[1] = 0.5, 1.5 * panda.limits.velocity[1]
    online = tr.OnlineTrajectory(q0, v0=v0, acceleration=8.0, jerk=60.0, robot=panda)
    plan = online.plan()
    np.testing.assert_allclose(plan(0.0, 1), v0)
    t = np.linspace(0.0, plan.duration, 2001)
    assert plan(plan.duration)[0] <= panda.limits.upper[0] + 1e-9
    braking = 0.5**2 / (2 * 8.0) + 0.5 * 8.0 / 60.0  # an upper bound of what stopping takes
    assert plan(t)[:, 0].max() <= q0[0] + braking
    assert np.abs(plan(plan.duration, 1)).max() < 1e-9
    online.step(0.05)
    assert online.set_target(panda.random(seed=3))
    online.step(online.arrival)
    assert kd.validation.within_limits(panda, online.state()[0], tolerance=1e-9)


def test_targets_from_a_later_time_and_times_in_the_past() -> None:
    online = start()
    assert online.set_target([1.0, 0.0], at=0.5)
    assert online.time == 0.5
    assert online.set_target([0.0, 0.0], at=0.9) and online.start == 0.9
    with pytest.raises(InputError, match="or later"):
        online.set_target([0.0, 0.0], at=0.8)
    with pytest.raises(InputError, match="goes back"):
        online(0.2)
    samples = online.sample(0.1)
    assert samples.time[0] == 0.9 and samples.time[-1] == pytest.approx(online.duration)
    np.testing.assert_allclose(samples.q[-1], 0.0, atol=1e-9)
    assert isinstance(online, tr.Trajectory)


def test_a_floating_base_stays_while_joints_move(humanoid: kd.Robot) -> None:
    q = humanoid.random(2, seed=0)
    online = tr.OnlineTrajectory(q[0], acceleration=5.0, jerk=50.0, robot=humanoid)
    with pytest.raises(InputError, match="floating"):
        online.set_target(q[1])
    target = q[1].copy()
    target[:7] = q[0, :7]
    assert online.set_target(target)
    found, v, _ = online.step(online.arrival)
    np.testing.assert_allclose(found, target, atol=1e-8)
    np.testing.assert_array_equal(v[:6], np.zeros(6))


@pytest.mark.parametrize(
    "wrong",
    [{"jerk": np.inf}, {"acceleration": -1.0}, {"budget": 0.0}, {"v0": [1.0]}, {"a0": [np.nan, 0.0]}],
)
def test_invalid_arguments_raise(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        start(**wrong)
    with pytest.raises(InputError):
        start().step(-0.1)
