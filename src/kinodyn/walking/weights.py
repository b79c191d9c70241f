"""Weights and gains of the optimisations that make a robot walk, and the check of their ranges."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any

import numpy as np

from kinodyn.argument_types import check_types
from kinodyn.display import displayed
from kinodyn.errors import InputError

POSITIVE = (1e-12, 1e12)


def setting(low: float, high: float, default: Any = MISSING) -> Any:
    """Declare a dataclass field whose value must lie between `low` and `high`."""
    return field(default=default, metadata={"range": (low, high)})


def check_ranges(settings: Any) -> None:
    """Raise InputError, with the allowed range, for the first field of a dataclass that is outside its range."""
    for item in fields(settings):
        allowed = item.metadata.get("range")
        if allowed is None:
            continue
        value, (low, high) = getattr(settings, item.name), allowed
        whole = item.type == "int"
        number = isinstance(value, int | np.integer if whole else int | float | np.number)
        if not number or isinstance(value, bool) or not low <= value <= high:
            kind = "an integer" if whole else "a number"
            raise InputError(f"{item.name} must be {kind} from {low:g} to {high:g}, got {value!r}")


@check_types
@displayed
@dataclass(frozen=True)
class MPCWeights:
    """Weights of the MPC's objective, on squares of metres, and of m/s for `rate`.

    Attributes
    ----------
    zmp : float
        Distance of the ZMP from its plan.
    rate : float
        Velocity of that distance.
    terminal : float
        Deviation of the DCM at the end of the horizon, discounted to now.
    step : float
        Shift of a footstep.
    slack : float
        Per metre: DCM beyond the region that can be captured.
    """

    zmp: float = setting(*POSITIVE, 1.0)
    rate: float = setting(*POSITIVE, 0.002)
    terminal: float = setting(*POSITIVE, 50.0)
    step: float = setting(*POSITIVE, 0.5)
    slack: float = setting(*POSITIVE, 1e3)

    def __post_init__(self) -> None:
        check_ranges(self)


@check_types
@displayed
@dataclass(frozen=True)
class AdaptationWeights:
    """Weights of `adapt_step`, on squares of metres, and of exp(omega T) relative to its plan for `time`.

    Attributes
    ----------
    position : float
        Shift of the touchdown position.
    time : float
        Change of the touchdown time.
    dcm : float
        Deviation of the DCM offset at touchdown.
    slack : float
        Per metre: DCM beyond the region that can be captured.
    """

    position: float = setting(*POSITIVE, 1.0)
    time: float = setting(*POSITIVE, 0.05)
    dcm: float = setting(*POSITIVE, 100.0)
    slack: float = setting(*POSITIVE, 1e3)

    def __post_init__(self) -> None:
        check_ranges(self)


@check_types
@displayed
@dataclass(frozen=True)
class TrackingGains:
    """Weights and natural frequencies with which the whole-body controller tracks its tasks.

    Frequencies [rad/s] of critically damped tracking; `from_frequency` derives them from the pendulum.

    Attributes
    ----------
    com_weight : float
        Acceleration of the CoM along the ground, which follows from the ZMP. It is the largest: a swing leg turns the
        body, and where friction does not hold it any more, balance must not be what yields.
    height_weight, com_frequency : float
        Height of the CoM.
    trunk_weight, trunk_frequency : float
        Orientation of the base.
    swing_weight, swing_rotation_weight, swing_frequency : float
        Position and orientation of the swing foot; the orientation yields first where the ankle is at its limits.
    heel_weight, heel_frequency : float
        Orientation of a foot that stands on its toes or heel, over terrain.
    posture_weight, posture_frequency : float
        Joint positions of the walking stance.
    leg_posture_weight : float
        The same for the joints of the legs over known terrain, where they are far from those positions.
    momentum_weight, momentum_frequency : float
        Angular momentum, kept small: the arms compensate for the legs.
    height_frequency : float
        Low-pass filter of the reference height of the CoM.
    friction_speed : float
        Joint velocity [rad/s, m/s] from which the motors compensate the whole Coulomb friction of a joint, and below
        which a part in proportion.
    """

    com_frequency: float = setting(0.1, 1e3)
    trunk_frequency: float = setting(0.1, 1e3)
    swing_frequency: float = setting(0.1, 1e3)
    heel_frequency: float = setting(0.1, 1e3)
    posture_frequency: float = setting(0.1, 1e3)
    momentum_frequency: float = setting(0.1, 1e3)
    height_frequency: float = setting(0.1, 1e3)
    com_weight: float = setting(*POSITIVE, 40.0)
    height_weight: float = setting(*POSITIVE, 6.0)
    trunk_weight: float = setting(*POSITIVE, 4.0)
    swing_weight: float = setting(*POSITIVE, 20.0)
    swing_rotation_weight: float = setting(*POSITIVE, 2.0)
    heel_weight: float = setting(*POSITIVE, 5.0)
    posture_weight: float = setting(*POSITIVE, 0.3)
    leg_posture_weight: float = setting(*POSITIVE, 0.005)
    momentum_weight: float = setting(0.0, 1e12, 0.5)
    friction_speed: float = setting(1e-3, 100.0, 0.1)

    def __post_init__(self) -> None:
        check_ranges(self)

    @classmethod
    @check_types
    def from_frequency(cls, omega: float) -> TrackingGains:
        """Derive the frequencies from the pendulum of the robot.

        Parameters
        ----------
        omega
            Natural frequency of the pendulum [rad/s].

        Returns
        -------
        TrackingGains
        """
        return cls(
            com_frequency=2.5 * omega,
            trunk_frequency=3.0 * omega,
            swing_frequency=12.0 * omega,
            heel_frequency=8.0 * omega,
            posture_frequency=2.5 * omega,
            momentum_frequency=omega,
            height_frequency=1.5 * omega,
        )
