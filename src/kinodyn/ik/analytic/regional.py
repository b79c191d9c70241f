"""Three joints that bring a point to a point: e1(q1) e2(q2) e3(q3) p = c.

Two structures are solved, each also read from the other end (e3^-1 e2^-1 e1^-1 c = p): the first two axes meet, or
the last two are parallel. Shoulder and elbow offsets are covered by both.
D. Pieper, "The Kinematics of Manipulators Under Computer Control", 1968, chapter 3, by subproblems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis, Turn, Vec, back, constant, minus
from kinodyn.ik.analytic.geometry import LENGTH, angle_between, lies_on, meet, nearest_point, parallel
from kinodyn.ik.analytic.planar import TwoLinks
from kinodyn.ik.analytic.subproblems import Notes, aim, distance, level


class Regional(Protocol):
    """A way to solve three joints: four answers on two new first axes."""

    def solve(self, p: Vec, c: Vec, notes: Notes) -> list[Turn]: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class FirstTwoMeet:
    """Axes 1 and 2 meet in `centre`: joint 3 sets the distance from there, joints 1 and 2 the direction."""

    axes: Sequence[Axis]
    centre: Array

    def solve(self, p: Vec, c: Vec, notes: Notes) -> list[Turn]:
        """Solve joint 3, then 2, then 1."""
        one, two, three = self.axes
        o = constant(self.centre)
        t = minus(c, o)
        squared = t[0] * t[0] + t[1] * t[1] + t[2] * t[2]
        turn3 = distance(three, p, self.centre, squared, joint=2, notes=notes)
        m = minus(three.turn_point(turn3, p), o)
        turn2 = level(two, m, one.w, one.along(t), joint=1, notes=notes, scale=notes.size)
        turn1 = aim(one, two.turn(turn2, m), t, joint=0, notes=notes, scale=notes.size)
        return [turn1, turn2, turn3]


@dataclass(frozen=True, eq=False)
class LastTwoParallel:
    """Axes 2 and 3 are parallel: joint 1 brings the goal to the right height, then two links in the plane."""

    first: Axis
    pair: TwoLinks

    def solve(self, p: Vec, c: Vec, notes: Notes) -> list[Turn]:
        """Solve joint 1, then 3, then 2."""
        turn1 = height(self.first, self.pair.first.w, p, c, joint=0, notes=notes)
        near = self.first.turn_point(back(turn1), c)
        turn2, turn3 = self.pair.solve(p, near, (1, 2), notes)
        return [turn1, turn2, turn3]


@dataclass(frozen=True, eq=False)
class Backwards:
    """The same three joints, read from the other end."""

    inner: Regional

    def solve(self, p: Vec, c: Vec, notes: Notes) -> list[Turn]:
        """Solve with the roles of p and c exchanged."""
        outer = Notes(notes.size, notes.free[2::-1], notes.singular, notes.double)
        return self.inner.solve(c, p, outer)[::-1]


def height(first: Axis, w: Vec, p: Vec, c: Vec, *, joint: int, notes: Notes) -> Turn:
    """Turn joint 1 until the goal c has, along w behind it, the height of p: two answers."""
    o = first.origin
    r, k = minus(c, o), minus(p, o)
    goal = k[0] * w[0] + k[1] * w[1] + k[2] * w[2]
    return level(first, w, r, goal, joint=joint, notes=notes, scale=notes.size)


def regional(axes: Sequence[Axis], p: Array) -> Regional | str:
    """Recognise three joints that carry the point p (3,), or say in words what is missing."""
    behind = [axis.reversed() for axis in axes[::-1]]
    if lies_on(p, axes[2]):
        return "the common point of the other three axes lies on the axis of the joint before them"
    for order, wrap in ((axes, False), (behind, True)):
        if parallel(order[1], order[2]) and not parallel(order[0], order[1]):
            if lies_on(order[1].point, order[2]):
                continue  # one line: turning about it twice is no second joint
            inner: Regional = LastTwoParallel(order[0], TwoLinks.of(order[1], order[2]))
            return Backwards(inner) if wrap else inner
    for order, wrap in ((axes, False), (behind, True)):
        if meet(order[0], order[1]):
            centre = nearest_point(order[0], order[1])[0]
            if lies_on(centre, order[2]):
                continue
            inner = FirstTwoMeet(order, centre)
            return Backwards(inner) if wrap else inner
    return _missing(axes)


def _missing(axes: Sequence[Axis]) -> str:
    parts = []
    for i, j in ((0, 1), (1, 2)):
        miss = 2e3 * nearest_point(axes[i], axes[j])[1]
        angle = np.rad2deg(angle_between(axes[i], axes[j]))
        parts.append(f"{i + 1} and {j + 1} miss by {miss:.4g} mm and make {angle:.4g} degrees")
    return (
        "of the three joints away from it, counted outwards, no two neighbours meet in a point or are parallel "
        f"so that they can be solved (axes {'; '.join(parts)}; both to {1e3 * LENGTH:g} mm)"
    )
