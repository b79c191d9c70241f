"""Polynomials between states: cubic, quintic, minimum jerk, and from a list of conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, nonnegative, positive
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.piecewise import PiecewisePolynomial, factorials, hermite_pieces
from kinodyn.trajectory.space import Space, increasing, space_of

Condition: TypeAlias = tuple[float, int, ArrayLike]

MAX_CONDITION_NUMBER = 1e12  # with a larger one, fewer than four digits are correct


@check_types
def cubic(
    q0: ArrayLike,
    q1: ArrayLike,
    duration: float,
    *,
    v0: ArrayLike | None = None,
    v1: ArrayLike | None = None,
    robot: Robot | None = None,
) -> PiecewisePolynomial:
    """Move between two states on a cubic polynomial; the acceleration is linear in time and jumps at both ends.

    Parameters
    ----------
    q0, q1 : (nq,)
    duration : float [s]
    v0, v1 : (nv,), zero by default
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial

    Examples
    --------
    >>> motion = cubic([0.0], [1.0], 2.0)
    >>> print(motion([0.0, 1.0, 2.0])[:, 0], motion(1.0, 1))
    [0.  0.5 1. ] [0.75]
    """
    space, q = _ends(robot, q0, q1)
    times = np.array([0.0, positive("duration", duration)])
    return hermite_pieces(space, times, q, np.stack([space.tangents("v0", v0), space.tangents("v1", v1)]), None)


@check_types
def quintic(
    q0: ArrayLike,
    q1: ArrayLike,
    duration: float,
    *,
    v0: ArrayLike | None = None,
    v1: ArrayLike | None = None,
    a0: ArrayLike | None = None,
    a1: ArrayLike | None = None,
    robot: Robot | None = None,
) -> PiecewisePolynomial:
    """Move between two states on a quintic polynomial.

    Parameters
    ----------
    q0, q1 : (nq,)
    duration : float [s]
    v0, v1, a0, a1 : (nv,), zero by default
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial

    Notes
    -----
    J. J. Craig, "Introduction to Robotics", section 7.3, "Higher-order polynomials".

    Examples
    --------
    >>> motion = quintic([0.0], [1.0], 2.0, a1=[0.5])
    >>> print(motion(2.0), motion(2.0, 1).round(12), motion(2.0, 2).round(12))
    [1.] [0.] [0.5]
    """
    space, q = _ends(robot, q0, q1)
    times = np.array([0.0, positive("duration", duration)])
    v = np.stack([space.tangents("v0", v0), space.tangents("v1", v1)])
    a = np.stack([space.tangents("a0", a0), space.tangents("a1", a1)])
    return hermite_pieces(space, times, q, v, a)


@check_types
def minimum_jerk(q0: ArrayLike, q1: ArrayLike, duration: float, *, robot: Robot | None = None) -> PiecewisePolynomial:
    """Move from rest to rest with the least integral of squared jerk.

    This is the quintic with zero velocity and acceleration at the ends. Its velocity peaks at 15/8 of the mean, its
    acceleration at 10 / sqrt(3) times distance / duration^2. Through waypoints it is the clamped `quintic_spline`.

    Parameters
    ----------
    q0, q1 : (nq,)
    duration : float [s]
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial

    Notes
    -----
    T. Flash and N. Hogan, "The coordination of arm movements", 1985.
    """
    return quintic(q0, q1, duration, robot=robot)


@check_types
def hermite(
    times: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None, *, robot: Robot | None = None
) -> PiecewisePolynomial:
    """Interpolate states with known velocities, such as recorded or planned ones, by cubics or quintics.

    Parameters
    ----------
    times : (n,)
        From 0, increasing [s].
    q : (n, nq)
        Configurations.
    v : (n, nv)
        Velocities.
    a : (n, nv), optional
        Accelerations: with them quintics, without cubics, whose acceleration jumps.
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial
    """
    space = space_of(robot, "q", q)
    states = space.configurations("q", q, 2)
    if len(states) < 2:
        raise InputError(f"q must be at least two states, got shape {states.shape}")
    at = increasing("times", times, len(states))
    rates = space.tangents("v", v, len(states))
    return hermite_pieces(space, at, states, rates, None if a is None else space.tangents("a", a, len(states)))


@check_types
def polynomial(conditions: Sequence[Condition], *, robot: Robot | None = None) -> PiecewisePolynomial:
    """Compute the polynomial that satisfies a list of conditions and ends at the latest of them.

    Parameters
    ----------
    conditions : sequence of (time, order, value)
        Order 0 is a configuration (nq,), order 1 a velocity (nv,), order 2 an acceleration, and so on; n conditions
        give degree n - 1. Times are 0 or later [s]. For ball and floating joints orders up to 2 are allowed, each with
        all lower orders at the same time.
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial

    Raises
    ------
    InputError
        If conditions repeat or contradict each other, do not determine the polynomial, or give so high a degree that
        rounding destroys the result; use splines then.

    Examples
    --------
    >>> motion = polynomial([(0.0, 0, [0.0]), (0.0, 1, [0.0]), (1.0, 0, [1.0]), (1.0, 3, [0.0])])
    >>> print(motion(1.0), motion(0.5, 1))
    [1.] [1.]
    """
    rows = _conditions(conditions)
    configurations = [value for _, order, value in rows if order == 0]
    if not configurations:
        raise InputError("conditions include no configuration; give at least one of order 0")
    space = space_of(robot, "a condition of order 0", configurations[0])
    base = space.configurations("a condition of order 0", configurations[0])
    values = _in_coordinates(space, base, rows)
    end = max(time for time, _, _ in rows)
    if not end > 0.0:
        raise InputError("all conditions are at time 0; give one at a later time, at which the trajectory ends")
    orders = np.array([order for _, order, _ in rows])
    matrix = _matrix(np.array([time for time, _, _ in rows]) / end, orders)
    scaled = _solve(matrix, values * (end**orders)[:, None])
    coefficients = scaled / (end ** np.arange(len(rows)))[:, None]
    return PiecewisePolynomial(space, np.array([0.0, end]), base[None].copy(), coefficients[:, None])


def _ends(robot: Robot | None, q0: ArrayLike, q1: ArrayLike) -> tuple[Space, Array]:
    space = space_of(robot, "q0", q0)
    return space, np.stack([space.configurations("q0", q0), space.configurations("q1", q1)])


def _conditions(conditions: Sequence[Condition]) -> list[tuple[float, int, ArrayLike]]:
    rows = []
    try:
        parts = [(float(time), order, value) for time, order, value in conditions]
    except (TypeError, ValueError, OverflowError) as cause:
        raise InputError("conditions must be a list of (time, order, value)") from cause
    for time, order, value in parts:
        nonnegative("the time of a condition", time)
        integer("the order of a condition", order)
        rows.append((time, int(order), value))
    if not rows:
        raise InputError("conditions is empty; give at least two")
    return sorted(rows, key=lambda row: row[:2])


def _in_coordinates(space: Space, base: Array, rows: list[tuple[float, int, ArrayLike]]) -> Array:
    """Express conditions in coordinates x (n, nv) about `base`."""
    values = np.zeros((len(rows), space.nv))
    known: dict[tuple[float, int], Array] = {}
    zero = np.zeros(space.nv)
    for row, (time, order, value) in enumerate(rows):
        if order == 0:
            x = space.difference(base, space.configurations("a condition of order 0", value))
        else:
            x = space.tangents(f"a condition of order {order}", value)
            if not space.is_vector:
                if order > 2 or any((time, lower) not in known for lower in range(order)):
                    raise InputError(
                        f"a condition of order {order} at time {time:g}: with ball or floating joints give orders up to"
                        " 2, and all lower orders at the same time"
                    )
                v = known.get((time, -1), x)
                x = space.rates(known[time, 0], v, x if order == 2 else zero)[order - 1]
                known[time, -1] = space.tangents("v", value) if order == 1 else v
        if (time, order) in known:
            raise InputError(f"two conditions of order {order} at time {time:g}; give one")
        known[time, order] = values[row] = x
    return values


def _matrix(times: Array, orders: Array) -> Array:
    """Compute the matrix (n, n) from coefficients to derivatives at times within [0, 1]."""
    powers = np.arange(len(times))
    factorial = factorials(len(times))
    matrix = np.zeros((len(times), len(times)))
    for row, (time, order) in enumerate(zip(times, orders, strict=True)):
        high = powers[powers >= order]
        matrix[row, high] = factorial[high] / factorial[high - order] * time ** (high - order)
    return matrix


def _solve(matrix: Array, values: Array) -> Array:
    scale = np.abs(matrix).max(axis=1, keepdims=True)
    if not (scale > 0.0).all() or np.linalg.matrix_rank(matrix / scale) < len(matrix):
        raise InputError(
            f"the {len(matrix)} conditions do not determine a polynomial of degree {len(matrix) - 1}; some repeat or"
            " contradict others, or a configuration is missing"
        )
    if np.linalg.cond(matrix / scale) > MAX_CONDITION_NUMBER:
        raise InputError(f"{len(matrix)} conditions on one polynomial are too ill-conditioned; use a spline")
    return np.asarray(np.linalg.solve(matrix / scale, values / scale))
