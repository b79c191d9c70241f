"""Where the feet go: from a velocity, or to a goal."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kinodyn.arrays import Array
from kinodyn.checks import numbers
from kinodyn.errors import InputError
from kinodyn.walking.biped import Biped, other
from kinodyn.walking.steplimits import StepLimits, advance

Side = Literal["left", "right"]
FAR = 4.0  # steps: goals that are farther are walked to facing them
MOST = 2000  # steps of one plan


@dataclass(frozen=True)
class Footstep:
    """A foot on the ground: where its sole frame is [m] and which way it points [rad]."""

    side: str
    x: float
    y: float
    yaw: float
    z: float = 0.0

    @property
    def position(self) -> Array:
        """Give x and y (2,)."""
        return np.array([self.x, self.y])

    @property
    def pose(self) -> Array:
        """Give T_world_sole (4, 4)."""
        c, s = np.cos(self.yaw), np.sin(self.yaw)
        return np.array([[c, -s, 0, self.x], [s, c, 0, self.y], [0, 0, 1, self.z], [0, 0, 0, 1.0]])

    def seen_from(self, stance: Footstep) -> Array:
        """Give x, y and turn (3,) in the sole frame of another foot."""
        return np.array(self.relative_to(stance))

    def relative_to(self, stance: Footstep) -> tuple[float, float, float]:
        """Give what `seen_from` gives as plain numbers."""
        c, s = cos(stance.yaw), sin(stance.yaw)
        dx, dy = self.x - stance.x, self.y - stance.y
        return c * dx + s * dy, c * dy - s * dx, wrap(self.yaw - stance.yaw)

    def moved(self, shift: ArrayLike) -> Footstep:
        """Put it elsewhere by (2,) [m]."""
        dx, dy = np.asarray(shift, dtype=float)
        return Footstep(self.side, self.x + float(dx), self.y + float(dy), self.yaw, self.z)


def wrap(angle: float) -> float:
    """Bring an angle into (-pi, pi]."""
    return pi - (pi - angle) % (2 * pi)


def standing_feet(body: Biped, pose: ArrayLike = (0.0, 0.0, 0.0)) -> dict[str, Footstep]:
    """Put both feet beside each other, as in the stance: the middle of the soles at x, y [m], turned by yaw [rad]."""
    x, y, yaw = _pose2(pose)
    back = 0.5 * (body.left.middle[0] + body.right.middle[0])
    return {side: _beside(side, (x, y, yaw), body.width, -float(back)) for side in ("left", "right")}


def next_step(stance: Footstep, move: ArrayLike, limits: StepLimits) -> Footstep:
    """Choose the next foot so that the body moves by x, y [m] and turn [rad] in this step, as far as it fits limits."""
    side = other(stance.side)
    whole = np.asarray(move, dtype=float)
    return placed(stance, side, limits.relative_step(side, limits.part_that_fits(whole) * whole))


def placed(stance: Footstep, side: str, step: ArrayLike) -> Footstep:
    """Put a foot at x, y and turn (3,) as seen from another one."""
    x, y, yaw = (float(value) for value in np.asarray(step))
    c, s = float(np.cos(stance.yaw)), float(np.sin(stance.yaw))
    return Footstep(side, stance.x + c * x - s * y, stance.y + s * x + c * y, stance.yaw + yaw, stance.z)


def follow(
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
    """Plan `steps` footsteps at a velocity (3,), and one more that brings the feet together if `stop`.

    The first foot is the one on the side that the command goes to, or `first`. A command beyond the limits raises
    InputError with the limit.

    Example
    -------
    >>> import kinodyn as kd
    >>> body = kd.walking.Biped.of(kd.load("humanoid"))
    >>> limits = kd.walking.StepLimits.of(body)
    >>> plan = kd.walking.follow(body, [0.3, 0, 0], steps=4, limits=limits, step_time=0.6)
    >>> [step.side for step in plan], round(plan[3].x - plan[2].x, 3)
    (['left', 'right', 'left', 'right', 'left'], 0.18)
    """
    if not isinstance(steps, int | np.integer) or not 0 <= steps <= MOST:
        raise InputError(f"steps must be a whole number from 0 to {MOST}, got {steps!r}")
    v = limits.check(velocity, step_time)
    feet = dict(standing_feet(body) if start is None else start)
    side: str = first or leading_side(v)
    plan: list[Footstep] = []
    for _ in range(int(steps)):
        step = next_step(feet[other(side)], v * step_time, limits)
        plan.append(step)
        feet[side] = step
        side = other(side)
    if stop and plan:
        plan.append(closing_step(plan[-1], limits))
    return plan


def closing_step(stance: Footstep, limits: StepLimits) -> Footstep:
    """Put the other foot beside this one."""
    return next_step(stance, (0.0, 0.0, 0.0), limits)


def walk_to(
    body: Biped,
    goal: ArrayLike,
    *,
    limits: StepLimits,
    start: dict[str, Footstep] | None = None,
    first: str | None = None,
    share: float = 0.9,
    tolerance: float = 1e-9,
) -> list[Footstep]:
    """Plan footsteps to a goal: x, y [m] and heading [rad] of the middle between the soles.

    Far goals are walked to facing them; near ones in whatever direction they are. `share` of the limits is used. It is
    reached when both feet are where they should be within `tolerance` [m, rad]. The first foot is the one on the side
    of the goal, or `first`.
    """
    x, y, yaw = _pose2(goal)
    if not 0 < share <= 1:
        raise InputError(f"share must be above 0 and at most 1, got {share!r}")
    own = limits.scaled(share)
    feet = dict(standing_feet(body) if start is None else start)
    back = 0.5 * float(body.left.middle[0] + body.right.middle[0])
    distance = float(np.hypot(x - feet["left"].x, y - feet["left"].y))
    if distance > 0.5 * MOST * own.forward:
        raise InputError(f"the goal is {distance:.4g} m away, farther than {MOST // 2} steps of {own.forward:.3g} m")
    target = advance((x, y, yaw), (-back, 0.0, 0.0))  # of the middle between the ankles
    side: str = first or leading_side(_towards(_between(feet), target, own))
    plan: list[Footstep] = []
    while len(plan) < MOST:
        if _arrived(feet, target, own, tolerance):
            return plan
        stance = feet[other(side)]
        centre = _beside(side, (stance.x, stance.y, stance.yaw), own.width, 0.0)
        step = next_step(stance, _towards((centre.x, centre.y, stance.yaw), target, own), own)
        plan.append(step)
        feet[side] = step
        side = other(side)
    raise InputError(f"the goal {tuple(np.round([x, y, yaw], 3).tolist())} was not reached within {MOST} steps")


def leading_side(velocity: ArrayLike) -> Side:
    """Choose the foot that goes first: the one on the side of a sideways or turning command, else the left."""
    _, sideways, turn = np.asarray(velocity, dtype=float)
    return "right" if sideways < 0 or (sideways == 0 and turn < 0) else "left"


def _arrived(
    feet: dict[str, Footstep], target: tuple[float, float, float], limits: StepLimits, tolerance: float
) -> bool:
    wanted = [_beside(side, target, limits.width, 0.0) for side in ("left", "right")]
    return all(np.abs(feet[step.side].seen_from(step)).max() < tolerance for step in wanted)


def _towards(centre: tuple[float, float, float], target: tuple[float, float, float], limits: StepLimits) -> Array:
    """Choose where to (3,) the body moves next: all the way to a near goal, towards a far one, or turning to it."""
    way = Footstep("left", *target[:2], target[2]).seen_from(Footstep("left", *centre[:2], centre[2]))
    distance, turn = float(np.hypot(way[0], way[1])), min(limits.inward, limits.outward)
    if distance > FAR * limits.forward:
        bearing = float(np.arctan2(way[1], way[0]))
        if abs(bearing) > turn:
            return np.array([0.0, 0.0, np.sign(bearing) * turn])
        return np.array([limits.forward * max(0.0, np.cos(bearing)), 0.0, bearing])
    return way


def _between(feet: dict[str, Footstep]) -> tuple[float, float, float]:
    left, right = feet["left"], feet["right"]
    yaw = right.yaw + 0.5 * wrap(left.yaw - right.yaw)
    return 0.5 * (left.x + right.x), 0.5 * (left.y + right.y), yaw


def _beside(side: str, pose: tuple[float, float, float], width: float, ahead: float) -> Footstep:
    """Put a foot half a width beside a body."""
    x, y, yaw = pose
    c, s = float(np.cos(yaw)), float(np.sin(yaw))
    aside = 0.5 * width if side == "left" else -0.5 * width
    return Footstep(side, x + c * ahead - s * aside, y + s * ahead + c * aside, yaw)


def body_beside(foot: Footstep, width: float) -> tuple[float, float, float]:
    """Give x, y and heading of a body half a width beside its foot, the inverse of putting a foot beside a body."""
    aside = -0.5 * width if foot.side == "left" else 0.5 * width
    return foot.x - float(np.sin(foot.yaw)) * aside, foot.y + float(np.cos(foot.yaw)) * aside, foot.yaw


def _pose2(pose: ArrayLike) -> tuple[float, float, float]:
    value = numbers("pose", pose, 3)
    if value.shape != (3,):
        raise InputError(f"a pose on the ground is x, y and heading: shape (3,), got {value.shape}")
    return float(value[0]), float(value[1]), float(value[2])
