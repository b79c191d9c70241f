"""Checks of configurations, targets and solutions, with reports that quantify violations.

Each check returns a report that is false in an `if` when the check fails; only invalid arguments raise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array, Mask, MatrixLike
from kinodyn.checks import as_pose, broadcast, numbers
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.model.chain import (
    chain_pose,
    configuration,
    first_joint_position,
    frame_name,
    reach_bounds,
    single_configuration,
)
from kinodyn.model.robot import Robot
from kinodyn.spatial import log3

__all__ = ["LimitReport", "LimitViolation", "PoseReport", "ReachReport", "reaches", "within_limits", "within_reach"]


def __dir__() -> list[str]:
    return list(__all__)


@displayed
@dataclass(frozen=True)
class LimitViolation:
    """One coordinate outside its limits.

    Attributes
    ----------
    joint : str
        Name of the joint.
    state : tuple of int
        Index into the batch axes.
    value, lower, upper : float
        The coordinate and its limits [rad or m].
    """

    joint: str
    state: tuple[int, ...]
    value: float
    lower: float
    upper: float

    @property
    def excess(self) -> float:
        """Compute how far the value is outside its limits [rad or m], above 0."""
        return max(self.value - self.upper, self.lower - self.value)

    def __str__(self) -> str:
        where = f" at state {list(self.state)}" if self.state else ""
        below = self.value < self.lower
        side, limit = ("below its lower", self.lower) if below else ("above its upper", self.upper)
        return f"joint {self.joint!r}{where} is at {self.value:.6g}, {self.excess:.3g} {side} limit {limit:.6g}"


@displayed
@dataclass(frozen=True, eq=False)
class LimitReport:
    """Whether configurations are within their limits. True in an `if` when all of them are.

    Attributes
    ----------
    ok : (...) array of bool
        By state.
    excess : (..., nq) array
        How far each coordinate is outside its limits [rad or m], 0 inside.
    violations : tuple of LimitViolation
        Largest excess first.
    """

    ok: Mask
    excess: Array
    violations: tuple[LimitViolation, ...]

    def __bool__(self) -> bool:
        return bool(self.ok.all())

    def __str__(self) -> str:
        return "; ".join(map(str, self.violations)) or "within limits"


@displayed
@dataclass(frozen=True, eq=False)
class ReachReport:
    """Whether targets may be within reach. True in an `if` when none is certainly out of reach.

    Attributes
    ----------
    possible : (...) array of bool
        False is certain, True means perhaps.
    distance : (...) array
        Distances [m] of the targets from `centre`.
    centre : (3,) array
        Position of the first joint of the chain in the world [m].
    min_reach, max_reach : float
        Bounds [m] of the distance that the chain's lengths allow.
    """

    possible: Mask
    distance: Array
    centre: Array
    min_reach: float
    max_reach: float

    @property
    def excess(self) -> Array:
        """Compute how far each target is outside the bounds `(...)` [m], 0 inside."""
        outside = np.maximum(self.distance - self.max_reach, self.min_reach - self.distance)
        return np.asarray(np.maximum(0.0, outside))

    def __bool__(self) -> bool:
        return bool(self.possible.all())

    def __str__(self) -> str:
        bounds = f"the chain reaches {self.min_reach:.4g} to {self.max_reach:.4g} m from its first joint"
        missed = int((~self.possible).sum())
        if not missed:
            return f"perhaps within reach: {bounds}"
        return f"{missed} of {self.possible.size} out of reach, by up to {self.excess.max():.4g} m: {bounds}"


@displayed
@dataclass(frozen=True, eq=False)
class PoseReport:
    """Whether configurations reach their targets. True in an `if` when all of them do.

    Attributes
    ----------
    ok : (...) array of bool
        By state.
    position, angle : (...) arrays
        Distance [m] and angle [rad] between frame and target.
    """

    ok: Mask
    position: Array
    angle: Array

    def __bool__(self) -> bool:
        return bool(self.ok.all())

    def __str__(self) -> str:
        worst = f"{self.position.max(initial=0.0):.3g} m and {self.angle.max(initial=0.0):.3g} rad"
        missed = int((~self.ok).sum())
        return (
            f"{missed} of {self.ok.size} miss the target; at most {worst} off" if missed else f"reached within {worst}"
        )


@check_types
def within_limits(robot: Robot, q: ArrayLike, *, tolerance: float = 0.0) -> LimitReport:
    """Check configurations against the position limits.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    tolerance
        How far a coordinate may be outside its limits [rad or m].

    Returns
    -------
    report : LimitReport

    Examples
    --------
    >>> import kinodyn as kd
    >>> print(within_limits(kd.load("panda"), [0, 0, 0, -1, 0, 4, 0]))
    joint 'panda_joint6' is at 4, 0.248 above its upper limit 3.7525
    """
    values = configuration(robot, q)
    allowed = _tolerance("tolerance", tolerance)
    lower, upper = robot.limits.lower, robot.limits.upper
    excess = np.maximum(0.0, np.maximum(values - upper, lower - values))
    outside = excess > allowed
    names = {i: joint.name for joint in robot.joints for i in range(joint.q.start, joint.q.stop)}
    found = []
    for *state, i in np.argwhere(outside).tolist():
        index = (*state, i)
        found.append(LimitViolation(names[i], tuple(state), float(values[index]), float(lower[i]), float(upper[i])))
    return LimitReport(np.asarray(~outside.any(axis=-1)), excess, tuple(sorted(found, key=lambda v: -v.excess)))


@check_types
def within_reach(
    robot: Robot,
    T: MatrixLike,
    frame: str | int,
    *,
    joints: Sequence[str] | None = None,
    q0: ArrayLike | None = None,
) -> ReachReport:
    """Check by the link lengths of the chain whether a frame can reach the positions of target poses.

    Angles, joint limits and the orientation are ignored. A negative result is certain, because each of them only
    reduces the reach; a positive one must be confirmed by `kinematics.workspace` or inverse kinematics.

    Parameters
    ----------
    robot : Robot
    T
        Target poses `(..., 4, 4)` in the world.
    frame : str or int
    joints
        Names of the joints that move; all between base and frame if not given.
    q0
        Configuration `(nq,)` of the other joints and of a floating base; neutral if not given.

    Returns
    -------
    report : ReachReport
    """
    start = single_configuration(robot, q0)
    name, target = frame_name(robot, frame), as_pose(T, "T")
    centre = first_joint_position(robot, name, start, joints)
    _, min_reach, max_reach = reach_bounds(robot, name, start, joints)
    distance = np.asarray(np.linalg.norm(target[..., :3, 3] - centre, axis=-1))
    rounding = 1e-12 * (distance + np.linalg.norm(centre))
    possible = np.asarray((distance <= max_reach + rounding) & (distance >= min_reach - rounding))
    return ReachReport(possible, distance, centre, min_reach, max_reach)


@check_types
def reaches(
    robot: Robot,
    q: ArrayLike,
    T: MatrixLike,
    frame: str | int,
    *,
    tolerance: float = 1e-6,
    angle_tolerance: float = 1e-6,
) -> PoseReport:
    """Check whether configurations bring a frame to target poses.

    The pose is the product of the description's transforms, computed without the core that the solvers use.

    Parameters
    ----------
    robot : Robot
    q : (..., nq)
    T
        Target poses `(..., 4, 4)` in the world.
    frame : str or int
    tolerance, angle_tolerance
        Maximum distance [m] and angle [rad] from the target; an infinite one ignores that part.

    Returns
    -------
    report : PoseReport
    """
    max_distance, max_angle = _tolerance("tolerance", tolerance), _tolerance("angle_tolerance", angle_tolerance)
    values = configuration(robot, q)
    found, target = broadcast((chain_pose(robot, values, frame), 2), (as_pose(T, "T"), 2))
    position = np.asarray(np.linalg.norm(target[..., :3, 3] - found[..., :3, 3], axis=-1))
    between = np.swapaxes(found[..., :3, :3], -2, -1) @ target[..., :3, :3]
    angle = np.asarray(np.linalg.norm(log3(between), axis=-1))
    return PoseReport(np.asarray((position <= max_distance) & (angle <= max_angle)), position, angle)


def _tolerance(what: str, value: float) -> float:
    number = value if isinstance(value, float) and value == np.inf else numbers(what, value)
    if np.shape(number) != () or float(number) < 0.0:
        raise InputError(f"{what} must be a nonnegative number, got {value!r}")
    return float(number)
