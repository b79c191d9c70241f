"""Slow a trajectory down to its limits, or report that no slow-down helps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.base import JointTrajectory
from kinodyn.trajectory.bounds import LimitLike, motion_bounds
from kinodyn.trajectory.check import ORDERS, LimitCheck, check, motion_times, read_motion
from kinodyn.trajectory.space import Space
from kinodyn.trajectory.time_optimal import time_optimal

MAX_ROUNDS = 30  # of adding sample times where a torque limit is violated between them
ROUNDING_MARGIN = 1e-10  # by which the speed scale is reduced below the computed one


@displayed
@dataclass(frozen=True, eq=False)
class RetimeResult:
    """Result of `retime`; true in a boolean context when there is a trajectory within limits.

    Attributes
    ----------
    trajectory : JointTrajectory or None
        The slower trajectory; the given one if it was within limits; None if no slow-down helps.
    factor : float
        New duration over the old.
    status : str
        "kept": it was within limits; "slowed"; "position": the path violates position limits; "gravity": a torque
        exceeds its limit at any speed, mostly because of gravity; "infeasible": method "path" found no feasible speed.
    reason : str
        Explanation of a failure; empty otherwise.
    check : LimitCheck
        Check of the new trajectory, or of the given one where there is none.
    """

    trajectory: JointTrajectory | None
    factor: float
    status: str
    reason: str
    check: LimitCheck

    @property
    def success(self) -> bool:
        """Whether there is a trajectory within limits."""
        return self.trajectory is not None

    def __bool__(self) -> bool:
        return self.success


@check_types
def retime(
    robot: Robot | None,
    trajectory: JointTrajectory,
    *,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    jerk: LimitLike | None = None,
    torque: LimitLike | Literal[False] | None = None,
    method: Literal["uniform", "path"] = "uniform",
) -> RetimeResult:
    """Slow a trajectory down until it is within its limits, and no more than necessary.

    Parameters
    ----------
    robot : Robot, optional
        Its limits apply where none are given.
    trajectory : JointTrajectory
    velocity, acceleration, jerk, torque
        Limits, as in `check`.
    method : "uniform" or "path"
        "uniform" stretches time by the smallest factor k. "path" keeps the path only and finds the fastest motion along
        it (`time_optimal`), from rest to rest; it does not limit jerk.

    Returns
    -------
    RetimeResult

    Notes
    -----
    Stretched by k, velocities shrink by k, accelerations by k^2, jerks by k^3. A torque becomes
    gravity + damping / k + rest / k^2, a quadratic in 1/k whose forbidden intervals are known in closed form; the
    smallest k outside all of them is taken, and checked between samples. Slower is not always feasible: a fall may be
    within the torque limits while its slow version is not.
    """
    limits = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk, "torque": torque}
    before = check(robot, trajectory, **limits)  # type: ignore[arg-type]
    if before.ok:
        return RetimeResult(trajectory, 1.0, "kept", "", before)
    position = next((violation for violation in before.violations if violation.kind == "position"), None)
    if position is not None:
        return RetimeResult(None, np.inf, "position", f"no slow-down helps: {position}", before)
    if method == "path":
        return _along_the_path(robot, trajectory, limits, before)
    return _uniform(robot, trajectory, limits, before)


def _along_the_path(
    robot: Robot | None,
    trajectory: JointTrajectory,
    limits: dict[str, LimitLike | Literal[False] | None],
    before: LimitCheck,
) -> RetimeResult:
    if limits.pop("jerk") is not None:
        raise InputError('method="path" does not limit jerk; leave it out, or use "uniform"')
    found = time_optimal(trajectory, robot=robot, **limits)  # type: ignore[arg-type]
    if found.trajectory is None:
        return RetimeResult(None, np.inf, found.status, found.reason, before)
    assert found.check is not None
    factor = found.trajectory.duration / trajectory.duration
    return RetimeResult(found.trajectory, factor, "slowed", "", found.check)


def _uniform(
    robot: Robot | None,
    trajectory: JointTrajectory,
    limits: dict[str, LimitLike | Literal[False] | None],
    before: LimitCheck,
) -> RetimeResult:
    space, _ = read_motion(robot, trajectory)
    top = 1.0  # largest speed scale u = 1 / k
    for kind, power in ORDERS:
        ratio = float(before.peak_ratio.get(kind, np.zeros(1)).max())
        top = min(top, max(ratio, 1e-300) ** (-1.0 / power))
    limits_torque = "torque" in before.peak_ratio and robot is not None
    scale = top if top == 1.0 else top * (1.0 - ROUNDING_MARGIN)
    times = motion_times(trajectory)
    if limits_torque:
        times = np.union1d(times, before.time["torque"])
    for _ in range(MAX_ROUNDS):
        if limits_torque:
            assert robot is not None
            limit = motion_bounds(space, torque=limits["torque"]).torque
            found, why = _largest_speed_scale(robot, space, trajectory, times, limit, top)
            if found is None:
                return RetimeResult(None, np.inf, "gravity", why, before)
            scale = found * (1.0 - ROUNDING_MARGIN)
        slower = trajectory.stretched(1.0 / scale)
        after = check(robot, slower, **limits)  # type: ignore[arg-type]
        if after.ok:
            return RetimeResult(slower, 1.0 / scale, "slowed", "", after)
        times = np.union1d(times, [violation.time * scale for violation in after.violations])
    return RetimeResult(None, np.inf, "gravity", f"no slow-down was found: {after.violations[0]}", before)


def _largest_speed_scale(
    robot: Robot, space: Space, motion: JointTrajectory, times: Array, limit: Array, top: float
) -> tuple[float | None, str]:
    """Find the largest speed scale u up to `top` at which |g + D u + B u^2| is within the limit at all times."""
    q, v, a = motion(times), motion(times, 1), motion(times, 2)
    zero = np.zeros_like(v)
    g = dynamics.inverse(robot, q, zero, zero)
    D = robot.damping * v
    B = dynamics.inverse(robot, q, v, a) - g - D
    some = np.isfinite(limit)
    low, high = _forbidden(g[:, some], D[:, some], B[:, some], limit[some])
    scale = top
    order = np.argsort(-high, kind="stable")
    for i in order:  # from the fastest down: an interval that contains the speed scale lowers it to its lower end
        if high[i] < scale:
            break
        if low[i] < scale:
            scale = low[i]
    if scale > 0.0:
        return float(scale), ""
    load = np.abs(g[:, some]) / limit[some]
    place = np.unravel_index(int(load.argmax()), load.shape)
    name = [name for name, limited in zip(space.names, some, strict=True) if limited][place[1]]
    need, most = abs(g[:, some][place]), limit[some][place[1]]
    return None, (
        f"no slow-down helps: gravity at {times[place[0]]:.4g} s needs a torque of {need:.4g} at {name!r},"
        f" whose limit is {most:.4g}"
    )


def _forbidden(g: Array, D: Array, B: Array, limit: Array) -> tuple[Array, Array]:
    """Compute the open intervals (low, high) of u in [0, 1] where a torque violates its limit."""
    lows, highs = [], []
    for sign in (1.0, -1.0):
        c, b, a = sign * g - limit, sign * D, sign * B  # forbidden where c + b u + a u^2 > 0
        roots = _quadratic_roots(a, b, c)
        marks = np.sort(
            np.clip(np.concatenate([np.zeros((1, *c.shape)), roots, np.ones((1, *c.shape))]), 0.0, 1.0), axis=0
        )
        for left, right in zip(marks[:-1], marks[1:], strict=True):
            middle = 0.5 * (left + right)
            violated = (right > left) & (c + middle * (b + middle * a) > 0.0)
            lows.append(left[violated])
            highs.append(right[violated])
    return np.concatenate(lows), np.concatenate(highs)


def _quadratic_roots(a: Array, b: Array, c: Array) -> Array:
    """Find the real roots (2, ...) of a u^2 + b u + c without cancellation; 0 stands for none."""
    square = b * b - 4.0 * a * c
    half = -0.5 * (b + np.copysign(np.sqrt(np.maximum(square, 0.0)), b))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        roots = np.stack([half / a, c / half])
    return np.where((square >= 0.0) & np.isfinite(roots), roots, 0.0)
