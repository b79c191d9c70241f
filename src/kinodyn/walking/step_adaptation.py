"""Step adaptation after a push: one small quadratic program (QP) over position and time of the touchdown.

M. Khadiv, A. Herzog, S. Moosavian, L. Righetti, "Walking control based on step timing adaptation", 2020.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import qp
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.balance.capturability import walking_bounds
from kinodyn.checks import numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.walking.footsteps import Footstep
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.weights import AdaptationWeights


@displayed
@dataclass(frozen=True, eq=False)
class AdaptedStep:
    """A step changed during its swing.

    Attributes
    ----------
    step : Footstep
        New target.
    remaining : float
        Time until touchdown [s].
    offset : (2,)
        DCM at touchdown relative to the foot, in world axes [m].
    missed : float
        Distance by which that is beyond what further steps can capture [m]; 0 if walking can continue.
    status : str
        "solved"; "relaxed" if `missed` is above 0; "failed" if the solver found no solution and the step is as planned.
    """

    step: Footstep
    remaining: float
    offset: Array
    missed: float
    status: str


@check_types
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
    weights: AdaptationWeights | None = None,
) -> AdaptedStep:
    """Adapt position and time of a touchdown such that the step captures the DCM.

    Parameters
    ----------
    dcm, zmp
        Current DCM, and the zero moment point (ZMP) that is kept until touchdown, (2,) [m].
    stance, planned
        The foot on the ground, and the planned footstep of the other foot.
    offset
        Planned DCM at touchdown relative to the planned foot (2,), in world axes [m].
    remaining
        Time until the planned touchdown [s].
    shortest, longest
        Range of the adapted time until touchdown [s].
    next_shortest
        Shortest duration of the steps after this one [s].
    omega
        Natural frequency of the pendulum [rad/s].
    limits
        Region of the footstep.
    foot
        Distance of the edges of the foot from its centre, along and across (2,) [m].
    travel
        Maximum shift of the touchdown along each axis of the stance foot [m].
    weights
        Weights of the objective.

    Returns
    -------
    AdaptedStep

    Notes
    -----
    Variables
        shift (2,) of the footstep; tau = exp(omega T) of the time T until touchdown; slack.
    Objective
        shift, deviation of tau, deviation of the DCM offset at touchdown, slack.
    Constraints
        footstep within `limits`, T from `shortest` to `longest`, DCM offset within `walking_bounds` up to the slack.
    """
    own = weights or AdaptationWeights()
    xi, p, b = numbers("dcm", dcm, 2), numbers("zmp", zmp, 2), numbers("offset", offset, 2)
    if not 0 < shortest <= longest < np.inf or not remaining > 0:
        raise InputError(f"times must be 0 < shortest <= longest, got {shortest!r}, {longest!r}, {remaining!r}")
    nominal = float(np.exp(omega * np.clip(remaining, shortest, longest)))
    away = nominal * (xi - p)
    # DCM offset at touchdown minus the planned one = E x + e with x = (shift, tau / nominal - 1, slack)
    E = np.column_stack([-np.eye(2), away, np.zeros(2)])
    e = away + p - planned.position - b
    H = own.dcm * E.T @ E + np.diag([own.position, own.position, own.time, own.slack])
    g = own.dcm * E.T @ e
    g[3] += own.slack
    A, lower, upper = _rows(E, e + b, stance, planned, omega, limits, next_shortest, numbers("foot", foot, 2), travel)
    lower[0], upper[0] = (np.exp(omega * np.array([shortest, longest])) / nominal) - 1.0
    answer = qp.solve(H, g, A, lower, upper)
    if answer.status != "solved":
        return AdaptedStep(planned, remaining, e + b, 0.0, "failed")
    x = answer.x
    missed = float(x[3]) if x[3] > 1e-6 else 0.0
    time = float(np.log(nominal * (1.0 + x[2])) / omega)
    return AdaptedStep(planned.shifted(x[:2]), time, E @ x + e + b, missed, "relaxed" if missed else "solved")


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
    """Build the rows: time, step limits (4), DCM offset along and across the new foot (4, with slack), slack >= 0."""
    sign = 1.0 if planned.side == "left" else -1.0
    x, y, turn = planned.relative_to(stance)
    bounds = walking_bounds(
        omega,
        shortest,
        forward=limits.forward,
        backward=limits.backward,
        min_width=limits.min_width,
        max_width=limits.max_width,
    )
    stance_axes, foot_axes = _axes(stance.yaw), _axes(planned.yaw)
    across = (-bounds.inward - foot[1], bounds.outward + foot[1])  # for a left foot inward is to the right
    low, high = (across[0], across[1]) if sign > 0 else (-across[1], -across[0])
    A, lower, upper = np.zeros((10, 4)), np.full(10, -np.inf), np.full(10, np.inf)
    A[0, 2] = 1.0
    for k, (direction, least, most) in enumerate(limits.edges(planned.side, turn), 1):
        position = direction[0] * x + direction[1] * y
        A[k, :2] = direction @ stance_axes
        lower[k], upper[k] = min(least - position, 0.0), max(most - position, 0.0)
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
