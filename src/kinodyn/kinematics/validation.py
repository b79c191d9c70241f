"""Is it true? Checks of configurations, targets and solutions, each with an answer that says by how much not.

Nothing here raises for an answer that is no; only for arguments that cannot be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinodyn.arrays import Array, MatrixLike
from kinodyn.checks import as_pose, broadcast, numbers
from kinodyn.errors import InputError
from kinodyn.model.chain import chain_pose, configuration, first_joint, frame_name, reach_bounds
from kinodyn.model.robot import Robot
from kinodyn.spatial import log3

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class LimitViolation:
    """One coordinate beyond its limit: the joint, which state of the batch, the value and its range [rad or m]."""

    joint: str
    state: tuple[int, ...]
    value: float
    lower: float
    upper: float

    @property
    def excess(self) -> float:
        """Tell how far it is beyond the limit [rad or m], above 0."""
        return max(self.value - self.upper, self.lower - self.value)

    def __str__(self) -> str:
        where = f" at state {list(self.state)}" if self.state else ""
        below = self.value < self.lower
        side, limit = ("below its lower", self.lower) if below else ("above its upper", self.upper)
        return f"joint {self.joint!r}{where} is at {self.value:.6g}, {self.excess:.3g} {side} limit {limit:.6g}"


@dataclass(frozen=True, eq=False)
class LimitReport:
    """Whether configurations keep their limits. True in an `if` when all of them do.

    `ok` (...) by state; `excess` (..., nq) how far beyond [rad or m], 0 within; `violations` the worst first.
    """

    ok: Mask
    excess: Array
    violations: tuple[LimitViolation, ...]

    def __bool__(self) -> bool:
        return bool(self.ok.all())

    def __str__(self) -> str:
        return "; ".join(map(str, self.violations)) or "within limits"


@dataclass(frozen=True, eq=False)
class ReachReport:
    """Whether targets can be near enough. True in an `if` when none is certainly out of reach.

    `possible` (...): False is certain, True means perhaps; `distance` (...) [m] from `centre` (3,), the first joint of
    the chain; `least` and `greatest` [m] bound what the chain's lengths allow; `beyond` (...) [m] is how far a target
    is outside these bounds, 0 within.
    """

    possible: Mask
    distance: Array
    centre: Array
    least: float
    greatest: float

    @property
    def beyond(self) -> Array:
        """Compute how far (...) each target is outside the bounds [m]."""
        return np.asarray(np.maximum(0.0, np.maximum(self.distance - self.greatest, self.least - self.distance)))

    def __bool__(self) -> bool:
        return bool(self.possible.all())

    def __str__(self) -> str:
        bounds = f"the chain reaches {self.least:.4g} to {self.greatest:.4g} m from its first joint"
        missed = int((~self.possible).sum())
        if not missed:
            return f"perhaps within reach: {bounds}"
        return f"{missed} of {self.possible.size} out of reach, by up to {self.beyond.max():.4g} m: {bounds}"


@dataclass(frozen=True, eq=False)
class PoseReport:
    """Whether configurations reach their targets. True in an `if` when all of them do.

    `ok` (...) by state; `position` (...) [m] and `angle` (...) [rad] are what is left between frame and target.
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


def within_limits(robot: Robot, q: ArrayLike, *, tolerance: float = 0.0) -> LimitReport:
    """Check configurations (..., nq) against the position limits, up to `tolerance` [rad or m] beyond.

    >>> import kinodyn as kd
    >>> print(within_limits(kd.load("panda"), [0, 0, 0, -1, 0, 4, 0]))
    joint 'panda_joint6' is at 4, 0.248 above its upper limit 3.7525
    """
    values = configuration(robot, q)
    slack = _tolerance("tolerance", tolerance)
    lower, upper = robot.limits.lower, robot.limits.upper
    excess = np.maximum(0.0, np.maximum(values - upper, lower - values))
    beyond = excess > slack
    names = {i: joint.name for joint in robot.joints for i in range(joint.q.start, joint.q.stop)}
    found = []
    for *state, i in np.argwhere(beyond).tolist():
        place = (*state, i)
        found.append(LimitViolation(names[i], tuple(state), float(values[place]), float(lower[i]), float(upper[i])))
    return LimitReport(np.asarray(~beyond.any(axis=-1)), excess, tuple(sorted(found, key=lambda v: -v.excess)))


def within_reach(
    robot: Robot,
    T: MatrixLike,
    frame: str | int,
    *,
    joints: Sequence[str] | None = None,
    q0: ArrayLike | None = None,
) -> ReachReport:
    """Check by the lengths of the chain whether a frame can come to the positions of target poses T (..., 4, 4).

    The chain is that of `joints`, or all joints between base and frame; the rest stands as in `q0` (nq,), neutral if
    not given, and so does a floating base. Angles, their limits and the orientation are not looked at: "no" is
    certain, for each leaves less; "perhaps" is for `kinematics.workspace` or an inverse kinematics to settle.
    """
    held = configuration(robot, robot.neutral() if q0 is None else q0)
    if held.shape != (robot.nq,):
        raise InputError(f"q0 has shape {held.shape}; give one configuration ({robot.nq},)")
    name, target = frame_name(robot, frame), as_pose(T, "T")
    centre = first_joint(robot, name, held, joints)
    _, least, greatest = reach_bounds(robot, name, held, joints)
    distance = np.asarray(np.linalg.norm(target[..., :3, 3] - centre, axis=-1))
    rounding = 1e-12 * (distance + np.linalg.norm(centre))
    possible = np.asarray((distance <= greatest + rounding) & (distance >= least - rounding))
    return ReachReport(possible, distance, centre, least, greatest)


def reaches(
    robot: Robot,
    q: ArrayLike,
    T: MatrixLike,
    frame: str | int,
    *,
    tolerance: float = 1e-6,
    angle_tolerance: float = 1e-6,
) -> PoseReport:
    """Check whether configurations (..., nq) take a frame to target poses T (..., 4, 4).

    Up to `tolerance` [m] and `angle_tolerance` [rad]; an infinite one leaves that part out. The pose is multiplied out
    from the description, joint by joint, without the core that a solver uses.
    """
    slack, turn = _tolerance("tolerance", tolerance), _tolerance("angle_tolerance", angle_tolerance)
    values = configuration(robot, q)
    found, target = broadcast((chain_pose(robot, values, frame), 2), (as_pose(T, "T"), 2))
    position = np.asarray(np.linalg.norm(target[..., :3, 3] - found[..., :3, 3], axis=-1))
    between = np.swapaxes(found[..., :3, :3], -2, -1) @ target[..., :3, :3]
    angle = np.asarray(np.linalg.norm(log3(between), axis=-1))
    return PoseReport(np.asarray((position <= slack) & (angle <= turn)), position, angle)


def _tolerance(what: str, value: float) -> float:
    number = value if value == np.inf else numbers(what, value)
    if np.shape(number) != () or float(number) < 0.0:
        raise InputError(f"{what} is {value!r}; give one number, 0 or more")
    return float(number)
