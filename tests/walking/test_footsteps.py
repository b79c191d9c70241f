"""Footsteps: within the limits of the legs, without overlap, as commanded."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.arrays import Array
from kinodyn.walking import Biped, Footstep, StepLimits, feet_apart, footsteps_from_velocity, standing_feet, walk_to

STEP = 0.6


def assert_walkable(body: Biped, limits: StepLimits, plan: list[Footstep]) -> None:
    feet = standing_feet(body)
    poses: dict[str, list[Array]] = {"left": [], "right": []}
    for step in plan:
        stance = feet["right" if step.side == "left" else "left"]
        assert float(limits.excess(step.side, step.relative_to(stance))) <= 2e-9
        feet[step.side] = step
        for side, foot in feet.items():
            poses[side].append(foot.pose)
    assert (feet_apart(body, np.array(poses["left"]), np.array(poses["right"])) > 0.0).all()


def test_thousands_of_commands_give_steps_within_limits_or_an_error_with_the_limit(
    body: Biped, limits: StepLimits
) -> None:
    rng = np.random.default_rng(0)
    most = limits.max_velocity(STEP)
    walked = 0
    for velocity in rng.uniform(-1.2, 1.2, (2000, 3)) * most:
        try:
            plan = footsteps_from_velocity(body, velocity, steps=4, limits=limits, step_time=STEP)
        except kd.InputError as error:
            assert "this robot can do" in str(error) or "multiply it by" in str(error)
            assert not limits.fits(velocity * STEP)
            continue
        walked += 1
        assert_walkable(body, limits, plan)
        assert [step.side for step in plan[:2]] in (["left", "right"], ["right", "left"])
    assert 300 < walked < 1900


def test_the_body_moves_at_the_command(body: Biped, limits: StepLimits) -> None:
    for velocity in ([0.3, 0.0, 0.0], [-0.15, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, -0.1, 0.0], [0.25, 0.05, 0.0]):
        plan = footsteps_from_velocity(body, velocity, steps=9, limits=limits, step_time=STEP)
        ahead, behind = plan[7], plan[1]  # the same foot, six steps apart
        mean_velocity = np.array(ahead.position - behind.position) / (6 * STEP)
        np.testing.assert_allclose(mean_velocity, velocity[:2], atol=1e-9)
        assert ahead.yaw == pytest.approx(0.0, abs=1e-12)


def test_an_arc_is_walked_on_a_circle(body: Biped, limits: StepLimits) -> None:
    plan = footsteps_from_velocity(body, [0.2, 0.0, 0.3], steps=40, limits=limits, step_time=STEP, stop=False)
    left = np.array([step.position for step in plan if step.side == "left"])
    centre = np.linalg.lstsq(np.column_stack([2 * left, np.ones(len(left))]), (left**2).sum(axis=1), rcond=None)[0]
    radii = np.linalg.norm(left - centre[:2], axis=1)
    np.testing.assert_allclose(radii, radii[0], rtol=1e-9)
    assert plan[-1].yaw - plan[-3].yaw == pytest.approx(2 * 0.3 * STEP)
    assert radii[0] < 0.2 / 0.3  # the inner foot
    outer = np.linalg.norm(plan[1].position - centre[:2])
    assert 0.5 * (radii[0] + outer) == pytest.approx(0.2 / 0.3, rel=0.02)


def test_goals_are_reached_exactly_with_steps_within_limits(body: Biped, limits: StepLimits) -> None:
    rng = np.random.default_rng(1)
    for goal in rng.uniform([-3, -3, -np.pi], [3, 3, np.pi], (60, 3)):
        plan = walk_to(body, goal, limits=limits)
        assert_walkable(body, limits, plan)
        wanted = standing_feet(body, goal)
        for step in plan[-2:]:
            np.testing.assert_allclose(step.relative_to(wanted[step.side]), 0.0, atol=1e-8)
    assert walk_to(body, [0, 0, 0], limits=limits) == []


def test_limits_follow_from_the_legs_at_any_size() -> None:
    sizes = {}
    for height, mass in ((1.2, 30.0), (1.7, 70.0), (1.9, 95.0)):
        body = Biped.from_robot(kd.load("humanoid", height=height, mass=mass))
        sizes[height] = StepLimits.from_robot(body)
        assert body.hip_height == pytest.approx(0.95 * body.leg, rel=1e-6)
        np.testing.assert_allclose(kd.kinematics.com(body.robot, body.q)[:2], 0.0, atol=1e-4)
        for foot in (body.left, body.right):
            assert abs(float(foot.sole_pose(body.robot, body.q)[2, 3])) < 1e-4
    assert sizes[1.2].forward / 1.2 == pytest.approx(sizes[1.9].forward / 1.9, rel=1e-3)
    assert sizes[1.7].min_width < sizes[1.7].width < sizes[1.7].max_width


@pytest.mark.parametrize("name", ["talos", "g1"])
def test_other_robots_stand_and_step(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        body = Biped.from_robot(kd.load(name))
    limits = StepLimits.from_robot(body)
    assert limits.max_velocity(2.0 / body.omega)[0] > 0.3
    lower, upper = body.robot.limits.lower, body.robot.limits.upper
    assert ((body.q >= lower - 1e-9) & (body.q <= upper + 1e-9)).all()
    assert (
        kd.balance.support_margin(body.robot, body.q, (body.left, body.right), kd.kinematics.com(body.robot, body.q))
        > 0.02
    )


def test_errors_of_commands_give_the_limit(body: Biped, limits: StepLimits) -> None:
    most = limits.max_velocity(STEP)
    with pytest.raises(kd.InputError, match=f"forward velocity 2 m/s is too fast: .* can do {most[0]:.3g} m/s"):
        footsteps_from_velocity(body, [2.0, 0, 0], steps=2, limits=limits, step_time=STEP)
    with pytest.raises(kd.InputError, match=f"lateral velocity 1 m/s .* can do {most[1]:.3g} m/s"):
        footsteps_from_velocity(body, [0, -1.0, 0], steps=2, limits=limits, step_time=STEP)
    with pytest.raises(kd.InputError, match=f"turning velocity 3 rad/s .* can do {most[2]:.3g} rad/s"):
        footsteps_from_velocity(body, [0, 0, 3.0], steps=2, limits=limits, step_time=STEP)
    with pytest.raises(kd.InputError, match="too much together; multiply it by"):
        footsteps_from_velocity(body, 0.95 * most, steps=2, limits=limits, step_time=STEP)
    with pytest.raises(kd.InputError, match=r"the goal is 1000 m away, farther than 1000 steps of"):
        walk_to(body, [1000.0, 0, 0], limits=limits)
    with pytest.raises(kd.InputError, match="NaN"):
        walk_to(body, [np.nan, 0, 0], limits=limits)
    with pytest.raises(kd.InputError, match="shape"):
        footsteps_from_velocity(body, [0.1, 0.0], steps=2, limits=limits, step_time=STEP)
    with pytest.raises(kd.InputError, match="steps must be an integer"):
        footsteps_from_velocity(body, [0.1, 0, 0], steps=-1, limits=limits, step_time=STEP)


def test_errors_say_why_a_robot_cannot_walk() -> None:
    with pytest.raises(kd.KinodynError, match="fixed base and no feet"):
        Biped.from_robot(kd.load("ur5"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kd.DescriptionWarning)
        quadruped = kd.load("anymal_b_simple")
    with pytest.raises(kd.KinodynError, match="stands on 4 feet"):
        Biped.from_robot(quadruped)
    with pytest.raises(kd.InputError, match="leg_extension must be"):
        Biped.from_robot(kd.load("humanoid"), leg_extension=1.5)
    with pytest.raises(kd.InputError, match="so that the feet do not touch"):
        Biped.from_robot(kd.load("humanoid"), width=0.01)


def test_a_plan_of_a_few_steps_is_the_beginning_of_the_whole(body: Biped, limits: StepLimits) -> None:
    whole = walk_to(body, [2.0, 1.0, 1.0], limits=limits)
    for count in (0, 1, 4):
        assert walk_to(body, [2.0, 1.0, 1.0], limits=limits, max_steps=count) == whole[:count]
    assert walk_to(body, [2.0, 1.0, 1.0], limits=limits, max_steps=len(whole) + 5) == whole
    for wrong in (-1, 2.5, "3"):
        with pytest.raises(kd.InputError, match="max_steps"):
            walk_to(body, [2.0, 1.0, 1.0], limits=limits, max_steps=wrong)  # type: ignore[arg-type]
