"""The first three joints of an arm, which move the point p to c: e1(q1) e2(q2) e3(q3) p = c.

Two geometries are solved, each also from the other end (e3^-1 e2^-1 e1^-1 c = p): the first two axes intersect, or the
last two are parallel. Both allow shoulder and elbow offsets.
D. Pieper, "The Kinematics of Manipulators Under Computer Control", 1968, chapter 3, by subproblems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from kinodyn.arrays import Array
from kinodyn.ik.analytic.axes import Axis, CosSin, Vec, constant, minus, negated
from kinodyn.ik.analytic.geometry import angle_between, intersect, lies_on, nearest_point, parallel, tolerance
from kinodyn.ik.analytic.planar import TwoLinks
from kinodyn.ik.analytic.subproblems import Degeneracies, aim, distance, level


class Regional(Protocol):
    """A solver of three joints: four solutions on two new first axes."""

    def solve(self, p: Vec, c: Vec, record: Degeneracies) -> list[CosSin]: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class FirstTwoIntersect:
    """Axes 1 and 2 intersect in `centre`: joint 3 sets the distance from there, joints 1 and 2 the direction."""

    axes: Sequence[Axis]
    centre: Array

    def solve(self, p: Vec, c: Vec, record: Degeneracies) -> list[CosSin]:
        """Solve joint 3, then 2, then 1."""
        one, two, three = self.axes
        o = constant(self.centre)
        t = minus(c, o)
        squared = t[0] * t[0] + t[1] * t[1] + t[2] * t[2]
        q3 = distance(three, p, self.centre, squared, joint=2, earlier=0, record=record)
        m = minus(three.rotate_point(q3, p), o)
        q2 = level(two, m, one.w, one.along(t), joint=1, earlier=1, record=record, scale=record.size)
        q1 = aim(one, two.rotate(q2, m), t, joint=0, record=record, scale=record.size)
        return [q1, q2, q3]


@dataclass(frozen=True, eq=False)
class LastTwoParallel:
    """Axes 2 and 3 are parallel: joint 1 sets the height of the goal, then two links reach it in the plane."""

    first: Axis
    pair: TwoLinks

    def solve(self, p: Vec, c: Vec, record: Degeneracies) -> list[CosSin]:
        """Solve joint 1, then 3, then 2."""
        q1 = height(self.first, self.pair.first.w, p, c, joint=0, record=record)
        near = self.first.rotate_point(negated(q1), c)
        q2, q3 = self.pair.solve(p, near, (1, 2), 1, record)
        return [q1, q2, q3]


@dataclass(frozen=True, eq=False)
class Backwards:
    """The same three joints, solved from the other end."""

    inner: Regional

    def solve(self, p: Vec, c: Vec, record: Degeneracies) -> list[CosSin]:
        """Solve with the roles of p and c exchanged."""
        outer = replace(record, free=record.free[2::-1])
        return self.inner.solve(c, p, outer)[::-1]


def height(first: Axis, w: Vec, p: Vec, c: Vec, *, joint: int, record: Degeneracies) -> CosSin:
    """Rotate joint 1 until the goal c has the height of p along w: two solutions."""
    o = first.origin
    r, k = minus(c, o), minus(p, o)
    goal = k[0] * w[0] + k[1] * w[1] + k[2] * w[2]
    return level(first, w, r, goal, joint=joint, earlier=0, record=record, scale=record.size)


def regional(axes: Sequence[Axis], p: Array) -> Regional | str:
    """Recognise three joints that move the point p (3,), or return a description of what is missing."""
    behind = [axis.reversed() for axis in axes[::-1]]
    if lies_on(p, axes[2]):
        return "the common point of the other three axes lies on the axis of the joint before them"
    for order, wrap in ((axes, False), (behind, True)):
        if parallel(order[1], order[2]) and not parallel(order[0], order[1]):
            if lies_on(order[1].point, order[2]):
                continue  # both joints rotate about the same line
            inner: Regional = LastTwoParallel(order[0], TwoLinks.from_axes(order[1], order[2]))
            return Backwards(inner) if wrap else inner
    for order, wrap in ((axes, False), (behind, True)):
        if intersect(order[0], order[1]):
            centre = nearest_point(order[0], order[1])[0]
            if lies_on(centre, order[2]):
                continue
            inner = FirstTwoIntersect(order, centre)
            return Backwards(inner) if wrap else inner
    return _missing(axes)


def _missing(axes: Sequence[Axis]) -> str:
    parts = []
    for i, j in ((0, 1), (1, 2)):
        distance = 2e3 * nearest_point(axes[i], axes[j])[1]
        angle = np.rad2deg(angle_between(axes[i], axes[j]))
        parts.append(f"{i + 1} and {j + 1}: distance {distance:.4g} mm, angle {angle:.4g} degrees")
    return (
        "of the three joints away from it, counted outwards, no two neighbours intersect or are parallel "
        f"so that they can be solved (axes {'; '.join(parts)}; tolerance {1e3 * tolerance():g} mm)"
    )
