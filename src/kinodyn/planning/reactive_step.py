"""ReactiveStep: the result of one period of a reactive motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kinodyn.arrays import Array
from kinodyn.display import displayed

Status = Literal["following", "braking", "evading", "standing"]


@displayed
@dataclass(frozen=True, eq=False)
class ReactiveStep:
    """The result of one period, see `ReactiveMotion.step`.

    Attributes
    ----------
    time : float
        End of the period [s].
    q : (nq,) array
    v, a : (nv,) array
        State at that time.
    status : str
        What the robot does next: "following" the path, "braking", "evading", or "standing".
    safe : bool
        Whether the robot comes to rest before anything can touch it. False: an obstacle was observed too late.
    threats : tuple of int
        Indices of the obstacles that would touch the robot, moving or standing, within the horizon.
    late : bool
        Whether the decision took longer than the budget; the previous motion, which ends at rest, continues.
    calculation : float
        Time of the decision [s].
    """

    time: float
    q: Array
    v: Array
    a: Array
    status: Status
    safe: bool
    threats: tuple[int, ...]
    late: bool
    calculation: float
