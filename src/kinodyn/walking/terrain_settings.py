"""Tunable quantities of walks over known terrain."""

from __future__ import annotations

from dataclasses import dataclass

from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.walking.weights import check_ranges, setting


@check_types
@displayed
@dataclass(frozen=True, kw_only=True)
class TerrainSettings:
    """Settings of a gait over terrain that is not level; lengths that scale with the robot are in lengths of its leg.

    Attributes
    ----------
    uneven_step : float
        Height of a step from which on legs are stretched and the trunk leans [m].
    leg_stretch : float
        By how much the CoM is higher on a step up, as a fraction of what is left to the longest leg.
    heel_rise_start : float
        Height of a step up, in legs, from which on the heel of the foot behind lifts.
    heel_rise_gain, max_heel_rise : float
        Rise of the CoM by that heel: as a fraction of the height beyond `heel_rise_start`, and at most, as a fraction
        of the length of the sole.
    latest_heel_lift : float
        Part of a double support after which the foot behind lifts its heel at the latest.
    lean_up, lean_down : float
        Inclination of the trunk on steps up and down [rad for each leg of height].
    max_lean_up, max_lean_down : float
        Largest inclinations [rad].
    lean_arm : float
        Distance, in legs, by which the hips move back for each radian of inclination.
    high_drop : float
        Height of a step down, in legs, from which on the pelvis helps the foot that reaches down.
    high_drop_time : float
        Double support of such a step, in time constants of the pendulum.
    pelvis_turn, max_pelvis_turn : float
        Rotation of the pelvis towards the lower foot [rad for each leg beyond `high_drop`], and the largest [rad].
    pelvis_drop, max_pelvis_drop : float
        Its inclination towards that side, likewise.
    descent_start : float
        Part of a single support after which the CoM descends: before that the swing foot passes the other leg.
    rise_acceleration : float
        Vertical acceleration of the CoM in a phase, as a fraction of gravity.
    swing_clearance : float
        Distance that a swing foot keeps above edges, as a fraction of the swing height.
    side_clearance : float
        Distance that a swing foot keeps from risers [m].
    step_fraction : float
        Fraction of the step limits that a plan uses; the rest is for step adaptation.
    slow_step_length : float
        Longest step of a slow walk, in legs; faster ones may be longer.
    double_support_rise : float
        Height of a step, in legs, that doubles the duration of the double support.
    snap_distance : float
        Distance within which a foothold is searched when a step is changed [m].
    """

    uneven_step: float = setting(1e-3, 1.0, 0.05)
    leg_stretch: float = setting(0.0, 1.0, 0.7)
    heel_rise_start: float = setting(0.0, 1.0, 0.06)
    heel_rise_gain: float = setting(0.0, 1.0, 0.7)
    max_heel_rise: float = setting(0.0, 1.0, 0.35)
    latest_heel_lift: float = setting(0.0, 0.95, 0.6)
    lean_up: float = setting(0.0, 10.0, 1.5)
    max_lean_up: float = setting(0.0, 1.5, 0.35)
    lean_down: float = setting(0.0, 10.0, 2.6)
    max_lean_down: float = setting(0.0, 1.5, 0.6)
    lean_arm: float = setting(0.0, 1.0, 0.25)
    high_drop: float = setting(0.0, 1.0, 0.13)
    high_drop_time: float = setting(0.0, 20.0, 3.2)
    pelvis_turn: float = setting(0.0, 20.0, 4.8)
    max_pelvis_turn: float = setting(0.0, 1.5, 0.45)
    pelvis_drop: float = setting(0.0, 20.0, 2.1)
    max_pelvis_drop: float = setting(0.0, 1.5, 0.2)
    descent_start: float = setting(0.0, 0.95, 0.4)
    rise_acceleration: float = setting(1e-3, 1.0, 0.1)
    swing_clearance: float = setting(0.0, 2.0, 0.4)
    side_clearance: float = setting(0.0, 0.5, 0.02)
    step_fraction: float = setting(0.1, 1.0, 0.85)
    slow_step_length: float = setting(0.01, 2.0, 0.36)
    double_support_rise: float = setting(1e-2, 10.0, 0.4)
    snap_distance: float = setting(0.0, 0.5, 0.06)

    def __post_init__(self) -> None:
        check_ranges(self)
