"""All tunable quantities of walking in one place, with defaults derived from the robot."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.errors import InputError, unknown_name
from kinodyn.model.robot import Robot
from kinodyn.walking.biped import Biped
from kinodyn.walking.terrain_settings import TerrainSettings
from kinodyn.walking.weights import AdaptationWeights, MPCWeights, TrackingGains, check_ranges, setting


@check_types
@displayed
@dataclass(frozen=True, kw_only=True)
class GaitSettings:
    """Settings of a gait; `from_robot` derives defaults from the size of a robot.

    Times scale with the time constant of the pendulum, 1 / omega = sqrt(CoM height / g), lengths with the leg or the
    sole, forces with the weight. *Fraction* below means a fraction of the planned single support.
    `dataclasses.replace` changes single fields; a value outside its range raises InputError.

    Attributes
    ----------
    single_support, double_support : float
        Durations of the phases of a step [s].
    fast_single_support, fast_double_support : float
        The same at the largest velocity: steps become quicker when they would be long otherwise [s].
    comfortable_step : float
        Length of steps up to which they keep their durations; beyond it they become quicker [m].
    first_double_support, last_double_support : float
        Double support before the first step and after the last one [s].
    swing_height : float
        Height of the swing foot's apex above the higher end of the step [m].
    touchdown_speed : float
        Downward speed of a swing foot at its planned touchdown [m/s]: it meets the ground in time.
    vertical_fraction : float
        Part at either end of a swing in which the foot moves only vertically, so that it does not stub its toe.
    max_leg_extension, min_leg_extension : float
        Longest leg in a step, and lowest hips over the ankles, as fractions of the straight leg: the longer the steps,
        the lower the hips.
    max_turn : float
        Maximum turn of a foot in one step [rad].
    steps_ahead : int
        Number of footsteps planned beyond the current one.
    max_velocity_change : float
        Maximum change of velocity from step to step, as a fraction of the largest velocity.
    velocity_snap : float
        Remaining change of velocity that is applied at once, as a fraction of the maximum change; avoids tiny steps.
    goal_tolerance, closing_tolerance : float
        Distance within which the feet are at a goal, and beside each other [m, rad].
    zmp_margin : float
        Distance that the planned ZMP keeps from the edges of the feet [m].
    mpc_samples : int
        Knots of the MPC's horizon.
    plan_interval, recovery_plan_interval : float
        Time between plans, and the same while the steps have to change [s].
    adaptation_margin : float
        Margin of the DCM inside the region that the planned steps capture, below which the steps are changed [m].
    min_swing_fraction, max_swing_fraction : float
        Shortest and longest swing of an adapted step.
    max_swing_acceleration, max_swing_speed : float
        Largest acceleration of a swing foot for a change of its step [m/s^2]: the later, the smaller the change; and
        largest speed of a foot whose step is shortened [m/s].
    locked_swing_fraction : float
        Part before touchdown in which a step is not changed any more.
    recovery_double_fraction : float
        Length of a double support that only delays the next step, as a fraction of `double_support`.
    hip_offset : float
        Distance beyond the feet up to which the ZMP is demanded when no step captures the robot: the trunk swings [m].
    dcm_gain : float
        Feedback gain of the DCM, in natural frequencies.
    velocity_filter : float
        Weight of the measured CoM velocity beside the one predicted from the forces of the last tick; 1 is unfiltered.
    touchdown_load : float
        Measured load above which a foot counts as landed, as a fraction of the weight.
    early_touchdown_fraction : float
        Part at the end of a swing in which a load counts as touchdown.
    late_touchdown_fraction : float
        Time during which a foot that finds no ground keeps descending.
    descent_interval, descent_speed : float
        Delay of the touchdown each time that no ground was found [s], and the largest speed of descent then [m/s].
    loading_time, recovery_loading_time : float
        Time in which a foot takes its load after touchdown, and the same while the steps have to change [s].
    max_load : float
        Maximum normal force on one foot, as a multiple of the weight.
    slope_delay, slope_time_constant : float
        Time after touchdown at which a foot starts to measure the slope of the ground, and the time constant of the
        average [s].
    max_slope : float
        Maximum plausible slope, rise over run.
    friction : float
        Friction coefficient that the controller relies on.
    fall_height : float
        Height of the CoM above the feet, relative to the stance, below which the robot has fallen.
    mpc : MPCWeights
    adaptation : AdaptationWeights
    tracking : TrackingGains
    terrain : TerrainSettings

    Examples
    --------
    >>> import dataclasses, kinodyn as kd
    >>> settings = kd.walking.GaitSettings.from_robot(kd.load("humanoid"))
    >>> print(round(settings.single_support, 2), round(settings.swing_height, 3))
    0.49 0.041
    >>> dataclasses.replace(settings, swing_height=0.08).swing_height
    0.08
    """

    single_support: float = setting(0.02, 10.0)
    double_support: float = setting(0.005, 10.0)
    fast_single_support: float = setting(0.02, 10.0)
    fast_double_support: float = setting(0.005, 10.0)
    first_double_support: float = setting(0.01, 10.0)
    last_double_support: float = setting(0.01, 10.0)
    swing_height: float = setting(0.0, 2.0)
    zmp_margin: float = setting(0.0, 1.0)
    adaptation_margin: float = setting(0.0, 1.0)
    hip_offset: float = setting(0.0, 5.0)
    descent_speed: float = setting(0.0, 10.0)
    touchdown_speed: float = setting(0.0, 10.0)
    comfortable_step: float = setting(1e-3, 10.0)
    max_swing_acceleration: float = setting(0.1, 1e4)
    max_swing_speed: float = setting(0.01, 100.0)
    plan_interval: float = setting(1e-4, 1.0)
    recovery_plan_interval: float = setting(1e-4, 1.0)
    descent_interval: float = setting(1e-4, 0.5)
    loading_time: float = setting(1e-4, 1.0)
    recovery_loading_time: float = setting(1e-4, 1.0)
    slope_delay: float = setting(0.0, 5.0)
    slope_time_constant: float = setting(1e-2, 10.0)
    tracking: TrackingGains
    mpc: MPCWeights = MPCWeights()
    adaptation: AdaptationWeights = AdaptationWeights()
    terrain: TerrainSettings = TerrainSettings()
    vertical_fraction: float = setting(0.0, 0.4, 0.02)
    max_leg_extension: float = setting(0.5, 1.0, 0.985)
    min_leg_extension: float = setting(0.5, 1.0, 0.86)
    max_turn: float = setting(0.0, 1.5, 0.5)
    steps_ahead: int = setting(2, 50, 5)
    max_velocity_change: float = setting(0.01, 1.0, 0.5)
    velocity_snap: float = setting(0.0, 1.0, 0.2)
    goal_tolerance: float = setting(1e-6, 1.0, 0.01)
    closing_tolerance: float = setting(1e-6, 1.0, 0.02)
    mpc_samples: int = setting(2, 200, 16)
    min_swing_fraction: float = setting(0.05, 1.0, 0.26)
    max_swing_fraction: float = setting(1.0, 5.0, 1.4)
    locked_swing_fraction: float = setting(0.01, 1.0, 0.06)
    recovery_double_fraction: float = setting(0.01, 1.0, 0.1)
    dcm_gain: float = setting(0.01, 10.0, 0.6)
    velocity_filter: float = setting(0.01, 1.0, 0.25)
    touchdown_load: float = setting(1e-3, 0.5, 0.05)
    early_touchdown_fraction: float = setting(0.0, 1.0, 0.4)
    late_touchdown_fraction: float = setting(0.0, 2.0, 0.4)
    max_load: float = setting(1.0, 10.0, 2.0)
    max_slope: float = setting(0.0, 1.0, 0.2)
    friction: float = setting(0.01, 5.0, 0.5)
    fall_height: float = setting(0.1, 0.99, 0.6)

    def __post_init__(self) -> None:
        check_ranges(self)

    @classmethod
    @check_types
    def from_robot(cls, robot: Robot | Biped, **changes: Any) -> GaitSettings:
        """Derive the settings from the size of a robot.

        Parameters
        ----------
        robot
            A robot with two feet, or its `Biped`.
        changes
            Fields with other values; see `replace`.

        Returns
        -------
        GaitSettings

        Raises
        ------
        KinodynError
            If the robot does not have two feet or cannot stand on them.
        InputError
            For an unknown field or a value outside its range.
        """
        body = robot if isinstance(robot, Biped) else Biped.from_robot(robot)
        tau, leg = 1.0 / body.omega, body.leg  # time constant of the pendulum [s], length of a leg [m]
        derived = cls(
            single_support=1.6 * tau,
            double_support=0.4 * tau,
            fast_single_support=1.2 * tau,
            fast_double_support=0.25 * tau,
            first_double_support=2.0 * tau,
            last_double_support=1.6 * tau,
            plan_interval=0.13 * tau,
            recovery_plan_interval=0.013 * tau,
            descent_interval=0.065 * tau,
            loading_time=0.2 * tau,
            recovery_loading_time=0.033 * tau,
            slope_delay=0.33 * tau,
            slope_time_constant=tau,
            swing_height=0.05 * leg,
            zmp_margin=float(min(body.left.size.min(), body.right.size.min())) / 6.0,
            adaptation_margin=float(min(body.left.size)) / 16.0,
            hip_offset=0.2 * leg,
            descent_speed=0.6 * leg,
            touchdown_speed=0.05 * leg,
            comfortable_step=0.65 * leg,
            max_swing_acceleration=60.0 * leg,
            max_swing_speed=6.0 * leg,
            tracking=TrackingGains.from_frequency(body.omega),
        )
        return derived.replace(**changes) if changes else derived

    @property
    def step_time(self) -> float:
        """Time from one touchdown to the next at low velocities [s]."""
        return self.single_support + self.double_support

    def replace(self, **changes: Any) -> GaitSettings:
        """Return a copy with other values of some fields.

        Parameters
        ----------
        changes
            Field -> value. A field of a nested group is written with a dot:
            `settings.replace(**{"tracking.swing_weight": 30.0})`.

        Returns
        -------
        GaitSettings
        """
        plain: dict[str, Any] = {}
        for name, value in changes.items():
            group, dot, inner = name.partition(".")
            if not dot:
                plain[_known(self, name)] = value
                continue
            nested = plain.get(_known(self, group), getattr(self, group))
            if not dataclasses.is_dataclass(nested) or isinstance(nested, type):
                raise InputError(f"{group} has no fields of its own, got {name!r}")
            plain[group] = dataclasses.replace(nested, **{_known(nested, inner): value})
        return dataclasses.replace(self, **plain)


def _known(settings: Any, name: str) -> str:
    names = tuple(item.name for item in dataclasses.fields(settings))
    if name not in names:
        raise unknown_name(f"field of {type(settings).__name__}", name, names)
    return name
