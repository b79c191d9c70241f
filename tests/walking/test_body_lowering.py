"""The body is lowered where the leg that lands would be too short, on level ground only while steps change."""

from __future__ import annotations

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.walking import Biped, Planner
from kinodyn.walking.body_lowering import BodyLowering
from kinodyn.walking.leg_reach import ROOM, LegReach


@pytest.fixture
def planner(body: Biped) -> Planner:
    """Return a planner that walks on the spot."""
    planner = Planner(body)
    planner.command([0.0, 0.0, 0.0])
    planner.update(0.0, planner.reference(0.0).com, np.zeros(3))
    return planner


def first_swing(planner: Planner) -> float:
    """Return the beginning of the first swing [s]."""
    return next(phase.start for phase in planner.schedule.phases if phase.swing is not None)


def pushed(planner: Planner) -> float:
    """Push the planner's pendulum to the side of the foot in the air, and return when [s]."""
    t = first_swing(planner) + 0.03
    reference, step = planner.reference(t), planner.schedule.at(t).swing
    assert step is not None
    outward = np.array([0.0, 0.6 if step.side == "left" else -0.6, 0.0])
    assert planner.adapt_steps(t, reference.com, reference.com_velocity + outward)
    assert planner.recovering and planner.pushed(t)
    return t


def test_undisturbed_steps_on_level_ground_do_not_lower_the_body(body: Biped, planner: Planner) -> None:
    lowering, state = BodyLowering(body, planner), kd.State(body.robot, body.q)
    for t in np.arange(0.0, first_swing(planner) + 1.0, 0.05):
        assert lowering(float(t), state, planner.reference(float(t))) == 0.0


def test_the_leg_of_a_changed_step_reaches_the_ground_with_the_body_lowered(body: Biped, planner: Planner) -> None:
    late = planner.reference(pushed(planner)).phase.end - 0.03
    state, touchdown = kd.State(body.robot, body.q), planner.reference(late + 0.03 - 1e-6)
    lower = BodyLowering(body, planner)(late, state, planner.reference(late))
    assert touchdown.phase.swing is not None
    side = touchdown.phase.swing.side
    foot, reach = body.feet[side], LegReach(body.robot, body.knees[side], body.q)
    T = state.pose(foot.frame)
    ankle = T[:3, :3].T @ (state.pose(reach.ankle)[:3, 3] - T[:3, 3])
    pose = foot.frame_pose(touchdown.feet[side].pose)
    hip = state.pose(reach.hip)[:3, 3] + touchdown.com - state.com - (0.0, 0.0, lower)
    length = float(np.linalg.norm(pose[:3, 3] + pose[:3, :3] @ ankle - hip))
    assert lower > 1e-3
    assert length == pytest.approx((1.0 - 0.5 * ROOM[0]) * reach.longest, abs=1e-4)


def test_the_body_is_lowered_gradually_after_lift_off(body: Biped, planner: Planner) -> None:
    t = pushed(planner)
    lowering, state, phase = BodyLowering(body, planner), kd.State(body.robot, body.q), planner.reference(t).phase
    lower = [lowering(float(s), state, planner.reference(float(s))) for s in np.linspace(t, phase.end - 1e-3, 20)]
    assert 0.0 < lower[0] < 0.8 * lower[-1]
    assert (np.diff(lower) >= -1e-12).all()


def test_a_foot_that_has_landed_does_not_lower_the_body_on_level_ground(body: Biped, planner: Planner) -> None:
    end = planner.reference(pushed(planner)).phase.end
    state = kd.State(body.robot, body.q)
    assert planner.recovering
    assert BodyLowering(body, planner)(end + 1e-3, state, planner.reference(end + 1e-3)) == 0.0
