"""Changes of a contact schedule after a push."""

from __future__ import annotations

import numpy as np
import pytest

from kinodyn.arrays import Array
from kinodyn.balance import lipm
from kinodyn.walking import Biped, Planner, StepLimits
from kinodyn.walking.com_height import ComHeight
from kinodyn.walking.phases import DIRECTIONS, place
from kinodyn.walking.quintic import PEAK_ACCELERATION
from kinodyn.walking.replanning import SWING_TIMES, Replanner


@pytest.fixture
def planner(body: Biped, limits: StepLimits) -> Planner:
    return Planner(body, limits=limits)


def replanner(planner: Planner) -> Replanner:
    return planner._replanner


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("double", [0.02, 0.1, 0.3])
def test_a_pendulum_on_the_boundary_of_the_one_step_region_ends_on_the_edge_of_the_foot(
    planner: Planner, side: str, double: float
) -> None:
    """Along each direction, with the ZMP as far out as the soles allow; the step lands as far out as it can."""
    schedule, settings, omega = planner.schedule, planner.settings, planner.body.omega
    phase = schedule.at(0.0)
    lifted, stance = phase.feet[side], phase.feet["right" if side == "left" else "left"]
    origin = np.array(lifted.relative_to(stance)[:2])
    dcm, best = 0.01 * np.array([0.3, -0.2]), -np.inf
    shortest = settings.min_swing_fraction * settings.single_support
    for swing in np.linspace(shortest, settings.single_support, SWING_TIMES):
        travel = settings.max_swing_acceleration * swing**2 / PEAK_ACCELERATION
        reach = place(np.clip(planner.limits.corners(side), origin - travel, origin + travel), stance)
        margins = []
        for n in DIRECTIONS:
            soles = [float((schedule.builder.soles.polygon(foot) @ n).max()) for foot in (lifted, stance)]
            edge = max(float((reach @ n).max()) + soles[0] - float(lifted.position @ n), soles[1])
            # backwards in time from the edge: single support on the stance foot, then the ZMP shifts to it
            xi, steps = soles[1] + (edge - soles[1]) * np.exp(-omega * swing), 2000
            for k in range(steps):
                zmp = soles[1] + (max(soles) - soles[1]) * (k + 0.5) / steps
                xi = zmp + (xi - zmp) * np.exp(-omega * double / steps)
            margins.append(xi - n @ dcm)
        best = max(best, min(margins))
    found = replanner(planner).one_step_margins(schedule, phase, dcm, side, [double])[0]
    assert found == pytest.approx(best, abs=1e-6)


def test_a_robot_that_is_pushed_aside_steps_with_the_foot_that_can_capture_it(planner: Planner) -> None:
    own, phase = replanner(planner), planner.schedule.at(0.0)
    for angle in np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False):
        dcm = 0.25 * np.array([np.cos(angle), np.sin(angle)])
        margins = {
            side: own.one_step_margins(planner.schedule, phase, dcm, side, [own.recovery_double_support])[0]
            for side in ("left", "right")
        }
        step = own.recovery_step(planner.schedule, 0.0, dcm).steps[0]
        assert margins[step.side] == max(margins.values())


def test_a_double_support_is_extended_only_once(planner: Planner) -> None:
    """While the DCM stays where no step captures it, the next foot is lifted after a bounded time."""
    planner.command([0.3, 0.0, 0.0])
    t, w = 0.0, planner.body.omega
    com, velocity = np.zeros(2), np.zeros(2)
    longest, since, step = 0.0, 0.0, -1
    for k in range(400):
        t = 0.01 * k
        planner.update(t, com, velocity - (0.6 * np.array([1.0, 0.4]) if 1.5 < t < 1.6 else 0.0))
        phase = planner.schedule.at(t)
        if phase.kind == "double":
            since, step = (t, phase.step) if phase.step != step else (since, step)
            longest = max(longest, t - since)
        com, velocity = lipm.move(com, velocity, planner.reference(t).zmp, w, 0.01)
    assert 0.0 < longest < 3.0 * planner.settings.double_support + 0.02


@pytest.mark.parametrize("speed", [0.0, 0.5, 0.8, 1.2])
def test_a_double_support_is_extended_only_as_long_as_the_leg_at_the_back_reaches_the_ground(
    planner: Planner, speed: float
) -> None:
    """Whatever the disturbance, the hips are within a straight leg of the foot at the back until it is lifted."""
    t, com, velocity = double_support(planner, speed)
    body, settings, schedule, extended = planner.body, planner.settings, planner.schedule, 0
    phase = schedule.at(t)
    rear, front = phase.feet.values()
    height = body.hip_height - ComHeight(body, settings.max_leg_extension).drop(rear, front)
    hip_over_ankle = schedule.builder.soles.centre(rear)
    inward = 0.5 * body.width * (1.0 if rear.side == "right" else -1.0)
    for angle in np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False):
        for size in (0.06, 0.1, 0.15, 0.2):
            dcm = com + velocity / body.omega + size * np.array([np.cos(angle), np.sin(angle)])
            lift_off = replanner(planner).retime_double_support(schedule, t, com, dcm).at(t).end
            if lift_off > phase.end + 1e-9:
                extended += 1
                then = com + body.omega * (dcm - com) * (lift_off - t)
                leg = np.hypot(np.hypot(*(then - hip_over_ankle - (0.0, inward))), height)
                assert leg <= settings.max_leg_extension * body.leg + 1e-9
    assert extended > 0


def double_support(planner: Planner, speed: float) -> tuple[float, Array, Array]:
    """Walk straight ahead until the ninth double support; return time, CoM and its velocity."""
    planner.command([speed, 0.0, 0.0])
    t, com, velocity = 0.0, planner.schedule.nominal.at(0.0).com, np.zeros(2)
    while True:
        planner.update(t, com, velocity)
        phase = planner.schedule.at(t)
        if phase.kind == "double" and phase.step >= 8:
            return t, com, velocity
        com, velocity = lipm.move(com, velocity, planner.reference(t).zmp, planner.body.omega, 0.01)
        t = round(t + 0.01, 3)


def test_a_step_far_away_takes_the_time_that_its_foot_needs(planner: Planner) -> None:
    """However far a push moves the step, the swing foot stays within its accelerations and speeds."""
    own, settings = replanner(planner), planner.settings
    for angle in np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False):
        dcm = 0.3 * np.array([np.cos(angle), np.sin(angle)])
        schedule = own.recovery_step(planner.schedule, 0.0, dcm)
        phase = next(each for each in schedule.phases if each.swing is not None)
        assert phase.swing is not None and phase.lifted is not None
        adapted = own.adapt(schedule, phase.start, dcm, phase.lifted.position, np.zeros(2))
        assert adapted is not None
        distance = float(np.hypot(*(adapted.step.position - phase.lifted.position)))
        longest = settings.max_swing_fraction * settings.single_support
        needed = np.sqrt(PEAK_ACCELERATION * distance / settings.max_swing_acceleration)
        assert adapted.remaining >= 0.9 * min(needed, longest) - 1e-9
