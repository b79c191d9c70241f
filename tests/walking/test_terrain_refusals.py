"""What a robot cannot do over terrain is refused before the simulation, with the limit that forbids it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinodyn as kd
from kinodyn.model.robot import Robot
from kinodyn.walking import Biped, GaitSettings, Planner
from kinodyn.walking.biped import opposite
from kinodyn.walking.terrain_feasibility import takes_long_steps, toe_load
from kinodyn.walking.terrain_plan import TerrainPlan
from kinodyn.walking.tracking import WholeBodyTracker

FIXED: dict[str, Any] = {"kind": "fixed", "axis": np.array([0.0, 0.0, 1.0]), "lower": -np.inf, "upper": np.inf}


def without_ankle_roll() -> Robot:
    description = kd.load("humanoid").description
    joints = tuple(
        replace(joint, effort=np.inf, **FIXED) if joint.name.endswith("ankle_roll") else joint
        for joint in description.joints
    )
    return Robot(replace(description, joints=joints, configurations={}))


def with_effort(ending: str, effort: float) -> Robot:
    description = kd.load("humanoid").description
    joints = tuple(
        replace(joint, effort=effort) if joint.name.endswith(ending) else joint for joint in description.joints
    )
    return Robot(replace(description, joints=joints))


def test_ground_inclined_across_feet_whose_roll_is_free_is_refused() -> None:
    with pytest.raises(kd.KinodynError, match="do not control the roll of its feet, and the ground .* is inclined by"):
        kd.walking.walk(without_ankle_roll(), (0.2, 0.0, 0.0), terrain="slope:5,across", goal=(2.0, 0.0, 0.0))


@pytest.mark.parametrize(("text", "short"), [("slope:5", True), ("stairs:0.03,0.3,3", False), ("flat", False)])
def test_feet_whose_roll_is_free_take_short_steps_where_the_ground_is_inclined(text: str, short: bool) -> None:
    """On level treads they step straight ahead: with short steps they would turn, and step over the edges sideways."""
    planner = Planner(Biped.from_robot(without_ankle_roll()))
    ground = kd.terrain.parse(text).map(region=[[-0.6, -0.8], [3.0, 0.8]])
    own, limits, speed = planner.settings, planner.limits, 0.2
    plan = TerrainPlan(planner.body, ground, (1.6, 0.0, 0.0), speed=speed, settings=own, limits=limits)
    feet, relative = dict(plan.plan.start), []
    for step in plan.steps:
        relative.append(step.relative_to(feet[opposite(step.side)]))
        feet[step.side] = step
    forward, aside, turn = np.abs(relative).max(axis=0)
    assert (forward <= speed * own.step_time + 1e-9) == short
    assert aside == pytest.approx(limits.width, abs=0.05) and turn == 0.0


def test_motors_without_reserve_are_refused_across_a_slope_and_not_on_level_ground() -> None:
    """The hip roll of the humanoid needs 63 N m on one foot: 68 N m are enough to step, without much reserve."""
    robot = with_effort("hip_roll", 68.0)
    kd.walking.feasibility.require_strong(Biped.from_robot(robot))
    with pytest.raises(kd.KinodynError, match="too weak to bear a step of .* joint .*hip_roll needs .* has 90 % of 68"):
        kd.walking.walk(robot, (0.2, 0.0, 0.0), terrain="slope:5,across", goal=(2.0, 0.0, 0.0))


def test_legs_that_leave_the_roll_of_their_feet_free_keep_their_posture_over_terrain() -> None:
    """Unitree H1 on a slope of 5 degrees: without it the feet slide by 30 mm, or the robot falls."""
    for robot, keeps in ((without_ankle_roll(), True), (kd.load("humanoid"), False)):
        body = Biped.from_robot(robot)
        tracker = WholeBodyTracker(body, GaitSettings.from_robot(body), 2e-3)
        knee = body.knees["left"].joint.v
        before = tracker.qp.tasks["posture"].row_weights(body.robot)[knee]
        tracker.prepare_for_terrain()
        assert (tracker.qp.tasks["posture"].row_weights(body.robot)[knee] == before).all() == keeps


def test_ankles_that_do_not_bear_half_of_the_weight_on_the_toes_take_short_steps_and_no_high_ones() -> None:
    """Atlas (182 kg, ankles of 92 N m) fell on long steps across a slope, and on stairs, where its foot turned over."""
    robot = with_effort("ankle_pitch", 60.0)  # half of the weight at the front of the sole needs 67 N m
    weak, strong = Planner(Biped.from_robot(robot)), Planner(Biped.from_robot(kd.load("humanoid")))
    assert toe_load(weak.body, "left") < 0.5 < toe_load(strong.body, "left")
    assert takes_long_steps(strong, 0.3) and not takes_long_steps(weak, 0.3)
    with pytest.raises(kd.KinodynError, match=r"heel has to lift before .* needs 66.* and has 60 N m"):
        kd.walking.walk(robot, (0.2, 0.0, 0.0), terrain="stairs:0.1,0.3,3", goal=(1.6, 0.0, 0.0))
