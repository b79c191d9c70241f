"""Six joints: with three axes through one point at either end, or with three parallel axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kinodyn.ik.analytic.axes import Axis, Motion, Turn, Vec, add_turns, back, constant, minus, plus, some
from kinodyn.ik.analytic.geometry import (
    LENGTH,
    NoClosedFormError,
    angle_between,
    foot,
    lies_on,
    meet,
    nearest_point,
    parallel,
)
from kinodyn.ik.analytic.planar import ThreeLinks
from kinodyn.ik.analytic.regional import Regional, height, regional
from kinodyn.ik.analytic.subproblems import Notes, aim, level

# A wrist bent less than this [rad] loses digits in the first of its two parallel joints; the last makes up for it.
NEARLY_STRAIGHT = 1e-4


class Solver(Protocol):
    """A recognised geometry: 2^depth branches of every target."""

    @property
    def family(self) -> str: ...  # noqa: D102
    @property
    def depth(self) -> int: ...  # noqa: D102
    @property
    def position_only(self) -> bool: ...  # noqa: D102

    def solve(self, goal: Motion, notes: Notes) -> list[Turn]:
        """Find cosine and sine of each joint such that the product of their turns is the goal."""
        ...


@dataclass(frozen=True, eq=False)
class SphericalWrist:
    """Axes 4, 5 and 6 meet in `centre`: three joints for its position, three for the orientation."""

    axes: Sequence[Axis]
    centre: Vec
    arm: Regional
    family: str = "6R with a spherical wrist"
    depth: int = 3
    position_only: bool = False

    def solve(self, goal: Motion, notes: Notes) -> list[Turn]:
        """Solve the arm, then the wrist in what is left of the orientation."""
        turns = self.arm.solve(self.centre, goal.move(self.centre), notes)
        ahead = goal.turn(self.axes[5].w)  # where the last axis must point, seen from the arm's end below
        for axis, turn in zip(self.axes[:3], turns, strict=True):
            ahead = axis.turn(back(turn), ahead)
        behind = self.axes[3].w  # where the fourth axis points, seen from the tool below
        for axis, turn in zip(self.axes[2::-1], turns[::-1], strict=True):
            behind = axis.turn(turn, behind)
        turns += self._wrist(ahead, goal.turn_back(behind), notes)
        return self._steady(goal, turns, ahead)

    def _wrist(self, ahead: Vec, behind: Vec, notes: Notes) -> list[Turn]:
        four, five, six = self.axes[3:]
        turn5 = level(five, six.w, four.w, four.along(ahead), joint=4, notes=notes)
        turn4 = aim(four, five.turn(turn5, six.w), ahead, joint=3, notes=notes)
        turn6 = aim(six, behind, five.turn(back(turn5), four.w), joint=5, notes=notes)
        return [turn4, turn5, turn6]

    def _steady(self, goal: Motion, turns: list[Turn], ahead: Vec) -> list[Turn]:
        """Take joint 6 from the others where joints 4 and 6 are nearly in line and share one angle."""
        a, b = self.axes[3].across(ahead)
        few = a * a + b * b < NEARLY_STRAIGHT**2
        if not some(np.asarray(few)):
            return turns
        six = self.axes[5]
        shape = np.broadcast_shapes(*(np.shape(turn[0]) for turn in turns))
        at = np.nonzero(np.broadcast_to(few, shape))
        x, y, z = (np.asarray(part)[at[-1]] for part in goal.turn(constant(six.frame[:, 0])))
        left: Vec = (x, y, z)
        for axis, turn in zip(self.axes[:5], turns[:5], strict=True):
            c, s = (np.broadcast_to(part, shape)[at] for part in turn)
            left = axis.turn((c, -s), left)
        c, s = (np.array(np.broadcast_to(part, shape)) for part in turns[5])
        c[at], s[at] = six.across(left)
        return [*turns[:5], (c, s)]


@dataclass(frozen=True, eq=False)
class ParallelThree:
    """Axes 2, 3 and 4 are parallel, axes 5 and 6 meet in `centre`: the arms of Universal Robots and their kin."""

    axes: Sequence[Axis]
    centre: Vec
    links: ThreeLinks
    family: str = "6R with three parallel axes"
    depth: int = 3
    position_only: bool = False

    def solve(self, goal: Motion, notes: Notes) -> list[Turn]:
        """Solve joints 1, 5, 6 by what turns about the parallel axes leave alone, then 2, 3, 4 in their plane."""
        one, five, six = self.axes[0], self.axes[4], self.axes[5]
        w = self.links.third.w
        turn1 = height(one, w, self.centre, goal.move(self.centre), joint=0, notes=notes)
        behind = goal.turn_back(one.turn(turn1, w))  # the parallel axes' direction, seen from the tool
        turn5 = level(five, six.w, w, six.along(behind), joint=4, notes=notes)
        seen = len(notes.singular)
        turn6 = aim(six, behind, five.turn(back(turn5), w), joint=5, notes=notes)
        # With the last axis parallel to the others joint 6 is free, but not every value leaves 2, 3, 4 within reach.
        free = notes.singular[seen:]
        point = six.turn_point(back(turn6), five.turn_point(back(turn5), self.links.third.origin))
        heading = six.turn(back(turn6), five.turn(back(turn5), constant(self.links.third.frame[:, 0])))
        point = one.turn_point(back(turn1), goal.move(point))
        heading = one.turn(back(turn1), goal.turn(heading))
        if free:
            centre = one.turn_point(back(turn1), goal.move(self.centre))
            extra = self.links.within_reach(centre, point, free[0], notes)
            point = plus(self.links.third.turn(extra, minus(point, centre)), centre)
            heading = self.links.third.turn(extra, heading)
            turn6 = add_turns(turn6, (extra[0], -np.sign(six.along(behind)) * extra[1]))
        return [turn1, *self.links.solve(point, heading, (1, 2, 3), notes), turn5, turn6]


@dataclass(frozen=True, eq=False)
class Reversed:
    """A chain solved from its other end: the inverse goal, the opposite axes, the joints in opposite order."""

    inner: Solver
    family: str
    depth: int = 3
    position_only: bool = False

    def solve(self, goal: Motion, notes: Notes) -> list[Turn]:
        """Solve the reversed chain."""
        return self.inner.solve(goal.inverse(), notes.reversed())[::-1]


def six(axes: Sequence[Axis]) -> Solver:
    """Recognise six joints, or raise an error that says what each known geometry lacks."""
    behind = [axis.reversed() for axis in axes[::-1]]
    tried = []
    for recognise in (_spherical, _parallel):
        forwards, backwards = recognise(axes), recognise(behind)
        if not isinstance(forwards, str):
            return forwards
        if not isinstance(backwards, str):
            return Reversed(backwards, backwards.family + ", read from the tool")
        tried += [f"from the base: {forwards}", f"from the tool: {backwards}"]
    raise NoClosedFormError(
        "no closed form for these six joints; " + "; ".join(dict.fromkeys(tried)) + "; kinodyn.ik.solve takes any chain"
    )


def _spherical(axes: Sequence[Axis]) -> SphericalWrist | str:
    centre, miss = nearest_point(*axes[3:])
    if miss >= LENGTH:
        return f"the last three axes do not meet in a point: they miss by {1e3 * miss:.4g} mm"
    for a, b in ((3, 4), (4, 5)):
        if parallel(axes[a], axes[b]):
            return "two neighbours of the last three axes are one line"
    arm = regional(axes[:3], centre)
    if isinstance(arm, str):
        return f"the last three axes meet in a point, but {arm}"
    return SphericalWrist(axes, constant(centre), arm)


def _parallel(axes: Sequence[Axis]) -> ParallelThree | str:
    for a, b in ((1, 2), (2, 3)):
        if not parallel(axes[a], axes[b]):
            angle = np.rad2deg(angle_between(axes[a], axes[b]))
            return f"axes 2, 3 and 4 are not parallel: {a + 1} and {b + 1} make {angle:.4g} degrees"
        if lies_on(axes[a].point, axes[b]):
            return "axes 2, 3 and 4 are parallel, but two of them are one line"
    if parallel(axes[0], axes[1]) or parallel(axes[3], axes[4]):
        return "axes 2, 3 and 4 are parallel, but so is one of their neighbours"
    if not meet(axes[4], axes[5]):
        miss = 2e3 * nearest_point(axes[4], axes[5])[1]
        return f"axes 2, 3 and 4 are parallel, but axes 5 and 6 do not meet in a point: they miss by {miss:.4g} mm"
    # The point of axis 4 nearest to axis 5 stays nearest to where joint 5 leaves it, and loses the fewest digits.
    near = foot(axes[3], nearest_point(axes[3], axes[4])[0])
    links = ThreeLinks.of(axes[1:4])
    links = ThreeLinks(links.pair, links.third.moved(near), links.sign)
    return ParallelThree(axes, constant(nearest_point(axes[4], axes[5])[0]), links)
