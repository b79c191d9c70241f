"""Splines through waypoints, on vectors and on manifolds."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import numbers, one_of, positive
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.extrema import peak_rates
from kinodyn.trajectory.piecewise import PiecewisePolynomial, hermite_pieces
from kinodyn.trajectory.space import Space, increasing, space_of

Ends: TypeAlias = Literal["clamped", "natural", "periodic", "not-a-knot"]

CLOSED_TOLERANCE = 1e-9  # between the first and the last waypoint of a periodic spline [rad or m]


@check_types
def cubic_spline(
    waypoints: ArrayLike,
    times: ArrayLike | None = None,
    *,
    ends: Ends = "clamped",
    v0: ArrayLike | None = None,
    v1: ArrayLike | None = None,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    robot: Robot | None = None,
) -> PiecewisePolynomial:
    """Interpolate waypoints by a cubic spline: velocity and acceleration are continuous.

    Of all curves through the waypoints with the same end velocities, it has the least integral of squared acceleration.

    Parameters
    ----------
    waypoints : (n, nq)
    times : (n,), optional
        From 0, increasing [s]. Without them they come from `waypoint_times` and are stretched by one factor until the
        limits are just met. Without any limit, the mean speed is 1.
    ends : "clamped", "natural", "periodic" or "not-a-knot"
        End conditions. "clamped": velocities v0 and v1; "natural": zero acceleration; "periodic": the last waypoint is
        the first again, with the same derivatives; "not-a-knot": the first two pieces are one polynomial, and the last
        two.
    v0, v1 : (nv,), optional
        End velocities for "clamped"; zero by default.
    velocity, acceleration : () or (nv,), or dict of joint -> limit, optional
        Instead of times; velocity limits are the robot's by default.
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial

    Notes
    -----
    C. de Boor, "A Practical Guide to Splines", 2001, chapter IV. Ball and floating joints use exponential coordinates
    of degree 5 between waypoints; their velocities and accelerations there are those of a spline through the
    differences of successive waypoints. Where a body rotates about one fixed axis, this is the cubic spline of the
    angle. Successive waypoints must be less than half a turn apart.

    Examples
    --------
    >>> motion = cubic_spline([[0.0], [1.0], [0.0]], [0.0, 1.0, 2.0])
    >>> print(motion([0.5, 1.0]).ravel(), motion(1.0, 1).round(12))
    [0.5 1. ] [0.]
    """
    shape = _Shape(3, ends, (v0, v1), (None, None))
    return _spline(shape, waypoints, times, robot, velocity, acceleration)


@check_types
def quintic_spline(
    waypoints: ArrayLike,
    times: ArrayLike | None = None,
    *,
    ends: Ends = "clamped",
    v0: ArrayLike | None = None,
    v1: ArrayLike | None = None,
    a0: ArrayLike | None = None,
    a1: ArrayLike | None = None,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    robot: Robot | None = None,
) -> PiecewisePolynomial:
    """Interpolate waypoints by a quintic spline: the first four derivatives are continuous.

    Of all curves through the waypoints at these times with the same velocities and accelerations at the ends, it has
    the least integral of squared jerk. For ball and floating joints, velocity and acceleration are continuous.

    Parameters
    ----------
    waypoints : (n, nq)
    times : (n,), optional
        From 0, increasing [s]. Without them they come from `waypoint_times` and are stretched by one factor until the
        limits are just met. Without any limit, the mean speed is 1.
    ends : "clamped", "natural", "periodic" or "not-a-knot"
        As in `cubic_spline`, but "clamped" has accelerations a0 and a1 too, "natural" has zero third and fourth
        derivatives, and "not-a-knot" needs six waypoints.
    v0, v1, a0, a1 : (nv,), optional
        Velocities and accelerations at the ends for "clamped"; zero by default.
    velocity, acceleration : () or (nv,), or dict of joint -> limit, optional
        Instead of times; velocity limits are the robot's by default.
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial
    """
    shape = _Shape(5, ends, (v0, v1), (a0, a1))
    return _spline(shape, waypoints, times, robot, velocity, acceleration)


@check_types
def waypoint_times(
    waypoints: ArrayLike,
    *,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    robot: Robot | None = None,
) -> Array:
    """Choose times for waypoints from the limits, or from the distances where there are none.

    Each segment takes as long as its slowest joint needs at its velocity limit, or at full acceleration followed by
    full deceleration. Without limits it takes its Euclidean length.

    Parameters
    ----------
    waypoints : (n, nq)
    velocity, acceleration : () or (nv,), or dict of joint -> limit, optional
        Velocity limits are the robot's by default.
    robot : Robot, optional

    Returns
    -------
    (n,) array
        Times from 0 [s].
    """
    space = space_of(robot, "waypoints", waypoints)
    q = space.configurations("waypoints", waypoints, 2)
    return _first_times(space, q, motion_bounds(space, velocity, acceleration))


class _Shape:
    """The degree of a spline and its end conditions."""

    def __init__(
        self,
        degree: int,
        ends: Ends,
        v: tuple[ArrayLike | None, ArrayLike | None],
        a: tuple[ArrayLike | None, ArrayLike | None],
    ) -> None:
        one_of("ends", ends, ("clamped", "natural", "periodic", "not-a-knot"))
        if ends != "clamped" and any(value is not None for value in (*v, *a)):
            raise InputError(f'velocities and accelerations at the ends are for ends="clamped", not {ends!r}')
        self.degree, self.ends, self.v, self.a = degree, ends, v, a
        given = {"v0": v[0], "v1": v[1], "a0": a[0], "a1": a[1]}
        self.at_rest = not any(numbers(name, value).any() for name, value in given.items() if value is not None)

    def conditions(self, space: Space) -> object:
        """Return the conditions at both ends in SciPy's form."""
        if self.ends == "not-a-knot":
            return None
        if self.ends == "periodic":
            return "periodic"
        if self.ends == "natural":
            one = [(order, np.zeros(space.nv)) for order in ((2,) if self.degree == 3 else (3, 4))]
            return one, one
        sides = []
        for side in (0, 1):
            one = [(1, space.tangents(f"v{side}", self.v[side]))]
            if self.degree == 5:
                one.append((2, space.tangents(f"a{side}", self.a[side])))
            sides.append(one)
        return tuple(sides)


def _spline(
    shape: _Shape,
    waypoints: ArrayLike,
    times: ArrayLike | None,
    robot: Robot | None,
    velocity: LimitLike | None,
    acceleration: LimitLike | None,
) -> PiecewisePolynomial:
    space = space_of(robot, "waypoints", waypoints)
    q = space.configurations("waypoints", waypoints, 2)
    least = {"not-a-knot": shape.degree + 1, "periodic": 3}.get(shape.ends, 2)
    if len(q) < least:
        raise InputError(f"{len(q)} waypoints; ends={shape.ends!r} at degree {shape.degree} needs at least {least}")
    if times is not None:
        if velocity is not None or acceleration is not None:
            raise InputError("times and limits are both given; leave one out, or use `retime` afterwards")
        return _interpolate(space, shape, q, increasing("times", times, len(q)))
    bounds = motion_bounds(space, velocity, acceleration)
    at = _first_times(space, q, bounds)
    motion = _interpolate(space, shape, q, at)
    if not np.isfinite([bounds.velocity, bounds.acceleration]).any():
        return motion
    return _stretch(space, shape, q, at, bounds, motion)


def _stretch(
    space: Space, shape: _Shape, q: Array, at: Array, bounds: Bounds, motion: PiecewisePolynomial
) -> PiecewisePolynomial:
    """Stretch the times until the limits are just met: in one step from rest to rest, else iteratively."""
    for _ in range(40):
        v, a = (peak_rates(motion, order) for order in (1, 2))
        factor = max((v / bounds.velocity).max(), np.sqrt((a / bounds.acceleration).max()))
        if shape.at_rest and factor > 0.0:
            return motion.stretched(positive("factor", factor * (1.0 + 1e-12)))
        if factor <= 1.0:
            return motion
        at = at * (factor + 1e-3)
        motion = _interpolate(space, shape, q, at)
    raise InputError("the velocities or accelerations at the ends violate the limits; give times")


def _interpolate(space: Space, shape: _Shape, q: Array, times: Array) -> PiecewisePolynomial:
    steps = space.difference(q[:-1], q[1:])
    y = np.concatenate([np.zeros((1, space.nv)), np.cumsum(steps, axis=0)])
    trend = np.zeros(space.nv)
    if shape.ends == "periodic":
        _check_closed(space, q)
        trend = y[-1] / times[-1]
    flat = y - trend * times[:, None]
    if shape.ends == "periodic":
        flat[-1] = flat[0]
    spline = make_interp_spline(times, flat, k=shape.degree, bc_type=shape.conditions(space))
    v, a = spline(times, 1) + trend, spline(times, 2)
    if shape.ends == "periodic":
        v[-1], a[-1] = v[0], a[0]
    if shape.ends == "clamped":  # exactly
        v[0], v[-1] = (space.tangents("v", value) for value in shape.v)
    return hermite_pieces(space, times, q, v, a if shape.degree == 5 or not space.is_vector else None)


def _check_closed(space: Space, q: Array) -> None:
    gap = space.difference(q[0], q[-1])
    if space.robot is not None:  # continuous joints may differ by full turns
        for joint in space.robot.joints:
            if joint.kind == "continuous" and joint.mimic is None:
                gap[joint.v] -= 2 * np.pi * np.round(gap[joint.v] / (2 * np.pi))
    worst = int(np.abs(gap).argmax())
    if abs(gap[worst]) > CLOSED_TOLERANCE:
        raise InputError(
            f'the last waypoint is not the first: {space.names[worst]} differs by {gap[worst]:.3g}; ends="periodic"'
            " needs a closed path"
        )


def _first_times(space: Space, q: Array, bounds: Bounds) -> Array:
    if len(q) < 2:
        raise InputError(f"waypoints must be at least two configurations (n, nq), got shape {q.shape}")
    steps = np.abs(space.difference(q[:-1], q[1:]))
    if not (steps.max(axis=1) > 0.0).all():
        index = int((steps.max(axis=1) == 0.0).argmax())
        raise InputError(f"waypoints {index} and {index + 1} are the same; leave one out, or give times")
    needed = np.maximum(steps / bounds.velocity, 2.0 * np.sqrt(steps / bounds.acceleration)).max(axis=1)
    length = np.linalg.norm(steps, axis=1)
    rate = (needed / length).max()  # for segments of joints without limits
    durations = np.where(needed > 0.0, needed, length * (rate if rate > 0.0 else 1.0))
    return np.concatenate([[0.0], np.cumsum(durations)])
