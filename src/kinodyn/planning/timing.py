"""Trajectories from plans: timed within all limits, and collision-free between samples too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kinodyn import dynamics
from kinodyn.arrays import Array
from kinodyn.collision import exact
from kinodyn.collision.exact_checks import ExactChecks
from kinodyn.collision.query import Pairs, Query, range_of
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.planning.exact_curves import ExactCurves
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.linear_segments import BlendedMotion, Segments
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space

VELOCITY = 1.0  # [rad/s, m/s] of joints without a limit
RISE_TIME = 0.25  # [s] from rest to the velocity limit, by which accelerations without a limit are chosen
JERK_TIME = 0.1  # [s] from zero to the acceleration limit, likewise
RESOLUTION = 2e-4  # [m] of continuous checks
SAMPLE_TIME = 4e-3  # [s] between checks of torques
TORQUE_FRACTION = 0.99  # fraction of the torque limits used at the samples, so that they hold between samples
PIECE_SAMPLES = 8  # of a piece of a blend, for constraints
MIN_REACH = 2e-3  # [rad or m] of a blend; with a smaller reach the motion stops at the corner
MIN_SPEED_FACTOR = 1e-3
MAX_ROUNDS = 100
MIN_DURATION, MAX_DURATION = 1e-9, 1e5  # [s] of a motion


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits of a trajectory, and whether torques are limited."""

    bounds: Bounds
    torque: bool


def motion_limits(
    robot: Robot,
    velocity: LimitLike | None,
    acceleration: LimitLike | None,
    jerk: LimitLike | None,
    torque: LimitLike | Literal[False] | None,
) -> Limits:
    """Collect the limits of a trajectory, with defaults where the robot has none."""
    space = Space(robot)
    given = motion_bounds(space, velocity, acceleration, jerk, None if torque is False else torque)
    v = np.where(np.isfinite(given.velocity), given.velocity, VELOCITY)
    a = np.where(np.isfinite(given.acceleration), given.acceleration, v / RISE_TIME)
    j = np.where(np.isfinite(given.jerk), given.jerk, a / JERK_TIME)
    counts = torque is not False and robot.base == "fixed" and bool(np.isfinite(given.torque).any())
    return Limits(Bounds(given.lower, given.upper, v, a, j, given.torque), counts)


def timed(
    path: Array,
    query: Query,
    limits: Limits,
    *,
    blend: float = np.inf,
    allowed: Pairs = frozenset(),
    satisfied: Callable[[Array], NDArray[np.bool_]] | None = None,
) -> PiecewisePolynomial:
    """Time a collision-free path.

    Parameters
    ----------
    path : (n, nq)
        Vertices.
    query
        World and moving joints.
    limits
    blend
        Maximum reach of the blends [rad or m].
    allowed
        Pairs that may touch, as the query has them.
    satisfied
        Returns which configurations (n, nq) satisfy constraints, as the path does; blends are checked at samples.

    Raises
    ------
    InputError
        If the path itself collides, or gravity exceeds a torque limit.

    Notes
    -----
    A joint that rests, and whose torque limit is below its load at the start already, is held by something else, such
    as friction or a brake: its limit does not count.
    """
    robot = query.robot
    limits = _without_held_joints(robot, path, limits)
    segments = Segments(Space(robot), path, limits.bounds)
    colliding = first_blocked(query, segments.q, allowed)  # the motion is straight except for its blends
    if colliding is not None:
        raise InputError(f"the path is not collision-free between its vertices {colliding} and {colliding + 1}")
    checks = ExactCurves(query, allowed, RESOLUTION)
    touches = checks.touching(segments.q)
    reach, speed_scale = np.full(len(segments) + 1, blend), np.ones(len(segments))
    for _ in range(MAX_ROUNDS):
        motion = segments.timed(reach, speed_scale)
        duration = motion.trajectory.duration
        if len(segments) and not MIN_DURATION <= duration <= MAX_DURATION:
            raise InputError(f"the limits give a motion of {duration:g} s; choose others")
        blocked = _blocked_blends(checks, touches, motion, satisfied)
        reach[blocked] = np.where(motion.reach[blocked] > 2 * MIN_REACH, 0.5 * motion.reach[blocked], 0.0)
        slower = _slower(robot, motion, limits) if limits.torque else None
        if slower is not None:
            speed_scale *= slower
        if not len(blocked) and slower is None:
            return motion.trajectory
    raise InputError(f"no speed within the torque limits was found in {MAX_ROUNDS} rounds")


def _without_held_joints(robot: Robot, path: Array, limits: Limits) -> Limits:
    """Return the limits without the torques of joints that rest and are held by something else than their motor."""
    if not limits.torque:
        return limits
    still = np.abs(robot.difference(path[0], path)).max(axis=0) == 0.0
    held = still & (np.abs(dynamics.gravity(robot, path[0])) >= TORQUE_FRACTION * limits.bounds.torque)
    torque = np.where(held, np.inf, limits.bounds.torque)
    return replace(limits, bounds=replace(limits.bounds, torque=torque)) if held.any() else limits


def _blocked_blends(
    checks: ExactCurves,
    touches: NDArray[np.bool_],
    motion: BlendedMotion,
    satisfied: Callable[[Array], NDArray[np.bool_]] | None,
) -> NDArray[np.intp]:
    """Return the corners whose blends are not free, or violate constraints.

    Around vertices whose spheres touch something, `touches` (n,), the exact shapes decide.
    """
    pieces = np.flatnonzero(motion.part % 2)
    if not len(pieces):
        return pieces
    free = checks.pieces_free(motion.trajectory, pieces, touches[(motion.part[pieces] + 1) // 2])
    if satisfied is not None:
        first, last = motion.trajectory.knots[pieces], motion.trajectory.knots[pieces + 1]
        t = first[:, None] + (last - first)[:, None] * np.linspace(0.0, 1.0, PIECE_SAMPLES)
        free &= satisfied(motion.trajectory(t.ravel())).reshape(t.shape).all(axis=1)
    return np.unique((motion.part[pieces[~free]] + 1) // 2)


def first_blocked(query: Query, q: Array, allowed: Pairs) -> int | None:
    """Return the first segment between vertices (n, nq) that is not free, None if all are.

    Where spheres touch, the exact shapes decide.
    """
    blocked = np.flatnonzero(~query.motion_free(q[:-1], q[1:], RESOLUTION))
    if len(blocked) and exact.is_available():
        everything = query.of_all_joints(allowed, bounds=range_of(query.robot, q))
        checks = ExactChecks(everything, allowed)
        return next((int(i) for i in blocked if not checks.motion_free(q[i], q[i + 1], RESOLUTION)), None)
    return int(blocked[0]) if len(blocked) else None


def _slower(robot: Robot, motion: BlendedMotion, limits: Limits) -> Array | None:
    """Return the factor of the speed on each segment that satisfies the torque limits, None if they are satisfied.

    At the speed scale f a torque is about gravity + (torque - gravity) f^2; the next round corrects the rest.
    """
    trajectory = motion.trajectory
    count = int(np.ceil(trajectory.duration / SAMPLE_TIME)) + 1
    t = np.sort(np.concatenate([trajectory.knots, np.linspace(0.0, trajectory.duration, count)]))
    q, v, a = (trajectory(t, order) for order in range(3))
    tau = dynamics.inverse(robot, q, v, a)
    limit = TORQUE_FRACTION * limits.bounds.torque
    rows = np.flatnonzero((np.abs(tau) > limit).any(axis=1))
    if not len(rows):
        return None
    gravity = dynamics.gravity(robot, q[rows])
    static = np.abs(gravity) >= limit
    if static.any():
        k, i = np.argwhere(static)[0]
        raise InputError(
            f"gravity takes {abs(gravity[k, i]):.4g} of joint {motion.trajectory.space.names[i]!r} on the path, "
            f"its limit is {limits.bounds.torque[i]:.4g}: no speed is slow enough"
        )
    moving = tau[rows] - gravity
    room = np.where(moving > 0.0, limit - gravity, limit + gravity)
    squares = np.where(np.abs(tau[rows]) > limit, room / np.maximum(np.abs(moving), 1e-300), 1.0)
    factors = np.maximum(np.sqrt(squares.min(axis=1)), MIN_SPEED_FACTOR) * (1.0 - 1e-3)
    result = np.ones(len(motion.reach) - 1)
    part = motion.part[np.clip(np.searchsorted(trajectory.knots, t[rows], side="right") - 1, 0, len(motion.part) - 1)]
    np.minimum.at(result, part // 2, factors)
    after = part % 2 == 1  # a blend is as fast as the slower of its segments
    np.minimum.at(result, part[after] // 2 + 1, factors[after])
    return result
