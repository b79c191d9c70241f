"""Where and when to put the foot down after a push: one small quadratic programme over place and time of the step.

M. Khadiv, A. Herzog, S. Moosavian, L. Righetti, "Walking control based on step timing adaptation", 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import qp
from kinodyn.arrays import Array
from kinodyn.balance.capturability import walking_bounds
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.steplimits import StepLimits

PLACE, TIME, OFFSET, MISS = 1.0, 0.05, 100.0, 1e3  # weights of the objective


@dataclass(frozen=True, eq=False)
class StepChange:
    """A step changed in flight.

    Attributes
    ----------
    step : Footstep
        Where to land.
    remaining : float
        In how many seconds.
    offset : (2,)
        Where the divergent component will be then, seen from the foot [m].
    missed : float
        By how much that is beyond what any further steps can catch [m]; 0: walking can go on.
    status : str
        "solved", "relaxed" if something is missed, "failed" if the solver gave no answer and the step is as planned.
    """

    step: Footstep
    remaining: float
    offset: Array
    missed: float
    status: str


def adapt_step(
    dcm: ArrayLike,
    zmp: ArrayLike,
    stance: Footstep,
    planned: Footstep,
    *,
    offset: ArrayLike,
    remaining: float,
    shortest: float,
    longest: float,
    next_shortest: float,
    omega: float,
    limits: StepLimits,
    foot: ArrayLike = (0.0, 0.0),
    travel: float = np.inf,
) -> StepChange:
    """Choose place and time of the landing so that the divergent component ends where the plan wants it.

    Variables
        shift (2,) of the landing; tau = exp(omega T) of the time T until it; slack.
    Objective
        shift, tau beside its plan, offset of the divergent component at landing beside its plan, slack.
    Constraints
        landing within reach of the stance foot, T between `shortest` and `longest`, offset within `walking_bounds`.

    Parameters
    ----------
    dcm, zmp
        Divergent component now and the zero moment point (2,) that is kept until landing [m].
    stance, planned
        The foot on the ground, and where the other was to land.
    offset
        The plan's divergent component at landing (2,), seen from the planned foot, in the world's axes [m].
    remaining
        Time until the planned landing [s]; it may become from `shortest` to `longest`.
    next_shortest
        Shortest duration of the steps after this one [s].
    foot
        How far (2,) the centre of pressure can be from the ankle along and across the foot [m].
    travel
        How far [m] the landing can still be moved along each axis of the stance foot.
    """
    xi, p, b = numbers("dcm", dcm, 2), numbers("zmp", zmp, 2), numbers("offset", offset, 2)
    if not 0 < shortest <= longest < np.inf or not remaining > 0:
        raise InputError(f"times must be 0 < shortest <= longest, got {shortest!r}, {longest!r}, {remaining!r}")
    usual = float(np.exp(omega * np.clip(remaining, shortest, longest)))
    away = usual * (xi - p)
    # offset of the divergent component at landing, less the plan's = E x + e with x = (shift, tau / usual - 1, slack)
    E = np.column_stack([-np.eye(2), away, np.zeros(2)])
    e = away + p - planned.position - b
    H = OFFSET * E.T @ E + np.diag([PLACE, PLACE, TIME, MISS])
    g = OFFSET * E.T @ e
    g[3] += MISS
    A, lower, upper = _rows(E, e + b, stance, planned, omega, limits, next_shortest, numbers("foot", foot, 2), travel)
    lower[0], upper[0] = (np.exp(omega * np.array([shortest, longest])) / usual) - 1.0
    answer = qp.solve(H, g, A, lower, upper)
    if answer.status != "solved":
        return StepChange(planned, remaining, e + b, 0.0, "failed")
    x = answer.x
    missed = float(x[3]) if x[3] > 1e-6 else 0.0
    time = float(np.log(usual * (1.0 + x[2])) / omega)
    return StepChange(planned.moved(x[:2]), time, E @ x + e + b, missed, "relaxed" if missed else "solved")


def _rows(
    E: Array,
    e: Array,
    stance: Footstep,
    planned: Footstep,
    omega: float,
    limits: StepLimits,
    shortest: float,
    foot: Array,
    travel: float,
) -> tuple[Array, Array, Array]:
    """Make rows: time, reach (4), offset along and across the new foot (4, with slack), slack not negative."""
    sign = 1.0 if planned.side == "left" else -1.0
    x, y, turn = planned.relative_to(stance)
    bounds = walking_bounds(
        omega,
        shortest,
        forward=limits.forward,
        backward=limits.backward,
        narrowest=limits.narrowest,
        widest=limits.widest,
    )
    stance_axes, foot_axes = _axes(stance.yaw), _axes(planned.yaw)
    across = (-bounds.inward - foot[1], bounds.outward + foot[1])  # seen from a left foot: inward is to the right
    low, high = (across[0], across[1]) if sign > 0 else (-across[1], -across[0])
    A, lower, upper = np.zeros((10, 4)), np.full(10, -np.inf), np.full(10, np.inf)
    A[0, 2] = 1.0
    for k, (way, least, most) in enumerate(limits.edges(planned.side, turn), 1):
        place = way[0] * x + way[1] * y
        A[k, :2] = way @ stance_axes
        lower[k], upper[k] = min(least - place, 0.0), max(most - place, 0.0)
    lower[1:3], upper[1:3] = np.maximum(lower[1:3], -travel), np.minimum(upper[1:3], travel)
    here = foot_axes @ e
    A[5:7], A[7:9] = foot_axes @ E, -foot_axes @ E
    A[5:9, 3] = -1.0
    upper[5:7] = np.array([bounds.ahead + foot[0], high]) - here
    upper[7:9] = np.array([bounds.behind + foot[0], -low]) + here
    A[9, 3], lower[9] = 1.0, 0.0
    return A, lower, upper


def _axes(yaw: float) -> Array:
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, s], [-s, c]])
