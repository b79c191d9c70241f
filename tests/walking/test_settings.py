"""Settings of a gait: derived from the robot, changed one by one, checked."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.walking import Biped, GaitSettings, Phase, Planner, StepLimits, TerrainSettings
from kinodyn.walking.footsteps import standing_feet
from kinodyn.walking.terrain_posture import TerrainPosture


def test_times_scale_with_the_pendulum_and_lengths_with_the_leg(body: Biped) -> None:
    small = Biped.from_robot(kd.load("humanoid", height=1.2, mass=30))
    tall, short = GaitSettings.from_robot(body), GaitSettings.from_robot(small)
    slower, longer = small.omega / body.omega, body.leg / small.leg
    assert slower > 1.1
    for name in (
        "step_time",
        "plan_interval",
        "descent_interval",
        "loading_time",
        "slope_delay",
        "slope_time_constant",
    ):
        assert getattr(tall, name) / getattr(short, name) == pytest.approx(slower)
    assert tall.swing_height / short.swing_height == pytest.approx(longer) and longer > 1.3
    assert tall.hip_offset / short.hip_offset == pytest.approx(longer)
    assert short.tracking.swing_frequency / tall.tracking.swing_frequency == pytest.approx(slower)
    assert tall.zmp_margin > short.zmp_margin


@pytest.mark.parametrize("kind", [GaitSettings, TerrainSettings])
def test_every_field_is_documented_with_a_sentence(kind: Any) -> None:
    doc = kind.__doc__ or ""
    for item in dataclasses.fields(kind):
        assert item.name in doc.partition("Attributes")[2], f"{item.name} is not documented"


def test_the_trunk_leans_on_steps_as_the_terrain_settings_say(body: Biped) -> None:
    own = GaitSettings.from_robot(body).replace(**{"terrain.lean_up": 2.0, "terrain.max_lean_up": 0.3})
    feet = standing_feet(body)
    for rise, lean in ((0.1, 0.2 / body.leg), (0.3, 0.3), (0.02, 0.0)):
        step = dataclasses.replace(feet["left"], x=0.3, z=rise)
        phase = Phase(
            kind="single",
            start=0.0,
            end=1.0,
            feet={"right": feet["right"]},
            swing=step,
            lifted=feet["left"],
            step=0,
            zmp=np.zeros((2, 2)),
            placed_soles=(),
        )
        assert TerrainPosture(body, own).trunk_angles(phase)[1] == pytest.approx(lean)


def test_a_changed_field_changes_the_gait(body: Biped, limits: StepLimits) -> None:
    settings = dataclasses.replace(GaitSettings.from_robot(body), swing_height=0.08, single_support=0.6)
    planner = Planner(body, settings=settings, limits=limits)
    planner.command([0.2, 0.0, 0.0])
    planner.update(0.0)
    phase = next(phase for phase in planner.schedule.phases if phase.swing is not None)
    assert phase.length == pytest.approx(0.6)
    middle = planner.reference(0.5 * (phase.start + phase.end))
    assert phase.swing is not None
    assert middle.feet[phase.swing.side].pose[2, 3] == pytest.approx(0.08)


def test_nested_fields_are_replaced_by_name(body: Biped) -> None:
    changes: dict[str, Any] = {"tracking.swing_weight": 30.0, "tracking.com_weight": 5.0, "mpc.rate": 0.01}
    settings = GaitSettings.from_robot(body, **changes)
    assert (settings.tracking.swing_weight, settings.tracking.com_weight, settings.mpc.rate) == (30.0, 5.0, 0.01)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"swing_height": -0.1}, "swing_height must be a number from 0 to 2, got -0.1"),
        ({"steps_ahead": 51}, "steps_ahead must be an integer from 2 to 50"),
        ({"steps_ahead": 2.5}, "steps_ahead must be an integer, got 2.5"),
        ({"friction": np.nan}, "friction must be a number from 0.01 to 5"),
        ({"single_support": "long"}, "single_support must be a number"),
        ({"swing_hight": 0.1}, "did you mean 'swing_height'"),
        ({"mpc.rates": 0.1}, "unknown field of MPCWeights 'rates'"),
        ({"mpc.rate": 0.0}, "rate must be a number from"),
        ({"friction.static": 0.1}, "friction has no fields of its own"),
    ],
)
def test_invalid_values_and_unknown_fields_are_rejected(body: Biped, changes: Any, message: str) -> None:
    with pytest.raises(kd.KinodynError, match=message):
        GaitSettings.from_robot(body, **changes)


def test_a_controller_and_its_planner_have_the_same_settings(body: Biped, limits: StepLimits) -> None:
    planner = Planner(body, limits=limits)
    with pytest.raises(kd.InputError, match="other settings"):
        kd.walking.WalkingController(body, planner=planner, settings=GaitSettings.from_robot(body))
    with pytest.raises(kd.InputError, match="plan_interval"):
        kd.walking.WalkingController(body, planner=planner, dt=0.1)
