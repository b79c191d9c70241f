"""Jerk-limited motion from any state to any state."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import positive
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.axes import Axes, Ends
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.ruckig_adapter import Planner, Synchronise, pieces
from kinodyn.trajectory.space import Space, space_of


@check_types
def jerk_limited(
    q0: ArrayLike,
    q1: ArrayLike,
    *,
    acceleration: LimitLike,
    jerk: LimitLike,
    velocity: LimitLike | None = None,
    v0: ArrayLike | None = None,
    v1: ArrayLike | None = None,
    a0: ArrayLike | None = None,
    a1: ArrayLike | None = None,
    duration: float | None = None,
    synchronise: Synchronise = "time",
    robot: Robot | None = None,
) -> PiecewisePolynomial:
    """Move from (q0, v0, a0) to (q1, v1, a1) in minimum time within limits of velocity, acceleration and jerk.

    A start outside the limits is brought back within them first. Position limits are not considered: see `check`.

    Parameters
    ----------
    q0, q1 : (nq,)
    acceleration, jerk : () or (nv,), or dict of joint -> limit
        [rad/s^2, m/s^2] and [rad/s^3, m/s^3].
    velocity : () or (nv,), or dict of joint -> limit, optional
        [rad/s, m/s]; by default the robot's.
    v0, v1, a0, a1 : (nv,), zero by default
    duration : float, optional
        Duration, at least the minimum time [s].
    synchronise : "time", "phase" or "none"
        "time": all joints end together; "phase": on a straight line too, where the states allow; "none": each joint
        takes its own minimum time.
    robot : Robot, optional

    Returns
    -------
    PiecewisePolynomial

    Raises
    ------
    InputError
        If the limits do not allow the duration, or a moving joint has no jerk limit.

    Notes
    -----
    L. Berscheid and T. Kroeger, "Jerk-limited Real-time Trajectory Generation with Arbitrary Target States", 2021;
    computed locally by their library ruckig.

    Examples
    --------
    >>> motion = jerk_limited([0.0], [1.0], velocity=1.0, acceleration=1.0, jerk=2.0, v0=[0.5])
    >>> print(motion(0.0, 1), motion(motion.duration).round(9), round(motion.duration, 3))
    [0.5] [1.] 2.051
    """
    space = space_of(robot, "q0", q0)
    q = space.configurations("q0", q0), space.configurations("q1", q1)
    rates = [space.tangents(name, value) for name, value in (("v0", v0), ("v1", v1), ("a0", a0), ("a1", a1))]
    axes = Axes(
        space, Ends(q[0], q[1], rates[0], rates[1], rates[2], rates[3]), _bounds(space, velocity, acceleration, jerk)
    )
    limits = axis_limits(axes)
    planner = Planner(limits[0], limits[1], limits[2], synchronise)
    start, target = axis_states(axes)
    found = planner.plan(start, target, None if duration is None else positive("duration", duration))
    if duration is not None and found.duration > duration * (1.0 + 1e-9):
        raise InputError(f"duration is {duration:g} s; the limits need at least {found.duration:.6g} s")
    return as_motion(axes, found)


def _bounds(space: Space, velocity: LimitLike | None, acceleration: LimitLike, jerk: LimitLike) -> Bounds:
    return motion_bounds(space, velocity, acceleration, jerk)


def axis_limits(axes: Axes) -> tuple[Array, Array, Array]:
    """Return the limits (m,) of velocity, acceleration and jerk for ruckig, which needs a finite jerk for each axis."""
    unlimited = axes.moving & ~np.isfinite(axes.jerk)
    if unlimited.any():
        name = axes.names[int(unlimited.argmax())]
        raise InputError(f"joint {name!r} moves and has no jerk limit; give one above 0, or use `trapezoid`")
    return axes.velocity, axes.acceleration, np.where(np.isfinite(axes.jerk), axes.jerk, 1.0)


def axis_states(axes: Axes) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
    """Return the start and the target (position, velocity, acceleration), each (m,), relative to the start."""
    return (0.0 * axes.step, axes.v0, axes.a0), (axes.step, axes.v1, axes.a1)


def as_motion(axes: Axes, found: object) -> PiecewisePolynomial:
    """Convert a motion of the axes found by ruckig to a trajectory."""
    knots, coefficients = pieces(found)
    base = np.tile(axes.ends.q0, (len(knots) - 1, 1))
    return PiecewisePolynomial(axes.space, knots, base, axes.expand(coefficients))
