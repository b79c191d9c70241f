"""What the planner asks of the whole body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kinodyn.arrays import Array
from kinodyn.walking.phases import Phase


class FootReference(NamedTuple):
    """What a foot is to do: T_world_sole (4, 4), velocity and acceleration (6,) of the sole, and whether it stands."""

    pose: Array
    velocity: Array
    acceleration: Array
    contact: bool


@dataclass(frozen=True, eq=False)
class Reference:
    """What the whole body is to do at one time.

    Attributes
    ----------
    com, com_velocity, com_acceleration : (3,)
        [m, m/s, m/s^2]
    dcm, zmp : (2,)
        On the ground [m].
    feet : dict of side -> FootReference
    heading, heading_rate, heading_acceleration : float
        Of the body about the vertical: the mean of the feet [rad, rad/s, rad/s^2].
    phase : Phase
    left : float
        Time until the support changes [s].
    """

    com: Array
    com_velocity: Array
    com_acceleration: Array
    dcm: Array
    zmp: Array
    feet: dict[str, FootReference]
    heading: float
    heading_rate: float
    heading_acceleration: float
    phase: Phase
    left: float
