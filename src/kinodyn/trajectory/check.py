"""Check a trajectory against its limits over its whole duration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kinodyn import dynamics
from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.robot import Robot
from kinodyn.trajectory.base import JointTrajectory, Trajectory
from kinodyn.trajectory.bounds import Bounds, LimitLike, motion_bounds
from kinodyn.trajectory.extrema import exact_values, refined_peaks, sampling_times
from kinodyn.trajectory.piecewise import PiecewisePolynomial
from kinodyn.trajectory.space import Space, space_of

Kind: TypeAlias = Literal["position", "velocity", "acceleration", "jerk", "torque"]
Wrenches: TypeAlias = Callable[[Array], Mapping[str, ArrayLike]]

ORDERS: tuple[tuple[Kind, int], ...] = (("velocity", 1), ("acceleration", 2), ("jerk", 3))


@displayed
@dataclass(frozen=True)
class LimitViolation:
    """A limit that one joint violates.

    Attributes
    ----------
    kind : str
        "position", "velocity", "acceleration", "jerk" or "torque".
    joint : str
    time : float
        Time of the largest violation [s].
    value, limit : float
        Value at that time, and the limit, in the units of the joint.
    """

    kind: Kind
    joint: str
    time: float
    value: float
    limit: float

    @property
    def excess(self) -> float:
        """Distance of the value from the limit."""
        return abs(self.value - self.limit)

    def __str__(self) -> str:
        return (
            f"{self.kind} of {self.joint!r} is {self.value:.6g} at {self.time:.6g} s,"
            f" {self.excess:.3g} beyond its limit {self.limit:.6g}"
        )


@displayed
@dataclass(frozen=True, eq=False)
class LimitCheck:
    """Result of `check`; true in a boolean context when no limit is violated.

    Attributes
    ----------
    violations : tuple of LimitViolation
        One for each joint and kind of limit that is violated, the largest relative violation first.
    peak_ratio : dict of kind -> (nv,) array
        Peak value of each joint divided by its limit; 0 where there is no limit. Not for positions.
    time : dict of kind -> (nv,) array
        Time of the peak [s].
    exact : dict of kind -> bool
        True where extrema come from roots of derivatives, False where from refined samples.
    skipped : dict of kind -> str
        What was not checked, and why.
    """

    violations: tuple[LimitViolation, ...]
    peak_ratio: dict[Kind, Array]
    time: dict[Kind, Array]
    exact: dict[Kind, bool]
    skipped: dict[Kind, str]

    @property
    def ok(self) -> bool:
        """Whether no checked limit is violated."""
        return not self.violations

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [str(violation) for violation in self.violations]
        if not lines:
            peaks = [f"{kind} at most {x.max(initial=0.0):.1%} of its limit" for kind, x in self.peak_ratio.items()]
            lines = ["within limits: " + ", ".join(peaks) if peaks else "within limits"]
        return "\n".join([*lines, *(f"{kind} not checked: {why}" for kind, why in self.skipped.items())])


@check_types
def check(
    robot: Robot | None,
    trajectory: Trajectory,
    *,
    velocity: LimitLike | None = None,
    acceleration: LimitLike | None = None,
    jerk: LimitLike | None = None,
    torque: LimitLike | Literal[False] | None = None,
    wrenches: Wrenches | None = None,
    tolerance: float = 1e-9,
) -> LimitCheck:
    """Check position, velocity, acceleration, jerk and torque of a trajectory against their limits.

    For piecewise polynomials extrema are computed from roots of derivatives, so that nothing between samples is missed;
    for other trajectories, and for torques, from refined samples.

    Parameters
    ----------
    robot : Robot, optional
        Its limits apply where none are given.
    trajectory : Trajectory
    velocity, acceleration, jerk : () or (nv,), or dict of joint -> limit, optional
        [rad/s, m/s], [rad/s^2, m/s^2], [rad/s^3, m/s^3].
    torque : () or (nv,), dict of joint -> limit, or False, optional
        [N m, N]; False ignores torques. With a floating base they are checked only if `wrenches` are given, since
        contact forces are not known otherwise.
    wrenches : function, optional
        From times (n,) to external wrenches, frame -> (n, 6), as `dynamics.inverse` takes them.
    tolerance : float
        Relative to the limit; for positions in rad or m.

    Returns
    -------
    LimitCheck

    Examples
    --------
    >>> import kinodyn as kd
    >>> robot = kd.load("panda")
    >>> q0, q1 = [0, 0, 0, -1.5, 0, 1.5, 0], [1, 0, 0, -1.5, 0, 1.5, 0]
    >>> print(check(robot, kd.trajectory.minimum_jerk(q0, q1, 0.4, robot=robot), torque=False))
    velocity of 'panda_joint1' is 4.6875 at 0.2 s, 2.51 beyond its limit 2.175
    """
    space, motion = read_motion(robot, trajectory)
    bounds = motion_bounds(space, velocity, acceleration, jerk, None if torque is False else torque)
    report = LimitCheck((), {}, {}, {}, {})
    found = _positions(space, motion, bounds, tolerance, report)
    for kind, order in ORDERS:
        limit = getattr(bounds, kind)
        if np.isfinite(limit).any():
            values, times, exact = _extremes(space, motion, order)
            found += _compare(report, kind, space.names, (values, times), limit, tolerance)
            report.exact[kind] = exact
    if torque is not False and robot is not None and np.isfinite(bounds.torque).any():
        found += _torques(robot, space, motion, bounds.torque, wrenches, tolerance, report)
    ordered = sorted(found, key=lambda violation: -violation.excess / max(abs(violation.limit), 1e-12))
    return LimitCheck(tuple(ordered), report.peak_ratio, report.time, report.exact, report.skipped)


def read_motion(robot: Robot | None, trajectory: Trajectory) -> tuple[Space, Trajectory]:
    """Return the space of a trajectory, checked against the robot."""
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"trajectory must be callable and have duration and sample, got {type(trajectory).__name__}")
    q = np.asarray(trajectory(0.0))
    if robot is None and isinstance(trajectory, JointTrajectory):
        return trajectory.space, trajectory
    space = space_of(robot, "trajectory(0)", q)
    v = np.asarray(trajectory(0.0, 1))
    if q.shape != (space.nq,) or v.shape != (space.nv,):
        raise InputError(f"the trajectory returns q {q.shape} and v {v.shape}, not ({space.nq},) and ({space.nv},)")
    return space, trajectory


def motion_times(motion: Trajectory) -> Array:
    """Choose sample times for any trajectory [s]."""
    knots = np.asarray(getattr(motion, "knots", [0.0, motion.duration]), dtype=float)
    return sampling_times(knots)


def _positions(
    space: Space, motion: Trajectory, bounds: Bounds, tolerance: float, report: LimitCheck
) -> list[LimitViolation]:
    limited = np.isfinite(bounds.lower) | np.isfinite(bounds.upper)
    if not limited.any():
        return []
    exact = isinstance(motion, PiecewisePolynomial)
    if isinstance(motion, PiecewisePolynomial):  # only vector coordinates have position limits
        indices = motion.space.q_index[~motion.space.on_manifold]
        times, values = (array[..., ~motion.space.on_manifold] for array in exact_values(motion, 0))
        ends = [_pick(times, sign * values, sign) for sign in (1.0, -1.0)]
    else:
        indices, at = np.arange(space.nq), motion_times(motion)
        ends = []
        for sign in (1.0, -1.0):
            values, times = refined_peaks(lambda t, sign=sign: sign * motion(t), at)  # type: ignore[misc]
            ends.append((sign * values, times))
    report.exact["position"] = exact
    names = {
        i: joint.name
        for joint in (space.robot.joints if space.robot else ())
        for i in range(joint.q.start, joint.q.stop)
    }
    found = []
    for (values, times), limit, sign in ((ends[0], bounds.upper, 1.0), (ends[1], bounds.lower, -1.0)):
        for column, index in enumerate(indices):
            if sign * (values[column] - limit[index]) > tolerance:
                name = names.get(int(index), space.names[column] if space.robot is None else "")
                found.append(
                    LimitViolation("position", name, float(times[column]), float(values[column]), float(limit[index]))
                )
    return found


def _pick(times: Array, signed: Array, sign: float) -> tuple[Array, Array]:
    """Return the largest of values (k, n, m) for each column, and its time."""
    flat, at = signed.reshape(-1, signed.shape[-1]), times.reshape(-1, signed.shape[-1])
    row, columns = flat.argmax(axis=0), np.arange(flat.shape[1])
    return sign * flat[row, columns], at[row, columns]


def _extremes(space: Space, motion: Trajectory, order: int) -> tuple[Array, Array, bool]:
    """Find the values (nv,) of a derivative that are largest in magnitude, and their times."""
    exact = isinstance(motion, PiecewisePolynomial)
    values, times = np.zeros((2, space.nv))
    if isinstance(motion, PiecewisePolynomial):
        at, all_values = exact_values(motion, order)
        magnitude, times = _pick(at, np.abs(all_values), 1.0)
        positive, _ = _pick(at, all_values, 1.0)
        values = np.where(np.abs(positive - magnitude) <= 1e-15 * magnitude, magnitude, -magnitude)
    if not exact or not space.is_vector:
        peaks, when = refined_peaks(lambda t: np.abs(motion(t, order)), motion_times(motion))
        some = space.on_manifold if exact else np.ones(space.nv, dtype=bool)
        signs = np.sign(np.stack([motion(time, order)[i] for i, time in enumerate(when)]))
        values[some], times[some] = (signs * peaks)[some], when[some]
    return values, times, exact and space.is_vector


def _compare(
    report: LimitCheck,
    kind: Kind,
    names: tuple[str, ...],
    peaks: tuple[Array, Array],
    limit: Array,
    tolerance: float,
) -> list[LimitViolation]:
    values, times = peaks
    peaks_of_zero = np.where(values != 0.0, np.inf, 0.0)  # a limit of 0: no motor
    report.peak_ratio[kind] = np.divide(np.abs(values), limit, out=peaks_of_zero, where=limit > 0.0)
    report.time[kind] = times
    return [
        LimitViolation(kind, names[i], float(times[i]), float(values[i]), float(np.copysign(limit[i], values[i])))
        for i in np.flatnonzero(np.abs(values) > limit * (1.0 + tolerance))
    ]


def torque_function(robot: Robot, motion: Trajectory, wrenches: Wrenches | None = None) -> Callable[[Array], Array]:
    """Make the function from times (n,) to torques (n, nv) along a trajectory."""

    def torques(t: Array) -> Array:
        external = None if wrenches is None else dict(wrenches(t))
        return dynamics.inverse(robot, motion(t), motion(t, 1), motion(t, 2), external)

    return torques


def _torques(
    robot: Robot,
    space: Space,
    motion: Trajectory,
    limit: Array,
    wrenches: Wrenches | None,
    tolerance: float,
    report: LimitCheck,
) -> list[LimitViolation]:
    if robot.base == "floating" and wrenches is None:
        report.skipped["torque"] = "the base floats and no wrenches are given: contact forces are unknown"
        return []
    torques = torque_function(robot, motion, wrenches)
    peaks, times = refined_peaks(lambda t: np.abs(torques(t)), motion_times(motion))
    signs = np.sign(torques(times)[np.arange(len(times)), np.arange(len(times))])
    report.exact["torque"] = False
    return _compare(report, "torque", space.names, (signs * peaks, times), limit, tolerance)
