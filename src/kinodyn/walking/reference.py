"""References that the planner gives to the whole-body controller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.walking.phases import Phase


@displayed
class FootReference(NamedTuple):
    """Reference of one foot.

    Attributes
    ----------
    pose : (4, 4)
        T_world_sole.
    velocity, acceleration : (6,)
        Of the sole, linear first, in world axes.
    contact : bool
        Whether the foot stands.
    """

    pose: Array
    velocity: Array
    acceleration: Array
    contact: bool


@displayed
@dataclass(frozen=True, eq=False)
class Reference:
    """Reference of the whole body at one time.

    Attributes
    ----------
    com, com_velocity, com_acceleration : (3,)
        [m, m/s, m/s^2]
    dcm, zmp : (2,)
        Divergent component of motion and zero moment point on the ground [m].
    feet : dict of side -> FootReference
    heading, heading_rate, heading_acceleration : float
        Yaw of the body: the mean of the feet [rad, rad/s, rad/s^2].
    phase : Phase
    remaining : float
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
    remaining: float
