"""Footstep plans: from a velocity, or to a goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import cos, pi, sin
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.argument_types import check_types
from kinodyn.arrays import Array
from kinodyn.checks import integer, vector
from kinodyn.display import displayed
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped, opposite
from kinodyn.walking.step_limits import StepLimits
from kinodyn.walking.step_region import unicycle_step

Side = Literal["left", "right"]
FACING_DISTANCE = 4.0  # steps: for goals farther than this, the robot turns towards the goal first
MAX_STEPS = 2000  # of one plan


@displayed
class StepTiming(NamedTuple):
    """Durations of one step.

    Attributes
    ----------
    double : float
        Double support before lift-off [s].
    single : float
        Single support, from lift-off to touchdown [s].
    """

    double: float
    single: float

    @property
    def step_time(self) -> float:
        """Time from one touchdown to the next [s]."""
        return self.double + self.single


@displayed
@dataclass(frozen=True)
class Footstep:
    """A foot on the ground.

    Attributes
    ----------
    side : "left" or "right"
    x, y : float
        Origin of the sole frame in the world [m].
    yaw : float
        Heading of the foot [rad].
    z : float
        Height of the sole [m].
    gradient : tuple of 2 floats
        Rise of the sole along x and y of the world.
    timing : StepTiming or None
        Durations of the step that leads here; None: those of the gait settings.
    support : tuple of pairs of floats, or None
        Corners of the part of the sole that the ground bears, counter-clockwise in the sole frame [m]; None: all of it.
    """

    side: str
    x: float
    y: float
    yaw: float
    z: float = 0.0
    gradient: tuple[float, float] = (0.0, 0.0)
    timing: StepTiming | None = None
    support: tuple[tuple[float, float], ...] | None = None

    @property
    def position(self) -> Array:
        """x and y (2,) [m]."""
        return np.array([self.x, self.y])

    @property
    def pose(self) -> Array:
        """T_world_sole (4, 4)."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        T = np.array([[c, -s, 0, self.x], [s, c, 0, self.y], [0, 0, 1, self.z], [0, 0, 0, 1.0]])
        return T if self.gradient == (0.0, 0.0) else inclined(T, self.gradient)

    def relative_to(self, stance: Footstep) -> tuple[float, float, float]:
        """Return the pose in the sole frame of another foot.

        Parameters
        ----------
        stance
            The other foot.

        Returns
        -------
        tuple of 3 floats
            x, y [m] and yaw [rad].
        """
        c, s = cos(stance.yaw), sin(stance.yaw)
        dx, dy = self.x - stance.x, self.y - stance.y
        return c * dx + s * dy, c * dy - s * dx, wrap(self.yaw - stance.yaw)

    def shifted(self, shift: ArrayLike) -> Footstep:
        """Return the footstep moved in the world.

        Parameters
        ----------
        shift
            (2,) [m]

        Returns
        -------
        Footstep
        """
        dx, dy = np.asarray(shift, dtype=float)
        return replace(self, x=self.x + float(dx), y=self.y + float(dy))


def inclined(T: Array, gradient: tuple[float, float]) -> Array:
    """Incline a level pose (4, 4) such that its z axis is normal to ground with this rise along x and y."""
    a, b = gradient
    up = np.array([-a, -b, 1.0]) / np.sqrt(1.0 + a * a + b * b)
    along = T[:3, 0] - (T[:3, 0] @ up) * up
    along /= np.linalg.norm(along)
    result: Array = T.copy()
    result[:3, :3] = np.column_stack([along, np.cross(up, along), up])
    return result


def wrap(angle: float) -> float:
    """Wrap an angle to (-pi, pi]."""
    return pi - (pi - angle) % (2 * pi)


def yaw_near(T: Array, yaw: float) -> float:
    """Return the yaw [rad] of a pose (4, 4), within half a turn of another one."""
    return yaw + wrap(float(np.arctan2(T[1, 0], T[0, 0])) - yaw)


@check_types
def standing_feet(body: Biped, pose: ArrayLike = (0.0, 0.0, 0.0)) -> dict[str, Footstep]:
    """Place both feet beside each other, as in the stance.

    Parameters
    ----------
    body
    pose
        x, y [m] and yaw [rad] (3,) of the centre between the soles.

    Returns
    -------
    dict of side -> Footstep
    """
    x, y, yaw = _pose2(pose)
    back = 0.5 * (body.left.middle[0] + body.right.middle[0])
    return {side: _beside(side, (x, y, yaw), body.width, -float(back)) for side in ("left", "right")}


def both_feet(start: Mapping[str, Footstep]) -> dict[str, Footstep]:
    """Return a copy of the feet at the beginning, or raise unless they are the left and the right one."""
    if set(start) != {"left", "right"}:
        raise InputError(f"start must have both feet, 'left' and 'right', got {sorted(start)}")
    return dict(start)


@check_types
def next_step(stance: Footstep, move: ArrayLike, limits: StepLimits) -> Footstep:
    """Plan the footstep of the other foot for a motion of the body, shortened to the step limits.

    Parameters
    ----------
    stance
        The foot on the ground; the other one steps.
    move
        x, y [m] and turn [rad] of the body (3,).
    limits

    Returns
    -------
    Footstep
    """
    dx, dy, turn = vector("move", move, 3).tolist()
    return step_by(stance, (dx, dy, turn), limits)


def step_by(
    stance: Footstep, move: tuple[float, float, float], limits: StepLimits, timing: StepTiming | None = None
) -> Footstep:
    """Do the same as `next_step` in plain floats: planners call it several times in a tick."""
    side, fraction = opposite(stance.side), limits.feasible_fraction(move)
    x, y, yaw = limits.next_foot(side, *(fraction * value for value in move))
    c, s = cos(stance.yaw), sin(stance.yaw)
    x, y = stance.x + c * x - s * y, stance.y + s * x + c * y
    return Footstep(side, x, y, stance.yaw + yaw, stance.z, timing=timing)


@check_types
def footsteps_from_velocity(
    body: Biped,
    velocity: ArrayLike,
    *,
    steps: int,
    limits: StepLimits,
    step_time: float,
    start: dict[str, Footstep] | None = None,
    first: Side | None = None,
    stop: bool = True,
) -> list[Footstep]:
    """Plan footsteps at a velocity.

    Parameters
    ----------
    body
    velocity
        Forward, lateral [m/s], turn [rad/s] (3,).
    steps
        Number of footsteps.
    limits
    step_time
        Time from one touchdown to the next [s].
    start
        Feet at the beginning, side -> Footstep; by default the stance at the origin.
    first
        Foot that steps first; by default the one on the side of the command.
    stop
        Whether one more step brings the feet together.

    Returns
    -------
    list of Footstep

    Raises
    ------
    InputError
        For a velocity beyond the limits; the message gives the limit.

    Examples
    --------
    >>> import kinodyn as kd
    >>> body = kd.walking.Biped.from_robot(kd.load("humanoid"))
    >>> limits = kd.walking.StepLimits.from_robot(body)
    >>> plan = kd.walking.footsteps_from_velocity(body, [0.3, 0, 0], steps=4, limits=limits, step_time=0.6)
    >>> [step.side for step in plan], round(plan[3].x - plan[2].x, 3)
    (['left', 'right', 'left', 'right', 'left'], 0.18)
    """
    integer("steps", steps, 0, MAX_STEPS)
    v = limits.check(velocity, step_time)
    feet = standing_feet(body) if start is None else both_feet(start)
    side: str = first or leading_side(v)
    plan: list[Footstep] = []
    for _ in range(int(steps)):
        step = next_step(feet[opposite(side)], v * step_time, limits)
        plan.append(step)
        feet[side] = step
        side = opposite(side)
    if stop and plan:
        plan.append(closing_step(plan[-1], limits))
    return plan


@check_types
def closing_step(stance: Footstep, limits: StepLimits) -> Footstep:
    """Place the other foot beside this one.

    Parameters
    ----------
    stance
        The foot on the ground.
    limits

    Returns
    -------
    Footstep
    """
    return next_step(stance, (0.0, 0.0, 0.0), limits)


@check_types
def walk_to(
    body: Biped,
    goal: ArrayLike,
    *,
    limits: StepLimits,
    start: dict[str, Footstep] | None = None,
    first: str | None = None,
    fraction: float = 0.9,
    tolerance: float = 1e-9,
    max_steps: int | None = None,
) -> list[Footstep]:
    """Plan footsteps to a goal. The robot faces distant goals while walking, and steps to near ones in any direction.

    Parameters
    ----------
    body
    goal
        x, y [m] and yaw [rad] of the centre between the soles (3,).
    limits
    start
        Feet at the beginning, side -> Footstep; by default the stance at the origin.
    first
        Foot that steps first; by default the one on the side of the goal.
    fraction
        Fraction of the limits that is used, above 0 and at most 1.
    tolerance
        Distance within which both feet must be at the goal [m, rad].
    max_steps
        Number of footsteps after which to end the plan, even before the goal; all by default.

    Returns
    -------
    list of Footstep
    """
    x, y, yaw = _pose2(goal)
    if not 0 < fraction <= 1:
        raise InputError(f"fraction must be above 0 and at most 1, got {fraction!r}")
    if max_steps is not None:
        integer("max_steps", max_steps)
    own = limits.scaled(fraction)
    feet = standing_feet(body) if start is None else both_feet(start)
    back = 0.5 * float(body.left.middle[0] + body.right.middle[0])
    distance = float(np.hypot(x - feet["left"].x, y - feet["left"].y))
    if distance > 0.5 * MAX_STEPS * own.forward:
        raise InputError(
            f"the goal is {distance:.4g} m away, farther than {MAX_STEPS // 2} steps of {own.forward:.3g} m"
        )
    target = unicycle_step((x, y, yaw), (-back, 0.0, 0.0))  # of the centre between the ankles
    side: str = first or leading_side(_towards(_between(feet), target, own))
    plan: list[Footstep] = []
    while len(plan) < MAX_STEPS:
        if len(plan) == max_steps or _arrived(feet, target, own, tolerance):
            return plan
        stance = feet[opposite(side)]
        centre = _beside(side, (stance.x, stance.y, stance.yaw), own.width, 0.0)
        step = next_step(stance, _towards((centre.x, centre.y, stance.yaw), target, own), own)
        plan.append(step)
        feet[side] = step
        side = opposite(side)
    raise InputError(f"the goal {tuple(np.round([x, y, yaw], 3).tolist())} was not reached within {MAX_STEPS} steps")


def leading_side(velocity: ArrayLike) -> Side:
    """Choose the foot that steps first: the one on the side of a lateral or turning command, else the left."""
    _, sideways, turn = np.asarray(velocity, dtype=float)
    return "right" if sideways < 0 or (sideways == 0 and turn < 0) else "left"


def _arrived(
    feet: dict[str, Footstep], target: tuple[float, float, float], limits: StepLimits, tolerance: float
) -> bool:
    goals = [_beside(side, target, limits.width, 0.0) for side in ("left", "right")]
    return all(max(map(abs, feet[goal.side].relative_to(goal))) < tolerance for goal in goals)


def _towards(centre: tuple[float, float, float], target: tuple[float, float, float], limits: StepLimits) -> Array:
    """Choose the next move (3,) of the body: straight to a near goal, facing a far one, or turning towards it."""
    offset = np.array(Footstep("left", *target[:2], target[2]).relative_to(Footstep("left", *centre[:2], centre[2])))
    distance, turn = float(np.hypot(offset[0], offset[1])), min(limits.inward, limits.outward)
    if distance > FACING_DISTANCE * limits.forward:
        bearing = float(np.arctan2(offset[1], offset[0]))
        if abs(bearing) > turn:
            return np.array([0.0, 0.0, np.sign(bearing) * turn])
        return np.array([limits.forward * max(0.0, np.cos(bearing)), 0.0, bearing])
    return offset


def _between(feet: dict[str, Footstep]) -> tuple[float, float, float]:
    left, right = feet["left"], feet["right"]
    yaw = right.yaw + 0.5 * wrap(left.yaw - right.yaw)
    return 0.5 * (left.x + right.x), 0.5 * (left.y + right.y), yaw


def _beside(side: str, pose: tuple[float, float, float], width: float, ahead: float) -> Footstep:
    """Place a foot half a width beside a body."""
    x, y, yaw = pose
    c, s = float(np.cos(yaw)), float(np.sin(yaw))
    aside = 0.5 * width if side == "left" else -0.5 * width
    return Footstep(side, x + c * ahead - s * aside, y + s * ahead + c * aside, yaw)


def body_beside(foot: Footstep, width: float) -> tuple[float, float, float]:
    """Return x, y and yaw of a body half a width beside its foot: the inverse of placing a foot beside a body."""
    aside = -0.5 * width if foot.side == "left" else 0.5 * width
    return foot.x - float(np.sin(foot.yaw)) * aside, foot.y + float(np.cos(foot.yaw)) * aside, foot.yaw


def _pose2(pose: ArrayLike) -> tuple[float, float, float]:
    value = vector("pose on the ground", pose, 3)
    return float(value[0]), float(value[1]), float(value[2])
